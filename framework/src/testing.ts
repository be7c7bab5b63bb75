/** A client for tests: the application's lifespan, and requests to it through supertest. @module */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type supertest from "supertest";
import type TestAgent from "supertest/lib/agent.js";
import { App } from "./app.js";
import type { ASGIApp } from "./asgi.js";
import { consoleLogger } from "./logger.js";
import { Lifespan } from "./node/lifespan.js";
import { toNodeHandler } from "./node/handler.js";
import type { Callable } from "./params.js";

/** A request of supertest's, to be awaited or to be given expectations. */
export type TestRequest = supertest.Test;

type Agent = TestAgent<supertest.Test>;

/** Loads supertest on use: an application that is not under test does without it. */
async function loadSupertest(): Promise<typeof supertest> {
  try {
    const { default: loaded } = await import("supertest");
    return loaded;
  } catch (error) {
    throw new Error("TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest", {
      cause: error,
    });
  }
}

/**
 * Serves an application on a port of its own, on the loopback interface, for as long as a test takes. Cookies are
 * kept from one request to the next, as a browser keeps them.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { TestClient } from "tsgi/testing";
 *
 * const app = new App();
 * app.get("/health", async () => ({ status: "ok" }));
 * await using client = await TestClient.open(app);
 * await client.get("/health").expect(200, { status: "ok" });
 * ```
 */
export class TestClient {
  readonly #app: ASGIApp;
  readonly #lifespan: Lifespan;
  readonly #server: Server;
  readonly #agent: Agent;
  #closed: Promise<void> | null = null;

  /** Where the application is served: `http://127.0.0.1:port`. */
  readonly url: string;

  private constructor(app: ASGIApp, lifespan: Lifespan, server: Server, agent: Agent) {
    this.#app = app;
    this.#lifespan = lifespan;
    this.#server = server;
    this.#agent = agent;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /**
   * Runs the application's start-up and opens a client for it.
   *
   * @throws Error when start-up fails, or supertest is not installed.
   */
  static async open(app: ASGIApp): Promise<TestClient> {
    const request = await loadSupertest();
    const lifespan = new Lifespan(app, consoleLogger);
    await lifespan.startUp();
    const server = createServer(toNodeHandler(app, { state: lifespan.state }));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
    return new TestClient(app, lifespan, server, request.agent(server));
  }

  /** Starts a `GET`. */
  get(path: string): TestRequest {
    return this.#agent.get(path);
  }

  /** Starts a `POST`. */
  post(path: string): TestRequest {
    return this.#agent.post(path);
  }

  /** Starts a `PUT`. */
  put(path: string): TestRequest {
    return this.#agent.put(path);
  }

  /** Starts a `PATCH`. */
  patch(path: string): TestRequest {
    return this.#agent.patch(path);
  }

  /** Starts a `DELETE`. */
  delete(path: string): TestRequest {
    return this.#agent.delete(path);
  }

  /** Starts a `HEAD`. */
  head(path: string): TestRequest {
    return this.#agent.head(path);
  }

  /** Starts an `OPTIONS`. */
  options(path: string): TestRequest {
    return this.#agent.options(path);
  }

  /** The originals in `dependencyOverrides` whose replacement no request has asked for. */
  unusedOverrides(): Callable[] {
    return this.#app instanceof App ? this.#app.dependencyOverrides.unused() : [];
  }

  /** Closes the port, then runs the application's shutdown. Once; a second call waits for the first. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
    await this.#lifespan.shutDown();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
