/// <reference lib="esnext.disposable" preserve="true" />
/** A server that listens, and the way it stops. @module */
import type { LoopName } from "../concurrency/loop.js";
import type { Lifespan } from "../../protocol/lifespan.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { stopInTime } from "../../protocol/shutdown.js";
import { codeOf, type FactsOf, formatMessage, type ServerStartCode } from "../../common/error-codes.js";
import { SERVER_START } from "../../common/error-codes/servers.js";
import { isForeignFrame } from "../../common/logger.js";
import { NEVER } from "../../common/promises.js";

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

/**
 * Milliseconds at most that the application's startup has to complete after the server was told to stop. After that, its
 * running step is not awaited, and the steps before it are undone.
 */
const STARTUP_MS = 1000;

/** Share of `shutdownTimeoutMs` spent so. */
const STARTUP_SHARE = 0.1;

/** Milliseconds that a startup has to complete, if all of the shutdown may take `shutdownTimeoutMs`. */
export function startupGraceMs(shutdownTimeoutMs: number): number {
  return Math.min(STARTUP_MS, shutdownTimeoutMs * STARTUP_SHARE);
}

/** A server on any engine: it starts once, and stops once, within its time. */
export abstract class StoppableServer {
  url = "";
  abstract readonly loop: LoopName;
  /** Waited for once the listener has closed, before anything else of it may end. */
  onUnlistened: () => Promise<void> = () => Promise.resolve();
  /** Called when the server has stopped: they revert changes that were made for it. */
  readonly onClosed: (() => void)[] = [];
  protected readonly context: ServerContext;
  /** Milliseconds that idle connections stay open at the end. */
  protected readonly lingerMs: number;
  readonly #lifespan: Lifespan;
  /** `null` until the application has started. */
  #listening: Promise<void> | null = null;
  readonly #shutdownTimeoutMs: number;
  #closing: Promise<void> | null = null;
  #drained = false;

  constructor(context: ServerContext, lifespan: Lifespan, shutdownTimeoutMs: number) {
    this.context = context;
    this.#lifespan = lifespan;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
    this.lingerMs = Math.min(LINGER_MS, shutdownTimeoutMs * LINGER_SHARE);
  }

  /** Listens. @throws ServerStartError when that is not possible. */
  protected abstract listen(): Promise<void>;

  /** Stops listening, and waits for running requests. */
  protected abstract drain(): Promise<void>;

  /** Cuts every connection. */
  protected abstract cut(): void;

  /**
   * Runs the application's startup, and listens. Never settles if the server is told to stop meanwhile, as that ends the
   * process: an error here would end it before the startup is undone.
   *
   * @throws ServerStartError when startup fails or the address cannot be listened on; the port is not open then.
   */
  async start(): Promise<void> {
    if (this.#closing !== null) return NEVER;
    const failure = await this.#lifespan.startUp();
    if (this.#closing !== null) return NEVER;
    if (failure !== null) throw serverStartError("ELIFESPAN", [failure.message], { cause: failure.error });
    this.#listening = this.listen();
    try {
      await this.#listening;
    } catch (error) {
      if (this.#closing !== null) return NEVER;
      const { logger } = this.context;
      await this.#lifespan
        .shutDown()
        .catch((err: unknown) => logger.error({ err }, "The application's shutdown failed."));
      throw error;
    }
    return this.#closing === null ? undefined : NEVER;
  }

  close(): Promise<void> {
    this.#closing ??= this.#stop().finally(() => {
      for (const undo of this.onClosed) undo();
    });
    return this.#closing;
  }

  /** The names of the calls that still run, for the log line of a forced end. */
  running(): readonly string[] {
    if (this.#drained) return [`lifespan.${this.#lifespan.isStarting ? "startup" : "shutdown"}`];
    return Array.from(this.context.running, (call) => call.name);
  }

  async #drain(): Promise<void> {
    if (this.#listening === null) return;
    await this.#listening.catch(() => {});
    await this.drain();
  }

  #stop(): Promise<void> {
    return stopInTime({
      context: this.context,
      timeoutMs: this.#shutdownTimeoutMs,
      running: () => this.running(),
      drain: async () => {
        await this.#drain();
        this.#drained = true;
      },
      shutDown: () => this.#lifespan.shutDown(startupGraceMs(this.#shutdownTimeoutMs)),
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
