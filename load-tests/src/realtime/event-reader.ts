/** The response of a stream of server-sent events as a client reads it. @module */

const HEAD_END = "\r\n\r\n";
const LINE_END = "\r\n";
const EVENT_END = "\n\n";

/** Takes the events out of what a socket gives. The events of the benchmark are ASCII. */
export class EventReader {
  #isChunked: boolean | null = null;
  #wire = "";
  #text = "";

  /** All whole events, without the empty line behind each. @throws TypeError when the response has another status or media type. */
  read(chunk: Buffer): string[] {
    this.#wire += chunk.toString("latin1");
    this.#isChunked ??= this.#readHead();
    if (this.#isChunked === null) return [];
    this.#readBody(this.#isChunked);
    const events = this.#text.split(EVENT_END);
    this.#text = events.pop() ?? "";
    return events;
  }

  #readHead(): boolean | null {
    const end = this.#wire.indexOf(HEAD_END);
    if (end < 0) return null;
    const head = this.#wire.slice(0, end);
    if (!head.startsWith("HTTP/1.1 200 ") || !/^content-type: *text\/event-stream/im.test(head)) {
      throw new TypeError(`expected a stream of events, got ${JSON.stringify(head.slice(0, 200))}`);
    }
    this.#wire = this.#wire.slice(end + HEAD_END.length);
    return /^transfer-encoding: *chunked/im.test(head);
  }

  #readBody(isChunked: boolean): void {
    if (!isChunked) {
      this.#text += this.#wire;
      this.#wire = "";
      return;
    }
    for (;;) {
      const head = this.#wire.indexOf(LINE_END);
      if (head < 0) return;
      const start = head + LINE_END.length;
      const end = start + Number.parseInt(this.#wire.slice(0, head), 16);
      if (this.#wire.length < end + LINE_END.length) return;
      this.#text += this.#wire.slice(start, end);
      this.#wire = this.#wire.slice(end + LINE_END.length);
    }
  }
}
