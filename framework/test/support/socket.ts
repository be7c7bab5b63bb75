/** The same request as `call` sends, to the application on the Node server, over a separate socket. */
import type { ASGIApp, HTTPScope } from "../../core/src/protocol/asgi.js";
import { serve, type RunningServer } from "../../core/src/node.js";
import type { Answer, CallApp, Sent } from "./call.js";
import { KeptLog } from "./kept-log.js";
import { sendOverHTTP2, sendTo } from "./send.js";

interface Served {
  readonly server: RunningServer;
  /** The calls of the application, by the port of their client. */
  readonly calls: Map<number, Promise<unknown>>;
}

/** Serves each application that it is asked to call, until it is closed. */
export class SocketCaller implements AsyncDisposable {
  readonly #served = new Map<ASGIApp, Promise<Served>>();
  readonly #http2: boolean;

  /** @param http2 - Whether the requests are sent over HTTP/2. */
  constructor(http2 = false) {
    this.#http2 = http2;
  }

  /**
   * Sends one request and waits for the response and for the application to settle, so that background tasks have
   * finished.
   *
   * @throws the error of the application, if the server closes the connection because of it.
   */
  readonly call: CallApp = async (app, method, target, sent = {}) => {
    let served = this.#served.get(app);
    if (served === undefined) this.#served.set(app, (served = serveTracked(app, this.#http2)));
    return exchange(await served, this.#http2 ? sendOverHTTP2 : sendTo, method, target, sent);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const all = await Promise.all(this.#served.values());
    this.#served.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  }
}

async function serveTracked(app: ASGIApp, http2: boolean): Promise<Served> {
  const calls: Served["calls"] = new Map();
  const tracked: ASGIApp = (scope, receive, send) => {
    const result = app(scope, receive, send);
    if (scope.type === "http") calls.set(portOf(scope), result);
    return result;
  };
  return { server: await serve(tracked, { port: 0, signals: false, logger: new KeptLog(), http2 }), calls };
}

function portOf({ client }: HTTPScope): number {
  return client?.[1] ?? 0;
}

async function exchange(
  { server, calls }: Served,
  send: typeof sendTo,
  method: string,
  target: string,
  sent: Sent,
): Promise<Answer> {
  let clientPort = 0;
  try {
    return await send(server.url, method, target, sent, (port) => (clientPort = port));
  } finally {
    await calls.get(clientPort); // the error of the application takes precedence over the closed connection that it causes
    calls.delete(clientPort);
  }
}
