/** The request of a handler. @module */
import { markCopy } from "../common/copies.js";
import type { HTTPScope, Receive, Send, WebSocketScope } from "../protocol/asgi.js";
import { contentHeaders, decodeUTF8, headerValue, parseHeaders, rawHeaders } from "../protocol/header-list.js";
import { decodeLatin1 } from "../protocol/bytes.js";
import { FormData } from "./upload-file.js";
import { HTTPException, RequestValidationError } from "../common/exceptions.js";
import { parseHost, parseMediaType } from "../protocol/http-grammar.js";
import type { PathValues } from "../protocol/path.js";
import { sentPath, sentQuery } from "../protocol/scope.js";
import { disconnectReason, MarkedGenerator, markMethods } from "../common/promises.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";
import { assertIdentity, IncomingBody, tooLarge } from "./request/body.js";
import { parseCookies } from "./request/cookies.js";
import {
  boundaryOf,
  maxMultipartBytes,
  MULTIPART,
  parsePairs,
  parseURLEncoded,
  readMultipart,
  URLENCODED,
} from "./request/form.js";
import { MultipartError } from "./request/multipart.js";
import { JSONError, parseJSON } from "./request/json.js";
import { Spool } from "./request/spool.js";
import { DOT_SEGMENT, endToEnd, isResolvedByURL, toWebHeaders, toWebRequest } from "./request/web.js";

/** Marks the response to a request as complete: a disconnect from now on is not an early one. */
export const MARK_FINISHED: unique symbol = Symbol("markFinished");

/** Sends, and marks a request as finished with the last body. */
export function finishingSend(request: { [MARK_FINISHED](): void }, send: Send): Send {
  return (message) => {
    // Before it is passed on: a server immediately reports that no more data follows.
    if (message.type === "http.response.body" && message.more_body !== true) request[MARK_FINISHED]();
    return send(message);
  };
}

const NO_HEADERS: readonly never[] = [];
const NO_BYTES = new Uint8Array();

/** Tells if a signal has been aborted because the client disconnected. */
export const LEFT: unique symbol = Symbol("left");

/** Aborts the `signal` of a request, including for later readers. */
export const ABORT: unique symbol = Symbol("abort");

/** Under this key a request tells that its form may have files, which {@link Request.close} closes. */
export const HAS_FILES: unique symbol = Symbol("hasFiles");

/** Members of the App for its handlers. */
export interface RequestApp {
  /** State that the application made at startup. */
  readonly state: Record<string, unknown>;
  /** The path of a route by its name. */
  urlPathFor(name: string, params?: PathValues): string;
}

/**
 * The common part of HTTP requests and WebSockets: everything that is read from the scope, parsed on first use.
 *
 * @example
 * ```ts
 * import { App, Depends, HTTPConnection, withParams } from "tsgi";
 *
 * const getLanguage = withParams({ connection: HTTPConnection }, async ({ connection }) => {
 *   return connection.headers["accept-language"] ?? "en";
 * });
 * const app = new App();
 * app.get("/", { params: { language: Depends(getLanguage) } }, async ({ language }) => language);
 * app.websocket("/", { params: { language: Depends(getLanguage) } }, async ({ ws, language }) => {
 *   await ws.accept();
 *   await ws.sendText(language);
 * });
 * ```
 */
export class HTTPConnection<S extends HTTPScope | WebSocketScope = HTTPScope | WebSocketScope> {
  static {
    markCopy(this);
  }

  /** The ASGI scope itself. */
  readonly scope: S;
  #headers: Record<string, string> | undefined;
  #cookies: Record<string, string> | undefined;
  #queryParams: URLSearchParams | undefined;
  #url: URL | undefined;

  constructor(scope: S) {
    this.scope = scope;
  }

  /** The path in its canonical form: only `/` and `%` inside a segment are written as `%2F` and `%25`. */
  get path(): string {
    return this.scope.path;
  }

  /** The values of the pattern's `{names}`, decoded; empty before a route has matched. */
  get pathParams(): Readonly<Record<string, string>> {
    return this.scope.path_params ?? {};
  }

  /** The address of the client, or `null` if the server does not know it. */
  get client(): { readonly host: string; readonly port: number | null } | null {
    const { client } = this.scope;
    return client ? { host: client[0], port: client[1] } : null;
  }

  /** `"http"`, `"https"`, `"ws"` or `"wss"`. */
  get scheme(): string {
    return this.scope.scheme ?? (this.scope.type === "websocket" ? "ws" : "http");
  }

  /** This connection's shallow copy of the lifespan's state. */
  get state(): Record<string, unknown> {
    return (this.scope.state ??= {});
  }

  /** The outermost App that serves this connection. */
  get app(): RequestApp {
    return this.scope.app as RequestApp;
  }

  /** All headers: no prototype, names in lower case, values as latin-1, repeated ones joined with `, `. */
  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= parseHeaders(this.scope.headers));
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
    return (this.#queryParams ??= parsePairs(decodeLatin1(this.scope.query_string ?? NO_BYTES)));
  }

  /**
   * The address that the client asked for. A `Host` that is invalid or absent is replaced by the server's own address.
   */
  get url(): URL {
    return (this.#url ??= this.#parseURL());
  }

  #parseURL(): URL {
    const { server } = this.scope;
    // The platform's URL takes a backslash for a slash: URL §4.4.
    const path = sentPath(this.scope).replaceAll("\\", "%5C");
    const fallback = server ? `${server[0]}${server[1] === null ? "" : `:${server[1]}`}` : "localhost";
    const host = this.header("host") ?? fallback;
    const origin = `${this.scheme}://${parseHost(host) === null ? fallback : host}`;
    const target = `${path.startsWith("/") ? "" : "/"}${path}${sentQuery(this.scope)}`;
    return URL.canParse(origin + target) ? new URL(origin + target) : new URL(`${this.scheme}://localhost${target}`);
  }
}

/**
 * One HTTP request. Each part is parsed only when you request it, and only once. A handler gets it by naming the class
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
export class Request extends HTTPConnection<HTTPScope> {
  readonly #incoming: IncomingBody;
  readonly #limits: Readonly<Limits>;
  #body: Promise<Uint8Array> | undefined;
  #text: Promise<string> | undefined;
  #json: Promise<unknown> | undefined;
  #form: Promise<FormData> | undefined;
  #spool: Spool | undefined;
  #abort: AbortController | undefined;
  /** The method that has consumed the body, so that other methods cannot read it. */
  #taker: "stream()" | "form()" | null = null;
  #finished = false;
  #hasLeft = false;

  static {
    markMethods(Request.prototype, ["body", "json", "text", "form", "isDisconnected", "close"]);
  }

  /** @param limits - Bounds on the body. Defaults to the limits of an App without options. */
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
   * The whole body. A second call returns the same bytes.
   *
   * @throws HTTPException 413 when it is larger than the limit `bodyBytes`.
   * @throws ClientDisconnect if the client disconnects before its end.
   * @throws TypeError when `stream()`, or `form()` of a multipart form, has taken it already.
   */
  body(): Promise<Uint8Array> {
    return (this.#body ??= this.#readBody());
  }

  async #readBody(): Promise<Uint8Array> {
    this.#assertNotTaken();
    this.#refuseAnnounced(this.#limits.bodyBytes);
    return this.#incoming.readAll(this.#limits.bodyBytes);
  }

  #assertNotTaken(): void {
    if (this.#taker) {
      throw new TypeError(`The body has been taken by ${this.#taker}: read it there, or call body() first.`);
    }
  }

  /** Refuses a body by its `Content-Length`, before it is received. */
  #refuseAnnounced(limit: number): void {
    if (contentHeaders(this.scope.headers).length > limit) throw tooLarge(limit);
  }

  /**
   * The body parsed as JSON, with any `Content-Type`. Parsed once: a second call returns the same value.
   *
   * @throws RequestValidationError, which results in 422, if it is not JSON; HTTPException 415 for a `Content-Encoding`, which
   * `decompress()` undoes; and the errors of `body()`.
   */
  json(): Promise<unknown> {
    return (this.#json ??= this.#readJSON());
  }

  async #readJSON(): Promise<unknown> {
    assertIdentity(contentHeaders(this.scope.headers).encoding);
    const body = await this.body();
    try {
      return parseJSON(body, this.#limits.jsonDepth);
    } catch (error) {
      throw error instanceof JSONError ? invalid("json_invalid", "body", error) : error;
    }
  }

  /**
   * The body as UTF-8 text.
   *
   * @throws HTTPException 400 when it is not valid UTF-8, and everything that `body()` throws.
   */
  text(): Promise<string> {
    return (this.#text ??= this.body().then((body) => {
      const text = decodeUTF8(body);
      if (text === null) throw new HTTPException(400, "The body is not valid UTF-8");
      return text;
    }));
  }

  /**
   * The fields and files of a form, urlencoded or multipart. Parsed once. Without a form's `Content-Type`, the form is
   * empty. Files are closed when the request ends.
   *
   * @throws RequestValidationError, which results in 422, if a multipart form is malformed or incomplete.
   * @throws HTTPException 413 when it is beyond one of the limits `formParts`, `bodyBytes` (fields), `uploadBytes`
   * (files), 415 for a `Content-Encoding`, which `decompress()` undoes, 507 when the disk is full.
   * @throws ClientDisconnect if the client disconnects before its end.
   * @throws TypeError when `stream()` has taken the body already.
   */
  form(): Promise<FormData> {
    return (this.#form ??= this.#readForm());
  }

  async #readForm(): Promise<FormData> {
    const { type: contentType, encoding } = contentHeaders(this.scope.headers);
    const mediaType = parseMediaType(contentType);
    if (mediaType === URLENCODED || mediaType === MULTIPART) assertIdentity(encoding);
    if (mediaType === URLENCODED) return parseURLEncoded(await this.body(), this.#limits.formParts);
    return mediaType === MULTIPART ? this.#readMultipart(contentType ?? "") : new FormData([]);
  }

  async #readMultipart(contentType: string): Promise<FormData> {
    const spool = (this.#spool ??= new Spool());
    try {
      const boundary = boundaryOf(contentType);
      if (!this.#body) this.#refuseAnnounced(maxMultipartBytes(this.#limits));
      const chunks = this.#take("form()");
      return await readMultipart(async () => (await chunks.next()).value ?? null, boundary, {
        limits: this.#limits,
        spool,
      });
    } catch (error) {
      await spool.close();
      throw error instanceof MultipartError ? invalid("form_invalid", "form", error) : error;
    }
  }

  /**
   * The body part by part, for one that is too large to keep; not bounded by `bodyBytes`. After `body()`, it returns
   * the same bytes again, in one chunk.
   *
   * @throws ClientDisconnect if the client disconnects before its end.
   * @throws TypeError when another `stream()`, or `form()` of a multipart form, has taken it.
   */
  stream(): AsyncGenerator<Uint8Array, void, undefined> {
    return new MarkedGenerator(this.#take("stream()"));
  }

  async *#take(taker: "stream()" | "form()"): AsyncGenerator<Uint8Array, void, undefined> {
    if (this.#body) {
      const body = await this.#body;
      if (body.length > 0) yield body;
      return;
    }
    this.#assertNotTaken();
    this.#taker = taker;
    for (let chunk = await this.#incoming.next(); chunk; chunk = await this.#incoming.next()) yield chunk;
  }

  /**
   * The same as a request of the platform, for libraries that take one. Its body is read when you request it, without
   * the limit of `bodyBytes`; after `body()` it is the same bytes again, and `stream()` cannot read bytes that it has
   * consumed. Headers about the connection of the client, such as `Connection` and `Expect`, are left out, so that
   * `fetch` can send it to another server.
   *
   * @throws HTTPException 400 for a path that the platform's URL would change: a dot segment, or a backslash.
   * @throws TypeError for a method that the platform does not allow (`CONNECT`, `TRACE`, `TRACK`).
   * @see Fetch §5.4
   */
  toWeb(): globalThis.Request {
    if (isResolvedByURL(this.scope)) throw new HTTPException(400, DOT_SEGMENT);
    return toWebRequest(this, toWebHeaders(endToEnd(rawHeaders(this.scope.headers))));
  }

  /**
   * Aborts if the client disconnects before the response is finished, or the server stops waiting for it (`AbortError`),
   * and if the handler takes longer than `limits.handlerMs` (`TimeoutError`). A parameter `AbortSignal` is the same object.
   */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      this.#incoming.watch(() => this.#leave());
    }
    return this.#abort.signal;
  }

  #leave(): void {
    if (this.#finished || this.#abort?.signal.aborted) return;
    this.#hasLeft = true;
    this[ABORT](disconnectReason());
  }

  /** @internal */
  get [LEFT](): boolean {
    return this.#hasLeft;
  }

  /** Tells if the client has disconnected. Does not wait, and does not lose any of the body. */
  isDisconnected(): Promise<boolean> {
    return this.#incoming.poll();
  }

  /** @internal */
  [ABORT](reason: unknown): void {
    (this.#abort ??= new AbortController()).abort(reason);
  }

  /** @internal */
  [MARK_FINISHED](): void {
    this.#finished = true;
    this.#incoming.unwatch();
  }

  get [HAS_FILES](): boolean {
    return this.#spool !== undefined;
  }

  /**
   * Closes the files of its form. The App closes the requests that it creates; code that creates a request and reads
   * the form must close it too.
   */
  async close(): Promise<void> {
    await this.#spool?.close();
  }
}

/** The validation error of a whole body, for the client. */
function invalid(type: string, source: string, error: Error): RequestValidationError {
  return new RequestValidationError([{ type, loc: [source], msg: error.message }]);
}
