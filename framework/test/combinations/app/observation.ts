/** An instrumentation of the library's own: it keeps the steps of each request. @module */
import type { Instrumentation, Observation } from "tsgi";

/** The facts of one request or WebSocket. */
export interface Seen {
  route: string | null;
  readonly steps: string[];
  status: number | null;
  error: unknown;
}

/** Keeps the facts of each request; `take` returns and forgets them. */
export class Witness implements Instrumentation {
  readonly #seen: Seen[] = [];

  readonly start = (): Observation => {
    const seen: Seen = { route: null, steps: [], status: null, error: undefined };
    return {
      route: (pattern) => void (seen.route = pattern),
      step: (kind, name) => {
        seen.steps.push(`${kind} ${name}`);
        return () => {};
      },
      response: (status, headers) => {
        seen.status = status;
        headers.set("x-observed", String(status));
      },
      end: (error) => {
        seen.error = error;
        this.#seen.push(seen);
      },
    };
  };

  take(): Seen[] {
    return this.#seen.splice(0);
  }
}
