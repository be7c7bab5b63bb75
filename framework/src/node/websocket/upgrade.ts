/** Requests for a WebSocket: checked, refused, or handed to a session. @module */
import { constants } from "node:buffer";
import { createHash } from "node:crypto";
import { configurationError } from "../../exceptions.js";
import { compileHost, type HostTest, isToken, parseHost, trimOWS } from "../../http-grammar.js";
import { FLAG, LIST, type OptionRules } from "../../options.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import type { Connection } from "../http1/connection.js";
import { createScope, toWebSocketScope } from "../../protocol/scope.js";
import { WebSocketSession } from "../../protocol/websocket-session.js";
import type { RequestHead } from "../request-head.js";
import { acceptOffer } from "./compression.js";
import { parseExtensions } from "./extensions.js";
import { Handshake, type HeaderRecord, type Open } from "./handshake.js";
import { PingRound } from "./pings.js";
import { ServerWebSocket } from "./server-websocket.js";

/** Options of WebSockets: hosts, origins and compression. */
export interface WebSocketOptions {
  /**
   * The hosts for which WebSockets are opened, written as for the middleware `trustedHost`, which is for HTTP. A handshake
   * for another gets 400. Defaults to any.
   */
  allowedHosts?: readonly string[];
  /**
   * The origins whose pages may open WebSockets, as browsers send them: `"https://example.com"`. A handshake from another
   * gets 403, one without an `Origin` comes from no browser and is let in. Defaults to any.
   */
  allowedOrigins?: readonly string[];
  /**
   * Compresses WebSocket messages where the client offers it (RFC 7692). Each connection then takes more
   * memory, and each message more time. Defaults to `false`.
   */
  webSocketCompression?: boolean;
}

export const WEBSOCKET_OPTIONS: OptionRules<WebSocketOptions> = {
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
  /** Milliseconds between two pings; a client that has not answered one by the next is gone. 0: none. */
  pingMs: number;
  /** Hosts to answer for; `null` for any. */
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
export function toRules(options: WebSocketOptions, pingMs: number, maxBytes: number | null): WebSocketRules {
  return {
    maxMessageBytes: maxBytes,
    pingMs,
    compression: options.webSocketCompression ?? false,
    allowedHosts: options.allowedHosts?.map(toHostTest) ?? null,
    allowedOrigins: options.allowedOrigins ?? null,
  };
}

/** The most bytes of one message where nobody says otherwise. */
const DEFAULT_MESSAGE_BYTES = 1 << 20;
const NO_SUBPROTOCOLS: readonly string[] = Object.freeze([]);
/** RFC 6455 §4.1: 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
/** Appended to the key of the client: RFC 6455 §1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const errors = {
  method: new ErrorResponse(405, "A WebSocket is asked for with GET.", ["allow", "GET"]),
  malformed: new ErrorResponse(400, "The WebSocket handshake is malformed."),
  version: new ErrorResponse(426, "Expected Sec-WebSocket-Version 13.", ["sec-websocket-version", "13"]),
  host: new ErrorResponse(400, "This host is not served here."),
  origin: new ErrorResponse(403, "Pages of this origin may not connect."),
  draining: new ErrorResponse(503, "The server is about to stop."),
};

/** Opens WebSockets for one server. */
export class UpgradeHandler {
  readonly #context: ServerContext;
  readonly #rules: WebSocketRules;
  readonly #pings: PingRound;

  constructor(context: ServerContext, rules: WebSocketRules) {
    this.#context = context;
    this.#rules = rules;
    this.#pings = new PingRound(rules.pingMs);
  }

  /** Takes a request for a WebSocket. The connection serves no other request behind it. */
  upgrade(connection: Connection, head: RequestHead): void {
    const context = this.#context;
    const { encrypted } = connection.endpoints;
    const handshake = context.draining ? errors.draining : parseHandshake(head, this.#rules, encrypted);
    if (handshake instanceof ErrorResponse) {
      connection.refuse(handshake);
      return;
    }
    const { method, target, section } = head;
    const requestHead = { httpVersion: "1.1", method, target, headers: section.headers };
    const httpScope = createScope(requestHead, connection.endpoints, context);
    const scope = toWebSocketScope(httpScope, handshake.subprotocols);
    const pending = new Handshake(context, connection, httpScope, handshake.headers, this.#open);
    const session = new WebSocketSession(context, connection.socket, scope, pending);
    connection.beginUpgrade(session);
    void session.run(scope);
  }

  /** Answers a handshake with 101, and takes its socket. @see RFC 6455 §4.2.2 */
  readonly #open: Open = ({ connection, headers }, acceptance, events) => {
    const { subprotocol = null, headers: accepted = [], maxMessageBytes: wanted = null } = acceptance ?? {};
    const compression = this.#rules.compression ? acceptOffer(headers["sec-websocket-extensions"]) : null;
    const key = headers["sec-websocket-key"] ?? "";
    const answer = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${createHash("sha1")
        .update(key + GUID)
        .digest("base64")}`,
      ...(subprotocol === null ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
      ...(compression === null ? [] : [`Sec-WebSocket-Extensions: ${compression.answer}`]),
    ];
    for (let index = 0; index < accepted.length; index += 2) answer.push(`${accepted[index]}: ${accepted[index + 1]}`);
    const { socket } = connection;
    const rest = connection.detach();
    socket.write(`${answer.join("\r\n")}\r\n\r\n`, "latin1");
    const options = { maxMessageBytes: maxMessageBytes(this.#rules, wanted), compression, pings: this.#pings };
    return new ServerWebSocket(socket, rest, events, options);
  };
}

/** A handshake that is well formed and allowed. */
export interface ParsedHandshake {
  readonly headers: HeaderRecord;
  /** The subprotocols that the client offers. */
  readonly subprotocols: readonly string[];
}

/** Checks a handshake. Returns what it asks for, or why it is refused. @see RFC 6455 §4.2.1 */
export function parseHandshake(
  head: RequestHead,
  rules: WebSocketRules,
  isEncrypted: boolean,
): ParsedHandshake | ErrorResponse {
  const headers = toRecord(head.section.headers);
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
  return Math.min(wanted ?? own ?? DEFAULT_MESSAGE_BYTES, own ?? Infinity, constants.MAX_STRING_LENGTH);
}

/** The headers by their name in lower case, repeated ones joined. */
function toRecord(headers: readonly string[]): HeaderRecord {
  const record: Record<string, string | undefined> = Object.create(null) as Record<string, undefined>;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    const before = record[name];
    record[name] = before === undefined ? value : `${before}, ${value}`;
  }
  return record;
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
