/** Requests for a WebSocket: checked, refused, or handed to a session. @module */
import type { IncomingMessage } from "node:http";
import type { PerMessageDeflateOptions, WebSocket } from "ws";
import type { HTTPScope, WebSocketScope } from "../../asgi.js";
import { configurationError } from "../../exceptions.js";
import { compileHost, type HostTest, isToken, parseHost, trimOWS } from "../../http-grammar.js";
import { FLAG, LIST, type OptionRules } from "../../options.js";
import type { ServerContext } from "../context.js";
import { ErrorResponse } from "../error-response.js";
import type { Connection } from "../http1/connection.js";
import { createScope, type RequestHead } from "../request-head.js";
import { Handshake, type HeaderRecord, type Open } from "./handshake.js";
import { PingRound } from "./pings.js";
import { type ServerWebSocket, toServerWebSocket } from "./server-websocket.js";
import { type Acceptance, WebSocketSession } from "./session.js";

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
/** Milliseconds that a client has to answer a close frame. */
const CLOSE_TIMEOUT_MS = 5000;
/**
 * RFC 7692 without a dictionary that is kept between messages: one costs a connection some 300 KiB. The bound of a
 * message holds for its decompressed bytes.
 */
const COMPRESSION: PerMessageDeflateOptions = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
  threshold: 1024,
};
/** One object for all, which nobody can change. */
const EXTENSIONS = Object.freeze({
  "websocket.http.response": Object.freeze({}),
  "tsgi.websocket.message_limit": Object.freeze({}),
});
const NO_SUBPROTOCOLS: readonly string[] = Object.freeze([]);
/** Bytes that wait for the socket before pings go unanswered. */
const MAX_BUFFERED_BYTES = 65_536;
/** RFC 6455 §4.1: 16 bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;

const errors = {
  method: new ErrorResponse(405, "A WebSocket is asked for with GET.", ["allow", "GET"]),
  malformed: new ErrorResponse(400, "The WebSocket handshake is malformed."),
  version: new ErrorResponse(426, "Expected Sec-WebSocket-Version 13.", ["sec-websocket-version", "13"]),
  host: new ErrorResponse(400, "This host is not served here."),
  origin: new ErrorResponse(403, "Pages of this origin may not connect."),
  draining: new ErrorResponse(503, "The server is about to stop."),
  failed: new ErrorResponse(500),
};

/** Opens WebSockets for one server. */
export class UpgradeHandler {
  readonly #context: ServerContext;
  readonly #rules: WebSocketRules;
  readonly #pings: PingRound;
  #opener: Promise<Open> | null = null;

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
    const httpScope = createScope(head, "1.1", connection.endpoints, context);
    const scope = toWebSocketScope(httpScope, handshake.subprotocols);
    connection.beginUpgrade(NO_SESSION);
    this.#load().then(
      (open) => {
        if (connection.socket.destroyed) return;
        const pending = new Handshake(context, connection, httpScope, handshake.headers, open);
        const session = new WebSocketSession(context, connection.socket, scope, pending);
        connection.beginUpgrade(session);
        session.run(scope);
      },
      (err: unknown) => {
        context.logger.error({ err }, "WebSockets cannot be served: the package ws does not load.");
        connection.refuse(errors.failed);
      },
    );
  }

  /** `ws` is loaded with the first WebSocket: most processes never see one. */
  #load(): Promise<Open> {
    this.#opener ??= import("ws").then(({ WebSocket, WebSocketServer }) => {
      // `ws` asks for it in the middle of a handshake, which is one synchronous call.
      let current: Acceptance;
      const options = {
        noServer: true,
        WebSocket: toServerWebSocket(WebSocket),
        clientTracking: false,
        autoPong: false, // answered in onPing
        perMessageDeflate: this.#rules.compression && COMPRESSION,
        closeTimeout: CLOSE_TIMEOUT_MS,
        handleProtocols: () => current.subprotocol ?? false,
      };
      const server = new WebSocketServer(options);
      server.on("headers", (lines: string[]) => lines.push(...current.headers));
      return ({ connection, headers }, acceptance) => {
        let opened: ServerWebSocket | null = null;
        current = acceptance;
        server.options.maxPayload = maxMessageBytes(this.#rules, acceptance.maxMessageBytes);
        // `ws` reads these fields of the request alone.
        const request = { method: "GET", url: "/", headers } as unknown as IncomingMessage;
        server.handleUpgrade(request, connection.socket, connection.detach(), (webSocket) => {
          if (!this.#rules.compression) webSocket.socket = connection.socket;
          this.#pings.add(webSocket);
          webSocket.on("ping", onPing);
          opened = webSocket;
        });
        return opened;
      };
    });
    return this.#opener;
  }
}

/** Stands for a session until `ws` is loaded. */
const NO_SESSION = { disconnect: ignore };

function ignore(): void {}

/**
 * Not every ping is answered (RFC 6455 §5.5.3 lets the last one count): a client that sends nothing else and reads
 * nothing would have its answers kept in memory. One function for all WebSockets.
 */
function onPing(this: WebSocket, data: Buffer): void {
  if (this.bufferedAmount < MAX_BUFFERED_BYTES) {
    this.pong(data, false, ignore);
  }
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
  const hasBody = head.section.bodyBytes !== 0;
  if (head.minorVersion !== 1 || hasBody || !KEY.test(headers["sec-websocket-key"] ?? "")) return errors.malformed;
  if (!areSubprotocols(subprotocols)) return errors.malformed;
  const fault = checkParties(headers, rules, isEncrypted ? 443 : 80);
  return fault ?? { headers, subprotocols };
}

/** Only browsers send an Origin, and only they can be made to connect by a page that their user does not know. */
function checkParties({ host = "", origin }: HeaderRecord, rules: WebSocketRules, port: number): ErrorResponse | null {
  if (!isAllowedHost(host, port, rules.allowedHosts)) return errors.host;
  return origin === undefined || rules.allowedOrigins?.includes(origin) !== false ? null : errors.origin;
}

/** The smaller of two bounds of a message, the server's and the application's. */
export function maxMessageBytes(rules: WebSocketRules, wanted: number | null): number {
  return Math.min(wanted ?? rules.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES, rules.maxMessageBytes ?? Infinity);
}

/**
 * The scope of a WebSocket, from that of its request. Written field by field: what is spread from an object without one
 * of its fields is a hash table to V8, 300 bytes more for each idle WebSocket.
 */
export function toWebSocketScope(scope: HTTPScope, subprotocols: readonly string[]): WebSocketScope {
  const { asgi, http_version, path, raw_path, query_string, root_path, headers, client, server, state } = scope;
  return {
    type: "websocket",
    asgi,
    http_version,
    scheme: scope.scheme === "https" ? "wss" : "ws",
    path,
    raw_path,
    query_string,
    root_path,
    headers,
    client,
    server,
    subprotocols,
    state,
    extensions: EXTENSIONS,
  };
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
