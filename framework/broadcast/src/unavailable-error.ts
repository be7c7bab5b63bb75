/** The error while a backplane or a store cannot be reached. @module */
import { HTTPException } from "tsgi";
import { inTime as replyInTime } from "tsgi/internals";

/**
 * The backplane or the store cannot be reached. If a handler does not catch it, the response is 503 with `Retry-After`.
 * `cause` is the error of the driver, which is logged, but not sent to the client.
 *
 * @example
 * ```ts
 * import { Broadcast, redisBackplane, UnavailableError } from "@tsgi/broadcast";
 *
 * const broadcast = new Broadcast({ backplane: redisBackplane("redis://127.0.0.1:1") });
 * await broadcast.publish("news", "hello").catch((error) => {
 *   console.log(error instanceof UnavailableError, error.statusCode); // true 503
 * });
 * await broadcast.close();
 * ```
 */
export class UnavailableError extends HTTPException {
  override readonly name = "UnavailableError";

  constructor(cause?: unknown) {
    super(503, undefined, { headers: { "retry-after": "1" }, cause });
  }
}

/** Milliseconds after which a command without a reply has failed. */
const PATIENCE_MS = 900;

/** Waits for a command. @throws UnavailableError if it fails, or has no reply in time. */
export async function inTime<T>(command: Promise<T>): Promise<T> {
  try {
    return await replyInTime(command, PATIENCE_MS);
  } catch (error) {
    throw error instanceof HTTPException ? error : new UnavailableError(error);
  }
}
