/** The head of a response that is complete, as text. @module */
import { STATUS_CODES } from "node:http";

/** Lines that change how `node:http` goes on, by the length of their names. It writes a head with one of them itself. */
const FRAMING: readonly (readonly string[])[] = [];
for (const name of ["date", "connection", "keep-alive", "transfer-encoding", "trailer", "expect", "upgrade"]) {
  (FRAMING as string[][])[name.length] = [...(FRAMING[name.length] ?? []), name];
}

/**
 * Writes the head of an HTTP/1.1 response whose connection stays open, byte for byte as `node:http` does, which takes
 * three times as long and checks each name and value a second time.
 *
 * @param headers - `[name, value, …]`, checked, `Content-Length` among them.
 * @param keepAliveMs - For how long the client is told that the connection is kept; 0 to say nothing.
 * @returns `null` when a header is the business of `node:http`: one about the connection, or a `Date`.
 */
export function formatHead(status: number, headers: readonly string[], keepAliveMs: number): string | null {
  let head = statusLine(status);
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (FRAMING[name.length]?.includes(name.toLowerCase()) === true) return null;
    head += `${name}: ${headers[index + 1] as string}\r\n`;
  }
  return head + endOf(keepAliveMs);
}

const statusLines: string[] = [];

function statusLine(status: number): string {
  return (statusLines[status] ??= `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "unknown"}\r\n`);
}

/** The lines behind the application's, which are the same for a second. */
let ending = "";
let endingSecond = 0;
let endingKeepAliveMs = -1;

function endOf(keepAliveMs: number): string {
  const now = Date.now();
  const second = Math.trunc(now / 1000);
  if (second !== endingSecond || keepAliveMs !== endingKeepAliveMs) {
    const keepAlive = keepAliveMs === 0 ? "" : `Keep-Alive: timeout=${Math.trunc(keepAliveMs / 1000)}\r\n`;
    ending = `Date: ${new Date(now).toUTCString()}\r\nConnection: keep-alive\r\n${keepAlive}\r\n`;
    endingSecond = second;
    endingKeepAliveMs = keepAliveMs;
  }
  return ending;
}
