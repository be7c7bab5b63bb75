/** A connection that sends one request again and again. @module */
import { connect, type OnReadOpts, type Socket } from "node:net";
import type { Case, Reply } from "../http/case.js";
import type { Line } from "./loops.js";

/** The bytes of a response. All later ones must be the same except for their date. */
export interface WireAnswer extends Reply {
  readonly bytes: Buffer;
  /** The place of the value of `Date`; both 0 without one. */
  readonly date: readonly [start: number, end: number];
}

/** The bytes of a request. */
export function toWire(url: string, { method, path, headers, body }: Case): Buffer {
  const lines = Object.entries({
    host: new URL(url).host,
    ...headers,
    ...(body === null ? {} : { "content-length": String(Buffer.byteLength(body)) }),
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
    headers: { "content-type": valueOf("content-type")?.[1] ?? "" },
    // A body in chunks has been written at once here, as one.
    body: length === undefined ? content.replace(/^[^\r]*\r\n/, "").replace(/\r\n0\r\n\r\n$/, "") : content,
  };
}

function open(url: string, onread?: OnReadOpts): Socket {
  const { hostname, port } = new URL(url);
  return connect({ host: hostname, port: Number(port), noDelay: true, ...(onread === undefined ? {} : { onread }) });
}

/** Servers of Node close a connection that is idle for 5 s, as it can be while another program has its turns. */
const LONGEST_IDLE_MS = 2_500;

/** The check of the bytes that a connection receives. */
type Check = (part: Uint8Array) => "wrong" | "incomplete" | "complete";

/** Sends one request at a time, and checks each response. */
export class Connection implements Line {
  onAnswer = (): void => {};
  onFault: Line["onFault"] = () => {};
  readonly #request: Buffer;
  readonly #check: Check;
  readonly #socket: Socket;
  /** The time from which the connection is idle; `Infinity` while it waits for a response. */
  #idleSince = performance.now();
  #isClosed = false;

  private constructor(socket: Socket, request: Buffer, check: Check) {
    this.#socket = socket;
    this.#request = request;
    this.#check = check;
  }

  /**
   * Opens a connection.
   *
   * @param expected - The response, if each one has the same body.
   */
  static open(url: string, one: Case, expected: WireAnswer | null): Promise<Connection> {
    const check = expected === null ? checkContent(one) : checkBytes(expected);
    const request = toWire(url, one);
    return new Promise((resolve, reject) => {
      // One buffer for all responses: a client that collects no garbage pauses less.
      const onread = {
        buffer: Buffer.alloc(65_536),
        callback: (length: number, buffer: Uint8Array) => connection.#receive(buffer.subarray(0, length)),
      };
      const socket = open(url, onread);
      const connection = new Connection(socket, request, check);
      socket.once("connect", () => resolve(connection));
      socket.once("error", reject);
      socket.once("close", () => connection.#end());
    });
  }

  /** True if the server cannot have closed the connection for being idle. */
  get isFresh(): boolean {
    return !this.#isClosed && performance.now() - this.#idleSince < LONGEST_IDLE_MS;
  }

  send(): void {
    this.#idleSince = Infinity;
    this.#socket.write(this.#request);
  }

  close(): void {
    this.onFault = () => {};
    this.#socket.destroy();
  }

  /** A server may close a connection that is idle. */
  #end(): void {
    this.#isClosed = true;
    if (this.#idleSince === Infinity) this.onFault("the server closed a connection");
  }

  #receive(part: Uint8Array): true {
    const state = this.#check(part);
    if (state === "complete") {
      this.#idleSince = performance.now();
      this.onAnswer();
    }
    if (state === "wrong") this.onFault(`a response differs from the first one: ${Buffer.from(part).toString()}`);
    return true;
  }
}

/** Compares each response byte by byte with the first one, except for its date. */
function checkBytes({ bytes, date: [start, end] }: WireAnswer): Check {
  let received = 0;
  return (part) => {
    const base = received;
    received += part.length;
    const isSame = (from: number, to: number): boolean =>
      from >= to || bytes.compare(part, from - base, to - base, from, to) === 0;
    if (received > bytes.length) return "wrong";
    if (!isSame(base, Math.min(received, start)) || !isSame(Math.max(base, end), received)) return "wrong";
    if (received < bytes.length) return "incomplete";
    received = 0;
    return "complete";
  };
}

/** Checks a response by its content, if each one has another. */
function checkContent({ check }: Case): Check {
  let received: Buffer[] = [];
  return (part) => {
    received.push(Buffer.from(part));
    const answer = parseAnswer(Buffer.concat(received));
    if (answer === null) return "incomplete";
    received = [];
    return check(answer) === null ? "complete" : "wrong";
  };
}
