/** The end of a server within its time, on every platform. @module */
import { clearTimeout, setTimeout } from "../common/timers.js";
import { oneLine } from "../common/logger.js";
import type { ServerContext } from "./server-context.js";

/**
 * Share of the time after which responses that their clients do not read are cut: the rest is for the cleanup of their requests,
 * and for the shutdown of the application.
 */
const UNREAD_SHARE = 0.9;

/** Share of the time, before that, in which a client that reads a stream takes the data that waits for it. */
const READING_SHARE = 0.1;

/**
 * Milliseconds at most that the calls of a cut server have to end what their signals have aborted: a cancelled query must
 * reach its database before the process ends.
 */
const ABORT_MS = 250;

/** Share of the time spent so. */
const ABORT_SHARE = 0.1;

/** Options of `close`. */
export interface CloseOptions {
  /** Milliseconds that it may take before it is forced. Defaults to 10,000. */
  timeoutMs?: number;
}

/** A server that stops. */
export interface Stopping {
  readonly context: ServerContext;
  /** Milliseconds that stopping may take. */
  readonly timeoutMs: number;
  /** The names of the work that still runs. */
  running(): readonly string[];
  /** Waits for the calls that run. */
  drain(): Promise<void>;
  /** Runs the application's shutdown. */
  shutDown(): Promise<void>;
  /** Cuts the connections that are left. */
  cut(): void;
}

/**
 * Stops a server.
 *
 * @throws ShutdownTimeoutError when that takes longer than its time: the calls that still run are cut then.
 * @throws Error if the shutdown of the application fails.
 */
export async function stopInTime(server: Stopping): Promise<void> {
  const { context, timeoutMs } = server;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ShutdownTimeoutError(server.running(), timeoutMs)), timeoutMs);
  });
  const unread = setTimeout(
    () => context.cutUnread(timeoutMs * READING_SHARE),
    timeoutMs * (UNREAD_SHARE - READING_SHARE),
  );
  const drained = server.drain();
  try {
    await Promise.race([drained, limit]);
    await Promise.race([server.shutDown(), limit]);
  } catch (error) {
    context.cut();
    await settledWithin(
      drained.catch(() => {}),
      Math.min(ABORT_MS, timeoutMs * ABORT_SHARE),
    );
    server.cut();
    server.shutDown().catch(() => {}); // resources of the application are released even then, without waiting
    throw error;
  } finally {
    clearTimeout(unread);
    clearTimeout(timer);
  }
}

/** Waits for a promise, for so many milliseconds at most. */
export async function settledWithin(promise: Promise<void>, limitMs: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<void>((resolve) => void (timer = setTimeout(resolve, limitMs)));
  await Promise.race([promise, limit]);
  clearTimeout(timer);
}

/** A server did not stop within its time, such as `shutdownTimeoutMs`. Responses that were not complete are cut. */
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
