/** A handshake that the application has not answered yet. @module */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import type { Connection } from "./connection.js";
import type { Refusal } from "./refusal.js";
import { type ResponseOwner, ResponseWriter } from "./response.js";
import type { Acceptance, PendingHandshake } from "./websocket-session.js";

/** Completes a handshake; `null` when the client has gone. */
export type Open = (handshake: Handshake, acceptance: Acceptance) => WebSocket | null;

/** Up to these bytes are kept of what a client sends before its handshake is answered; then it waits. */
const MAX_EARLY_BYTES = 65_536;

/**
 * Reads a connection while the application makes up its mind: a socket that nobody reads never says that its client has
 * gone. A client that ends its side has gone as well, since a WebSocket has no half of it (RFC 6455 §7.1.1).
 */
export class Handshake implements PendingHandshake {
  readonly req: IncomingMessage;
  readonly #connection: Connection;
  readonly #socket: Socket;
  /** One function for all WebSockets. */
  readonly #open: Open;
  readonly #bytes: Buffer[];
  #length: number;

  /** @param firstBytes - What came behind the head in the same read. */
  constructor(req: IncomingMessage, connection: Connection, firstBytes: Buffer, open: Open) {
    const { socket } = connection;
    this.req = req;
    this.#connection = connection;
    this.#socket = socket;
    this.#open = open;
    this.#bytes = [firstBytes];
    this.#length = firstBytes.length;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", ignore);
  }

  open(acceptance: Acceptance): WebSocket | null {
    return this.#open(this, acceptance);
  }

  refuse(refusal: Refusal): void {
    this.release();
    refusal.write(this.#socket);
  }

  respond(owner: ResponseOwner, onFinish: () => void): ResponseWriter {
    const res = new ServerResponse(this.req);
    res.assignSocket(this.#socket);
    this.#socket.on("drain", () => res.emit("drain")); // what the server of node:http does for its own
    this.#connection.closeAfter(res);
    res.once("finish", () => {
      this.release();
      onFinish();
    });
    return new ResponseWriter(res, false, owner);
  }

  /** Stops reading, and gives what has come so far. */
  release(): Buffer {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("error", ignore);
    if (this.#socket.isPaused()) this.#socket.resume();
    return Buffer.concat(this.#bytes);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes.push(chunk);
    this.#length += chunk.length;
    if (this.#length > MAX_EARLY_BYTES) {
      this.#socket.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#socket.destroy(); // its "close" tells the application
  };
}

function ignore(): void {}
