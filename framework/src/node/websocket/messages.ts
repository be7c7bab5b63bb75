/** Messages of `ws` as messages of ASGI, and back. @module */
import type { RawData } from "ws";
import type { ReceiveMessage, WebSocketAcceptMessage } from "../../asgi.js";
import { checkHeader, toRawHeaders } from "../response-head.js";

/** The close codes of RFC 6455 §7.4.1 and its registry that the server itself uses. */
export const CLOSE = {
  normal: 1000,
  protocolError: 1002,
  abnormal: 1006,
  invalidText: 1007,
  policyViolation: 1008,
  tooBig: 1009,
  error: 1011,
  restart: 1012,
} as const;

/** The rules that `ws` has a code of its own for; a breach of any other is a protocol error. */
const VIOLATIONS: Readonly<Record<string, number>> = {
  WS_ERR_INVALID_UTF8: CLOSE.invalidText,
  WS_ERR_TOO_MANY_BUFFERED_PARTS: CLOSE.policyViolation,
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: CLOSE.tooBig,
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: CLOSE.tooBig,
};

/** The close code that `ws` sends for an error of its own; 0 for an error of the connection. */
export function toCloseCode(errorCode: string | undefined): number {
  return VIOLATIONS[errorCode ?? ""] ?? (errorCode?.startsWith("WS_ERR_") ? CLOSE.protocolError : 0);
}

/** A message of the client's. */
export function toReceiveMessage(data: RawData, isBinary: boolean): ReceiveMessage {
  // One Buffer: that is what the binary type "nodebuffer" gives, and nothing here sets another.
  const bytes = data as Buffer;
  return isBinary ? { type: "websocket.receive", bytes } : { type: "websocket.receive", text: bytes.toString() };
}

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
