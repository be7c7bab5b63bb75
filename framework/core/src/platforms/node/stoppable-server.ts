/// <reference lib="esnext.disposable" preserve="true" />
/** A server that listens, and the way it stops. @module */
import type { LoopName } from "../concurrency/loop.js";
import type { Lifespan } from "../../protocol/lifespan.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { codeOf, type FactsOf, formatMessage, type ServerStartCode } from "../../common/error-codes.js";
import { SERVER_START } from "../../common/error-codes/servers.js";
import { isForeignFrame, oneLine } from "../../common/logger.js";

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
 * Share of `shutdownTimeoutMs` after which responses that their clients do not read are cut: the rest is for the cleanup of
 * their requests, and for the shutdown of the application.
 */
const UNREAD_SHARE = 0.9;

/**
 * Milliseconds at most that the calls of a cut server have to end what their signals have aborted: a cancelled query must
 * reach its database before the process ends.
 */
const ABORT_MS = 250;

/** Share of `shutdownTimeoutMs` spent so. */
const ABORT_SHARE = 0.1;

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

  /** Waits for the calls whose connections have been cut, for a moment. */
  async #aborted(): Promise<void> {
    const limitMs = Math.min(ABORT_MS, this.#shutdownTimeoutMs * ABORT_SHARE);
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<void>((resolve) => void (timer = setTimeout(resolve, limitMs)));
    await Promise.race([this.context.idle(), limit]);
    clearTimeout(timer);
  }

  async #stop(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new ShutdownTimeoutError(this.running(), this.#shutdownTimeoutMs)),
        this.#shutdownTimeoutMs,
      );
    });
    const unread = setTimeout(() => this.context.cutUnread(), this.#shutdownTimeoutMs * UNREAD_SHARE);
    try {
      await Promise.race([this.drain(), limit]);
      this.#drained = true;
      await Promise.race([this.#lifespan.shutDown(), limit]);
    } catch (error) {
      this.cut();
      await this.#aborted();
      this.#lifespan.shutDown().catch(() => {}); // resources of the application are released even then, without waiting
      throw error;
    } finally {
      clearTimeout(unread);
      clearTimeout(timer);
    }
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

/** The server did not stop within `shutdownTimeoutMs`. Its sockets are still destroyed. */
export class ShutdownTimeoutError extends Error {
  override readonly name = "ShutdownTimeoutError";
  /** The work that still ran at the limit, for example `"GET /slow"` or `"lifespan.shutdown"`. */
  readonly running: readonly string[];

  constructor(running: readonly string[], afterMs: number) {
    super(
      `Shutdown did not finish within ${afterMs} ms; still running: ${running.map(oneLine).join(", ") || "unknown work"}.`,
    );
    this.running = running;
  }
}
