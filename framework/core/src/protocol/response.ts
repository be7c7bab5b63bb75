/** Responses: their checked head, the content that status and method allow, and a body that is sent whole. @module */
import type { HeaderPair, HTTPResponseBodyMessage, Send } from "./asgi.js";
import { createBytes, decodeLatin1 } from "./bytes.js";
import { encodeUTF8, HeaderList, isASCII, textAt } from "./header-list.js";
import { ProtocolError, statusPhrase } from "../common/exceptions.js";
import { describe } from "../common/messages.js";
import { isFieldValue, isToken } from "./http-grammar.js";

/** The rules for the content of a response, by its status and method. */
export interface ResponseFacts {
  /** `true` for a response without content: a driver drops the body that it gets. */
  readonly bodyless: boolean;
  /**
   * The meaning of `Content-Length`:
   *
   * - `content`: bytes of the content, or for HEAD of the content that GET would get (RFC 9110 §9.3.2).
   * - `given`: only the application knows it (304: RFC 9110 §8.6).
   * - `zero`: always 0. On HTTP/1.1 a 205 ends with its content, and not with its head (RFC 9112 §6.3).
   * - `none`: the field is not allowed (1xx, 204: RFC 9110 §8.6).
   */
  readonly length: "content" | "given" | "zero" | "none";
}

const WHOLE: ResponseFacts = { bodyless: false, length: "content" };
const HEAD: ResponseFacts = { bodyless: true, length: "content" };
const NOT_MODIFIED: ResponseFacts = { bodyless: true, length: "given" };
const RESET_CONTENT: ResponseFacts = { bodyless: true, length: "zero" };
const NO_CONTENT: ResponseFacts = { bodyless: true, length: "none" };

/** Returns whether a response has content, and what its `Content-Length` means: RFC 9110 §6.4.1, §15.3.5, §15.3.6. */
export function responseFacts(status: number, method: string): ResponseFacts {
  if (status < 200 || status === 204) return NO_CONTENT;
  if (status === 205) return RESET_CONTENT;
  if (status === 304) return NOT_MODIFIED;
  return method === "HEAD" ? HEAD : WHOLE;
}

/** Headers in the form of a driver of `fetch`. */
export interface PlatformHeaders {
  /** The type of the content, which the constructor of a response takes; `null` without one. */
  readonly init: Readonly<Record<"content-type", string>> | null;
  /** The headers that are added after it. */
  readonly added: readonly (readonly [name: string, value: string])[];
}

/** The headers of a response, checked. */
export class CheckedHeaders {
  /** `[name, value, …]`, without the headers about the connection. */
  readonly raw: readonly string[];
  /** The `Content-Length`, or -1. */
  readonly contentLength: number;
  /** `true` if the application asks to close the connection. */
  readonly close: boolean;
  readonly hasDate: boolean;
  /** The same as headers of the platform, once a driver of `fetch` has made them. */
  platform: PlatformHeaders | null = null;
  /** The last text of {@link toText}, and its status. */
  #text = "";
  #status = 0;

  constructor(raw: readonly string[], contentLength: number, close: boolean, hasDate: boolean) {
    this.raw = raw;
    this.contentLength = contentLength;
    this.close = close;
    this.hasDate = hasDate;
  }

  /** The status line and the header lines in the form of HTTP/1.1. */
  toText(status: number): string {
    if (this.#status !== status) {
      this.#text = `HTTP/1.1 ${status} ${statusPhrase(status)}\r\n`;
      for (let index = 0; index < this.raw.length; index += 2) {
        this.#text += `${this.raw[index] ?? ""}: ${this.raw[index + 1] ?? ""}\r\n`;
      }
      this.#status = status;
    }
    return this.#text;
  }
}

/** The head of a response that may be sent. */
export interface ServerResponseHead {
  /** HTTP status code in range [200...599]. */
  readonly status: number;
  readonly headers: CheckedHeaders;
  /** Bytes of the body that the head announces, or -1 without an announcement. */
  contentLength: number;
  /** The rules for the content, by the status and the method. */
  readonly facts: ResponseFacts;
}

/** The response to `OPTIONS *`, which is for the server, not for a resource of the application: RFC 9110 §9.3.7. */
export const SERVER_OPTIONS: Readonly<ServerResponseHead> = {
  status: 204,
  headers: new CheckedHeaders([], -1, false, false),
  contentLength: -1,
  facts: responseFacts(204, "OPTIONS"),
};

/** @throws ProtocolError if a status or a header would break the message. */
export function createResponseHead(
  status: number,
  list: Iterable<HeaderPair> | undefined,
  method: string,
): ServerResponseHead {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new ProtocolError(`Expected a status from 200 to 599 in "http.response.start", not ${String(status)}.`);
  }
  const raw = list instanceof HeaderList ? list.raw : toRaw(list);
  const facts = responseFacts(status, method);
  let headers = checkedLists.get(raw) ?? checkHeaders(raw);
  if (headers.contentLength !== -1 && (facts.length === "zero" || facts.length === "none")) {
    headers = check(withoutHeader(headers.raw, "content-length"));
  }
  const contentLength = facts.length === "zero" ? 0 : headers.contentLength;
  return { status, headers, contentLength, facts };
}

/** Names as the application spells them. */
function toRaw(list: Iterable<HeaderPair> = []): readonly string[] {
  const raw: string[] = [];
  for (const [name, value] of list) raw.push(decodeLatin1(name), decodeLatin1(value));
  return raw;
}

/** Announces to HEAD the length of the body that GET would get, if the application made it: RFC 9110 §9.3.2. */
export function announceLength(head: ServerResponseHead, bytes: number): void {
  if (head.contentLength === -1 && head.facts.length === "content" && bytes > 0) head.contentLength = bytes;
}

/** Returns whether a response is a stream of server-sent events, whose client connects again after its end. */
export function streamsEvents(head: ServerResponseHead): boolean {
  return /^text\/event-stream[\t ]*(?:;|$)/i.test(headerOf(head, "content-type"));
}

/** Returns whether the body is encoded, for example compressed. */
export function isEncoded(head: ServerResponseHead): boolean {
  return !/^(?:identity)?$/i.test(headerOf(head, "content-encoding"));
}

/** The first value of a header whose name is in lower case, or `""`. */
function headerOf({ headers: { raw } }: ServerResponseHead, name: string): string {
  const at = raw.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at === -1 ? "" : (raw[at + 1] ?? "");
}

/** Immutable lists, such as the lists of the framework's own responses, are checked once. */
const checkedLists = new WeakMap<readonly string[], CheckedHeaders>();

function checkHeaders(raw: readonly string[]): CheckedHeaders {
  const checked = check(raw);
  if (Object.isFrozen(raw)) checkedLists.set(raw, checked);
  return checked;
}

function check(raw: readonly string[]): CheckedHeaders {
  let kept = raw;
  let contentLength = -1;
  let close = false;
  let hasDate = false;
  let lengths = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const name = textAt(raw, index);
    const value = textAt(raw, index + 1);
    checkHeader(name, value);
    switch (name.length) {
      case 4:
        hasDate ||= name.toLowerCase() === "date";
        break;
      case 14:
        if (name.toLowerCase() !== "content-length") break;
        contentLength = parseLength(value, contentLength);
        lengths++;
        break;
      case 7:
      case 10:
      case 17: {
        const key = name.toLowerCase();
        if (!SERVERS_OWN.has(key)) break;
        close ||= asksToClose(key, value);
        kept = withoutHeader(kept, key);
      }
    }
  }
  if (lengths > 1) kept = [...withoutHeader(kept, "content-length"), "content-length", String(contentLength)]; // RFC 9110 §8.6
  return new CheckedHeaders(kept, contentLength, close, hasDate);
}

/** Headers about the connection and the framing, which are dropped (ASGI, RFC 9110 §7.6.1). */
const SERVERS_OWN: ReadonlySet<string> = new Set(["connection", "keep-alive", "trailer", "transfer-encoding"]);

function asksToClose(name: string, value: string): boolean {
  return name === "connection" && /(?:^|[\t ,])close(?:$|[\t ,])/i.test(value);
}

function parseLength(value: string, before: number): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(length) || (before !== -1 && before !== length)) {
    throw new ProtocolError(`Expected one number of bytes as Content-Length, not ${JSON.stringify(value)}.`);
  }
  return length;
}

/** @throws ProtocolError if the name is not a token, or the value would break out of its line. */
export function checkHeader(name: string, value: string): void {
  if (!isToken(name)) throw new ProtocolError(`${JSON.stringify(name)} is not a header name.`);
  if (!isFieldValue(value)) {
    throw new ProtocolError(`The header ${name} has a control character or one beyond latin-1 in its value.`);
  }
}

/** The headers that do not have this name, which is in lower case. */
function withoutHeader(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index & ~1]?.toLowerCase() !== name);
}

const EMPTY = createBytes(0);

/**
 * The last body message of a response, with text that a driver writes as it is. All other code reads or sets its
 * `body`, which is encoded on access. Bytes that the application encodes and the driver decodes took 4 to 6 % of the
 * processor time of a small response over HTTP/1.1 (Node 20).
 */
export class ASCIIBody implements HTTPResponseBodyMessage {
  declare readonly type: "http.response.body";
  declare more_body: boolean;
  /** `null` after other bytes have been set. */
  declare ascii: string | null;

  constructor(ascii: string) {
    this.type = "http.response.body";
    this.more_body = false;
    this.ascii = ascii;
  }

  get body(): Uint8Array {
    return encodeUTF8(this.ascii ?? "");
  }

  set body(value: Uint8Array) {
    this.ascii = null;
    Object.defineProperty(this, "body", { value, writable: true, enumerable: true, configurable: true });
  }
}

/**
 * The content of another body message. In a copy of an {@link ASCIIBody} the bytes that a middleware has set come before the
 * text.
 *
 * @throws ProtocolError for a body that is not bytes, and for `ascii` that is not ASCII text.
 */
export function contentOf({ body, ascii }: HTTPResponseBodyMessage): Uint8Array | string {
  const content: unknown = body ?? ascii ?? EMPTY;
  if (content instanceof Uint8Array) return content;
  if (typeof body !== "string" && typeof content === "string" && isASCII(content)) return content;
  const found = typeof content === "string" ? "text" : describe(content);
  throw new ProtocolError(`Expected the body of "http.response.body" to be bytes, not ${found}.`);
}

/** Takes a whole response in one go, as `send` takes it in two messages. */
export interface Responder {
  /** `true` once the response has a head: from then on no other one can be sent. */
  readonly hasBegun: boolean;
  /** @param body - Bytes, or ASCII text. */
  respond(status: number, headers: Iterable<HeaderPair>, body: Uint8Array | string): Promise<void> | void;
}

/** Under this key, a `send` has what takes a whole response in its place. Other servers and middleware do not set it. */
export const RESPONDER: unique symbol = Symbol("tsgi.responder");

/** A `send` that may have a responder. */
export interface RespondingSend extends Send {
  [RESPONDER]?: Responder;
}

/**
 * Gives the `send` of a layer a responder, if the `send` that it passes messages to has one.
 *
 * @param through - Makes the layer's `respond` from the next responder.
 */
export function relaying(
  own: RespondingSend,
  { [RESPONDER]: next }: RespondingSend,
  through: (next: Responder) => Responder["respond"],
): Send {
  if (next) {
    own[RESPONDER] = {
      respond: through(next),
      get hasBegun() {
        return next.hasBegun;
      },
    };
  }
  return own;
}

/** Takes a response: as messages, or a whole one in one go. */
export interface ResponseTarget {
  readonly send: RespondingSend;
  /** Takes a whole response, if `send` itself has no responder. */
  readonly responder?: Responder | undefined;
}

/**
 * Sends a head and one whole body, without a promise if the server does not need one.
 *
 * @param body - Bytes, or ASCII text for a server that reads it.
 */
export function sendWhole(
  to: ResponseTarget,
  status: number,
  headers: Iterable<HeaderPair>,
  body: Uint8Array | string,
): Promise<void> | void {
  const responder = to.responder ?? to.send[RESPONDER];
  if (responder) return responder.respond(status, headers, body);
  const started = to.send({ type: "http.response.start", status, headers });
  const message: HTTPResponseBodyMessage =
    typeof body === "string" ? new ASCIIBody(body) : { type: "http.response.body", body, more_body: false };
  // A `send` that returns anything else, as `(message) => list.push(message)` does, is not asynchronous.
  if (typeof started === "object" && started !== null) return started.then(() => to.send(message));
  const ended = to.send(message);
  if (typeof ended === "object") return ended;
}
