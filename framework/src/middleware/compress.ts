import type { HTTPResponseBodyMessage, HTTPResponseStartMessage, HTTPScope, Send, SendMessage } from "../asgi.js";
import type { Middleware } from "../chain.js";
import { createBytes } from "../datastructures.js";
import { parseList } from "../http-grammar.js";
import { type AcceptedCodings, chooseCoding, headerValues, mediaTypeOf } from "../request.js";
import { addVary, type ResponseHeaders } from "../response.js";
import { type CompressionLevels, Compressor, type ContentCoding, encodeWhole } from "./compressor.js";
import { headersOf, onHTTP, sendInOrder } from "./layer.js";
import { assertOptions, expecting, type OptionRules, whole } from "../options.js";

export type { ContentCoding } from "./compressor.js";

/** What `gzip` takes. */
export interface GzipOptions {
  /** The fewest bytes of a body that is worth it. Defaults to 500. */
  minimumSize?: number;
  /** The codings in the order of preference, where the client has none. Defaults to `["gzip", "br"]`. */
  encodings?: readonly ContentCoding[];
  /** How much work gzip does, from 1 to 9. Defaults to 6. */
  level?: number;
  /** How much work brotli does, from 0 to 11. Defaults to 4: more is for files that are compressed once. */
  brotliQuality?: number;
}

const OPTIONS: OptionRules<GzipOptions> = {
  minimumSize: whole(0),
  encodings: expecting('a list of "gzip" and "br"', (value) => {
    return Array.isArray(value) && value.length > 0 && value.every((coding) => coding === "gzip" || coding === "br");
  }),
  level: whole(1, 9),
  brotliQuality: whole(0, 11),
};

interface Settings {
  readonly minimumSize: number;
  readonly encodings: readonly ContentCoding[];
  readonly levels: CompressionLevels;
}

/** Types that are text in truth. All others are taken to be compressed already. */
const COMPRESSIBLE =
  /^(?:text\/.+|(?:application|image|model)\/.+\+(?:json|xml|text|yaml)|application\/(?:json|jsonl|x-ndjson|json-seq|xml|xml-dtd|javascript|x-javascript|ecmascript|graphql|graphql-response|yaml|x-yaml|toml|sql|rtf|wasm|x-www-form-urlencoded|vnd\.ms-fontobject)|font\/(?:ttf|otf|collection)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))$/;

/** Statuses whose body is none, or a part of another one: RFC 9110 §15.3.5, §15.3.6, §15.3.7, §15.4.5. */
const UNTOUCHED = new Set([204, 205, 206, 304]);

/** Headers that say that the body is encoded, is a part, or has a digest that an encoding would belie. */
const TELLING = ["content-encoding", "content-range", "content-digest", "repr-digest", "content-md5"];

/**
 * Compresses answers for clients that take it: text of some size, streams part by part as they come. Events
 * (`text/event-stream`), partial, encoded and `no-transform` answers go out as they are.
 *
 * An answer that holds a secret beside text of the request tells the secret by its length (BREACH): leave compression
 * off such routes.
 *
 * @throws ConfigurationError for an option that could not work.
 * @see RFC 9110 §8.4, §12.5.3
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { gzip } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(gzip({ minimumSize: 1_000 }));
 * ```
 */
export function gzip(options: GzipOptions = {}): Middleware {
  const settings = compile(options);
  // Nearly all clients say the same: what the last header came to is kept.
  let known = "";
  let accepted = chooseCoding(known, settings.encodings);
  return onHTTP(async (app, scope, receive, send) => {
    const header = headerValues(scope.headers ?? [], "accept-encoding").join(",");
    if (header !== known) [known, accepted] = [header, chooseCoding(header, settings.encodings)];
    const response = new EncodedResponse(scope, send, settings, accepted);
    try {
      await app(
        scope,
        receive,
        sendInOrder((message) => response.take(message)),
      );
    } finally {
      response.destroy();
    }
  });
}

function compile(options: GzipOptions): Settings {
  assertOptions("gzip()", options, OPTIONS);
  const { minimumSize = 500, encodings = ["gzip", "br"], level = 6, brotliQuality = 4 } = options;
  return { minimumSize, encodings, levels: { gzip: level, br: brotliQuality } };
}

/** One response on its way out. Its head waits for the first part of its body, whose size decides. */
class EncodedResponse {
  readonly #isHead: boolean;
  readonly #send: Send;
  readonly #settings: Settings;
  readonly #accepted: AcceptedCodings<ContentCoding>;
  #held: HTTPResponseStartMessage | null = null;
  #headers: ResponseHeaders | null = null;
  #compressor: Compressor | null = null;
  #isOver = false;

  constructor(scope: HTTPScope, send: Send, settings: Settings, accepted: AcceptedCodings<ContentCoding>) {
    this.#isHead = scope.method === "HEAD";
    this.#send = send;
    this.#settings = settings;
    this.#accepted = accepted;
  }

  take(message: SendMessage): Promise<void> | void {
    if (this.#isOver) return; // ASGI: what follows the last body is ignored
    if (message.type === "http.response.start") return this.#start(message);
    if (message.type !== "http.response.body") return this.#send(message);
    this.#isOver = message.more_body !== true;
    return this.#body(message);
  }

  destroy(): void {
    this.#compressor?.destroy();
  }

  #start(message: HTTPResponseStartMessage): Promise<void> | void {
    const headers = headersOf(message);
    // What a 304 stands for is not known here, and it has to say of it what the whole answer said.
    if (message.status === 304) addVary(headers, "Accept-Encoding");
    if (!this.#isCompressible(message.status, headers)) {
      return this.#send({ ...message, headers: headers.toList() });
    }
    addVary(headers, "Accept-Encoding");
    this.#held = message;
    this.#headers = headers;
  }

  #isCompressible(status: number, headers: ResponseHeaders): boolean {
    if (UNTOUCHED.has(status) || TELLING.some((name) => headers.has(name))) return false;
    const directives = parseList(headers.get("cache-control") ?? "");
    if (directives.some((directive) => directive.toLowerCase() === "no-transform")) return false;
    const type = mediaTypeOf(headers.get("content-type"));
    return type !== "text/event-stream" && (type === "" || COMPRESSIBLE.test(type));
  }

  #body(message: HTTPResponseBodyMessage): Promise<void> | void {
    if (this.#held !== null) return this.#begin(this.#held, message);
    return this.#compressor === null ? this.#send(message) : this.#encode(this.#compressor, message);
  }

  /** Sends the head with what is to be sent first of the body. */
  #begin(start: HTTPResponseStartMessage, message: HTTPResponseBodyMessage): Promise<void> | void {
    const headers = this.#headers as ResponseHeaders;
    const { coding } = this.#accepted;
    this.#held = null;
    const isEncoded = coding !== null && this.#isWorthIt(headers, message);
    if (isEncoded) markEncoded(headers, coding);
    if (isEncoded && !this.#isHead) return this.#beginEncoded(start, message, headers, coding);
    const started = this.#send({ ...start, headers: headers.toList() });
    return started instanceof Promise ? started.then(() => this.#send(message)) : this.#send(message);
  }

  async #beginEncoded(
    start: HTTPResponseStartMessage,
    message: HTTPResponseBodyMessage,
    headers: ResponseHeaders,
    coding: ContentCoding,
  ): Promise<void> {
    const { levels } = this.#settings;
    if (message.more_body === true) {
      this.#compressor = await Compressor.create(coding, levels);
      await this.#send({ ...start, headers: headers.toList() });
      return this.#encode(this.#compressor, message);
    }
    const body = await encodeWhole(coding, levels, message.body ?? createBytes(0));
    headers.set("content-length", String(body.length));
    await this.#send({ ...start, headers: headers.toList() });
    await this.#send({ type: "http.response.body", body, more_body: false });
  }

  /** Whether the body is large enough, or of a size that is not known yet. */
  #isWorthIt(headers: ResponseHeaders, message: HTTPResponseBodyMessage): boolean {
    if (this.#accepted.refusesIdentity) return true;
    const announced = headers.get("content-length");
    const isWhole = message.more_body !== true && !this.#isHead;
    const size = isWhole ? (message.body?.length ?? 0) : announced === undefined ? Infinity : Number(announced);
    return size >= this.#settings.minimumSize;
  }

  async #encode(compressor: Compressor, message: HTTPResponseBodyMessage): Promise<void> {
    const { body = createBytes(0) } = message;
    if (message.more_body !== true) {
      return this.#send({ type: "http.response.body", body: await compressor.end(body), more_body: false });
    }
    // Nothing in, nothing out: such a message only asks for the head to be sent.
    const encoded = body.length === 0 ? body : await compressor.write(body);
    await this.#send({ type: "http.response.body", body: encoded, more_body: true });
  }
}

/** Says in the head what becomes of the body: another length, no parts, another entity tag. */
function markEncoded(headers: ResponseHeaders, coding: string): void {
  headers.set("content-encoding", coding);
  headers.delete("content-length");
  headers.delete("accept-ranges");
  const etag = headers.get("etag");
  // RFC 9110 §8.8.3.3: the bytes are other ones than those that the strong tag stands for.
  if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
}
