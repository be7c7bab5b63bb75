/** Serves an application over HTTP/1.1 from start-up to the last answer. @module */
import type { TlsOptions } from "node:tls";
import type { ASGIApp } from "../asgi.js";
import { workerHost } from "../concurrency.js";
import { consoleLogger, type Logger } from "../logger.js";
import { DEFAULT_REQUEST_LIMITS } from "./handler.js";
import { createHTTPServer, type Timeouts } from "./http-server.js";
import { Lifespan } from "./lifespan.js";
import { listen, urlOf } from "./listen.js";
import type { RequestLimits } from "./request-head.js";
import { NodeServer, type RunningServer } from "./running-server.js";
import { Service } from "./service.js";
import { closeOnSignals } from "./signals.js";
import { toRules, type WebSocketOptions } from "./websocket-gate.js";

/** How `serve` listens and stops. */
export interface ServeOptions extends WebSocketOptions {
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

/** Bounds of what a client may send. */
export interface ConnectionLimits extends RequestLimits {
  /** How many connections are open at the same time; one more is closed at once. Defaults to `Infinity`. */
  connections: number;
  /**
   * Bytes of one WebSocket message, its fragments together and decompressed (1009). A bound for what the application
   * asks for; left out, its limit `webSocketMessageBytes` holds, and 1,048,576 for one that says nothing.
   */
  webSocketMessageBytes: number;
}

const DEFAULT_LIMITS = { ...DEFAULT_REQUEST_LIMITS, connections: Infinity, webSocketMessageBytes: null };

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
  const logger = options.logger ?? consoleLogger;
  const lifespan = new Lifespan(app, logger);
  const { connections, webSocketMessageBytes, ...limits } = { ...DEFAULT_LIMITS, ...options.connectionLimits };
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const service = new Service(app, logger, lifespan.state, limits);
  const server = createHTTPServer(service, {
    timeouts,
    connections,
    tls: options.tls,
    webSockets: toRules(options, timeouts.webSocketPingMs, webSocketMessageBytes),
  });
  const running = new NodeServer(server, service, lifespan, options.shutdownTimeoutMs ?? 10_000);
  const { path, host = "127.0.0.1", port = 8000 } = options;
  await lifespan.startUp();
  try {
    await listen(server, path === undefined ? { host, port } : { path });
  } catch (error) {
    await lifespan.shutDown().catch((err: unknown) => logger.error({ err }, "The application's shutdown failed."));
    throw error;
  }
  server.on("error", (err) => logger.error({ err }, "A connection could not be taken."));
  running.url = urlOf(server, options.tls === undefined ? "http" : "https");
  if (options.signals ?? true) {
    running.onClosed = closeOnSignals(running);
  }
  logger.info({}, `Listening on ${running.url}`);
  return running;
}
