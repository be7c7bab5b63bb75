/** A connection that sends one request again and again. @module */
import { connect, type OnReadOpts, type Socket } from "node:net";
import type { Answer, Example } from "../examples.js";
import type { Line } from "./loops.js";

/** The bytes of a response. All later ones must be the same except for their date. */
export interface WireAnswer extends Answer {
  readonly bytes: Buffer;
  /** The place of the value of `Date`; both 0 without one. */
  readonly date: readonly [start: number, end: number];
}

/** The bytes of a request. */
export function toWire(url: string, { method, path, headers, body }: Example): Buffer {
  const lines = Object.entries({
    host: new URL(url).host,
    ...headers,
    ...(body === null ? {} : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`);
}

/** Sends a request over a separate connection and reads the whole response. */
export function readAnswer(url: string, request: Buffer): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = open(url).once("error", reject);
    socket.once("close", () => reject(new Error("the server closed the connection before its response was complete")));
    socket.on("data", (part) => {
      parts.push(part);
      const bytes = Buffer.concat(parts);
      const answer = parseAnswer(bytes);
      if (answer === null) return;
      socket.destroy();
      resolve(answer);
    });
    socket.write(request);
  });
}

/** `null` while the response is incomplete. @see RFC 9112 §6 */
function parseAnswer(bytes: Buffer): WireAnswer | null {
  const text = bytes.toString("latin1");
  const head = text.indexOf("\r\n\r\n") + 4;
  const valueOf = (name: string): RegExpExecArray | null =>
    new RegExp(`^${name}: ?([^\r]*)`, "dim").exec(text.slice(0, head));
  const length = valueOf("content-length")?.[1];
  const isWhole = length === undefined ? text.endsWith("\r\n0\r\n\r\n") : text.length === head + Number(length);
  if (head < 4 || !isWhole) return null;
  const content = bytes.toString("utf8", head);
  return {
    bytes,
    date: valueOf("date")?.indices?.[1] ?? [0, 0],
    status: Number(text.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length)),
    contentType: valueOf("content-type")?.[1] ?? "",
    // A body in chunks has been written at once here, as one.
    body: length === undefined ? content.replace(/^[^\r]*\r\n/, "").replace(/\r\n0\r\n\r\n$/, "") : content,
  };
}

function open(url: string, onread?: OnReadOpts): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), noDelay: true, ...(onread === undefined ? {} : { onread }) });
}

/** Sends one request at a time, and compares each response byte by byte with the first one. */
export class Connection implements Line {
  onAnswer = (): void => {};
  onFault: Line["onFault"] = () => {};
  readonly #request: Buffer;
  readonly #expected: WireAnswer;
  readonly #socket: Socket;
  #received = 0;

  private constructor(socket: Socket, request: Buffer, expected: WireAnswer) {
    this.#socket = socket;
    this.#request = request;
    this.#expected = expected;
  }

  /** Opens a connection. */
  static open(url: string, request: Buffer, expected: WireAnswer): Promise<Connection> {
    return new Promise((resolve, reject) => {
      // One buffer for all responses: a client that collects no garbage pauses less.
      const onread = {
        buffer: Buffer.alloc(16_384),
        callback: (length: number, buffer: Uint8Array) => connection.#receive(length, buffer),
      };
      const socket = open(url, onread);
      const connection = new Connection(socket, request, expected);
      socket.once("connect", () => resolve(connection));
      socket.once("error", reject);
      socket.once("close", () => connection.onFault("the server closed a connection"));
    });
  }

  send(): void {
    this.#received = 0;
    this.#socket.write(this.#request);
  }

  close(): void {
    this.onFault = () => {};
    this.#socket.destroy();
  }

  #receive(length: number, buffer: Uint8Array): true {
    const from = this.#received;
    const to = (this.#received += length);
    const { bytes, date } = this.#expected;
    const [start, end] = date;
    if (
      !this.#isSame(buffer, from, from, Math.min(to, start)) ||
      !this.#isSame(buffer, from, Math.max(from, end), to)
    ) {
      this.onFault(`a response differs from the first one: ${Buffer.from(buffer.subarray(0, length)).toString()}`);
    } else if (to === bytes.length) {
      this.onAnswer();
    }
    return true;
  }

  /** Compares the bytes of a response from one place to another; the buffer begins at the place `base`. */
  #isSame(buffer: Uint8Array, base: number, from: number, to: number): boolean {
    return (
      from >= to ||
      (to <= this.#expected.bytes.length &&
        this.#expected.bytes.compare(buffer, from - base, to - base, from, to) === 0)
    );
  }
}
