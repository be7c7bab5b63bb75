/** Servers behind a handler of the platform's requests, called as a platform calls it. @module */
import type { ClientRequest, ClientResponse, StartedServer } from "./client.js";

/** The origin of each URL: no requests are sent there. */
const ORIGIN = "http://localhost";

/** A stream that is pulled from parts. */
function toStream(parts: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = parts[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await iterator.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
}

function toRequest({ method = "GET", target = "/", headers = [], body, signal }: ClientRequest): Request {
  const streamed = body && { body: toStream(body), duplex: "half" as const };
  return new Request(ORIGIN + target, {
    method,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
    ...streamed,
    ...(signal && { signal }),
  });
}

async function* toParts(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array, void, undefined> {
  if (body === null) return;
  const reader = body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

function toResponse({ status, headers, body }: Response): ClientResponse {
  return { status, headers: [...headers], body: toParts(body) };
}

/**
 * A server that a check reaches through a handler of the platform's requests.
 *
 * @param close - Stops the server.
 * @example
 * ```ts
 * import { checkServer, overFetch } from "@tsgi/conformance";
 * import { toFetchHandler } from "tsgi/web";
 *
 * const results = await checkServer(async (app) => {
 *   const handler = toFetchHandler(app);
 *   return overFetch(handler, () => handler.close());
 * }, { "websocket": "fetch has no WebSockets" });
 * ```
 */
export function overFetch(
  handler: (request: Request) => Promise<Response>,
  close: () => Promise<void> = async () => {},
): StartedServer {
  return { request: async (request) => toResponse(await handler(toRequest(request))), close };
}
