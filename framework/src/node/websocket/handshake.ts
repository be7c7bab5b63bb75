/** A handshake that the application has not answered yet. @module */
import type { WebSocket } from "ws";
import type { ErrorResponse } from "../error-response.js";
import type { Connection } from "../http1/connection.js";
import { ResponseWriter } from "../response.js";
import type { Acceptance, PendingHandshake } from "./session.js";

/** Completes a handshake; `null` when the client has gone. */
export type Open = (handshake: Handshake, acceptance: Acceptance) => WebSocket | null;

/** A handshake on an HTTP/1.1 connection. */
export class Handshake implements PendingHandshake {
  readonly connection: Connection;
  /** `[name, value, …]` as they came. */
  readonly headers: readonly string[];
  /** One function for all WebSockets. */
  readonly #open: Open;

  constructor(connection: Connection, headers: readonly string[], open: Open) {
    this.connection = connection;
    this.headers = headers;
    this.#open = open;
  }

  open(acceptance: Acceptance): WebSocket | null {
    return this.connection.socket.destroyed ? null : this.#open(this, acceptance);
  }

  refuse(error: ErrorResponse): void {
    this.connection.refuse(error);
  }

  respond(): ResponseWriter {
    return new ResponseWriter(this.connection.output, false);
  }

  completed(): void {
    this.connection.output.completed();
  }
}
