import { configurationError } from "../exceptions.js";

/** The longest delay that a timer keeps; a longer one fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** @throws ConfigurationError when it is no number of milliseconds that a timer can wait. */
export function assertTimeout(what: string, timeoutMs: number): void {
  if (typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS) return;
  throw configurationError("TSGI_INVALID_MIDDLEWARE_NUMBER.time", what, MAX_TIMER_MS, timeoutMs);
}

/** @throws ConfigurationError when it is no whole number from `least` on. */
export function assertWhole(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw configurationError("TSGI_INVALID_MIDDLEWARE_NUMBER.whole", what, least, value);
}
