/** The HTTP/2 connections of a server, which `serve` loads where the option asks for them. @module */
import { createServer, type Http2Server } from "node:http2";
import type { Socket } from "node:net";
import type { RequestLimits } from "../header-section.js";
import type { ServerSettings } from "../server-settings.js";
import { FrameGate } from "./frame-gate.js";
import { Session } from "./session.js";

/** Requests of one connection under way at the same time (RFC 9113 §5.1.2). */
const MAX_STREAMS = 100;

/** RFC 9113 §3.4: the first bytes of a client that knows that the server speaks HTTP/2. */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const EMPTY = Buffer.alloc(0);

/** A connection whose socket can be taken, with the bytes that have come. */
interface OpenConnection {
  readonly socket: Socket;
  detach(): Buffer;
}

/** Serves HTTP/2 on sockets that were accepted elsewhere. */
export class Sessions {
  /** Makes the sessions. It does not listen: `connection` is emitted for each socket, as its documentation allows. */
  readonly #server: Http2Server;
  readonly #sessions = new Set<Session>();
  readonly #path: string | null;
  readonly #settings: ServerSettings;

  /** @param path - The Unix socket that the server listens on, if it does. */
  constructor(path: string | null, settings: ServerSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#server = createServer(toOptions(settings.limits));
  }

  /**
   * Accepts a socket.
   *
   * @param received - The bytes that were read from it.
   */
  accept(socket: Socket, received: Buffer = EMPTY): void {
    const gate = new FrameGate(socket);
    this.#server.once("session", (handle) => {
      const session = new Session({ session: handle, socket, gate }, this.#path, this.#settings);
      this.#sessions.add(session);
      socket.on("close", () => this.#sessions.delete(session));
      gate.open(handle, received);
    });
    this.#server.emit("connection", gate);
  }

  /** Takes over a connection of HTTP/1.1 that begins with the preface. `waits` where only a part of it has come. */
  takeOver(connection: OpenConnection, bytes: Buffer): "taken" | "waits" | "refused" {
    const length = Math.min(bytes.length, PREFACE.length);
    if (PREFACE.compare(bytes, 0, length, 0, length) !== 0) return "refused";
    if (length < PREFACE.length) return "waits";
    this.accept(connection.socket, connection.detach());
    return "taken";
  }

  /** Holds all connections to their timeouts. Called at each check. */
  checkTime(): void {
    for (const session of this.#sessions) session.checkTime();
  }

  /** The server is about to stop: closes each connection that has served, after its running requests. */
  drain(): void {
    for (const session of this.#sessions) session.drain();
  }

  /** Closes each connection after its running requests. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

/** The options of `node:http2`. Requests beyond its limits are reset; below them a request can get 431. */
function toOptions({ headerBytes, headerCount, targetBytes }: RequestLimits) {
  // A client may send each cookie in a separate field (RFC 9113 §8.2.3); a field costs 32 bytes in addition to its own
  // (§6.5.2).
  const maxHeaderListPairs = Math.min(2 * headerCount + 8, 2 ** 31);
  const maxHeaderListSize = Math.min(headerBytes + targetBytes + 32 * maxHeaderListPairs, 2 ** 31);
  return { maxHeaderListPairs, settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize } };
}
