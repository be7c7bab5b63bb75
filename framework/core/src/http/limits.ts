/** Bounds on the cost of a request. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import { configurationError } from "../common/exceptions.js";
import { assertOptions, type OptionRule, withDefaults } from "../common/options.js";

/** Limits of an App or of one route. All except the last are on by default. */
export interface Limits {
  /** The most bytes of a body that is read into memory; a larger one results in 413. Defaults to 1 MiB. */
  bodyBytes: number;
  /**
   * The most bytes of all files of a multipart form together; more result in 413. Its fields count for `bodyBytes`.
   * Defaults to 50 MiB.
   */
  uploadBytes: number;
  /** The most parts of a form; more result in 413. Defaults to 1,000. */
  formParts: number;
  /** The deepest nesting of a JSON body; a deeper one results in 422. Defaults to 100. */
  jsonDepth: number;
  /** The most bytes of a WebSocket message from the client; a larger one closes with 1009. Defaults to 1 MiB. */
  webSocketMessageBytes: number;
  /**
   * The most milliseconds that an async handler may take for its result, without its dependencies; a slower one results
   * in 504, and `request.signal` aborts. Defaults to `Infinity`.
   */
  handlerMs: number;
}

/** The default limits of an App. */
export const DEFAULT_LIMITS: Readonly<Limits> = Object.freeze({
  bodyBytes: 1024 * 1024,
  uploadBytes: 50 * 1024 * 1024,
  formParts: 1000,
  jsonDepth: 100,
  webSocketMessageBytes: 1024 * 1024,
  handlerMs: Infinity,
});

/** The limits of an App, for middleware around it. */
export const LIMITS: unique symbol = Symbol("limits");

/** The limits of the outermost App that serves a request; the default ones without an App. */
export function limitsOf({ app }: Pick<HTTPScope, "app">): Readonly<Limits> {
  const { [LIMITS]: limits = DEFAULT_LIMITS } = (app ?? {}) as { readonly [LIMITS]?: Readonly<Limits> };
  return limits;
}

/** Compared with `NaN` or text, no body would be too large. */
const LIMIT: OptionRule = (_place, name, value) => {
  if (!(typeof value === "number" && value >= 0)) throw configurationError("TSGI_INVALID_LIMIT.value", name, value);
};

const OPTIONS = Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, LIMIT]));

/**
 * The limits of an App or a route over those around it. `Infinity` removes a limit; `undefined` leaves the one around it.
 *
 * @throws ConfigurationError for an unknown limit, and a value that is not a number from 0 on.
 */
export function mergeLimits(outer: Readonly<Limits>, own: Readonly<Partial<Limits>> = {}): Readonly<Limits> {
  assertOptions("limits", own, OPTIONS);
  return Object.freeze(withDefaults(own, outer));
}
