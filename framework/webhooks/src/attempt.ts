/** One attempt of a delivery: its signature, its request, and the meaning of the response. @module */
import { Webhook } from "standardwebhooks";
import { describeError, unlessAborted } from "tsgi/internals";
import { type AddressGuard, RefusedError } from "./addresses.js";
import type { Delivery } from "./deliveries.js";
import type { Endpoint } from "./options.js";
import { type Head, post } from "./request.js";

/** From the lookup of the address to the last byte of the response. */
const TIMEOUT_MS = 15_000;

/** A `Retry-After` may not postpone an attempt for longer, in seconds. */
const MAX_RETRY_AFTER = 86_400;

/** The end of an attempt. */
export interface Outcome extends Pick<Delivery, "status" | "reason"> {
  readonly state: Exclude<Delivery["state"], "pending">;
  /** The seconds of `Retry-After`; `null` without one. */
  readonly retryAfter: number | null;
  /** For the log: the reason is shown to the owner of the endpoint. */
  readonly cause?: unknown;
}

/** The end of an attempt without a response. */
export function without(state: Outcome["state"], reason: string, cause?: unknown): Outcome {
  return { state, status: null, reason, retryAfter: null, cause };
}

/** Signs a message with each secret, and sends it. Never rejects. */
export async function attempt(
  message: { readonly id: string; readonly body: string },
  { url, secrets }: Endpoint,
  guard: AddressGuard,
  signal: AbortSignal,
): Promise<Outcome> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const target = assertTarget(url);
    const headers = { ...signed(message, secrets), "content-type": "application/json", "user-agent": "tsgi-webhooks" };
    const addresses = await unlessAborted(guard.resolve(target.hostname), limit);
    return outcomeOf(await post({ url: target, addresses, headers, body: message.body, signal: limit }));
  } catch (error) {
    if (error instanceof RefusedError) return without("refused", error.message);
    if (limit.aborted) return without("failed", `No response within ${TIMEOUT_MS / 1_000} s`, error);
    return without("failed", `The connection failed: ${describeError(error).code || "no response"}`, error);
  }
}

/** @throws RefusedError for a URL that is not `https:`. Plain HTTP would show the payload to others on the way. */
function assertTarget(url: unknown): URL {
  const target = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
  if (target?.protocol !== "https:") throw new RefusedError("The URL of the endpoint is not an https: URL");
  return target;
}

/** @see {@link https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md} */
function signed({ id, body }: { id: string; body: string }, secrets: readonly string[]): Record<string, string> {
  const now = new Date();
  try {
    const signatures = secrets.map((secret) => new Webhook(secret).sign(id, now, body));
    if (signatures.length === 0) throw new RangeError();
    return {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1_000)),
      "webhook-signature": signatures.join(" "),
    };
  } catch {
    throw new RefusedError("The endpoint has no secret, or one that is not in base64");
  }
}

function outcomeOf({ status, retryAfter }: Head): Outcome {
  if (status >= 200 && status < 300) return { state: "delivered", status, reason: null, retryAfter: null };
  const reason = `The receiver responded with status ${status}`;
  return { state: status === 410 ? "gone" : "failed", status, reason, retryAfter: secondsOf(retryAfter) };
}

/** @see RFC 9110 §10.2.3 */
function secondsOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null;
  const text = retryAfter.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_RETRY_AFTER);
}
