/** A client of a handler of the platform's requests, in memory. @module */
import { type ClientResponse, overFetch } from "@tsgi/conformance";
import { Deferred } from "../../src/common/promises.js";
import type { Request } from "./_driver.js";

/** The parts of a body, and an error when the client disconnects: a platform ends the body of a request so. */
async function* untilAborted(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = body[Symbol.asyncIterator]();
  const aborted = new Deferred<never>();
  signal.addEventListener("abort", () => aborted.reject(signal.reason));
  for (;;) {
    const next = await Promise.race([iterator.next(), aborted.promise]);
    if (next.done === true) return;
    yield next.value;
  }
}

/** A client of one handler. */
export class FetchClient {
  readonly #server: ReturnType<typeof overFetch>;
  readonly #clients = new Set<AbortController>();

  constructor(handler: (request: globalThis.Request) => Promise<Response>) {
    this.#server = overFetch(handler);
  }

  readonly request = (request: Request): Promise<ClientResponse> => {
    const client = new AbortController();
    this.#clients.add(client);
    request.signal?.addEventListener("abort", () => client.abort());
    const { signal } = client;
    const body = request.body && untilAborted(request.body, signal);
    return this.#server.request({ ...request, signal, ...(body && { body }) });
  };

  readonly cut = (): void => {
    for (const client of this.#clients) client.abort();
  };
}
