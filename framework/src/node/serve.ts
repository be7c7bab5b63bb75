/** Serves an application over HTTP/1.1 from start-up to the last answer. @module */
import type { Server } from "node:http";
import { Server as NetServer, type AddressInfo, type Socket } from "node:net";
import type { TlsOptions } from "node:tls";
import type { ASGIApp } from "../asgi.js";
import { consoleLogger, type Logger } from "../logger.js";
import { Connection } from "./connection.js";
import { ServerStartError, ShutdownTimeoutError } from "./errors.js";
import { DEFAULT_REQUEST_LIMITS } from "./handler.js";
import { createHTTPServer, type Timeouts } from "./http-server.js";
import { Lifespan } from "./lifespan.js";
import type { RequestLimits } from "./request-head.js";
import { Service } from "./service.js";
import { stopOnSignals } from "./signals.js";

/** How `serve` listens and stops. */
export interface ServeOptions {
  /** The address to listen on. Defaults to `"127.0.0.1"`; `"0.0.0.0"` or `"::"` takes connections from other machines. */
  host?: string;
  /** The port in range [0...65535]; 0 takes a free one. Defaults to 8000. */
  port?: number;
  /** A Unix socket to listen on in place of `host` and `port`. One left behind by a dead process is replaced. */
  path?: string;
  /** Key, certificate and whatever else `tls.createServer` takes. Given, the server speaks HTTPS. */
  tls?: TlsOptions;
  /** Bounds on what a client may send before the application is asked, and on how many clients there are. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** How long clients are waited for. */
  timeouts?: Partial<Timeouts>;
  /** Whether SIGTERM and SIGINT drain the server and then end the process. Defaults to `true`. */
  signals?: boolean;
  /** Milliseconds that stopping may take, shutdown hooks included, before it is forced. Defaults to 10,000. */
  shutdownTimeoutMs?: number;
  /** Where the server says that it listens, and reports what the application lets escape. Defaults to stderr. */
  logger?: Logger;
}

/**
 * Bounds of each connection: `targetBytes` defaults to 8,192 (the URL's path and query, 414), `headerBytes` to 16,384 and
 * `headerCount` to 100 (431), `connections` to no bound (one more is closed at once).
 */
export interface ConnectionLimits extends RequestLimits {
  /** How many connections are open at the same time. */
  connections: number;
}

/**
 * 65 s without a request is longer than the minute for which common load balancers keep theirs, so that it is they who
 * close: the other way round they send requests into closing connections.
 */
const DEFAULT_TIMEOUTS: Timeouts = { headersMs: 20_000, requestMs: 300_000, keepAliveMs: 65_000 };

/** A server that listens. */
export interface RunningServer {
  /** Where it answers, for example `"http://127.0.0.1:8000"`. */
  readonly url: string;
  /** The I/O loop underneath. */
  readonly loop: "libuv";
  /**
   * Takes no new connections, lets running requests and their background tasks finish, and runs the application's
   * shutdown. A second call gives the same promise.
   *
   * @throws ShutdownTimeoutError when that takes longer than `shutdownTimeoutMs`; the sockets are then destroyed.
   */
  close(): Promise<void>;
}

/**
 * Milliseconds for which a kept-alive connection that has nothing to do stays open after the server began to stop, so
 * that a request already on its way meets an answer and not a reset (nodejs/node#60617).
 */
const LINGER_MS = 500;

/**
 * Runs an application's start-up, listens, and resolves once connections are taken.
 *
 * @throws ServerStartError when start-up fails or the address cannot be listened on; the port is not open then.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { serve } from "tsgi/node";
 *
 * const { url } = await serve(new App(), { port: 8000 });
 * ```
 */
export async function serve(app: ASGIApp, options: ServeOptions = {}): Promise<RunningServer> {
  const logger = options.logger ?? consoleLogger;
  const lifespan = new Lifespan(app, logger);
  const { connections = Infinity, ...limits } = options.connectionLimits ?? {};
  const service = new Service(app, logger, lifespan.state, { ...DEFAULT_REQUEST_LIMITS, ...limits });
  const server = createHTTPServer(service, { ...DEFAULT_TIMEOUTS, ...options.timeouts }, connections, options.tls);
  const running = new NodeServer(server, service, lifespan, options.shutdownTimeoutMs ?? 10_000);
  await lifespan.startUp();
  try {
    await listen(server, options.host ?? "127.0.0.1", options.port ?? 8000);
  } catch (error) {
    await lifespan.shutDown();
    throw error;
  }
  running.url = urlOf(server);
  if (options.signals ?? true) {
    running.forgetSignals = stopOnSignals(running);
  }
  logger.info({ url: running.url }, `Listening on ${running.url}`);
  return running;
}

class NodeServer implements RunningServer {
  url = "";
  readonly loop = "libuv";
  forgetSignals: () => void = () => {};
  readonly #server: Server;
  readonly #service: Service;
  readonly #lifespan: Lifespan;
  readonly #shutdownTimeoutMs: number;
  readonly #sockets = new Set<Socket>();
  #closing: Promise<void> | null = null;
  #shuttingDown = false;

  constructor(server: Server, service: Service, lifespan: Lifespan, shutdownTimeoutMs: number) {
    this.#server = server;
    this.#service = service;
    this.#lifespan = lifespan;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
    server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop().finally(() => this.forgetSignals());
    return this.#closing;
  }

  stop(): Promise<void> {
    return this.close();
  }

  running(): readonly string[] {
    const names = [...this.#service.running].map((exchange) => exchange.name);
    return this.#shuttingDown ? [...names, "lifespan.shutdown"] : names;
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
      this.#shuttingDown = true;
      await Promise.race([this.#lifespan.shutDown(), limit]);
    } finally {
      clearTimeout(timer);
      for (const socket of this.#sockets) {
        socket.destroy();
      }
    }
  }

  async #drain(): Promise<void> {
    this.#service.draining = true;
    // The close of node:http cuts idle connections at once, which resets requests that are on their way; net's does not.
    const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(this.#server, () => resolve()));
    if (this.#sockets.size > 0) {
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, LINGER_MS))]);
    }
    await this.#service.idle();
    for (const socket of this.#sockets) {
      if (Connection.of(socket).idle) {
        socket.destroySoon();
      }
    }
    await closed;
  }
}

/** Listens, or says in one line why that is not possible and what to do. */
function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      reject(new ServerStartError(error.code ?? "EUNKNOWN", whyNot(error, host, port), { cause: error }));
    });
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): string {
  if (error.code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use. Stop the program that has it, or choose another port.`;
  }
  if (error.code === "EACCES") {
    return `Not allowed to listen on port ${port} on ${host}. Ports below 1024 need privileges: choose one above.`;
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    return `${host} is no address of this machine. Listen on 127.0.0.1, 0.0.0.0 or one that it has.`;
  }
  return `Cannot listen on port ${port} on ${host}: ${error.message}`;
}

/** The address to call the server under: a wildcard address is answered on loopback. */
function urlOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
