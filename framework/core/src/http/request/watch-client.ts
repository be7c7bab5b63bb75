/** The abort of `request.signal` when the client disconnects. @module */
import { setIdleTimeout } from "../../common/promises.js";

/** Milliseconds for which a client that is reported gone before anything was asked of it is taken to be there. */
const EARLY_LEAVE_MS = 500;

/**
 * Calls `onGone` when the client of a request goes. Begins in the next turn, so that a response which is ready goes out
 * without a call of `receive`. A server that first of all reports that the client has gone may be a caller without a
 * connection that has no more messages: a real one refuses what is sent to it.
 *
 * @returns A function that stops it.
 */
export function watchClient(request: { readonly signal: AbortSignal }, onGone: () => void): () => void {
  let signal: AbortSignal | null = null;
  let isEarly = true;
  let timer: ReturnType<typeof setTimeout> = setTimeout(begin, 0);

  function onAbort(): void {
    clearTimeout(timer);
    if (!isEarly) return onGone();
    timer = setIdleTimeout(onGone, EARLY_LEAVE_MS);
  }

  function begin(): void {
    timer = setTimeout(() => (isEarly = false), 0);
    signal = request.signal;
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  }

  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
}
