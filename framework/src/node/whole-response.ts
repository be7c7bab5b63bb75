/** A response of `node:http` that is sent whole: head and body in one write. @module */
import { type IncomingMessage, ServerResponse } from "node:http";
import { awaitsContinue, keepAliveMsOf, setHead } from "./internals.js";
import { formatHead } from "./response-head.js";

/**
 * A response that can be sent whole.
 *
 * `writeHead` and `end` of `node:http` check every header again, and up to Node 22 hand the body on and then an empty text
 * that tells of the end, so that the system gets two buffers by `writev`: that took 8.8 µs where one buffer took 4.6.
 */
export class WholeResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /**
   * Answers in one go. The fast way is for what most answers are; otherwise `node:http` writes the same.
   *
   * @param headers - `[name, value, …]`, checked; those of a response with a body have its `Content-Length`.
   * @param body - Text of one byte a character, or bytes; empty for a response that carries none.
   */
  sendWhole(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const head =
      body.length > 0 && this.shouldKeepAlive && this.useChunkedEncodingByDefault && !awaitsContinue(this)
        ? formatHead(status, headers, keepAliveMsOf(this))
        : null;
    if (head === null) {
      this.writeHead(status, headers as string[]); // read, and not kept: its type asks for a mutable list all the same
      if (body.length === 0) this.end();
      else this.end(body, "latin1");
    } else {
      this.statusCode = status;
      if (typeof body === "string") {
        setHead(this, head + body);
        this.end();
      } else {
        setHead(this, head);
        this.end(body);
      }
    }
  }
}
