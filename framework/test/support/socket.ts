/** The same request as `call` sends, to the application on the Node server, over a socket. */
import type { ASGIApp, HTTPScope } from "../../core/src/protocol/asgi.js";
import { serve, type RunningServer } from "../../core/src/node.js";
import type { CallApp } from "./call.js";
import { KeptLog } from "./kept-log.js";
import { type Connection, HTTP1Connection, HTTP2Connection } from "./send.js";

interface Served {
  readonly server: RunningServer;
  /** The calls of the application, by the port of their client. */
  readonly calls: Map<number, Promise<unknown>>;
  /** The connections that are open, and not in use. */
  readonly idle: Connection[];
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
    const { server, calls, idle } = await served;
    const connection = idle.pop() ?? (this.#http2 ? new HTTP2Connection(server.url) : new HTTP1Connection(server.url));
    let port = 0;
    try {
      return await connection.send(method, target, sent, (own) => (port = own));
    } finally {
      try {
        await calls.get(port); // the error of the application takes precedence over the closed connection that it causes
      } finally {
        calls.delete(port);
        idle.push(connection);
      }
    }
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const all = await Promise.all(this.#served.values());
    this.#served.clear();
    for (const { idle } of all) for (const connection of idle) connection.close();
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
  return { server: await serve(tracked, { port: 0, signals: false, logger: new KeptLog(), http2 }), calls, idle: [] };
}

function portOf({ client }: HTTPScope): number {
  return client?.[1] ?? 0;
}
