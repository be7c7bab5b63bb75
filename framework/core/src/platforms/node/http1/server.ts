/** A server of HTTP/1.1 on `node:net` and `node:tls`. @module */
import { createServer, type Server, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createServer as createSecureServer, type TlsOptions } from "node:tls";
import { clearInterval, performance, setInterval } from "../../../common/timers.js";
import type { ServerContext } from "../../../protocol/server-context.js";
import { nextTurn } from "../../../common/promises.js";
import { settledWithin } from "../../../protocol/shutdown.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { RequestLimits } from "../header-section.js";
import type { Lifespan } from "../../../protocol/lifespan.js";
import { listen, type ListenAddress, urlOf } from "../listen.js";
import type { Timeouts } from "../server-settings.js";
import { MAX_WAITING_BYTES } from "../slow-reader.js";
import { StoppableServer } from "../stoppable-server.js";
import type { Sessions } from "../http2/sessions.js";
import type { WebSocketRules } from "../websocket/handshake-rules.js";
import { UpgradeHandler } from "../websocket/upgrade.js";
import { Connection, type ConnectionSettings } from "./connection.js";
import { createHeadEnd } from "./output.js";

/**
 * The connections of a server, grouped for the checks. One timer serves all instead of two for each request, and an
 * idle connection costs no check anything: 1,000 of them took 1.2 ms of processor time a second when each was visited.
 */
class Sweep {
  readonly #active = new Set<Connection>();
  /** In the order in which they became idle. All have the same timeout, so behind one that is in time all are. */
  readonly #idle = new Set<Connection>();

  add(connection: Connection): void {
    this.#active.add(connection);
  }

  /** Looks at an idle connection again, which is used or closed. */
  wake(connection: Connection): void {
    this.#idle.delete(connection);
    this.#active.add(connection);
  }

  delete(connection: Connection): void {
    this.#active.delete(connection);
    this.#idle.delete(connection);
  }

  /** Called at each check. */
  check(): void {
    for (const connection of this.#idle) if (connection.checkTime() === "idle") break;
    for (const connection of this.#active) {
      const rest = connection.checkTime();
      if (rest !== "active") this.#active.delete(connection);
      if (rest === "idle") this.#idle.add(connection);
    }
  }
}

/** The bounds of the time between two checks of all connections, in milliseconds. */
const MAX_CHECK_INTERVAL_MS = 1000;
const MIN_CHECK_INTERVAL_MS = 10;

/** Milliseconds of a turn in which hardly anything was served, so that hardly anything has been received since it began. */
const QUIET_TURN_MS = 0.2;

/**
 * Milliseconds without a new connection after which the listener closes, and the most milliseconds to wait for that. Closing
 * it resets connections that have arrived since the last turn, and a client whose connection was closed by its last response
 * connects again at once: behind nginx, one of 30 restarts reset requests.
 */
const QUIET_MS = 10;
const MAX_QUIET_WAIT_MS = 100;

/** Excess connections that may get a response at the same time; more are closed without a response. */
const MAX_REFUSED = 1000;
const full = new ErrorResponse(503, "The server has as many connections as it takes.", ["retry-after", "1"]);

/** The settings of a server. */
export interface HTTP1Settings {
  limits: RequestLimits;
  timeouts: Timeouts;
  /** Number of connections open at the same time; `Infinity` for no bound. */
  connections: number;
  tls: TlsOptions | undefined;
  webSockets: WebSocketRules;
  address: ListenAddress;
  shutdownTimeoutMs: number;
  /** Serves HTTP/2; `null` for only HTTP/1.1. */
  http2: typeof Sessions | null;
}

/** Serves an application over HTTP/1.1. */
export class HTTP1Server extends StoppableServer {
  readonly loop = "libuv";
  readonly #settings: HTTP1Settings;
  readonly #server: Server;
  readonly #shared: ConnectionSettings;
  readonly #connections = new Set<Connection>();
  readonly #sweep = new Sweep();
  readonly #http2: Sessions | null;
  /** All sockets, those in the middle of a TLS handshake included. */
  readonly #sockets = new Set<Socket>();
  /** Those that count as connections: attackers hold sockets without a handshake, too. */
  readonly #counted = new Set<Socket>();
  #accepted = 0;
  /** Connections in excess, until they have ended. */
  readonly #refused = new Set<Connection>();
  /**
   * The latest connections while the server begins to stop, which it reads after the listener has closed. A response before
   * would let the client connect again; with 12 such clients, half of them lost a request. `null` at all other times.
   */
  #held: Socket[] | null = null;
  #hasWarned = false;
  #checkedAt = performance.now();

  constructor(context: ServerContext, lifespan: Lifespan, settings: HTTP1Settings) {
    super(context, lifespan, settings.shutdownTimeoutMs);
    this.#settings = settings;
    const { http2, tls, address } = settings;
    // By prior knowledge, and with TLS only by ALPN (RFC 9113 §3.2).
    const acceptHTTP2 =
      http2 === null || tls !== undefined
        ? null
        : (connection: Connection, bytes: Buffer) => this.#acceptHTTP2(connection, bytes);
    const wake = (connection: Connection) => this.#sweep.wake(connection);
    this.#shared = { ...toConnectionSettings(context, settings), acceptHTTP2, wake };
    this.#http2 = http2 && new http2("path" in address ? address.path : null, this.#shared);
    this.#server = this.#createServer();
    this.#server.on("connection", (socket: Socket) => this.#onConnection(socket));
  }

  /** Takes a socket, before its TLS handshake. Both versions of HTTP are counted here. */
  #onConnection(socket: Socket): void {
    const { tls, connections } = this.#settings;
    const isFull = this.#counted.size >= connections;
    this.#accepted++;
    this.#sockets.add(socket);
    if (!isFull) this.#counted.add(socket);
    socket.on("close", () => {
      this.#sockets.delete(socket);
      this.#counted.delete(socket);
    });
    if (isFull) this.#warn();
    if (tls !== undefined) {
      if (isFull) socket.destroy(); // the handshake would cost more than the response saves
    } else if (this.#held === null) {
      this.#accept(socket, isFull);
    } else {
      this.#held.push(socket.on("error", () => {}));
    }
  }

  #createServer(): Server {
    const { tls, timeouts, http2 } = this.#settings;
    const options = { allowHalfOpen: true, noDelay: true };
    if (tls === undefined) return createServer(options);
    const handshakeTimeout = timeouts.headersMs === 0 ? undefined : timeouts.headersMs;
    const ALPNProtocols = http2 === null ? ["http/1.1"] : ["h2", "http/1.1"];
    const server = createSecureServer({ handshakeTimeout, ALPNProtocols, ...tls, ...options });
    server.on("secureConnection", (socket) => this.#accept(socket, false));
    return server.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  #accept(socket: Socket, isFull: boolean): void {
    const { address } = this.#settings;
    if (this.#http2 !== null && "alpnProtocol" in socket && socket.alpnProtocol === "h2") {
      this.#http2.accept(socket);
      return;
    }
    const connection = new Connection(socket, "path" in address ? address.path : null, this.#shared);
    this.#sweep.add(connection);
    if (!isFull) this.#connections.add(connection);
    socket.on("close", () => {
      this.#connections.delete(connection);
      this.#sweep.delete(connection);
    });
    if (isFull) this.#refuse(connection);
  }

  #acceptHTTP2(connection: Connection, bytes: Buffer): boolean {
    const state = this.#http2?.takeOver(connection, bytes);
    if (state === "taken") this.#connections.delete(connection);
    return state !== "refused";
  }

  /** Listens. @throws ServerStartError when that is not possible. */
  protected async listen(): Promise<void> {
    await listen(this.#server, this.#settings.address);
    this.#server.on("error", (err) => this.context.logger.error({ err }, "A connection could not be taken."));
    this.url = urlOf(this.#server, this.#settings.tls === undefined ? "http" : "https");
    const check = setInterval(() => this.#check(), this.#shared.checkIntervalMs).unref();
    this.#server.on("close", () => clearInterval(check));
  }

  /**
   * Holds all connections to their timeouts. Time in which this process could not read does not count against clients:
   * data that they have sent meanwhile is read after this check.
   */
  #check(): void {
    const now = performance.now();
    this.#shared.now += Math.min(now - this.#checkedAt, 2 * this.#shared.checkIntervalMs);
    this.#checkedAt = now;
    this.#shared.isCrowded = this.#shared.waitingBytes > MAX_WAITING_BYTES;
    this.#shared.waitingBytes = 0;
    this.#sweep.check();
    this.#http2?.checkTime();
  }

  #warn(): void {
    if (this.#hasWarned) return;
    const { connections, tls } = this.#settings;
    const outcome = tls === undefined ? "get 503" : "are closed";
    this.context.logger.warn({ connections }, `More connections than allowed: the latest ${outcome}.`);
    this.#hasWarned = true;
  }

  #refuse(connection: Connection): void {
    if (this.#refused.size >= MAX_REFUSED) {
      connection.socket.destroy();
      return;
    }
    this.#refused.add(connection);
    connection.socket.once("close", () => this.#refused.delete(connection));
    connection.refuse(full);
  }

  protected async drain(): Promise<void> {
    this.context.drain();
    const held: Socket[] = (this.#held = []);
    await this.#acceptBacklog();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#held = null;
    for (const socket of held) {
      if (socket.readableEnded) socket.destroy(); // its client has ended it without a request
      else if (!socket.destroyed) this.#accept(socket, !this.#counted.has(socket));
    }
    this.#http2?.drain();
    await this.onUnlistened();
    await settledWithin(closed, this.lingerMs);
    this.#http2?.close();
    do {
      await this.context.idle();
      await quietTurn(this.lingerMs); // reads requests that were received while the event loop was busy
    } while (this.context.running.size > 0);
    for (const connection of this.#connections) {
      if (connection.isIdle) connection.close();
    }
    await settledWithin(closed, this.lingerMs);
    await this.context.idle();
    this.cut(); // the rest is not a request: an incomplete TLS handshake, part of a head
    await closed;
  }

  /**
   * Takes the connections that the system has accepted and this process has not: closing the listener resets them, and
   * their clients may have sent requests already. libuv takes one a turn since 1.45, so a turn without one is the end.
   */
  async #acceptBacklog(): Promise<void> {
    const startedAt = performance.now();
    for (;;) {
      const before = this.#accepted;
      const elapsedMs = performance.now() - startedAt;
      // Not by turns: a process that has just slept is not interrupted between its last turn and the close.
      if (this.#sockets.size > 0 && elapsedMs < MAX_QUIET_WAIT_MS) await wait(QUIET_MS);
      else await nextTurn(); // the rest of the turn in which the server was told to stop
      await quietTurn(this.lingerMs);
      if (this.#accepted === before || elapsedMs >= this.lingerMs) return;
    }
  }

  protected cut(): void {
    for (const { output } of this.#connections) output.destroy();
    for (const socket of this.#sockets) socket.destroy();
  }
}

function toConnectionSettings(
  context: ServerContext,
  settings: HTTP1Settings,
): Omit<ConnectionSettings, "acceptHTTP2" | "wake"> {
  const { limits, timeouts, webSockets } = settings;
  const { keepAliveMs, ...others } = timeouts;
  const limitsMs = [keepAliveMs, ...Object.values(others)].filter((ms) => ms > 0);
  const shortest = Math.min(...limitsMs, 4 * MAX_CHECK_INTERVAL_MS);
  const upgrades = new UpgradeHandler(context, webSockets);
  return {
    context,
    limits,
    timeouts,
    headEnd: createHeadEnd(keepAliveMs),
    checkIntervalMs: Math.max(MIN_CHECK_INTERVAL_MS, Math.ceil(shortest / 4)),
    now: performance.now(),
    waitingBytes: 0,
    isCrowded: false,
    upgrade: (connection, head) => upgrades.upgrade(connection, head),
  };
}

/** Lets the event loop turn until it has a quiet turn, within a limit. */
async function quietTurn(limitMs: number): Promise<void> {
  const deadline = performance.now() + limitMs;
  let now = performance.now();
  let began;
  do {
    began = now;
    await nextTurn();
    now = performance.now();
  } while (now - began > QUIET_TURN_MS && now < deadline);
}
