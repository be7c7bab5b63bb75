/** The answers that the server gives itself, without asking the application. @module */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { ResponseSink } from "./response-sink.js";

/** A status and what the client reads under `detail`. */
export class Refusal {
  /** HTTP status code in range [400...599]. */
  readonly status: number;
  readonly body: Buffer;
  /** `[name, value, …]`, all that the head says. The connection closes with it: what follows cannot be trusted. */
  readonly headers: string[];

  constructor(status: number, detail = STATUS_CODES[status] ?? "Error", headers: readonly string[] = []) {
    this.status = status;
    this.body = Buffer.from(JSON.stringify({ detail }));
    this.headers = [
      "content-type",
      "application/json",
      "content-length",
      String(this.body.length),
      "connection",
      "close",
      ...headers,
    ];
  }

  /** Answers a request that was parsed. */
  answer(res: ResponseSink): void {
    res.writeHead(this.status, this.headers);
    res.end(this.body);
  }

  /** Answers on a connection whose bytes are no request, and closes it. */
  write(socket: Socket): void {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    let head = `HTTP/1.1 ${this.status} ${STATUS_CODES[this.status] ?? "Error"}\r\ndate: ${new Date().toUTCString()}\r\n`;
    for (let index = 0; index < this.headers.length; index += 2) {
      head += `${this.headers[index]}: ${this.headers[index + 1]}\r\n`;
    }
    socket.write(`${head}\r\n`, "latin1");
    socket.write(this.body);
    closeGently(socket);
  }
}

/** Milliseconds for which a closed connection still takes in what its client sends. */
const LINGER_MS = 1000;

/**
 * Ends a connection whose client may still be sending: a reset, which closing over unread bytes causes, would make the
 * client throw the answer away.
 *
 * @see RFC 9112 §9.6
 */
export function closeGently(socket: Socket): void {
  socket.on("error", () => {}); // a client that has gone already
  socket.end();
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once("close", () => clearTimeout(timer));
}
