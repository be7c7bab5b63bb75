/** Milliseconds for which a client that is said to have gone before anything was asked of it is taken to be there. */
const EARLY_LEAVE_MS = 500;

interface Timer {
  unref?(): void;
}

/**
 * Tells when the client of a request goes. Looks at nothing in the turn in which it is called, so that what is at hand
 * already goes out without a question to the server. A server that says in its first answer that the client has gone
 * may be a caller without a connection that has nothing more to say: a real one refuses what is sent to it.
 *
 * @returns What stops it.
 */
export function watchClient(request: { readonly signal: AbortSignal }, onGone: () => void): () => void {
  let signal: AbortSignal | null = null;
  let isEarly = true;
  let timer: ReturnType<typeof setTimeout> = setTimeout(begin, 0);

  function onAbort(): void {
    clearTimeout(timer);
    if (!isEarly) return onGone();
    timer = setTimeout(onGone, EARLY_LEAVE_MS);
    (timer as Timer).unref?.();
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
