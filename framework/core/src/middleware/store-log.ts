/** `StoreLog`: one log entry when a store becomes unavailable, and one when it is available again. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import { consoleLogger, errorText, guardLogger, type Logger } from "../common/logger.js";

/** Texts of the log entries about a store. */
interface StoreTexts {
  /** Completes "The store of …". */
  readonly of: string;
  /** The effect on requests while the store is unavailable. */
  readonly effect: string;
  /** The effect on requests when it is available again. */
  readonly back: string;
}

/** A store is unavailable, which is logged already. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";

  constructor(cause: unknown) {
    super("The store is unavailable", { cause });
  }
}

/** The response to a request that cannot do without its store. */
export const STORE_UNAVAILABLE = { statusCode: 503, detail: "Service Unavailable" } as const;

/** Logs once that a store is unavailable, and once that it is available again. */
export class StoreLog {
  readonly #texts: StoreTexts;
  #isAway = false;

  constructor(texts: StoreTexts) {
    this.#texts = texts;
  }

  /** @param error - `null` after a call that succeeded. */
  report(scope: HTTPScope, error: unknown): void {
    const isAway = error !== null;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    const { of, effect, back } = this.#texts;
    const logger = loggerOf(scope);
    if (isAway) logger.warn({ err: error }, `The store of ${of} is unavailable: ${effect}. ${errorText(error)}`);
    else logger.info({}, `The store of ${of} is available again: ${back}.`);
  }

  /**
   * Awaits a call of the store.
   *
   * @throws StoreFailure with the store's error as its cause.
   */
  async watch<T>(scope: HTTPScope, call: Promise<T>): Promise<T> {
    try {
      const value = await call;
      this.report(scope, null);
      return value;
    } catch (error) {
      this.report(scope, error ?? new Error("No reason is known."));
      throw new StoreFailure(error);
    }
  }
}

function loggerOf({ app }: HTTPScope): Logger {
  const { settings } = (app ?? {}) as { settings?: { logger?: Logger } };
  return guardLogger(settings?.logger ?? consoleLogger);
}
