/** Serves an application over HTTP/1.1 from start-up to the last answer. @module */
import cluster from "node:cluster";
import type { TlsOptions } from "node:tls";
import type { ASGIApp } from "../asgi.js";
import { assertApplication } from "../callable.js";
import { type LoopName, loopName, shareProcessors, workerHost } from "../concurrency.js";
import { ConfigurationError } from "../exceptions.js";
import { consoleLogger, type Logger } from "../logger.js";
import { assertOptions, namesOf, oneOf } from "../options.js";
import { ServerContext } from "./context.js";
import type { Timeouts } from "./http1/connection.js";
import { HTTP1Server } from "./http1/server.js";
import { Lifespan } from "./lifespan.js";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "./request-head.js";
import { type RunningServer, type StoppableServer, toRunningServer } from "./stoppable-server.js";
import { closeOnSignals } from "./signals.js";
import { TrustedProxies } from "./trusted-proxies.js";
import { findUws, type UwsModule } from "./uws/module.js";
import { UwsServer } from "./uws/server.js";
import { toRules, type WebSocketOptions } from "./websocket/upgrade.js";
import { joinWorkers, returnConnections, sharedPort } from "./worker.js";

/** How `serve` listens and stops. */
export interface ServeOptions extends WebSocketOptions {
  /** The address to listen on. Defaults to `"127.0.0.1"`; `"0.0.0.0"` or `"::"` takes connections from other machines. */
  host?: string;
  /** The port in range [0...65535]; 0 takes a free one. Defaults to 8000. */
  port?: number;
  /** A Unix socket to listen on in place of `host` and `port`. One left behind by a dead process is replaced. */
  path?: string;
  /**
   * How many processes serve. With more than 1, this process starts them: each runs the program's main module and gets
   * a share of the connections, one that dies is replaced, and SIGHUP replaces one after the other without losing a
   * request. Defaults to 1, which is this process.
   */
  workers?: number;
  /**
   * The I/O loop. Defaults to uWebSockets.js where that package is installed and can be loaded, on Linux, and what is
   * asked for is something that it can do; else to Node's own.
   */
  loop?: LoopName;
  /** Key, certificate and whatever else `tls.createServer` takes. Given, the server speaks HTTPS. */
  tls?: TlsOptions;
  /**
   * Whether the server speaks HTTP/2 beside HTTP/1.1, on the same port: with TLS where the client offers it (ALPN), without
   * where the client begins with it (prior knowledge). WebSockets stay on HTTP/1.1. Defaults to `false`.
   */
  http2?: boolean;
  /** Bounds on what a client may send before the application is asked, and on how many clients there are. */
  connectionLimits?: Partial<ConnectionLimits>;
  /** How long clients are waited for. */
  timeouts?: Partial<Timeouts>;
  /**
   * The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count: addresses, networks as `"10.0.0.0/8"`,
   * `"loopback"`, `"private"`, and `"unix"` for whoever connects to a Unix socket. Defaults to none: anybody can write
   * these headers.
   */
  trustedProxies?: readonly string[];
  /** Whether SIGTERM and SIGINT drain the server and then end the process. Defaults to `true`. */
  signals?: boolean;
  /** Milliseconds that stopping may take, shutdown hooks included, before it is forced. Defaults to 10,000. */
  shutdownTimeoutMs?: number;
  /** Where the server says that it listens, and reports what the application lets escape. Defaults to stderr. */
  logger?: Logger;
}

/** Bounds of what a client may send. */
export interface ConnectionLimits extends RequestLimits {
  /** How many connections are open at the same time, in each worker; one more gets 503. Defaults to 50,000. */
  connections: number;
  /**
   * Bytes of one WebSocket message, its fragments together and decompressed (1009). A bound for what the application
   * asks for; left out, its limit `webSocketMessageBytes` holds, and 1,048,576 for one that says nothing.
   */
  webSocketMessageBytes: number;
}

const OPTIONS = namesOf<ServeOptions>({
  host: true,
  port: true,
  path: true,
  workers: true,
  loop: true,
  tls: true,
  http2: true,
  connectionLimits: true,
  timeouts: true,
  trustedProxies: true,
  signals: true,
  shutdownTimeoutMs: true,
  logger: true,
  allowedHosts: true,
  allowedOrigins: true,
  webSocketCompression: true,
});

const DEFAULT_LIMITS = { ...DEFAULT_REQUEST_LIMITS, connections: 50_000, webSocketMessageBytes: null };

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
  const worker = workerHost();
  if (worker) return worker.hold();
  assertApplication("serve()", app);
  assertOptions("serve()", options, OPTIONS);
  assertOptions("serve()", { loop: options.loop }, { loop: oneOf("libuv", "uwebsockets") });
  assertOptions("serve(): connectionLimits", options.connectionLimits ?? {}, Object.keys(DEFAULT_LIMITS));
  assertOptions("serve(): timeouts", options.timeouts ?? {}, Object.keys(DEFAULT_TIMEOUTS));
  const { workers = 1, logger = consoleLogger, signals = true, shutdownTimeoutMs = 10_000 } = options;
  if (!Number.isInteger(workers) || workers < 1) {
    throw new ConfigurationError(`serve: expected workers to be a whole number from 1 on, not ${String(workers)}.`, {
      code: "TSGI_INVALID_WORKERS",
    });
  }
  const proxies = options.trustedProxies === undefined ? null : new TrustedProxies(options.trustedProxies);
  if (workers > 1 && cluster.isPrimary) {
    const { serveWithWorkers } = await import("./workers.js");
    return serveWithWorkers({ workers, logger, signals, shutdownTimeoutMs });
  }
  const isWorker = workers > 1;
  shareProcessors(workers);
  const { host = "127.0.0.1", port = 8000 } = options;
  const place = isWorker ? { ...options, port: await sharedPort(host, port) } : options;
  const running = await start(app, place, proxies, isWorker);
  if (signals) {
    running.onClosed = closeOnSignals(running);
  }
  if (isWorker) {
    running.onUnlistened = returnConnections;
    joinWorkers(running);
  } else {
    logger.info({}, `Listening on ${running.url}`);
  }
  return toRunningServer(running, () => running.close());
}

async function start(
  app: ASGIApp,
  options: ServeOptions,
  proxies: TrustedProxies | null,
  isWorker: boolean,
): Promise<StoppableServer> {
  const { logger = consoleLogger, shutdownTimeoutMs = 10_000, tls, path, host = "127.0.0.1", port = 8000 } = options;
  const lifespan = new Lifespan(app, logger);
  const { connections, webSocketMessageBytes, ...limits } = { ...DEFAULT_LIMITS, ...options.connectionLimits };
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const context = new ServerContext(app, logger, lifespan.state, proxies);
  const webSockets = toRules(options, timeouts.webSocketPingMs, webSocketMessageBytes);
  const address = path === undefined ? { host, port } : { path };
  const uws = chooseLoop(options, logger);
  const running: StoppableServer & { listen(): Promise<void> } = uws
    ? new UwsServer(uws, context, lifespan, { limits, webSockets, host, port, shared: isWorker, shutdownTimeoutMs })
    : new HTTP1Server(context, lifespan, {
        limits,
        timeouts,
        connections,
        tls,
        webSockets,
        address,
        shutdownTimeoutMs,
        http2: options.http2 === true ? (await import("./http2/sessions.js")).Sessions : null,
      });
  await lifespan.startUp();
  try {
    await running.listen();
  } catch (error) {
    await lifespan.shutDown().catch((err: unknown) => logger.error({ err }, "The application's shutdown failed."));
    throw error;
  }
  return running;
}

/** uWebSockets.js where it is wanted and can do what is asked for; `null` for Node's own loop. */
function chooseLoop(options: ServeOptions, logger: Logger): UwsModule | null {
  if ((options.loop ?? loopName()) === "libuv") {
    return null;
  }
  const uws = findUws();
  const obstacle =
    uws === null
      ? "uWebSockets.js is not installed, or has no binary for this Node and C library"
      : (options.tls && "TLS") ||
        (options.http2 && "HTTP/2") ||
        (options.path && "a Unix socket") ||
        (options.webSocketCompression && "compression");
  if (!obstacle) {
    return uws;
  }
  const reason = uws === null ? obstacle : `uWebSockets.js is not used for ${obstacle}`;
  logger[options.loop === undefined ? "info" : "warn"]({}, `This server runs on libuv: ${reason}.`);
  return null;
}
