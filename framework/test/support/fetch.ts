/** The same request as `call` sends, as a platform's `Request` to the `fetch` of an application. */
import type { ASGIApp } from "../../core/src/protocol/asgi.js";
import { type ClosableFetchHandler, toFetchHandler } from "../../core/src/platforms/web/index.js";
import { type Answer, type CallApp, createAnswer, outgoingOf, type Sent } from "./call.js";
import { KeptLog } from "./kept-log.js";

interface Fetched {
  readonly handler: ClosableFetchHandler;
  /** The calls of the application, by request. */
  readonly calls: WeakMap<Request, Promise<void>>;
}

/** Makes a fetch handler of each application that it is asked to call, and closes them all. */
export class FetchCaller implements AsyncDisposable {
  readonly #fetched = new Map<ASGIApp, Fetched>();

  /**
   * Sends one request and waits for the response and for the application to settle.
   *
   * @throws the error of the application.
   */
  readonly call: CallApp = async (app, method, target, sent = {}) => {
    let fetched = this.#fetched.get(app);
    if (fetched === undefined) this.#fetched.set(app, (fetched = track(app)));
    const request = requestOf(method, target, sent);
    try {
      return await answerOf(await fetched.handler(request, { client: ["127.0.0.1", 50_000] }));
    } finally {
      await fetched.calls.get(request);
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#fetched.values()];
    this.#fetched.clear();
    await Promise.all(all.map(({ handler }) => handler.close()));
  }
}

function track(app: ASGIApp): Fetched {
  const calls: Fetched["calls"] = new WeakMap();
  const tracked: ASGIApp = (scope, receive, send) => {
    const result = app(scope, receive, send);
    const { request } = (scope.extensions?.["tsgi.web"] ?? {}) as { request?: Request };
    if (request !== undefined) calls.set(request, result);
    return result;
  };
  return { handler: toFetchHandler(tracked, { logger: new KeptLog() }), calls };
}

function requestOf(method: string, target: string, sent: Sent): Request {
  const { headers, chunks } = outgoingOf(sent);
  const url = `http://127.0.0.1${target}`;
  const list = headers.map(([name, value]): [string, string] => [name, value]);
  if (chunks.every(({ length }) => length === 0)) return new Request(url, { method, headers: list });
  const body = ReadableStream.from(chunks.filter(({ length }) => length > 0));
  return new Request(url, { method, headers: list, body, duplex: "half" });
}

async function answerOf(response: Response): Promise<Answer> {
  const lines = [...response.headers];
  return createAnswer(response.status, lines, Buffer.from(await response.arrayBuffer()));
}
