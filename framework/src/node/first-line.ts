/** A look at the first request line of a connection, for what `node:http`'s parser forgives without a trace. @module */
import type { Socket } from "node:net";
import { Refusal } from "./refusal.js";

/** RFC 9112 §3: method SP request-target SP HTTP-version. */
const REQUEST_LINE = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+ [^ ]+ HTTP\/(\d\.\d)\r?$/;
/** RFC 1945 §4.1: what an HTTP/0.9 client sends, and what those with a version of the future do. */
const OTHER_VERSION = /^(?:GET [^ ]+|\S+ \S+ HTTP\/\d+(?:\.\d+)?)\r?$/;
/** How a request line may begin: a method of at most 32 characters, whole or not. */
const BEGINNING = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{0,32}(?: |$)/;

const refusals = {
  line: new Refusal(400, "The request line is malformed."),
  version: new Refusal(505, "Expected HTTP/1.0 or HTTP/1.1."),
  targetBytes: new Refusal(414),
  timeout: new Refusal(408),
};

/** The longest method and version that may stand beside a target. */
const BESIDE_TARGET_BYTES = 64;
/** Bytes of empty lines before the request line that are passed over: RFC 9112 §2.2 asks for one such line. */
const EMPTY_LINES_BYTES = 8;

/**
 * Reads a connection until its first line is whole, then hands connection and bytes on, or refuses both.
 *
 * The first line only: to see them all, each chunk would have to pass through JavaScript on its way to the parser,
 * which was measured to cost 11 % of a server's throughput. RFC 9112 §3 lets a server be that lenient.
 *
 * @param timeoutMs - Until when the line must have come; 0 waits for ever.
 */
export function readFirstLine(
  socket: Socket,
  targetBytes: number,
  timeoutMs: number,
  accept: (socket: Socket) => void,
): void {
  let seen: Buffer | null = null;
  const timer = timeoutMs > 0 ? setTimeout(() => onTimeout(), timeoutMs) : undefined;
  const onTimeout = (): void => {
    leave();
    if (seen === null) {
      socket.destroy();
    } else {
      refusals.timeout.write(socket);
    }
  };
  const onData = (chunk: Buffer): void => {
    seen = seen === null ? chunk : Buffer.concat([seen, chunk]);
    const verdict = judge(seen, targetBytes);
    if (verdict === "unfinished") {
      return;
    }
    leave();
    if (verdict === "good") {
      accept(socket);
      socket.unshift(seen);
    } else {
      verdict.write(socket);
    }
  };
  const leave = (): void => {
    clearTimeout(timer);
    socket.off("data", onData);
    socket.off("close", leave);
    socket.off("end", onEnd);
    socket.off("error", ignore);
  };
  const onEnd = (): void => {
    socket.end();
  };
  socket.on("data", onData).on("end", onEnd).on("error", ignore).on("close", leave);
}

function ignore(): void {}

function judge(seen: Buffer, targetBytes: number): Refusal | "good" | "unfinished" {
  let start = 0;
  while (seen[start] === 0x0d || seen[start] === 0x0a) {
    start++;
  }
  if (start > EMPTY_LINES_BYTES) {
    return refusals.line;
  }
  const end = seen.indexOf(0x0a, start);
  if (end === -1) {
    if (!BEGINNING.test(seen.toString("latin1", start, start + BESIDE_TARGET_BYTES))) {
      return refusals.line;
    }
    return seen.length - start > targetBytes + BESIDE_TARGET_BYTES ? refusals.targetBytes : "unfinished";
  }
  if (end - start > targetBytes + BESIDE_TARGET_BYTES) {
    return refusals.targetBytes;
  }
  const line = seen.toString("latin1", start, end);
  const version = REQUEST_LINE.exec(line)?.[1];
  if (version === "1.1" || version === "1.0") {
    return "good";
  }
  return version !== undefined || OTHER_VERSION.test(line) ? refusals.version : refusals.line;
}
