/** The HTTP/2 connections of a server, which `serve` loads where the option asks for them. @module */
import { createServer, type Http2Server } from "node:http2";
import type { Socket } from "node:net";
import type { RequestLimits } from "../request-head.js";
import { Session, type SessionSettings } from "./session.js";

/** Requests of one connection under way at the same time (RFC 9113 §5.1.2). */
const MAX_STREAMS = 100;

/** Serves HTTP/2 on sockets that somebody else has accepted. */
export class Sessions {
  /** Makes the sessions. It listens nowhere: `connection` is emitted for each socket, as its documentation allows. */
  readonly #server: Http2Server;
  readonly #sessions = new Set<Session>();
  readonly #path: string | null;
  readonly #settings: SessionSettings;

  /** @param path - The Unix socket that the server listens on, if it does. */
  constructor(path: string | null, settings: SessionSettings) {
    this.#path = path;
    this.#settings = settings;
    this.#server = createServer(toOptions(settings.limits));
  }

  /** Number of open connections. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Takes a socket of which no byte was read, or all were put back. */
  accept(socket: Socket): void {
    this.#server.once("session", (handle) => {
      const session = new Session(handle, socket, this.#path, this.#settings);
      this.#sessions.add(session);
      socket.on("close", () => this.#sessions.delete(session));
    });
    this.#server.emit("connection", socket);
  }

  /** Holds all connections to their time-outs. Called at each check. */
  checkTime(): void {
    for (const session of this.#sessions) session.checkTime();
  }

  /** The server is about to stop: closes each connection that has served, behind the requests under way. */
  drain(): void {
    for (const session of this.#sessions) session.drain();
  }

  /** Closes each connection behind the requests under way. */
  close(): void {
    for (const session of this.#sessions) session.close();
  }
}

/** The options of `node:http2`. What its bounds refuse is reset; below them a request is answered with 431. */
function toOptions({ headerBytes, headerCount, targetBytes }: RequestLimits) {
  // A client may send each cookie in a field of its own (RFC 9113 §8.2.3); a field costs 32 bytes beside its own (§6.5.2).
  const maxHeaderListPairs = Math.min(2 * headerCount + 8, 2 ** 31);
  const maxHeaderListSize = Math.min(headerBytes + targetBytes + 32 * maxHeaderListPairs, 2 ** 31);
  return { maxHeaderListPairs, settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize } };
}
