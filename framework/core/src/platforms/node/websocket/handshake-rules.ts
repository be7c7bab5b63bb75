/** The rules of a server for WebSocket handshakes, and a handshake checked by them. @module */
import { DEFAULT_MESSAGE_BYTES } from "../../../protocol/websocket-handshake.js";
import { HeaderList, parseHeaders } from "../../../protocol/header-list.js";
import { configurationError } from "../../../common/exceptions.js";
import { FLAG, LIST, type OptionRules } from "../../../common/options.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { compileHost, type HostTest, isToken, parseHost, trimOWS } from "../../../protocol/http-grammar.js";
import type { RequestHead } from "../request-head.js";
import { parseExtensions } from "./compression.js";

/** Options of WebSockets: hosts, origins and compression. */
export interface SocketServerOptions {
  /**
   * The hosts for which WebSockets are opened, written as for the middleware `trustedHost`, which is for HTTP. A handshake
   * for another gets 400. Defaults to any.
   */
  allowedHosts?: readonly string[];
  /**
   * The origins whose pages may open WebSockets, as browsers send them: `"https://example.com"`. A handshake from
   * another origin gets 403; one without an `Origin` is not from a browser and is allowed. Defaults to any.
   */
  allowedOrigins?: readonly string[];
  /**
   * Compresses WebSocket messages where the client offers it (RFC 7692). Each connection then takes more
   * memory, and each message more time. Defaults to `false`.
   */
  webSocketCompression?: boolean;
}

export const HANDSHAKE_OPTIONS: OptionRules<SocketServerOptions> = {
  allowedHosts: LIST,
  allowedOrigins: LIST,
  webSocketCompression: FLAG,
};

/** The rules of a server for WebSocket handshakes. */
export interface WebSocketRules {
  /** The most bytes of one message, its fragments together (1009); `null` leaves it to the application. */
  maxMessageBytes: number | null;
  /** Compresses messages where the client offers it (RFC 7692). */
  compression: boolean;
  /**
   * Milliseconds between two pings; a client that has not replied to one by the next has disconnected. 0 disables them.
   */
  pingMs: number;
  /** Allowed hosts; `null` for any. */
  allowedHosts: readonly HostTest[] | null;
  /** Origins whose pages may connect, as browsers send them; `null` for any. */
  allowedOrigins: readonly string[] | null;
}

/** @throws ConfigurationError when it is not a host. */
function toHostTest(entry: unknown): HostTest {
  const test = compileHost(entry);
  if (test === null) throw configurationError("TSGI_INVALID_TRUSTED_HOST.server", entry);
  return test;
}

/** The rules that options ask for. @throws ConfigurationError for an entry that is not a host. */
export function toRules(options: SocketServerOptions, pingMs: number, maxBytes: number | null): WebSocketRules {
  return {
    maxMessageBytes: maxBytes,
    pingMs,
    compression: options.webSocketCompression ?? false,
    allowedHosts: options.allowedHosts?.map(toHostTest) ?? null,
    allowedOrigins: options.allowedOrigins ?? null,
  };
}

const NO_SUBPROTOCOLS: readonly string[] = Object.freeze([]);
/** V8's longest string on 64 bits, as `node:buffer` has it in `constants.MAX_STRING_LENGTH`. */
const MAX_STRING_LENGTH = 0x1f_ff_ff_e8;
/** RFC 6455 §4.1: 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const errors = {
  method: new ErrorResponse(405, "A WebSocket is asked for with GET.", ["allow", "GET"]),
  malformed: new ErrorResponse(400, "The WebSocket handshake is malformed."),
  version: new ErrorResponse(426, "Expected Sec-WebSocket-Version 13.", ["sec-websocket-version", "13"]),
  host: new ErrorResponse(400, "This host is not served here."),
  origin: new ErrorResponse(403, "Pages of this origin may not connect."),
};

/** Header lines by their name in lower case, repeated ones joined. */
export type HeaderRecord = Readonly<Record<string, string | undefined>>;

/** A handshake that is well formed and allowed. */
export interface ParsedHandshake {
  readonly headers: HeaderRecord;
  /** The subprotocols that the client offers. */
  readonly subprotocols: readonly string[];
}

/** Checks a handshake. Returns the requested WebSocket, or the reason for a rejection. @see RFC 6455 §4.2.1 */
export function parseHandshake(
  head: RequestHead,
  rules: WebSocketRules,
  isEncrypted: boolean,
): ParsedHandshake | ErrorResponse {
  const headers = parseHeaders(new HeaderList(head.section.headers));
  if (head.method !== "GET") return errors.method;
  if (headers["sec-websocket-version"] !== "13") return errors.version;
  const subprotocols = headers["sec-websocket-protocol"]?.split(",").map(trimOWS) ?? NO_SUBPROTOCOLS;
  if (!isWellFormed(head, headers) || !areSubprotocols(subprotocols)) return errors.malformed;
  const fault = checkParties(headers, rules, isEncrypted ? 443 : 80);
  return fault ?? { headers, subprotocols };
}

function isWellFormed({ section, minorVersion }: RequestHead, headers: HeaderRecord): boolean {
  const extensions = headers["sec-websocket-extensions"];
  if (extensions !== undefined && parseExtensions(extensions) === null) return false; // RFC 6455 §9.1
  return minorVersion === 1 && section.bodyBytes === 0 && KEY.test(headers["sec-websocket-key"] ?? "");
}

/** Only browsers send an Origin, and only they can be made to connect by a page that their user does not know. */
function checkParties({ host = "", origin }: HeaderRecord, rules: WebSocketRules, port: number): ErrorResponse | null {
  if (!isAllowedHost(host, port, rules.allowedHosts)) return errors.host;
  return origin === undefined || rules.allowedOrigins?.includes(origin) !== false ? null : errors.origin;
}

/**
 * The smaller of two bounds of a message, the server's and the application's. Attack: a text past the longest string of the
 * engine would throw, and end the process.
 */
export function maxMessageBytes(rules: WebSocketRules, wanted: number | null): number {
  const { maxMessageBytes: own } = rules;
  return Math.min(wanted ?? own ?? DEFAULT_MESSAGE_BYTES, own ?? Infinity, MAX_STRING_LENGTH);
}

/** RFC 6455 §4.1: tokens, each once. */
function areSubprotocols(names: readonly string[]): boolean {
  return names.every((name) => isToken(name)) && new Set(names).size === names.length;
}

function isAllowedHost(header: string, defaultPort: number, allowed: readonly HostTest[] | null): boolean {
  if (allowed === null) return true;
  const host = parseHost(header);
  return host !== null && allowed.some((test) => test(host, defaultPort));
}
