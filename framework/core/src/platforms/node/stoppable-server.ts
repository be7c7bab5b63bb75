/// <reference lib="esnext.disposable" preserve="true" />
/** A server that listens, and the way it stops. @module */
import type { LoopName } from "../concurrency/loop.js";
import type { Lifespan } from "../../protocol/lifespan.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { stopInTime } from "../../protocol/shutdown.js";
import { codeOf, type FactsOf, formatMessage, type ServerStartCode } from "../../common/error-codes.js";
import { SERVER_START } from "../../common/error-codes/servers.js";
import { isForeignFrame } from "../../common/logger.js";

/** A server that listens. Each member may be taken out of it: `const { url, close } = await serve(app)`. */
export interface RunningServer extends AsyncDisposable {
  /** Its address, for example `"http://127.0.0.1:8000"`, or `"unix:/run/app.sock"`. */
  readonly url: string;
  /** The I/O loop underneath. */
  readonly loop: LoopName;
  /**
   * Takes no new connections, lets running requests and their background tasks finish, and runs the application's
   * shutdown. A second call returns the same promise.
   *
   * @throws ShutdownTimeoutError when that takes longer than `shutdownTimeoutMs`; the sockets are then destroyed.
   * @throws Error if the application sends `lifespan.shutdown.failed`.
   */
  readonly close: () => Promise<void>;
}

/** The address to call a host and port under. */
export function toUrl(scheme: "http" | "https", listening: string, port: number): string {
  const loopback: Record<string, string> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const host = loopback[listening] ?? listening;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The part of a server that an application gets: only `close`, without a `this`, also for `await using`. */
export function toRunningServer(
  { url, loop }: Pick<RunningServer, "url" | "loop">,
  close: () => Promise<void>,
): RunningServer {
  return { url, loop, close, [Symbol.asyncDispose]: close };
}

/**
 * Milliseconds at most for which an idle kept-alive connection stays open after the server began to stop, so that a
 * request in transit gets a response instead of a reset (nodejs/node#60617).
 */
const LINGER_MS = 500;

/** Share of `shutdownTimeoutMs` spent lingering. */
const LINGER_SHARE = 0.1;

/** A server on any engine: it stops once, within its time. */
export abstract class StoppableServer {
  url = "";
  abstract readonly loop: LoopName;
  /** Waited for once the listener has closed, before anything else of it may end. */
  onUnlistened: () => Promise<void> = () => Promise.resolve();
  /** Called when closing begins to end: reverts changes that were made for this server. */
  onClosed: () => void = () => {};
  protected readonly context: ServerContext;
  /** Milliseconds that idle connections stay open at the end. */
  protected readonly lingerMs: number;
  readonly #lifespan: Lifespan;
  readonly #shutdownTimeoutMs: number;
  #closing: Promise<void> | null = null;
  #drained = false;

  constructor(context: ServerContext, lifespan: Lifespan, shutdownTimeoutMs: number) {
    this.context = context;
    this.#lifespan = lifespan;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
    this.lingerMs = Math.min(LINGER_MS, shutdownTimeoutMs * LINGER_SHARE);
  }

  /** Stops listening, and waits for running requests. */
  protected abstract drain(): Promise<void>;

  /** Cuts every connection. */
  protected abstract cut(): void;

  close(): Promise<void> {
    this.#closing ??= this.#stop().finally(() => this.onClosed());
    return this.#closing;
  }

  /** The names of the calls that still run, for the log line of a forced end. */
  running(): readonly string[] {
    return this.#drained ? ["lifespan.shutdown"] : Array.from(this.context.running, (call) => call.name);
  }

  #stop(): Promise<void> {
    return stopInTime({
      context: this.context,
      timeoutMs: this.#shutdownTimeoutMs,
      running: () => this.running(),
      drain: async () => {
        await this.drain();
        this.#drained = true;
      },
      shutDown: () => this.#lifespan.shutDown(),
      cut: () => this.cut(),
    });
  }
}

/**
 * The server could not start: the application's startup failed, or the address cannot be listened on. The port is not
 * open, and what the application had started is shut down again.
 */
export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
  /**
   * Why: one of the codes that the documentation's page of errors explains, as `tsgi explain CODE` does, or else the
   * system's own, such as `"EMFILE"`.
   */
  readonly code: ServerStartCode | (string & {});

  constructor(code: ServerStartCode | (string & {}), message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    // Node shows the source of the first frame of an uncaught error: a minified line of this package.
    this.stack =
      this.stack
        ?.split("\n")
        .filter((line) => !isForeignFrame(line))
        .join("\n") ?? message;
  }
}

/** Makes an error of the catalogue, with the facts of this case. */
export function serverStartError<Key extends keyof typeof SERVER_START>(
  key: Key,
  facts: FactsOf<(typeof SERVER_START)[Key]>,
  options?: ErrorOptions,
): ServerStartError {
  return new ServerStartError(codeOf(key), formatMessage(SERVER_START, key, facts), options);
}
