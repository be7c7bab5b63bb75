/** A look at the request lines of a kept-alive connection behind the first, for what the parser forgives. @module */
import type { IncomingMessage } from "node:http";
import { bodyBytesOf } from "./framing.js";

/** Two spaces, `HTTP/1.1` and the end of the line: what a request line has beside method and target. */
const BESIDE_LINE_BYTES = 12;

/** What `node:http` keeps at the socket. Undocumented, and the same from Node 16 to 26; without it nothing is refused. */
interface Parser {
  /** A copy of the bytes that are being parsed; empty at any other time. */
  getCurrentBuffer?(): Buffer;
}

/** The bytes that were looked at last. One slot for all connections: pipelined requests share a chunk. */
let latest: { lines: RequestLines; end: number; chunk: Buffer } | null = null;

/**
 * Follows where each request of a connection begins and ends.
 *
 * A parser that owns the socket gives its bytes to nobody, and to read them first would cost 11 % of the throughput. But
 * method, target and header lines have the length that they have: a head that is as long as they are when written with
 * one space at each place is taken as written so, and only one of another length is looked at, which costs 0.5 µs. A
 * client that leaves out as many spaces behind its header names as it adds to the request line goes unseen.
 */
export class RequestLines {
  /** Where the next request begins, in bytes since the connection opened, or the earliest place where it can. */
  #next = 0;
  /** Whether it is the place itself; not so behind a chunked body, nor behind a head whose end was not seen. */
  #isExact = true;

  /**
   * Whether method, target and version are divided by one space each (RFC 9112 §3). To be called once for each request,
   * while it is being parsed.
   *
   * @param headerBytes - The length of the header lines when they are written as `Name: value`.
   */
  areDivided(req: IncomingMessage, headerBytes: number): boolean {
    const { bytesRead } = req.socket;
    const { method = "", url = "" } = req;
    const bodyBytes = bodyBytesOf(req.headers);
    const end = this.#next + method.length + url.length + BESIDE_LINE_BYTES + headerBytes + 2;
    if (this.#isExact && (end === bytesRead || end + bodyBytes === bytesRead)) {
      this.#follow(end, bodyBytes);
      return true;
    }
    return this.#look(req, bodyBytes);
  }

  #follow(headEnd: number, bodyBytes: number): void {
    this.#isExact = !Number.isNaN(bodyBytes);
    this.#next = this.#isExact ? headEnd + bodyBytes : headEnd;
  }

  #look(req: IncomingMessage, bodyBytes: number): boolean {
    const { method = "", url = "" } = req;
    const end = req.socket.bytesRead;
    const chunk = this.#chunkUpTo(end, req);
    const start = end - chunk.length;
    let from = Math.max(0, this.#next - start);
    while (chunk[from] === 0x0d || chunk[from] === 0x0a) {
      from++;
    }
    const line = `${method} ${url} HTTP/${req.httpVersion}\r\n`;
    const isAtPlace = chunk.toString("latin1", from, from + line.length) === line;
    const found = isAtPlace || this.#isExact ? from : chunk.indexOf(line, from, "latin1");
    const headEnd = chunk.indexOf("\r\n\r\n", Math.max(0, found), "latin1");
    if (headEnd !== -1) {
      this.#follow(start + headEnd + 4, bodyBytes);
    } else {
      this.#next = end;
      this.#isExact = false;
    }
    return isAtPlace || found > from || !hasUnlike(line, chunk.toString("latin1", from), method, url);
  }

  #chunkUpTo(end: number, req: IncomingMessage): Buffer {
    if (latest?.lines !== this || latest.end !== end) {
      const { parser } = req.socket as { parser?: Parser };
      latest = { lines: this, end, chunk: parser?.getCurrentBuffer?.() ?? Buffer.alloc(0) };
    }
    return latest.chunk;
  }
}

/** Whether the bytes hold a request line that says the same as this one and is written in another way. */
function hasUnlike(line: string, bytes: string, method: string, url: string): boolean {
  const lines = bytes.matchAll(new RegExp(`(?<=^|\\n)${method} +(\\S+) +HTTP/1\\.[01]\\r\\n`, "g"));
  return Array.from(lines).some(([found, target]) => target === url && found !== line);
}
