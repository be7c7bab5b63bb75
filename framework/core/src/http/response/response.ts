/** The base class of responses: status, headers, and a body of bytes. @module */
import { markCopy } from "../../common/copies.js";
import type { Send } from "../../protocol/asgi.js";
import type { BackgroundTasks } from "../background.js";
import { asBytes, createBytes } from "../../protocol/bytes.js";
import { encodeUTF8 } from "../../protocol/header-list.js";
import { markMethods } from "../../common/promises.js";
import type { Request } from "../request.js";
import { sendWhole, responseFacts } from "../../protocol/response.js";
import { type CookieOptions, serializeCookie, serializeDeletion } from "./cookies.js";
import { type HeadersInit, ResponseHeaders } from "./headers.js";
import { claim } from "./pull.js";

/** No body. */
export const NO_BYTES: Uint8Array = createBytes(0);

/** Options of every response class. */
export interface ResponseOptions {
  /** HTTP status code in range [200...599]. Defaults to 200. */
  statusCode?: number;
  /** Headers to send; a name given here wins over the one that the class would set. */
  headers?: HeadersInit;
  /** The `Content-Type`. `; charset=utf-8` is added to a `text/` type without a charset. */
  mediaType?: string;
  /** Work for after the response has been sent. */
  background?: BackgroundTasks;
}

/**
 * Runs the parts that can fail before the head is sent: opens the file, waits for the first chunk of the stream. Until
 * then another response can be sent instead. One response may be prepared for several requests at a time. Accepts
 * `headOnly`, which omits the body, and the request for its conditions and ranges, and to detect a disconnect.
 */
export const PREPARE: unique symbol = Symbol("prepare");

/** Sends a response whose head can no longer fail. */
export interface Sender {
  (send: Send): Promise<void> | void;
  /** Releases the resources of the response instead of sending it. */
  cancel?(): Promise<void>;
}

/**
 * A response with text or bytes. If you inject it through the params of a handler, its headers, cookies and status are
 * applied to the response that the framework creates from the handler's result.
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
  /** The headers to send. `Content-Length` is added when they are sent. */
  readonly headers: ResponseHeaders;
  /** Work for after the response has been sent. */
  background: BackgroundTasks | undefined;
  /** The body that will be sent. */
  readonly body: Uint8Array;

  static {
    markCopy(this);
    markMethods(Response.prototype, ["send"]);
  }

  /**
   * @param content - Text (sent as UTF-8), bytes, or undefined.
   * @throws TypeError when the content is of another kind, or a header is not allowed in HTTP.
   */
  constructor(content: string | Uint8Array | null = null, options: ResponseOptions = {}) {
    this.statusCode = options.statusCode ?? 200;
    this.headers = new ResponseHeaders(options.headers);
    this.background = options.background;
    if (content === null || content === undefined) this.body = NO_BYTES;
    else if (typeof content === "string") this.body = encodeUTF8(content);
    else if (content instanceof Uint8Array) this.body = asBytes(content);
    else {
      claim(content);
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
   * @param value - Any text; it is percent-encoded if necessary.
   * @throws TypeError when the name or an attribute has a character that is not allowed there.
   */
  setCookie(name: string, value: string, options: CookieOptions = {}): void {
    this.headers.append("set-cookie", serializeCookie(name, value, options));
  }

  /** Ends a cookie in the browser. Path and domain must be those with which it was set. */
  deleteCookie(name: string, options: Omit<CookieOptions, "maxAge" | "expires"> = {}): void {
    this.headers.append("set-cookie", serializeDeletion(name, options));
  }

  /** @internal */
  [PREPARE](headOnly: boolean, request?: Request): Promise<Sender> | Sender {
    return (send) => this.send(send, headOnly, request);
  }

  /** Sends head and body. With `headOnly`, as the response to HEAD, only the head with one empty body. */
  // oxlint-disable-next-line no-unused-vars -- files and streams look at the request
  send(send: Send, headOnly = false, request?: Request): Promise<void> | void {
    const { bodyless } = responseFacts(this.statusCode, "GET");
    if (bodyless) {
      this.headers.delete("content-length");
      this.headers.delete("content-type");
    } else if (!this.headers.has("content-length")) {
      this.headers.set("content-length", String(this.body.length));
    }
    return sendWhole({ send }, this.statusCode, this.headers.toList(), headOnly || bodyless ? NO_BYTES : this.body);
  }
}

/** Adds the charset to a media type of text. */
export function withCharset(mediaType: string): string {
  return mediaType.startsWith("text/") && !/;[ \t]*charset=/i.test(mediaType)
    ? `${mediaType}; charset=utf-8`
    : mediaType;
}
