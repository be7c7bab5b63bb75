/** A server on uWebSockets.js. @module */
import {
  type Lifespan,
  type LoopServerSettings,
  type ServerContext,
  serverStartError,
  StoppableServer,
  toUrl,
} from "tsgi/internals";
import { UwsHandler } from "./handler.js";
import type { UwsApp, UwsModule } from "./module.js";
import { serveWebSockets } from "./web-sockets.js";

/** Serves one application on one address. */
export class UwsServer extends StoppableServer {
  readonly loop = "uwebsockets";
  readonly #uws: UwsModule;
  readonly #settings: LoopServerSettings;
  #app: UwsApp | null = null;
  #handler: UwsHandler | null = null;
  #listening: object | null = null;

  constructor(uws: UwsModule, context: ServerContext, lifespan: Lifespan, settings: LoopServerSettings) {
    super(context, lifespan, settings.shutdownTimeoutMs);
    this.#uws = uws;
    this.#settings = settings;
  }

  /** Listens. @throws ServerStartError when that is not possible. */
  protected async listen(): Promise<void> {
    const { host, claimPort, limits, webSockets, requestMs } = this.#settings;
    const port = await claimPort();
    const handler = new UwsHandler(this.context, { limits, requestMs }, [host, port]);
    const app = this.#uws.App();
    serveWebSockets(app, this.context, handler, webSockets);
    app.any("/*", (res, req) => handler.serve(res, req));
    this.#listening = await new Promise((resolve, reject) => {
      app.listen(host, port, (listening) => {
        if (listening === false) {
          reject(serverStartError("ELISTEN", [port, host]));
        } else {
          resolve(listening);
        }
      });
    });
    this.#app = app;
    this.#handler = handler;
    this.url = toUrl("http", host, port);
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
