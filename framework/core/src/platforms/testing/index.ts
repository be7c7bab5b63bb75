/** A client for tests: the application's lifespan, requests to it through supertest, and WebSockets in memory. @module */
import { clearTimeout, setTimeout } from "../../common/timers.js";
import type supertest from "supertest";
import type TestAgent from "supertest/lib/agent.js";
import { DependencyOverrides } from "../../parameters/dependencies/overrides.js";
import type { ASGIApp, Scope, HeaderPair } from "../../protocol/asgi.js";
import { assertApplication } from "../../protocol/callable.js";
import { consoleLogger, guardLogger, type Logger } from "../../common/logger.js";
import type { RunningServer } from "../node/stoppable-server.js";
import { serve, type ServeOptions } from "../node/serve.js";
import { PROXY_OPTIONS, type ProxyOptions } from "../node/trusted-proxies.js";
import { assertOptions, MILLISECONDS, OBJECT, type OptionRules } from "../../common/options.js";
import type { Callable } from "../../parameters/depends.js";
import { ServerContext } from "../../protocol/server-context.js";
import type { HeadersInit } from "../../http/response/headers.js";
import { MemoryWebSocket, withHeaders } from "./memory-websocket.js";
import { CONNECT, TestWebSocket } from "./test-websocket.js";
import { headerValues } from "../../protocol/header-list.js";

export { WebSocketRefusedError } from "./memory-websocket.js";
export { TestWebSocket } from "./test-websocket.js";

/** A request of supertest's, to be awaited or to be given expectations. */
export type TestRequest = supertest.Test;

type Agent = TestAgent<supertest.Test>;

/** Options of `TestClient.open`. */
export interface TestClientOptions extends Pick<
  ServeOptions,
  "connectionLimits" | "shutdownTimeoutMs" | "timeouts" | keyof ProxyOptions
> {
  /** Headers of every request and every handshake. */
  headers?: Readonly<Record<string, string>>;
  /** Logger of the server. Defaults to warnings and errors on stderr. */
  logger?: Logger;
}

const OPTIONS: OptionRules<TestClientOptions> = {
  connectionLimits: OBJECT,
  shutdownTimeoutMs: MILLISECONDS,
  timeouts: OBJECT,
  ...PROXY_OPTIONS,
  headers: OBJECT,
  logger: OBJECT,
};

/** Options of `TestClient#websocket`. */
export interface TestWebSocketOptions {
  /** Headers of the handshake. */
  headers?: HeadersInit;
  /** The subprotocols to offer, in order of preference. */
  subprotocols?: readonly string[];
}

/** Logs only warnings and errors. */
const QUIET: Logger = { ...consoleLogger, debug: () => {}, info: () => {} };

/**
 * The extension of every scope that a test client makes. An App whose pool has no `kind` runs non-async handlers
 * inline.
 */
const TESTING = "tsgi.testing";

/** Marks each scope as a test's, and keeps the state of the lifespan for the WebSockets. */
function markScopes(app: ASGIApp): { readonly app: ASGIApp; state: Record<string, unknown> } {
  const tested = {
    state: {} as Record<string, unknown>,
    app(...[scope, receive, send]: Parameters<ASGIApp>) {
      const own: Scope = { ...scope, extensions: { ...scope.extensions, [TESTING]: {} } };
      if (own.type === "lifespan") tested.state = own.state ??= {};
      return app(own, receive, send);
    },
  };
  return tested;
}

/**
 * Serves an application on a separate port, on the loopback interface, during a test; its WebSockets are opened in
 * memory. Cookies are kept from one request to the next, as a browser keeps them. An error that the application does
 * not handle is the 500 that a client would see, and a line of the application's logger.
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
  readonly #headers: Readonly<Record<string, string>>;
  readonly #shutdownTimeoutMs: number;
  /** The WebSockets whose handlers run. */
  readonly #webSockets = new Set<MemoryWebSocket>();
  readonly #context: ServerContext;
  #closing: Promise<void> | null = null;

  private constructor(
    app: ASGIApp,
    { tested, server, agent }: { tested: ReturnType<typeof markScopes>; server: RunningServer; agent: Agent },
    { headers = {}, shutdownTimeoutMs = 10_000, logger = QUIET }: TestClientOptions,
  ) {
    this.#context = new ServerContext(tested.app, guardLogger(logger), tested);
    this.#app = app;
    this.#server = server;
    this.#agent = agent;
    this.#headers = headers;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
  }

  /**
   * Runs the application's startup and opens a client for it.
   *
   * @throws Error when startup fails, or supertest is not installed.
   * @throws ConfigurationError for an unknown option.
   */
  static async open(app: ASGIApp, options: TestClientOptions = {}): Promise<TestClient> {
    assertApplication("TestClient.open()", app);
    assertOptions("TestClient.open()", options, OPTIONS);
    const { headers = {}, ...settings } = options;
    const request = await loadSupertest();
    const tested = markScopes(app);
    const server = await serve(tested.app, { logger: QUIET, ...settings, port: 0, signals: false });
    const agent = request.agent(server.url);
    sendSecureCookies(agent.jar);
    expireByMaxAge(agent.jar);
    void agent.set({ ...headers });
    return new TestClient(app, { tested, server, agent }, options);
  }

  /** The address of the server: `http://127.0.0.1:port`. */
  get url(): string {
    return this.#server.url;
  }

  get(path: string): TestRequest {
    return this.#agent.get(path);
  }

  post(path: string): TestRequest {
    return this.#agent.post(path);
  }

  put(path: string): TestRequest {
    return this.#agent.put(path);
  }

  patch(path: string): TestRequest {
    return this.#agent.patch(path);
  }

  delete(path: string): TestRequest {
    return this.#agent.delete(path);
  }

  head(path: string): TestRequest {
    return this.#agent.head(path);
  }

  options(path: string): TestRequest {
    return this.#agent.options(path);
  }

  trace(path: string): TestRequest {
    return this.#agent.trace(path);
  }

  /**
   * Opens a WebSocket in memory: no port, no bytes, the handler called as a server calls it. The cookies of the client
   * are included.
   *
   * @param path - The target, percent-encoded, with its query.
   * @throws WebSocketRefusedError with `statusCode` and `code`, when the application does not accept it.
   */
  async websocket(path: string, options: TestWebSocketOptions = {}): Promise<TestWebSocket> {
    const { jar } = this.#agent;
    const url = new URL(path, this.url);
    const { hostname, port } = new URL(this.url);
    const handshake = {
      target: path,
      headers: withHeaders([...cookieHeader(jar, url), ...Object.entries(this.#headers)], options.headers),
      subprotocols: options.subprotocols,
      server: [hostname, Number(port)],
    } as const;
    const webSocket = new MemoryWebSocket(this.#context, handshake, (list) => saveCookies(jar, url, list));
    this.#webSockets.add(webSocket);
    void webSocket.settled.then(() => this.#webSockets.delete(webSocket));
    return TestWebSocket[CONNECT](webSocket);
  }

  /** The originals in `dependencyOverrides` whose replacement no request has asked for. */
  unusedOverrides(): Callable[] {
    const app = this.#app;
    return "dependencyOverrides" in app && app.dependencyOverrides instanceof DependencyOverrides
      ? app.dependencyOverrides.unused()
      : [];
  }

  /**
   * Closes open connections, WebSockets with 1012 as a server does, and runs the application's shutdown. Once; a second
   * call waits for the first.
   *
   * @throws Error when a handler of a WebSocket or the shutdown takes longer than `shutdownTimeoutMs`, or fails.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#context.drain();
    try {
      await this.#handlersEnd();
    } finally {
      await this.#server.close();
    }
  }

  async #handlersEnd(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const paths = Array.from(this.#webSockets, ({ path }) => path).join(", ");
        reject(
          new Error(
            `The client has disconnected from ${paths}, but the handler still runs after ${this.#shutdownTimeoutMs} ms.`,
          ),
        );
      }, this.#shutdownTimeoutMs);
    });
    await Promise.race([Promise.all(Array.from(this.#webSockets, ({ settled }) => settled)), limit]);
    clearTimeout(timer);
  }

  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The cookies of a client's HTTP requests. */
type Jar = TestAgent["jar"];

/**
 * Sends `Secure` cookies without TLS, as browsers do to localhost.
 *
 * @see {@link https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy | Secure Contexts §3.1}
 */
function sendSecureCookies(jar: Jar): void {
  const getCookies = jar.getCookies.bind(jar);
  jar.getCookies = (access) => getCookies(Object.assign(access, { secure: true }));
}

/** The last date of JavaScript (ECMAScript §21.4.1.1). */
const LAST_DATE_MS = 8_640_000_000_000_000;

/** The lifetime of a cookie as a date, which wins over another one before it (RFC 6265 §5.2.2, §5.3). */
function withDate(cookie: string): string {
  const [, ...attributes] = cookie.split(";");
  const ages = attributes.flatMap((one) => /^[ \t]*max-age[ \t]*=[ \t]*(-?\d+)[ \t]*$/i.exec(one)?.[1] ?? []);
  const seconds = ages.at(-1);
  if (seconds === undefined) return cookie;
  const end = Number(seconds) > 0 ? Math.min(Date.now() + Number(seconds) * 1000, LAST_DATE_MS) : 0;
  return `${cookie}; Expires=${new Date(end).toISOString()}`;
}

/** Ends cookies by their `Max-Age`, which the jar ignores. */
function expireByMaxAge(jar: Jar): void {
  const setCookies = jar.setCookies.bind(jar);
  jar.setCookies = (cookies, ...place) => setCookies([cookies].flat().map(withDate), ...place);
}

/** The `Cookie` header of a request to an address, or undefined. */
function cookieHeader(jar: Jar, { hostname: domain, pathname: path }: URL): [name: "cookie", value: string][] {
  const value = jar.getCookies({ domain, path, secure: false, script: false }).toValueString();
  return value === "" ? [] : [["cookie", value]];
}

/** Keeps the `Set-Cookie` of a response. */
function saveCookies(jar: Jar, { hostname, pathname }: URL, headers: Iterable<HeaderPair>): void {
  // RFC 6265 §5.1.4: the default path goes up to the last slash, which it leaves out.
  const path = pathname.slice(0, pathname.lastIndexOf("/")) || "/";
  jar.setCookies(headerValues(headers, "set-cookie"), hostname, path);
}

/** Tells if an import failed because the package itself is missing, and not because of its imports or its code. */
function isMissing(error: unknown): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(String(code)) && /'supertest'/.test(String(message));
}

/**
 * Loads supertest on use: an application that is not under test does without it.
 *
 * @throws Error with the package to install, if it is missing.
 */
async function loadSupertest(): Promise<typeof supertest> {
  try {
    return (await import("supertest")).default;
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new Error(
      "TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest",
      { cause: error },
    );
  }
}
