/** Close codes and header lines of WebSockets. @module */
import type { WebSocketAcceptMessage } from "../../asgi.js";
import { checkHeader, toRawHeaders } from "../response-head.js";

/** The close codes of RFC 6455 §7.4.1 and its registry that the server itself uses. */
export const CLOSE = {
  normal: 1000,
  protocolError: 1002,
  noStatus: 1005,
  abnormal: 1006,
  invalidText: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  error: 1011,
  restart: 1012,
} as const;

/** The header lines that an application accepts with. @throws ProtocolError when one is not allowed in HTTP. */
export function toHeaderLines(message: WebSocketAcceptMessage): string[] {
  const raw = toRawHeaders(message.headers);
  const lines: string[] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    checkHeader(name, value);
    // Headers of the handshake itself are not the application's to set.
    if (!/^(?:connection|upgrade|content-length|transfer-encoding|sec-websocket-.*)$/i.test(name)) {
      lines.push(`${name}: ${value}`);
    }
  }
  return lines;
}
