/** The reasons of aborted signals, with the names of the platform. @see Web IDL §2.8.1, "DOMException names" */

/** The client has disconnected, or the server stops: the result would not be read. */
export function disconnectReason(): DOMException {
  return new DOMException("The client disconnected, or the server stopped", "AbortError");
}

/** The time of the work is up, as with `AbortSignal.timeout`. */
export function timeoutReason(): DOMException {
  return new DOMException("The time of the handler is up", "TimeoutError");
}

/** Tells if an error is what work throws that a signal has ended: the reason itself, or an error that is named for it. */
export function isAbort(error: unknown): boolean {
  const { name } = Object(error) as { name?: unknown };
  return name === "AbortError" || name === "TimeoutError";
}
