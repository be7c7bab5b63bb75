/** A server that listens, and the way it stops. @module */
import { Server as NetServer, type Socket } from "node:net";
import type { Server } from "node:http";
import { Server as SecureServer } from "node:https";
import type { LoopName } from "../concurrency.js";
import { ShutdownTimeoutError } from "./errors.js";
import { listen, type Place, urlOf } from "./listen.js";
import type { Lifespan } from "./lifespan.js";
import type { Service } from "./service.js";

/** A server that listens. Each member may be taken out of it: `const { url, close } = await serve(app)`. */
export interface RunningServer extends AsyncDisposable {
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
  readonly close: () => Promise<void>;
}

/** What an application gets of a server: `close` without a `this`, also for `await using`, and no more. */
export function toRunningServer(
  { url, loop }: Pick<RunningServer, "url" | "loop">,
  close: () => Promise<void>,
): RunningServer {
  return { url, loop, close, [Symbol.asyncDispose]: close };
}

/**
 * Milliseconds at most for which a kept-alive connection that has nothing to do stays open after the server began to
 * stop, so that a request already on its way meets an answer and not a reset (nodejs/node#60617).
 */
const LINGER_MS = 500;

/** The part of `shutdownTimeoutMs` that is lingered: who gives the end little time wants the rest of it for what runs. */
const LINGER_PART = 0.1;

/** A server, whatever loop is underneath: it stops once, within its time. */
export abstract class StoppableServer {
  url = "";
  abstract readonly loop: LoopName;
  /** Waited for once the listener has closed, before anything else of it may end. */
  onUnlistened: () => Promise<void> = () => Promise.resolve();
  /** Called when closing begins to end: undoes what was done on behalf of this server. */
  onClosed: () => void = () => {};
  protected readonly service: Service;
  /** How long idle connections stay open at the end. */
  protected readonly lingerMs: number;
  readonly #lifespan: Lifespan;
  readonly #shutdownTimeoutMs: number;
  #closing: Promise<void> | null = null;
  #drained = false;

  constructor(service: Service, lifespan: Lifespan, shutdownTimeoutMs: number) {
    this.service = service;
    this.#lifespan = lifespan;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
    this.lingerMs = Math.min(LINGER_MS, shutdownTimeoutMs * LINGER_PART);
  }

  /** Stops listening, and waits for what runs. */
  protected abstract drain(): Promise<void>;

  /** Cuts every connection. */
  protected abstract cut(): void;

  close(): Promise<void> {
    this.#closing ??= this.#stop().finally(() => this.onClosed());
    return this.#closing;
  }

  /** What still runs, for the line that a forced end leaves. */
  running(): readonly string[] {
    return this.#drained ? ["lifespan.shutdown"] : this.service.running.map((call) => call.name);
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
      await Promise.race([this.drain(), limit]);
      this.#drained = true;
      await Promise.race([this.#lifespan.shutDown(), limit]);
    } catch (error) {
      this.cut();
      this.#lifespan.shutDown().catch(() => {}); // what the application holds is let go even then; nobody waits for it
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

/** A server on `node:http`. */
export class NodeServer extends StoppableServer {
  readonly loop = "libuv";
  readonly #server: Server;
  readonly #place: Place;
  readonly #sockets = new Set<Socket>();
  #accepted = 0;

  constructor(server: Server, service: Service, lifespan: Lifespan, shutdownTimeoutMs: number, place: Place) {
    super(service, lifespan, shutdownTimeoutMs);
    this.#server = server;
    this.#place = place;
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

  /** Listens. @throws ServerStartError when that is not possible. */
  async listen(): Promise<void> {
    await listen(this.#server, this.#place);
    this.#server.on("error", (err) => this.service.logger.error({ err }, "A connection could not be taken."));
    this.url = urlOf(this.#server, this.#server instanceof SecureServer ? "https" : "http");
  }

  protected async drain(): Promise<void> {
    this.service.drain();
    await this.#acceptBacklog();
    // The close of node:http cuts idle connections at once, which resets requests that are on their way; net's does not.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    await this.onUnlistened();
    await settledWithin(closed, this.lingerMs);
    await this.service.idle();
    for (const line of this.service.connections) {
      if (line.calls.length === 0) {
        line.close();
      }
    }
    await settledWithin(closed, this.lingerMs);
    await this.service.idle();
    this.cut(); // what is left is no request: a TLS handshake that does not end, half a head
    await closed;
    this.#server.close(); // only now, with nothing left to cut: it stops the timer that looks for late requests
  }

  /**
   * Takes the connections that the system has accepted and this process has not: closing the listener resets them, and
   * their clients may have sent requests already. libuv takes one a turn since 1.45, so a turn without one is the end.
   */
  async #acceptBacklog(): Promise<void> {
    const deadline = performance.now() + this.lingerMs;
    await nextTurn(); // the rest of the turn in which the server was told to stop
    let before;
    do {
      before = this.#accepted;
      await nextTurn();
    } while (this.#accepted > before && performance.now() < deadline);
  }

  protected cut(): void {
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
