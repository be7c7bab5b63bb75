/** A server that listens, and the way it stops. @module */
import { Server as NetServer, type Socket } from "node:net";
import type { Server } from "node:http";
import type { LoopName } from "../concurrency.js";
import { ShutdownTimeoutError } from "./errors.js";
import type { Lifespan } from "./lifespan.js";
import type { Service } from "./service.js";

/** A server that listens. */
export interface RunningServer {
  /** Where it answers, for example `"http://127.0.0.1:8000"`, or `"unix:/run/app.sock"`. */
  readonly url: string;
  /** The I/O loop underneath. */
  readonly loop: LoopName;
  /**
   * Takes no new connections, lets running requests and their background tasks finish, and runs the application's
   * shutdown. A second call gives the same promise.
   *
   * @throws ShutdownTimeoutError when that takes longer than `shutdownTimeoutMs`; the sockets are then destroyed.
   * @throws Error when the application answers `lifespan.shutdown.failed`.
   */
  close(): Promise<void>;
}

/**
 * Milliseconds for which a kept-alive connection that has nothing to do stays open after the server began to stop, so
 * that a request already on its way meets an answer and not a reset (nodejs/node#60617).
 */
const LINGER_MS = 500;

/** A server on `node:http`. */
export class NodeServer implements RunningServer {
  url = "";
  readonly loop: LoopName = "libuv";
  /** Waited for once the listener has closed, before anything else of it may end. */
  onUnlistened: () => Promise<void> = () => Promise.resolve();
  /** Called when closing begins to end: undoes what was done on behalf of this server. */
  onClosed: () => void = () => {};
  readonly #server: Server;
  readonly #service: Service;
  readonly #lifespan: Lifespan;
  readonly #shutdownTimeoutMs: number;
  readonly #sockets = new Set<Socket>();
  #accepted = 0;
  #closing: Promise<void> | null = null;
  #drained = false;

  constructor(server: Server, service: Service, lifespan: Lifespan, shutdownTimeoutMs: number) {
    this.#server = server;
    this.#service = service;
    this.#lifespan = lifespan;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
    const sockets = this.#sockets;
    const forget = function (this: Socket): void {
      sockets.delete(this);
    };
    server.on("connection", (socket) => {
      this.#accepted++;
      sockets.add(socket);
      socket.on("close", forget);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop().finally(() => this.onClosed());
    return this.#closing;
  }

  /** What still runs, for the line that a forced end leaves. */
  running(): readonly string[] {
    return this.#drained ? ["lifespan.shutdown"] : this.#service.running.map((call) => call.name);
  }

  async #stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new ShutdownTimeoutError(this.running(), this.#shutdownTimeoutMs)),
        this.#shutdownTimeoutMs,
      );
    });
    try {
      await Promise.race([this.#drain(), limit]);
      this.#drained = true;
      await Promise.race([this.#lifespan.shutDown(), limit]);
    } catch (error) {
      this.#destroySockets();
      this.#lifespan.shutDown().catch(() => {}); // what the application holds is let go even then; nobody waits for it
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #drain(): Promise<void> {
    this.#service.drain();
    await this.#acceptBacklog();
    // The close of node:http cuts idle connections at once, which resets requests that are on their way; net's does not.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    await this.onUnlistened();
    await settledWithin(closed, LINGER_MS);
    await this.#service.idle();
    for (const { socket, calls } of this.#service.connections) {
      if (calls.length === 0) {
        socket.destroySoon();
      }
    }
    await settledWithin(closed, LINGER_MS);
    await this.#service.idle();
    this.#destroySockets(); // what is left is no request: a TLS handshake that does not end, half a head
    await closed;
    this.#server.close(); // only now, with nothing left to cut: it stops the timer that looks for late requests
  }

  /**
   * Takes the connections that the system has accepted and this process has not: closing the listener resets them, and
   * their clients may have sent requests already. libuv takes one a turn since 1.45, so a turn without one is the end.
   */
  async #acceptBacklog(): Promise<void> {
    const deadline = performance.now() + LINGER_MS;
    await nextTurn(); // the rest of the turn in which the server was told to stop
    let before;
    do {
      before = this.#accepted;
      await nextTurn();
    } while (this.#accepted > before && performance.now() < deadline);
  }

  #destroySockets(): void {
    for (const socket of this.#sockets) {
      socket.destroy();
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function settledWithin(promise: Promise<void>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, limitMs)));
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}
