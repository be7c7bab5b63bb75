/** A server on uWebSockets.js. @module */
import type { ServerContext } from "../../protocol/server-context.js";
import { serverStartError } from "../errors.js";
import type { Lifespan } from "../../lifespan.js";
import { probePort, toUrl } from "../listen.js";
import type { RequestLimits } from "../header-section.js";
import { StoppableServer } from "../stoppable-server.js";
import type { WebSocketRules } from "../websocket/upgrade.js";
import { UwsHandler } from "./handler.js";
import type { UwsApp, UwsModule } from "./module.js";
import { serveWebSockets } from "./web-sockets.js";

/** The settings of a server. */
export interface UwsSettings {
  limits: RequestLimits;
  webSockets: WebSocketRules;
  host: string;
  port: number;
  /** `true` where other processes listen at the same address and share its connections. */
  shared: boolean;
  shutdownTimeoutMs: number;
}

/** Serves one application on one address. */
export class UwsServer extends StoppableServer {
  readonly loop = "uwebsockets";
  readonly #uws: UwsModule;
  readonly #settings: UwsSettings;
  #app: UwsApp | null = null;
  #handler: UwsHandler | null = null;
  #listening: object | null = null;

  constructor(uws: UwsModule, context: ServerContext, lifespan: Lifespan, settings: UwsSettings) {
    super(context, lifespan, settings.shutdownTimeoutMs);
    this.#uws = uws;
    this.#settings = settings;
  }

  /** Listens. @throws ServerStartError when that is not possible. */
  async listen(): Promise<void> {
    const { host, port, shared, limits, webSockets } = this.#settings;
    // uWebSockets shares a port with other processes that do, and does not say why it cannot listen.
    const own = shared ? port : await probePort(host, port);
    const handler = new UwsHandler(this.context, limits, [host, own]);
    const app = this.#uws.App();
    serveWebSockets(app, this.context, handler, webSockets);
    app.any("/*", (res, req) => handler.serve(res, req));
    this.#listening = await new Promise((resolve, reject) => {
      app.listen(host, own, (listening) => {
        if (listening === false) {
          reject(serverStartError("ELISTEN", [own, host]));
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
    this.context.drain();
    if (this.#listening !== null) {
      this.#uws.us_listen_socket_close(this.#listening);
      this.#listening = null;
    }
    await this.onUnlistened();
    if (this.#handler?.hasServed === true) {
      await new Promise((resolve) => setTimeout(resolve, this.lingerMs)); // kept-alive clients are told to close
    }
    await this.context.idle();
    this.#end();
  }

  protected cut(): void {
    for (const stream of this.#handler?.streams ?? []) stream.destroy();
    this.#end();
  }

  #end(): void {
    if (this.#handler !== null) {
      this.#handler.closed = true;
    }
    this.#app?.close?.();
  }
}
