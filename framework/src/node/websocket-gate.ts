/** Where a request for a WebSocket is let in, refused, or served as the ordinary request that it also is. @module */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { PerMessageDeflateOptions, WebSocket } from "ws";
import type { HTTPScope, WebSocketScope } from "../asgi.js";
import { Connection } from "./connection.js";
import { TOKEN } from "./headers.js";
import { Refusal } from "./refusal.js";
import { readHead, type RequestHead } from "./request-head.js";
import { createScope } from "./request.js";
import type { Service } from "./service.js";
import { PingRound } from "./websocket-pings.js";
import { Handshake, type Open } from "./websocket-handshake.js";
import { type Acceptance, WebSocketSession } from "./websocket-session.js";

/** Who may open WebSockets, and how. */
export interface WebSocketOptions {
  /**
   * The hosts for which WebSockets are opened, without port; `"*.example.com"` stands for all below. A handshake for
   * another gets 400. Defaults to any. For HTTP there is the middleware `trustedHost`.
   */
  allowedHosts?: readonly string[];
  /**
   * The origins whose pages may open WebSockets, as browsers send them: `"https://example.com"`. A handshake from another
   * gets 403, one without an `Origin` comes from no browser and is let in. Defaults to any.
   */
  allowedOrigins?: readonly string[];
  /**
   * Whether WebSocket messages are compressed where the client offers it (RFC 7692). Each connection then takes more
   * memory, and each message more time. Defaults to `false`.
   */
  webSocketCompression?: boolean;
}

/** What a server asks of those who want a WebSocket. */
export interface WebSocketRules {
  /** The most bytes of one message, its fragments together (1009); `null` leaves it to the application. */
  maxMessageBytes: number | null;
  /** Whether messages are compressed where the client offers it (RFC 7692). */
  compression: boolean;
  /** Milliseconds between two pings; a client that has not answered one by the next is gone. 0: none. */
  pingMs: number;
  /** Hosts to answer for, without port, `"*.example.com"` for all below; `null` for any. */
  allowedHosts: readonly string[] | null;
  /** Origins whose pages may connect, as browsers send them; `null` for any. */
  allowedOrigins: readonly string[] | null;
}

/** The rules that options ask for. */
export function toRules(options: WebSocketOptions, pingMs: number, maxBytes: number | null): WebSocketRules {
  return {
    maxMessageBytes: maxBytes,
    pingMs,
    compression: options.webSocketCompression ?? false,
    allowedHosts: options.allowedHosts ?? null,
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

const refusals = {
  method: new Refusal(405, "A WebSocket is asked for with GET.", ["allow", "GET"]),
  malformed: new Refusal(400, "The WebSocket handshake is malformed."),
  upgrade: new Refusal(400, "Expected Upgrade: websocket."),
  version: new Refusal(426, "Expected Sec-WebSocket-Version 13.", ["sec-websocket-version", "13"]),
  host: new Refusal(400, "This host is not served here."),
  origin: new Refusal(403, "Pages of this origin may not connect."),
  draining: new Refusal(503, "The server is about to stop."),
  failed: new Refusal(500),
};

/** Opens WebSockets for one service. */
export class WebSocketGate {
  readonly #service: Service;
  readonly #rules: WebSocketRules;
  readonly #serveAsHTTP: ((socket: Socket) => void) | null;
  readonly #pings: PingRound;
  #opener: Promise<Open> | null = null;

  /**
   * @param serveAsHTTP - Gives a connection, whose request is its next bytes, back to the parser of `node:http`; `null`
   *   where that is not ours to do: then an upgrade to something else is refused.
   */
  constructor(service: Service, rules: WebSocketRules, serveAsHTTP: ((socket: Socket) => void) | null) {
    this.#service = service;
    this.#rules = rules;
    this.#serveAsHTTP = serveAsHTTP;
    this.#pings = new PingRound(rules.pingMs);
  }

  /** Takes a request with an `Upgrade` from the parser; from here on the connection is not HTTP's any more. */
  upgrade(req: IncomingMessage, socket: Socket, firstBytes: Buffer): void {
    const connection = Connection.of(socket);
    socket.on("error", ignore);
    if (connection.calls.some((call) => !call.answered)) {
      connection.refuseDetached(refusals.malformed); // pipelined: its answer waits for those before it
    } else if (req.headers.upgrade?.toLowerCase() !== "websocket") {
      this.#serveOther(req, socket, firstBytes);
    } else {
      const head = readHead(req, connection, this.#service.limits);
      const refusal = head instanceof Refusal ? head : this.#refusalOf(req, head);
      if (refusal !== null || head instanceof Refusal) {
        refusal?.write(socket);
        return;
      }
      this.#load().then(
        (open) => this.#begin(open, req, head, connection, firstBytes),
        (err: unknown) => {
          this.#service.logger.error({ err }, "WebSockets cannot be served: the package ws does not load.");
          refusals.failed.write(socket);
        },
      );
    }
  }

  #serveOther(req: IncomingMessage, socket: Socket, firstBytes: Buffer): void {
    if (this.#serveAsHTTP === null) {
      refusals.upgrade.write(socket);
      return;
    }
    socket.off("error", ignore);
    socket.unshift(Buffer.concat([headWithoutUpgrade(req), firstBytes]));
    this.#serveAsHTTP(socket);
  }

  #refusalOf(req: IncomingMessage, head: RequestHead): Refusal | null {
    return this.#service.draining ? refusals.draining : refusalOf(req, head, this.#rules);
  }

  #begin(open: Open, req: IncomingMessage, head: RequestHead, connection: Connection, firstBytes: Buffer): void {
    const { socket } = connection;
    if (socket.destroyed) {
      return;
    }
    const scope = toWebSocketScope(createScope(req, head, connection, this.#service), req.headers);
    const handshake = new Handshake(req, connection, firstBytes, open);
    socket.off("error", ignore);
    new WebSocketSession(this.#service, connection, scope, handshake).run(scope);
  }

  /** `ws` is loaded with the first WebSocket: most processes never see one. */
  #load(): Promise<Open> {
    this.#opener ??= import("ws").then(({ WebSocketServer }) => {
      // What `ws` asks for in the middle of a handshake, which is one synchronous call.
      let current: Acceptance;
      const options = {
        noServer: true,
        clientTracking: false,
        autoPong: false, // answered in onPing
        perMessageDeflate: this.#rules.compression && COMPRESSION,
        closeTimeout: CLOSE_TIMEOUT_MS,
        handleProtocols: () => current.subprotocol ?? false,
      };
      const server = new WebSocketServer(options);
      server.on("headers", (lines: string[]) => lines.push(...current.headers));
      return (handshake, acceptance) => {
        let opened: WebSocket | null = null;
        current = acceptance;
        server.options.maxPayload = maxMessageBytes(this.#rules, acceptance.maxMessageBytes);
        const { req } = handshake;
        server.handleUpgrade(req, req.socket, handshake.release(), (webSocket) => {
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

/** What is looked at of a handshake, besides its head. */
interface HandshakeRequest {
  readonly method?: string;
  readonly httpVersionMinor: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Why a handshake is refused, or `null`. @see RFC 6455 §4.2.1 */
export function refusalOf(req: HandshakeRequest, head: RequestHead, rules: WebSocketRules): Refusal | null {
  const { headers } = req;
  if (req.method !== "GET") {
    return refusals.method;
  }
  if (headers["sec-websocket-version"] !== "13") {
    return refusals.version;
  }
  const isWellFormed =
    req.httpVersionMinor === 1 &&
    KEY.test(String(headers["sec-websocket-key"] ?? "")) &&
    !head.hasBody &&
    areSubprotocols(subprotocolsOf(headers));
  if (!isWellFormed) {
    return refusals.malformed;
  }
  if (!isAllowedHost(hostOf(head), rules.allowedHosts)) {
    return refusals.host;
  }
  // Only browsers send an Origin, and only they can be made to connect by a page that their user does not know.
  const isAllowed =
    headers["origin"] === undefined || rules.allowedOrigins?.includes(String(headers["origin"])) !== false;
  return isAllowed ? null : refusals.origin;
}

/** The smaller of two bounds of a message, the server's and the application's. */
export function maxMessageBytes(rules: WebSocketRules, wanted: number | null): number {
  return Math.min(wanted ?? rules.maxMessageBytes ?? DEFAULT_MESSAGE_BYTES, rules.maxMessageBytes ?? Infinity);
}

/**
 * The scope of a WebSocket, from that of its request. Written field by field: what is spread from an object without one
 * of its fields is a hash table to V8, 300 bytes more for each idle WebSocket.
 */
export function toWebSocketScope(scope: HTTPScope, requestHeaders: HandshakeRequest["headers"]): WebSocketScope {
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
    subprotocols: subprotocolsOf(requestHeaders),
    state,
    extensions: EXTENSIONS,
  };
}

function subprotocolsOf(headers: HandshakeRequest["headers"]): readonly string[] {
  const offered = headers["sec-websocket-protocol"];
  return offered === undefined
    ? NO_SUBPROTOCOLS
    : String(offered)
        .split(",")
        .map((name) => name.trim());
}

/** RFC 6455 §4.1: tokens, each once. */
function areSubprotocols(names: readonly string[]): boolean {
  return names.every((name) => TOKEN.test(name)) && new Set(names).size === names.length;
}

function isAllowedHost(header: string, allowed: readonly string[] | null): boolean {
  const host = header.replace(/:\d*$/, "").toLowerCase();
  return (
    allowed === null ||
    allowed.some((pattern) => {
      const name = pattern.toLowerCase();
      return name === "*" || (name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === name);
    })
  );
}

/**
 * The head of a request without its offer to upgrade, which a server may ignore (RFC 9110 §7.8): what curl and Java's
 * client send in front of every cleartext HTTP/2 connection.
 */
function headWithoutUpgrade(req: IncomingMessage): Buffer {
  let head = `${req.method} ${req.url} HTTP/${req.httpVersion}\r\n`;
  for (let index = 0; index < req.rawHeaders.length; index += 2) {
    const name = req.rawHeaders[index] as string;
    const value = req.rawHeaders[index + 1] as string;
    const kept =
      name.toLowerCase() === "connection" ? value.replaceAll(/\b(?:upgrade|http2-settings)\b,?/gi, "") : value;
    if (!/^(?:upgrade|http2-settings)$/i.test(name)) {
      head += `${name}: ${kept}\r\n`;
    }
  }
  return Buffer.from(`${head}\r\n`, "latin1");
}

/** The host that counts, which the application sees as well: that of an absolute-form target before the header's. */
function hostOf({ headers }: RequestHead): string {
  const index = headers.findIndex((name, position) => position % 2 === 0 && name.toLowerCase() === "host");
  return headers[index + 1] ?? "";
}
