/** A client for tests: the application's lifespan, and requests to it through supertest. @module */
import type supertest from "supertest";
import type TestAgent from "supertest/lib/agent.js";
import { App } from "./app.js";
import type { ASGIApp } from "./asgi.js";
import { consoleLogger, type Logger } from "./logger.js";
import { type RunningServer, serve } from "./node.js";
import type { Callable } from "./params.js";

/** A request of supertest's, to be awaited or to be given expectations. */
export type TestRequest = supertest.Test;

type Agent = TestAgent<supertest.Test>;

/** A test says for itself what it serves: only what is wrong is logged. */
const QUIET: Logger = { ...consoleLogger, debug: () => {}, info: () => {} };

/** Loads supertest on use: an application that is not under test does without it. */
async function loadSupertest(): Promise<typeof supertest> {
  try {
    const { default: loaded } = await import("supertest");
    return loaded;
  } catch (error) {
    throw new Error(
      "TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest",
      {
        cause: error,
      },
    );
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
  readonly #server: RunningServer;
  readonly #agent: Agent;

  private constructor(app: ASGIApp, server: RunningServer, agent: Agent) {
    this.#app = app;
    this.#server = server;
    this.#agent = agent;
  }

  /**
   * Runs the application's start-up and opens a client for it.
   *
   * @throws Error when start-up fails, or supertest is not installed.
   */
  static async open(app: ASGIApp): Promise<TestClient> {
    const request = await loadSupertest();
    const server = await serve(app, { port: 0, signals: false, logger: QUIET });
    return new TestClient(app, server, request.agent(server.url));
  }

  /** Where the application is served: `http://127.0.0.1:port`. */
  get url(): string {
    return this.#server.url;
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
    return this.#server.close();
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
