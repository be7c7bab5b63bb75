/** A handshake on HTTP/1.1 that the application has not answered yet. @module */
import type { HTTPScope } from "../../../protocol/asgi.js";
import type { ServerContext } from "../../../protocol/server-context.js";
import type { ErrorResponse } from "../../../protocol/error-response.js";
import { Exchange } from "../../../protocol/exchange.js";
import type { HeaderRecord } from "./handshake-rules.js";
import type { Connection } from "../http1/connection.js";
import type { ServerWebSocket } from "./server-websocket.js";
import type { Acceptance, PendingHandshake, WebSocketEvents } from "../../../protocol/websocket-handshake.js";

/** Completes a handshake. */
export type Open = (handshake: Handshake, acceptance: Acceptance, events: WebSocketEvents) => ServerWebSocket;

/** A handshake on an HTTP/1.1 connection. */
export class Handshake implements PendingHandshake {
  readonly connection: Connection;
  /** By their name in lower case. */
  readonly headers: HeaderRecord;
  readonly #context: ServerContext;
  readonly #scope: HTTPScope;
  /** One function for all WebSockets. */
  readonly #open: Open;

  constructor(context: ServerContext, connection: Connection, scope: HTTPScope, headers: HeaderRecord, open: Open) {
    this.connection = connection;
    this.headers = headers;
    this.#context = context;
    this.#scope = scope;
    this.#open = open;
  }

  open(acceptance: Acceptance, events: WebSocketEvents): ServerWebSocket | null {
    const { readable, writable } = this.connection.socket;
    return readable && writable ? this.#open(this, acceptance, events) : null;
  }

  refuse(error: ErrorResponse): void {
    this.connection.refuse(error);
  }

  respond(): Exchange {
    return new Exchange(this.#context, this.connection.output, this.#scope, null);
  }
}
