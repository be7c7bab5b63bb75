/** Serves an application over HTTP/1.1 from startup to the last response. @module */
import type { TlsOptions } from "node:tls";
import type { ASGIApp } from "../../protocol/asgi.js";
import { assertApplication } from "../../protocol/callable.js";
import { findLoopPackage, loopName, type LoopName, type LoopPackage } from "../concurrency/loop.js";
import { shareProcessors } from "../concurrency/pools.js";
import { workerHost } from "../concurrency/self.js";
import { configurationError } from "../../common/exceptions.js";
import { Lifespan } from "../../protocol/lifespan.js";
import { consoleLogger, guardLogger, keepOutputs, type Logger } from "../../common/logger.js";
import {
  AMOUNT,
  assertOptions,
  FLAG,
  group,
  MILLISECONDS,
  OBJECT,
  oneOf,
  type OptionRule,
  type OptionRules,
  TEXT,
  whole,
  withDefaults,
} from "../../common/options.js";
import { ServerContext } from "../../protocol/server-context.js";
import { type RunningServer, type StoppableServer, toRunningServer } from "./stoppable-server.js";
import { probePort } from "./listen.js";
import { HTTP1Server } from "./http1/server.js";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "./header-section.js";
import type { Timeouts } from "./server-settings.js";
import { type Closable, closeOnSignals, whenMade } from "./signals.js";
import { PROXY_OPTIONS, proxiesOf, type ProxyOptions, type TrustedProxies } from "./trusted-proxies.js";
import type { LoopDriver } from "./loop-driver.js";
import { HANDSHAKE_OPTIONS, toRules, type SocketServerOptions } from "./websocket/handshake-rules.js";
import { announce, joinWorkers, returnConnections, sharedPort, workerRole } from "./worker.js";

/** The options of `serve`. */
export interface ServeOptions extends SocketServerOptions, ProxyOptions {
  /** The address to listen on. Defaults to `"127.0.0.1"`; `"0.0.0.0"` or `"::"` takes connections from other machines. */
  host?: string;
  /** The port in range [0...65535]; 0 takes a free one. Defaults to 8000. */
  port?: number;
  /** A Unix socket to listen on in place of `host` and `port`. One left behind by a dead process is replaced. */
  path?: string;
  /**
   * The number of processes that serve. With more than 1, this process starts them: each runs the program's main module and gets
   * a share of the connections, one that dies is replaced, and SIGHUP replaces one after the other without losing a
   * request. Defaults to 1, which is this process.
   */
  workers?: number;
  /**
   * The I/O loop. Defaults to uWebSockets.js where `@tsgi/uwebsockets` is installed with it, on Linux, and what is
   * asked for is something that it can do; else to Node's own.
   */
  loop?: LoopName;
  /** Options for `tls.createServer`, such as `key` and `cert`. Given, the server speaks HTTPS. */
  tls?: TlsOptions;
  /**
   * Enables HTTP/2 in addition to HTTP/1.1, on the same port: with TLS if the client offers it (ALPN), without TLS if
   * the client begins with it (prior knowledge). WebSockets stay on HTTP/1.1. Defaults to `false`.
   */
  http2?: boolean;
  /** Limits for data that a client sends before the application is called, and for the number of clients. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** Time limits for clients. */
  timeouts?: Partial<Timeouts>;
  /** Lets SIGTERM and SIGINT drain the server and then end the process. Defaults to `true`. */
  signals?: boolean;
  /** Milliseconds that stopping may take, shutdown hooks included, before it is forced. Defaults to 10,000. */
  shutdownTimeoutMs?: number;
  /** The log of the address and of errors that the application lets escape. Defaults to stderr. */
  logger?: Logger;
}

/** Limits for data that a client sends. */
export interface ConnectionLimits extends RequestLimits {
  /** The most connections that are open at the same time, in each worker; one more gets 503. Defaults to 50,000. */
  connections: number;
  /**
   * Bytes of one WebSocket message, its fragments together and decompressed (1009). A limit for the application; by
   * default it is its limit `webSocketMessageBytes`, or 1,048,576 if that is not set.
   */
  webSocketMessageBytes: number;
}

const LIMITS: OptionRules<ConnectionLimits> = {
  targetBytes: AMOUNT,
  headerBytes: AMOUNT,
  headerCount: AMOUNT,
  connections: AMOUNT,
  webSocketMessageBytes: AMOUNT,
};

const TIMEOUTS: OptionRules<Timeouts> = {
  headersMs: MILLISECONDS,
  requestMs: MILLISECONDS,
  keepAliveMs: MILLISECONDS,
  webSocketPingMs: MILLISECONDS,
};

const WORKERS: OptionRule = (_place, _option, value) => {
  if (!Number.isInteger(value) || (value as number) < 1) throw configurationError("TSGI_INVALID_WORKERS.serve", value);
};

const OPTIONS: OptionRules<ServeOptions> = {
  ...HANDSHAKE_OPTIONS,
  ...PROXY_OPTIONS,
  host: TEXT,
  port: whole(0, 65_535),
  path: TEXT,
  workers: WORKERS,
  loop: oneOf("libuv", "uwebsockets"),
  tls: OBJECT,
  http2: FLAG,
  connectionLimits: group(LIMITS),
  timeouts: group(TIMEOUTS),
  signals: FLAG,
  shutdownTimeoutMs: MILLISECONDS,
  logger: OBJECT,
};

const DEFAULT_LIMITS = { ...DEFAULT_REQUEST_LIMITS, connections: 50_000 };

/**
 * 65 s without a request is longer than the minute for which common load balancers keep theirs, so that it is they who
 * close: the other way round they send requests into closing connections.
 */
const DEFAULT_TIMEOUTS: Timeouts = {
  headersMs: 20_000,
  requestMs: 300_000,
  keepAliveMs: 65_000,
  webSocketPingMs: 20_000,
};

const DEFAULTS = {
  host: "127.0.0.1",
  port: 8000,
  workers: 1,
  signals: true,
  shutdownTimeoutMs: 10_000,
  logger: consoleLogger,
};

/** The options with their defaults. */
type Settings = ServeOptions & Required<Pick<ServeOptions, keyof typeof DEFAULTS>>;

/**
 * Runs an application's startup, listens, and resolves once connections are taken.
 *
 * @throws ServerStartError when startup fails or the address cannot be listened on; the port is not open then.
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
  const worker = workerHost();
  if (worker) return worker.park();
  keepOutputs();
  assertApplication("serve()", app);
  assertOptions("serve()", options, OPTIONS);
  const settings: Settings = withDefaults(options, DEFAULTS);
  settings.logger = guardLogger(settings.logger);
  const { workers, logger, signals, shutdownTimeoutMs } = settings;
  const proxies = proxiesOf(settings);
  const role = workers > 1 ? workerRole() : "foreign";
  if (role === "primary") {
    const making = import("./workers.js").then((m) => m.workerGroup({ workers, logger, shutdownTimeoutMs }));
    return whileStarting(making, { signals }, (running) => running.serve());
  }
  if (workers > 1 && role === "foreign") {
    logger.warn({ workers }, "The option workers is ignored: this process is a worker of another cluster.");
  }
  const isWorker = role === "worker";
  shareProcessors(workers);
  const making = createServer(app, settings, { proxies, isWorker });
  return whileStarting(making, { signals, isWorker }, async (running) => {
    if (isWorker) running.onUnlistened = returnConnections;
    await running.start();
    if (isWorker) announce(running);
    else logger.info({}, `Listening on ${running.url}`);
    return toRunningServer(running, () => running.close());
  });
}

/** Starts a server that signals, and the primary process of a worker, can stop from now on. */
async function whileStarting<Server extends Closable & { readonly onClosed: (() => void)[] }>(
  making: Promise<Server>,
  { signals, isWorker = false }: { readonly signals: boolean; readonly isWorker?: boolean },
  start: (server: Server) => Promise<RunningServer>,
): Promise<RunningServer> {
  const closable = whenMade(making);
  const leave = signals ? closeOnSignals(closable) : () => {};
  if (isWorker) joinWorkers(closable);
  try {
    const server = await making;
    server.onClosed.push(leave);
    return await start(server);
  } catch (error) {
    leave();
    throw error;
  }
}

async function createServer(
  app: ASGIApp,
  options: Settings,
  { proxies, isWorker }: { readonly proxies: TrustedProxies | null; readonly isWorker: boolean },
): Promise<StoppableServer> {
  const { logger, shutdownTimeoutMs, tls, path, host } = options;
  const port = isWorker ? await sharedPort(host, options.port) : options.port;
  const lifespan = new Lifespan(app, logger);
  const connectionLimits: Partial<ConnectionLimits> = options.connectionLimits ?? {};
  const { connections, webSocketMessageBytes = null, ...limits } = withDefaults(connectionLimits, DEFAULT_LIMITS);
  const timeouts = withDefaults<Partial<Timeouts>, keyof Timeouts>(options.timeouts ?? {}, DEFAULT_TIMEOUTS);
  const context = new ServerContext(app, logger, { state: lifespan.state, proxies });
  const webSockets = toRules(options, timeouts.webSocketPingMs, webSocketMessageBytes);
  const address = path === undefined ? { host, port } : { path };
  const loop = chooseLoop(options, logger);
  const shared = { limits, webSockets, shutdownTimeoutMs };
  return loop
    ? (await loadDriver(loop)).createServer(context, lifespan, {
        ...shared,
        host,
        requestMs: timeouts.requestMs,
        // uWebSockets shares a port with other processes that do, and does not say why it cannot listen.
        claimPort: async () => (isWorker ? port : probePort(host, port)),
      })
    : new HTTP1Server(context, lifespan, {
        ...shared,
        timeouts,
        connections,
        tls,
        address,
        http2: options.http2 === true ? (await import("./http2/sessions.js")).Sessions : null,
      });
}

/** The options that only Node's own loop has, as the log line calls them. */
const NODE_ONLY = { tls: "TLS", http2: "HTTP/2", path: "a Unix socket", webSocketCompression: "compression" } as const;

async function loadDriver({ driver }: LoopPackage): Promise<LoopDriver> {
  return (await import(/* webpackIgnore: true */ /* @vite-ignore */ driver)) as LoopDriver;
}

/** uWebSockets.js if it is requested and supports the options; `null` for Node's own loop. */
function chooseLoop(options: ServeOptions, logger: Logger): LoopPackage | null {
  if ((options.loop ?? loopName()) === "libuv") {
    return null;
  }
  const found = findLoopPackage();
  const need = Object.entries(NODE_ONLY).find(([option]) => options[option as keyof typeof NODE_ONLY]);
  if (found !== null && need === undefined) {
    return found;
  }
  const reason =
    found !== null && need !== undefined
      ? `uWebSockets.js is not used for ${need[1]}`
      : "@tsgi/uwebsockets is not installed next to the package tsgi that serves (a bundle contains its own), or " +
        "uWebSockets.js is not installed or has no binary for this Node and C library";
  logger[options.loop === undefined ? "info" : "warn"]({}, `This server runs on libuv: ${reason}.`);
  return null;
}
