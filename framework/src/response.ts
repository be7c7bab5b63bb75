/** What a handler answers with, and how it goes to the server. @module */
import type { HeaderPair, Send } from "./asgi.js";
import type { BackgroundTasks } from "./background.js";
import { encodeUTF8, HeaderList } from "./datastructures.js";
import { type CookieOptions, serializeCookie } from "./response/cookies.js";
import { type HeadersInit, ResponseHeaders } from "./response/headers.js";

export type { CookieOptions } from "./response/cookies.js";
export { type HeadersInit, ResponseHeaders } from "./response/headers.js";

const EMPTY = new Uint8Array(0);

/** What every response class takes beside its content. */
export interface ResponseOptions {
  /** HTTP status code in range [200...599]. Defaults to 200. */
  statusCode?: number;
  /** Headers to send; a name given here wins over the one that the class would set. */
  headers?: HeadersInit;
  /** The `Content-Type`. `; charset=utf-8` is added to a `text/` type that has none. */
  mediaType?: string;
  /** Work for after the response has been sent. */
  background?: BackgroundTasks;
}

/** Statuses that never have a body, RFC 9110 §6.4.1. */
function isBodyless(statusCode: number): boolean {
  return statusCode === 204 || statusCode === 304 || statusCode < 200;
}

/**
 * A response with text or bytes. Named in the params of a handler it is a draft: headers, cookies and status set on
 * it reach the answer that the handler's result becomes.
 *
 * @example
 * ```ts
 * import { App, Response } from "tsgi";
 *
 * const app = new App();
 * app.get("/robots.txt", async () => new Response("User-agent: *", { mediaType: "text/plain" }));
 * ```
 */
export class Response {
  /** HTTP status code in range [200...599]. */
  statusCode: number;
  /** The headers to send. `Content-Length` is added when they go out. */
  readonly headers: ResponseHeaders;
  /** Work for after the response has been sent. */
  background: BackgroundTasks | undefined;
  /** The body that will be sent. */
  readonly body: Uint8Array;

  /**
   * @param content - Text (sent as UTF-8), bytes, or nothing.
   * @throws TypeError when the content is of another kind, or a header is not allowed in HTTP.
   */
  constructor(content: string | Uint8Array | null = null, options: ResponseOptions = {}) {
    this.statusCode = options.statusCode ?? 200;
    this.headers = new ResponseHeaders(options.headers);
    this.background = options.background;
    if (content === null || content === undefined) this.body = EMPTY;
    else if (typeof content === "string") this.body = encodeUTF8(content);
    else if (content instanceof Uint8Array) this.body = content;
    else {
      throw new TypeError(
        `Response takes text or bytes, not ${typeof content}. Use JSONResponse for JSON, or return the value itself.`,
      );
    }
    const mediaType = options.mediaType ?? (typeof content === "string" ? "text/plain" : undefined);
    if (mediaType !== undefined && !this.headers.has("content-type")) {
      this.headers.set("content-type", withCharset(mediaType));
    }
  }

  /**
   * Adds a cookie.
   *
   * @param value - Any text; it is percent-encoded where it needs to be.
   * @throws TypeError when the name or an attribute has a character that is not allowed there.
   */
  setCookie(name: string, value: string, options: CookieOptions = {}): void {
    this.headers.append("set-cookie", serializeCookie(name, value, options));
  }

  /** Ends a cookie in the browser. Path and domain must be those with which it was set. */
  deleteCookie(name: string, options: Omit<CookieOptions, "maxAge" | "expires"> = {}): void {
    this.setCookie(name, "", { ...options, maxAge: 0, expires: new Date(0) });
  }

  /** Sends head and body. With `headOnly`, as the answer to HEAD, the head alone with one empty body. */
  send(send: Send, headOnly = false): Promise<void> | void {
    const bodyless = isBodyless(this.statusCode);
    if (bodyless) {
      this.headers.delete("content-length");
      this.headers.delete("content-type");
    } else if (!this.headers.has("content-length")) {
      this.headers.set("content-length", String(this.body.length));
    }
    return sendWhole(send, this.statusCode, this.headers.toList(), headOnly || bodyless ? EMPTY : this.body);
  }
}

function withCharset(mediaType: string): string {
  return mediaType.startsWith("text/") && !/;\s*charset=/i.test(mediaType) ? `${mediaType}; charset=utf-8` : mediaType;
}

/**
 * A JSON response.
 *
 * @example
 * ```ts
 * import { JSONResponse } from "tsgi";
 *
 * new JSONResponse({ accepted: true }, { statusCode: 202 });
 * ```
 */
export class JSONResponse extends Response {
  /** @throws TypeError when the content has no JSON form: a `bigint`, a cycle. */
  constructor(content: unknown, options: ResponseOptions = {}) {
    super(encodeUTF8(JSON.stringify(content) ?? "null"), { mediaType: "application/json", ...options });
  }
}

/** An HTML response. */
export class HTMLResponse extends Response {
  constructor(content: string | Uint8Array, options: ResponseOptions = {}) {
    super(content, { mediaType: "text/html", ...options });
  }
}

/** A response of plain text. */
export class PlainTextResponse extends Response {
  constructor(content: string | Uint8Array, options: ResponseOptions = {}) {
    super(content, { mediaType: "text/plain", ...options });
  }
}

/** Sends the client to another address. The status defaults to 307, which keeps method and body. */
export class RedirectResponse extends Response {
  /**
   * @param url - Where to; text that is no valid URL is percent-encoded.
   * @throws TypeError when it has a control character.
   */
  constructor(url: string | URL, options: Omit<ResponseOptions, "mediaType"> = {}) {
    super(null, { statusCode: 307, ...options });
    this.headers.set("location", encodeLocation(String(url)));
  }
}

/** Percent-encodes what may not stand in a URI, and leaves what is encoded already. */
function encodeLocation(url: string): string {
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f]/.test(url)) {
    throw new TypeError(`The redirect target ${JSON.stringify(url)} has a control character.`);
  }
  return encodeURI(url).replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1");
}

/** Whether a `send` takes its time. One that gives anything else, as `(message) => list.push(message)`, does not. */
function isPromise(value: unknown): value is Promise<void> {
  return typeof value === "object" && value !== null;
}

/** Sends a head and one whole body, without a promise where the server needs none. */
export function sendWhole(
  send: Send,
  status: number,
  headers: Iterable<HeaderPair>,
  body: Uint8Array,
): Promise<void> | void {
  const started = send({ type: "http.response.start", status, headers });
  const message = { type: "http.response.body", body, more_body: false } as const;
  if (isPromise(started)) return started.then(() => send(message));
  const ended: unknown = send(message);
  if (isPromise(ended)) return ended;
}

const CONTENT_TYPE_JSON = ["content-type", "application/json", "content-length"] as const;

/** The texts of the small numbers that most answers have as their length. */
const LENGTHS: readonly string[] = Array.from({ length: 1024 }, (_, length) => String(length));

/** Sends JSON text: the way of a result that is no `Response`, without making one. */
export function sendJSON(send: Send, status: number, text: string, headOnly: boolean): Promise<void> | void {
  if (isBodyless(status)) return sendWhole(send, status, new HeaderList([]), EMPTY);
  const body = encodeUTF8(text);
  const [type, json, length] = CONTENT_TYPE_JSON;
  const headers = new HeaderList([type, json, length, LENGTHS[body.length] ?? String(body.length)]);
  return sendWhole(send, status, headers, headOnly ? EMPTY : body);
}
