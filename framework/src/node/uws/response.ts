/** A response on uWebSockets.js. @module */
import { STATUS_CODES } from "node:http";
import type { BodyFlow } from "../request-body.js";
import type { ResponseSink } from "../response-sink.js";
import { ClientAddress } from "./client-address.js";
import type { UwsResponse } from "./module.js";

/** Beyond this many bytes a body goes out as the socket takes it, instead of waiting in uWebSockets' memory. */
const MAX_COPIED_BYTES = 65_536;
const NOT_ASCII = /[^\x00-\x7f]/; // oxlint-disable-line no-control-regex

/**
 * Writes a response as `ServerResponse` does.
 *
 * What uWebSockets writes of its own accord is left out of the head: `Date`, `Content-Length`, and `Connection` where
 * the response is whole. A head alone does not leave: it goes with the first chunk.
 */
export class UwsSink implements ResponseSink, BodyFlow {
  destroyed = false;
  /** Called when the client goes before the response has ended. */
  onAborted: () => void = () => {};
  /** Who it goes to. Can be asked for until it has ended. */
  readonly client: ClientAddress;
  readonly #res: UwsResponse;
  #status = 200;
  #headers: readonly string[] = [];
  #isBegun = false;
  #isEnding = false;
  #hasEnded = false;
  #closes = false;
  /** The length that the head announces, or -1: then the body is chunked. */
  #total = -1;
  /** What waits for the socket, the first of it tried already. */
  readonly #waiting: Uint8Array[] = [];
  #isBlocked = false;
  /** Whether the client has to wait with the body of its request. */
  #isPaused = false;
  /** Where the first of what waits began to be tried, in bytes of the body; -1 where nothing of it is to be tried again. */
  #triedAt = -1;
  #isListening = false;
  #onDrain: (() => void) | null = null;
  #onFinish: (() => void) | null = null;

  constructor(res: UwsResponse) {
    this.#res = res;
    this.client = new ClientAddress(res);
    res.onAborted(() => {
      this.destroyed = true;
      this.client.forget();
      this.onAborted();
    });
  }

  get writableLength(): number {
    return this.#isBlocked ? 1 : 0;
  }

  writeHead(status: number, headers: readonly string[]): void {
    this.#status = status;
    this.#headers = headers;
    for (let index = 0; index < headers.length; index += 2) {
      const name = ownName(headers[index] as string);
      if (name === "content-length") {
        this.#total = Number(headers[index + 1]);
      } else if (name === "connection") {
        this.#closes = /\bclose\b/i.test(headers[index + 1] as string);
      }
    }
  }

  /** Makes the client wait with the body of its request. */
  pause(): void {
    this.#isPaused = true;
    this.#res.pause();
  }

  /** Takes more of the body. */
  more(): void {
    if (this.#isPaused) this.#res.resume();
    this.#isPaused = false;
  }

  flushHeaders(): void {}

  write(chunk: Uint8Array): boolean {
    this.#waiting.push(chunk);
    this.#flush();
    return !this.#isBlocked;
  }

  end(chunk?: Uint8Array | string): void {
    if (this.destroyed || this.#isEnding || this.#hasEnded) {
      return;
    }
    this.more(); // the next request comes behind the rest of the body, and nothing can be asked for after the end
    this.#isEnding = true;
    const body = typeof chunk === "string" ? Buffer.from(chunk, "latin1") : chunk;
    if (this.#isBegun || (body !== undefined && body.length > MAX_COPIED_BYTES)) {
      if (body !== undefined) {
        this.#waiting.push(body);
      }
      this.#flush();
    } else {
      this.#res.cork(() => this.#whole(body));
    }
  }

  once(event: "drain" | "finish", listener: () => void): void {
    if (event === "drain") {
      this.#onDrain = listener;
    } else {
      this.#onFinish = listener;
    }
  }

  emit(): void {
    const onDrain = this.#onDrain;
    this.#onDrain = null;
    onDrain?.();
  }

  destroy(): void {
    if (!this.destroyed && !this.#hasEnded) {
      this.#res.close(); // aborts, too
    }
  }

  #whole(body: Uint8Array | undefined): void {
    if (body === undefined) {
      // With a length as its argument, it takes the connection's next request for a pipelined one and cuts it.
      this.#begin("content-length");
      this.#res.endWithoutBody();
    } else {
      this.#begin(this.#closes ? "" : "connection");
      this.#res.end(body, this.#closes);
    }
    this.#ended();
  }

  /** @param own - A header to write that uWebSockets may write as well: not so where the response ends in this way. */
  #begin(own: "content-length" | "connection" | ""): void {
    this.#isBegun = true;
    this.#res.writeStatus(statusLine(this.#status));
    const headers = this.#headers;
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index] as string;
      const value = headers[index + 1] as string;
      const key = ownName(name);
      if (key === "" || key === own || (key === "connection" && own === "content-length")) {
        this.#res.writeHeader(name, NOT_ASCII.test(value) ? Buffer.from(value, "latin1") : value);
      }
    }
  }

  #flush(): void {
    if (!this.destroyed && !this.#isBlocked && !this.#hasEnded) {
      this.#res.cork(() => {
        if (!this.#isBegun) {
          this.#begin("connection");
        }
        while (!this.#isBlocked && !this.#hasEnded && this.#waiting.length > 0) {
          this.#writeFirst();
        }
        if (this.#isEnding && !this.#isBlocked && !this.#hasEnded) {
          // A second word of the closing would land in the body: the client has been told in the head.
          this.#res.end();
          this.#ended();
        }
      });
    }
  }

  #writeFirst(): void {
    const chunk = this.#waiting[0] as Uint8Array;
    if (this.#total >= 0) {
      const before = this.#res.getWriteOffset();
      const [isTaken, hasEnded] = this.#res.tryEnd(chunk, this.#total);
      if (hasEnded) {
        this.#ended();
      } else if (!isTaken) {
        this.#triedAt = before;
        this.#waitForSocket();
        return;
      }
    } else if (!this.#res.write(chunk)) {
      this.#waitForSocket(); // all of it is in uWebSockets' memory
    }
    this.#waiting.shift();
  }

  #waitForSocket(): void {
    this.#isBlocked = true;
    if (!this.#isListening) {
      this.#isListening = true; // once: a listener that is set by a listener is lost
      this.#res.onWritable((offset) => this.#onWritable(offset));
    }
  }

  #onWritable(offset: number): boolean {
    if (!this.#isBlocked) {
      return true;
    }
    this.#isBlocked = false;
    if (this.#triedAt >= 0) {
      this.#waiting[0] = (this.#waiting[0] as Uint8Array).subarray(offset - this.#triedAt);
      this.#triedAt = -1;
    }
    this.#flush();
    if (this.#isBlocked) {
      return false;
    }
    this.emit();
    return true;
  }

  #ended(): void {
    this.#hasEnded = true;
    this.client.forget();
    const onFinish = this.#onFinish;
    this.#onFinish = null;
    onFinish?.();
  }
}

const statusLines = new Map<number, string>();

function statusLine(status: number): string {
  let line = statusLines.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? "Unknown"}`;
    statusLines.set(status, line);
  }
  return line;
}

/** The name in lower case where it is one that uWebSockets may write as well, else nothing. */
function ownName(name: string): "content-length" | "connection" | "date" | "" {
  const { length } = name;
  if (length !== 4 && length !== 10 && length !== 14) return "";
  const key = name.toLowerCase();
  return key === "content-length" || key === "connection" || key === "date" ? key : "";
}
