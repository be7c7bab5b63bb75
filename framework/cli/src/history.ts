/** The requests of the inspector, on their way to the next process of `tsgi dev`. @module */
import type { Recorded, Recorder } from "./inspector/recorder.js";

/** Milliseconds between two reports to the command: a load test must not keep it busy. */
const PAUSE_MS = 100;

/** The number of requests that are kept. */
const KEPT = 100;

/** The order to serve, with the requests so far. */
export interface ServeOrder {
  readonly history: readonly Recorded[];
}

/** Sends the requests that are recorded, the last ones when this process ends. */
export async function reportRequests(
  recorder: Recorder,
  send: (requests: readonly Recorded[]) => void,
): Promise<never> {
  let sent = recorder.version;
  const report = () => {
    const requests = recorder.since(sent);
    sent = recorder.version;
    if (requests.length > 0) send(requests);
  };
  process.on("exit", report);
  const { signal } = new AbortController();
  for (;;) {
    await recorder.changed(sent, PAUSE_MS, signal);
    report();
  }
}

/** The last requests of all processes. */
export class History {
  readonly #requests = new Map<number, Recorded>();

  get requests(): readonly Recorded[] {
    return [...this.#requests.values()];
  }

  add(requests: readonly Recorded[]): void {
    for (const recorded of requests) this.#requests.set(recorded.id, recorded);
    for (const id of [...this.#requests.keys()].slice(0, -KEPT)) this.#requests.delete(id);
  }
}
