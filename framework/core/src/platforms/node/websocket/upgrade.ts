/** Requests for a WebSocket: checked, rejected, or passed to a session. @module */
import { createHash } from "node:crypto";
import type { WebSocketScope } from "../../../protocol/asgi.js";
import type { ServerContext } from "../../../protocol/server-context.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { Connection } from "../http1/connection.js";
import { createScope, toWebSocketScope } from "../../../protocol/scope.js";
import { WebSocketSession } from "../../../protocol/websocket-session.js";
import type { RequestHead } from "../request-head.js";
import { acceptOffer } from "./compression.js";
import { type HeaderRecord, maxMessageBytes, parseHandshake, type WebSocketRules } from "./handshake-rules.js";
import { PingRound } from "./pings.js";
import { ServerWebSocket } from "./server-websocket.js";
import { keepSocket, offerSocket } from "./taken-sockets.js";
import { Exchange } from "../../../protocol/exchange.js";
import type { PendingHandshake } from "../../../protocol/websocket-handshake.js";

/** Appended to the key of the client: RFC 6455 §1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const DRAINING = new ErrorResponse(503, "The server is about to stop.");

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

  /**
   * Takes a request for a WebSocket. The connection serves no other request after it.
   *
   * @param prepare - Completes the scope.
   */
  upgrade(connection: Connection, head: RequestHead, prepare?: (scope: WebSocketScope) => void): void {
    const context = this.#context;
    const { encrypted } = connection.endpoints;
    const handshake = context.draining ? DRAINING : parseHandshake(head, this.#rules, encrypted);
    if (handshake instanceof ErrorResponse) {
      connection.refuse(handshake);
      return;
    }
    const { method, target, section } = head;
    const requestHead = { httpVersion: "1.1", method, target, headers: section.headers };
    const httpScope = createScope(requestHead, connection.endpoints, context);
    const scope = toWebSocketScope(httpScope, handshake.subprotocols);
    prepare?.(scope);
    offerSocket(scope, connection);
    const pending: PendingHandshake = {
      open: (...accepted) => {
        const { readable, writable } = connection.socket;
        keepSocket(scope);
        return readable && writable ? this.#open(connection, handshake.headers, accepted) : null;
      },
      refuse: (error) => connection.refuse(error),
      respond: () => new Exchange(context, connection.output, httpScope, null),
    };
    const session = new WebSocketSession(context, connection.socket, scope, pending);
    connection.beginUpgrade(session);
    void session.run(scope);
  }

  /** Responds to a handshake with 101, and uses its socket. @see RFC 6455 §4.2.2 */
  #open(
    connection: Connection,
    headers: HeaderRecord,
    [acceptance, events]: Parameters<PendingHandshake["open"]>,
  ): ServerWebSocket {
    const { subprotocol, headers: accepted, maxMessageBytes: wanted } = acceptance;
    const compression = this.#rules.compression ? acceptOffer(headers["sec-websocket-extensions"]) : null;
    const key = headers["sec-websocket-key"] ?? "";
    const response = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${createHash("sha1")
        .update(key + GUID)
        .digest("base64")}`,
      ...(subprotocol === null ? [] : [`Sec-WebSocket-Protocol: ${subprotocol}`]),
      ...(compression === null ? [] : [`Sec-WebSocket-Extensions: ${compression.accepted}`]),
    ];
    for (let index = 0; index < accepted.length; index += 2)
      response.push(`${accepted[index]}: ${accepted[index + 1]}`);
    const { socket } = connection;
    const rest = connection.detach();
    socket.write(`${response.join("\r\n")}\r\n\r\n`, "latin1");
    const options = { maxMessageBytes: maxMessageBytes(this.#rules, wanted), compression, pings: this.#pings };
    return new ServerWebSocket({ socket, rest }, events, options);
  }
}
