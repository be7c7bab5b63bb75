/** The request as a handler sees it. @module */
import type { HTTPScope, Receive, WebSocketScope } from "./asgi.js";
import { decodeLatin1, decodeUTF8, type FormData } from "./datastructures.js";
import { HTTPException } from "./exceptions.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { IncomingBody } from "./request/body.js";
import { parseCookies } from "./request/cookies.js";
import { parsePairs, parseURLEncoded } from "./request/form.js";
import { headerValue, mediaTypeOf, parseHeaders } from "./request/headers.js";
import { parseJSON } from "./request/json.js";

export { headerValues, isJSON, mediaTypeOf } from "./request/headers.js";
export { JSONError, parseJSON } from "./request/json.js";

const NO_HEADERS: readonly never[] = [];

/** What a handler may want of the App that it runs in. */
export interface Application {
  /** What the application made at start-up. */
  readonly state: Record<string, unknown>;
  /** The path of a route by its name. */
  urlPathFor(name: string, params?: Readonly<Record<string, string | number | bigint | boolean>>): string;
}

/** What HTTP requests and WebSockets have in common: everything that is read from the scope, parsed on first use. */
export class Connection<S extends HTTPScope | WebSocketScope = HTTPScope | WebSocketScope> {
  /** The ASGI scope itself. */
  readonly scope: S;
  #headers: Record<string, string> | undefined;
  #cookies: Record<string, string> | undefined;
  #queryParams: URLSearchParams | undefined;
  #url: URL | undefined;

  constructor(scope: S) {
    this.scope = scope;
  }

  /** The path in its canonical form: `/` and `%` inside a segment are written `%2F` and `%25`, nothing else is. */
  get path(): string {
    return this.scope.path;
  }

  /** The values of the pattern's `{names}`, decoded; empty before a route has matched. */
  get pathParams(): Readonly<Record<string, string>> {
    return (this.scope as { path_params?: Record<string, string> }).path_params ?? {};
  }

  /** The address of the client, or `null` where the server does not know it. */
  get client(): { readonly host: string; readonly port: number | null } | null {
    const { client } = this.scope;
    return client ? { host: client[0], port: client[1] } : null;
  }

  /** `"http"`, `"https"`, `"ws"` or `"wss"`. */
  get scheme(): string {
    return this.scope.scheme ?? (this.scope.type === "websocket" ? "ws" : "http");
  }

  /** This connection's shallow copy of what the lifespan left in its state. */
  get state(): Record<string, unknown> {
    return (this.scope.state ??= {});
  }

  /** The outermost App that serves this connection. */
  get app(): Application {
    return this.scope.app as Application;
  }

  /** All headers: no prototype, names in lower case, values as latin-1, repeated ones joined with `, `. */
  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= parseHeaders(this.scope.headers ?? NO_HEADERS));
  }

  /** One header by its lower-case name, without parsing the others. */
  header(name: string): string | undefined {
    return this.#headers ? this.#headers[name] : headerValue(this.scope.headers ?? NO_HEADERS, name);
  }

  /** The cookies: no prototype, percent-encoding undone. */
  get cookies(): Readonly<Record<string, string>> {
    return (this.#cookies ??= parseCookies(this.header("cookie")));
  }

  /** The query string's names and values. */
  get queryParams(): URLSearchParams {
    const query = this.scope.query_string;
    return (this.#queryParams ??= parsePairs(query ? decodeLatin1(query) : ""));
  }

  /**
   * The address that the client asked for. A `Host` that is none, or that is absent, is replaced by the server's own
   * address.
   */
  get url(): URL {
    return (this.#url ??= this.#parseURL());
  }

  #parseURL(): URL {
    const { raw_path: rawPath, query_string: query, server } = this.scope;
    const path = rawPath ? decodeLatin1(rawPath) : encodeURI(this.path).replaceAll("%25", "%");
    const search = query && query.length > 0 ? `?${decodeLatin1(query)}` : "";
    const fallback = server ? `${server[0]}${server[1] === null ? "" : `:${server[1]}`}` : "localhost";
    const host = this.header("host") ?? fallback;
    const origin = /^[A-Za-z0-9._~:[\]-]+$/.test(host) ? `${this.scheme}://${host}` : `${this.scheme}://${fallback}`;
    const target = `${path.startsWith("/") ? "" : "/"}${path}${search}`;
    return URL.canParse(origin + target) ? new URL(origin + target) : new URL(`${this.scheme}://localhost${target}`);
  }
}

/**
 * One HTTP request. Nothing is parsed before it is asked for, and nothing twice. A handler gets it by naming the class
 * in its params.
 *
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 *
 * const app = new App();
 * app.get("/agent", { params: { request: Request } }, async ({ request }) => ({
 *   agent: request.headers["user-agent"] ?? null,
 * }));
 * ```
 */
export class Request extends Connection<HTTPScope> {
  readonly #incoming: IncomingBody;
  readonly #limits: Readonly<Limits>;
  #body: Promise<Uint8Array> | undefined;
  #form: Promise<FormData> | undefined;
  #abort: AbortController | undefined;
  #streaming = false;
  #finished = false;

  /** @param limits - Bounds on the body. Defaults to those of an App that sets none. */
  constructor(scope: HTTPScope, receive: Receive, limits: Readonly<Limits> = DEFAULT_LIMITS) {
    super(scope);
    this.#incoming = new IncomingBody(receive);
    this.#limits = limits;
  }

  /** The method, in upper case. */
  get method(): string {
    return this.scope.method;
  }

  /**
   * The whole body. A second call gives the same bytes.
   *
   * @throws HTTPException 413 when it is larger than the limit `bodyBytes`.
   * @throws ClientDisconnect when the client goes before its end.
   * @throws TypeError when `stream()` has taken it already.
   */
  body(): Promise<Uint8Array> {
    return (this.#body ??= this.#readBody());
  }

  #readBody(): Promise<Uint8Array> {
    if (this.#streaming) {
      return Promise.reject(new TypeError("The body has been taken by stream(): read it from there."));
    }
    const declared = Number(this.header("content-length"));
    if (declared > this.#limits.bodyBytes) {
      return Promise.reject(new HTTPException(413, `The body is larger than ${this.#limits.bodyBytes} bytes`));
    }
    return this.#incoming.readAll(this.#limits.bodyBytes);
  }

  /**
   * The body parsed as JSON, whatever its `Content-Type`. Each call gives a value of its own.
   *
   * @throws JSONError when it is no JSON, and everything that `body()` throws.
   */
  async json(): Promise<unknown> {
    return parseJSON(await this.body(), this.#limits.jsonDepth);
  }

  /**
   * The body as UTF-8 text.
   *
   * @throws HTTPException 400 when it is not valid UTF-8, and everything that `body()` throws.
   */
  async text(): Promise<string> {
    const text = decodeUTF8(await this.body());
    if (text === null) throw new HTTPException(400, "The body is not valid UTF-8");
    return text;
  }

  /**
   * The fields of a form. Without a form's `Content-Type` there are none.
   *
   * @throws HTTPException 413 when it has more than `formParts` parts, and everything that `body()` throws.
   */
  form(): Promise<FormData> {
    return (this.#form ??= this.#readForm());
  }

  async #readForm(): Promise<FormData> {
    const isForm = mediaTypeOf(this.header("content-type")) === "application/x-www-form-urlencoded";
    return parseURLEncoded(isForm ? await this.body() : new Uint8Array(0), this.#limits.formParts);
  }

  /**
   * The body part by part, for one that is too large to keep; not bounded by `bodyBytes`. After `body()` it gives the
   * same bytes once more, in one part.
   *
   * @throws ClientDisconnect when the client goes before its end.
   * @throws TypeError when it has been taken by another `stream()`.
   */
  async *stream(): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#body) {
      const body = await this.#body;
      if (body.length > 0) yield body;
      return;
    }
    if (this.#streaming) throw new TypeError("The body has been taken by another stream().");
    this.#streaming = true;
    for (let chunk = await this.#incoming.next(); chunk; chunk = await this.#incoming.next()) yield chunk;
  }

  /** Aborts when the client goes before the response is finished. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      this.#incoming.watch(() => {
        if (!this.#finished) abort.abort();
      });
    }
    return this.#abort.signal;
  }

  /** Whether the client has gone. Does not wait, and does not lose any of the body. */
  isDisconnected(): Promise<boolean> {
    return this.#incoming.poll();
  }

  /** Says that the response is complete: what `receive` tells from now on is no early leave. For those who drive it. */
  markFinished(): void {
    this.#finished = true;
  }
}
