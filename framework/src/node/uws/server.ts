/** A server on uWebSockets.js. @module */
import { ServerStartError } from "../errors.js";
import type { Lifespan } from "../lifespan.js";
import { probePort, toUrl } from "../listen.js";
import { StoppableServer } from "../running-server.js";
import type { Service } from "../service.js";
import type { WebSocketRules } from "../websocket-gate.js";
import { UwsHandler } from "./handler.js";
import type { UwsApp, UwsModule } from "./module.js";
import { serveWebSockets } from "./web-sockets.js";

/** Where a server listens. */
export interface UwsPlace {
  host: string;
  port: number;
  /** Whether other processes listen at the same place, and share its connections. */
  shared: boolean;
}

/** Serves one application on one address. */
export class UwsServer extends StoppableServer {
  readonly loop = "uwebsockets";
  readonly #uws: UwsModule;
  readonly #webSockets: WebSocketRules;
  readonly #place: UwsPlace;
  #app: UwsApp | null = null;
  #handler: UwsHandler | null = null;
  #listening: object | null = null;

  constructor(
    uws: UwsModule,
    service: Service,
    lifespan: Lifespan,
    shutdownTimeoutMs: number,
    webSockets: WebSocketRules,
    place: UwsPlace,
  ) {
    super(service, lifespan, shutdownTimeoutMs);
    this.#uws = uws;
    this.#webSockets = webSockets;
    this.#place = place;
  }

  /** Listens. @throws ServerStartError when that is not possible. */
  async listen(): Promise<void> {
    const { host, port, shared } = this.#place;
    // uWebSockets shares a port with whoever else does, and does not say why it cannot listen.
    const own = shared ? port : await probePort(host, port);
    const handler = new UwsHandler(this.service, [host, own]);
    const app = this.#uws.App();
    serveWebSockets(app, this.service, handler, this.#webSockets);
    app.any("/*", (res, req) => handler.serve(res, req));
    this.#listening = await new Promise((resolve, reject) => {
      app.listen(host, own, (listening) => {
        if (listening === false) {
          reject(
            new ServerStartError(
              "ELISTEN",
              `uWebSockets.js cannot listen on port ${own} of ${host}. ` +
                'It does not say why: serve with loop: "libuv", which does.',
            ),
          );
        } else {
          resolve(listening);
        }
      });
    });
    this.#app = app;
    this.#handler = handler;
    this.url = toUrl("http", host, own);
  }

  protected async drain(): Promise<void> {
    this.service.drain();
    if (this.#listening !== null) {
      this.#uws.us_listen_socket_close(this.#listening);
      this.#listening = null;
    }
    await this.onUnlistened();
    if (this.#handler?.hasServed === true) {
      await new Promise((resolve) => setTimeout(resolve, this.lingerMs)); // kept-alive clients are told to close
    }
    await this.service.idle();
    this.#end();
  }

  protected cut(): void {
    for (const line of this.service.connections) {
      line.destroy();
    }
    this.#end();
  }

  #end(): void {
    if (this.#handler !== null) {
      this.#handler.closed = true;
    }
    this.#app?.close?.();
  }
}
