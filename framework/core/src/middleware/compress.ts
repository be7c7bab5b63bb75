/** `compress`: gzip and brotli for responses. @module */
import type {
  HTTPResponseBodyMessage,
  HTTPResponseStartMessage,
  HTTPScope,
  Send,
  SendMessage,
} from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { createBytes } from "../protocol/bytes.js";
import { headerValues } from "../protocol/header-list.js";
import { ProtocolError } from "../common/exceptions.js";
import { parseList, parseMediaType } from "../protocol/http-grammar.js";
import { assertOptions, expecting, type OptionRules, whole } from "../common/options.js";
import { type AcceptedCodings, chooseCoding } from "../http/request/accept-encoding.js";
import { addVary, changeCoding, type ResponseHeaders, weaken } from "../http/response/headers.js";
import { responseFacts } from "../protocol/response.js";
import { type MarkedState, WHEN_STOPPING } from "../protocol/server-context.js";
import { headersOf, onHTTP, sendInOrder } from "./layer.js";
import { nodeModule } from "../common/platform.js";

/** A coding that `compress` can write. */
export type ContentCoding = "gzip" | "br";

/**
 * Loaded on use: an application without compression does not need it. @throws ConfigurationError if it is not
 * available.
 */
const loadZlib = () => nodeModule("node:zlib", "compress()");

type Encoder = ReturnType<ReturnType<typeof loadZlib>["createGzip" | "createBrotliCompress"]>;

/** Levels of compression: gzip from 1 to 9, brotli from 0 to 11. */
type CompressionLevels = Readonly<Record<ContentCoding, number>>;

/**
 * Bytes up to which a whole body is encoded at once, in 0.1 ms: a trip through the thread pool takes three times as
 * long. From 100 KiB on it would keep all other requests waiting for a millisecond.
 */
const MAX_SYNC_BYTES = 32 * 1024;

/** Encodes a whole body. */
async function encodeWhole(coding: ContentCoding, levels: CompressionLevels, body: Uint8Array): Promise<Uint8Array> {
  const { constants, brotliCompressSync, gzipSync } = loadZlib();
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  if (body.length > MAX_SYNC_BYTES) return new Compressor(coding, levels, size).end(body);
  return coding === "gzip"
    ? gzipSync(body, { level: levels.gzip })
    : brotliCompressSync(body, { params: { ...size, [constants.BROTLI_PARAM_QUALITY]: levels.br } });
}

/** Encodes one body part by part. Each part is flushed: its encoded form is complete. */
class Compressor {
  readonly #stream: Encoder;
  #output: Uint8Array[] = [];

  /** @param hints - Further parameters of brotli. */
  constructor(coding: ContentCoding, levels: CompressionLevels, hints: Readonly<Record<number, number>> = {}) {
    const { constants, createBrotliCompress, createGzip } = loadZlib();
    const params = { ...hints, [constants.BROTLI_PARAM_QUALITY]: levels.br };
    this.#stream =
      coding === "gzip"
        ? createGzip({ level: levels.gzip, flush: constants.Z_SYNC_FLUSH })
        : createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params });
    this.#stream.on("data", (chunk: Uint8Array) => this.#output.push(chunk));
    this.#stream.on("error", () => {}); // rejects `write` or `end` too
  }

  /** Accepts a chunk of the body and returns its encoded form. */
  write(part: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#stream.write(part, (error) => (error ? reject(error) : resolve(this.#take())));
    });
  }

  /** Accepts the last chunk and returns the rest. */
  end(part: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#stream.once("end", () => resolve(this.#take())).once("error", reject);
      this.#stream.end(part);
    });
  }

  /** Frees its memory, whether or not the body is complete. */
  destroy(): void {
    this.#stream.destroy();
  }

  #take(): Uint8Array {
    const output = this.#output.splice(0);
    return output.length === 1 ? (output[0] as Uint8Array) : Buffer.concat(output);
  }
}

/** Options of `compress`. */
export interface CompressOptions {
  /** Bytes below which a body is sent as it is. Defaults to 500. */
  minimumSize?: number;
  /** The codings in the server's order of preference. Defaults to `["gzip", "br"]`. */
  encodings?: readonly ContentCoding[];
  /** Level of gzip, from 1 to 9. Defaults to 6. */
  level?: number;
  /** Quality of brotli, from 0 to 11. Defaults to 4: higher ones are for files that are compressed once. */
  brotliQuality?: number;
}

const OPTIONS: OptionRules<CompressOptions> = {
  minimumSize: whole(0),
  encodings: expecting('a list of "gzip" and "br"', (value) => {
    return Array.isArray(value) && value.length > 0 && value.every((coding) => coding === "gzip" || coding === "br");
  }),
  level: whole(1, 9),
  brotliQuality: whole(0, 11),
};

type Settings = Pick<Required<CompressOptions>, "minimumSize" | "encodings"> & { readonly levels: CompressionLevels };

/** Media types of text. All others are taken to be compressed already. */
const COMPRESSIBLE =
  /^(?:text\/.+|(?:application|image|model)\/.+\+(?:json|xml|text|yaml)|application\/(?:json|jsonl|x-ndjson|json-seq|xml|xml-dtd|javascript|x-javascript|ecmascript|graphql|graphql-response|yaml|x-yaml|toml|sql|rtf|wasm|x-www-form-urlencoded|vnd\.ms-fontobject)|font\/(?:ttf|otf|collection)|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))$/;

/** RFC 9110 §15.3.7: the body is a part of a representation, which an encoding would make another one. */
const PARTIAL_CONTENT = 206;

/** Headers of a body that is encoded, is a part, or has a digest that an encoding would break. */
const UNCHANGEABLE = ["content-encoding", "content-range", "content-digest", "repr-digest", "content-md5"];

/**
 * Compresses responses with gzip or brotli for clients that accept it: text from `minimumSize` on, streams part by part
 * as they come. Events (`text/event-stream`), partial, encoded and `no-transform` responses are sent unchanged, and so are
 * streams of routes with `whenStopping: "end"`.
 *
 * Attack: if a compressed response contains a secret and text from the request, its length can reveal the secret
 * (BREACH). Leave compression off such routes.
 *
 * @throws ConfigurationError for an option that could not work.
 * @see RFC 9110 §8.4, §12.5.3
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { compress } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(compress({ minimumSize: 1_000 }));
 * ```
 */
export function compress(options: CompressOptions = {}): Middleware {
  assertOptions("compress()", options, OPTIONS);
  loadZlib();
  const { minimumSize = 500, encodings = ["gzip", "br"], level = 6, brotliQuality = 4 } = options;
  const settings = { minimumSize, encodings, levels: { gzip: level, br: brotliQuality } };
  // Nearly all clients send the same header: the result for the last one is kept.
  let known = "";
  let accepted = chooseCoding(known, encodings);
  return onHTTP((app) => async (scope, receive, send) => {
    const header = headerValues(scope.headers ?? [], "accept-encoding").join(",");
    if (header !== known) [known, accepted] = [header, chooseCoding(header, encodings)];
    const response = new CompressedResponse(send, scope, { ...settings, accepted });
    try {
      await app(scope, receive, sendInOrder(response.take));
    } finally {
      response.destroy();
    }
  });
}

/** {@link compress} under the name of the coding that it wrote first. @deprecated Write `compress`. */
export const gzip = compress;

/** The settings, with the codings that the client accepts. */
type ResponseSettings = Settings & { readonly accepted: AcceptedCodings<ContentCoding> };

/** The head of a response that waits, with its headers. */
type WaitingHead = readonly [HTTPResponseStartMessage, ResponseHeaders];

/** One response on its way out. Its head waits for the first part of its body, whose size decides. */
class CompressedResponse {
  readonly #scope: HTTPScope;
  readonly #send: Send;
  readonly #settings: ResponseSettings;
  #start: WaitingHead | null = null;
  #compressor: Compressor | null = null;
  #isOver = false;

  constructor(send: Send, scope: HTTPScope, settings: ResponseSettings) {
    this.#scope = scope;
    this.#send = send;
    this.#settings = settings;
  }

  readonly take = (message: SendMessage): Promise<void> | void => {
    if (this.#isOver) return; // ASGI: messages after the last body are ignored
    if (message.type === "http.response.start") return this.#takeStart(message);
    if (message.type !== "http.response.body") return this.#send(message);
    this.#isOver = message.more_body !== true;
    if (this.#start !== null) return this.#begin(this.#start, message);
    return this.#compressor === null ? this.#send(message) : this.#encode(this.#compressor, message);
  };

  destroy(): void {
    this.#compressor?.destroy();
  }

  #takeStart(message: HTTPResponseStartMessage): Promise<void> | void {
    if (this.#start !== null) throw new ProtocolError('"http.response.start" was sent twice.');
    const headers = headersOf(message);
    const isCompressible = this.#isCompressible(message.status, headers);
    if (isCompressible) addVary(headers, "Accept-Encoding");
    else if (message.status === 304) this.#markUnchanged(headers);
    if (!isCompressible) return this.#send({ ...message, headers: headers.toList() });
    this.#start = [message, headers];
  }

  get #isHead(): boolean {
    return this.#scope.method === "HEAD";
  }

  /** A 304 has the `Vary` and the tag of the whole response (RFC 9110 §15.4.5): a weak one if the client has it compressed. */
  #markUnchanged(headers: ResponseHeaders): void {
    addVary(headers, "Accept-Encoding");
    const known = headerValues(this.#scope.headers ?? [], "if-none-match").join();
    if (known.includes(`W/${headers.get("etag")}`)) weaken(headers);
  }

  #isCompressible(status: number, headers: ResponseHeaders): boolean {
    if (
      status === PARTIAL_CONTENT ||
      responseFacts(status, "GET").bodyless ||
      UNCHANGEABLE.some((name) => headers.has(name))
    )
      return false;
    const directives = parseList(headers.get("cache-control") ?? "");
    if (directives.some((directive) => directive.toLowerCase() === "no-transform")) return false;
    const type = parseMediaType(headers.get("content-type"));
    return type !== "text/event-stream" && (type === "" || COMPRESSIBLE.test(type));
  }

  /** Sends the head, and the first message of the body. */
  #begin(head: WaitingHead, message: HTTPResponseBodyMessage): Promise<void> | void {
    const { coding } = this.#settings.accepted;
    const [start, headers] = head;
    this.#start = null;
    const isEncoded = coding !== null && this.#isLargeEnough(headers, message) && !this.#mayEndEarly(message);
    if (isEncoded) changeCoding(headers, coding);
    if (isEncoded && !this.#isHead) return this.#beginEncoded(head, message, coding);
    const started = this.#send({ ...start, headers: headers.toList() });
    return started instanceof Promise ? started.then(() => this.#send(message)) : this.#send(message);
  }

  /** If the server ends an encoded stream, the encoding is not complete, and its client cannot decode it. */
  #mayEndEarly(message: HTTPResponseBodyMessage): boolean {
    const state: MarkedState | undefined = this.#scope.state;
    return message.more_body === true && state?.[WHEN_STOPPING] === "end";
  }

  async #beginEncoded(
    [start, headers]: WaitingHead,
    message: HTTPResponseBodyMessage,
    coding: ContentCoding,
  ): Promise<void> {
    const { levels } = this.#settings;
    if (message.more_body === true) {
      this.#compressor = new Compressor(coding, levels);
      await this.#send({ ...start, headers: headers.toList() });
      return this.#encode(this.#compressor, message);
    }
    const body = await encodeWhole(coding, levels, message.body ?? createBytes(0));
    headers.set("content-length", String(body.length));
    await this.#send({ ...start, headers: headers.toList() });
    await this.#send({ type: "http.response.body", body, more_body: false });
  }

  /** A body of unknown size counts as large. */
  #isLargeEnough(headers: ResponseHeaders, message: HTTPResponseBodyMessage): boolean {
    if (this.#settings.accepted.refusesIdentity) return true;
    const isWhole = message.more_body !== true && !this.#isHead;
    const size = isWhole ? (message.body?.length ?? 0) : Number(headers.get("content-length") ?? Infinity);
    return size >= this.#settings.minimumSize;
  }

  async #encode(compressor: Compressor, { body = createBytes(0), more_body = false }: HTTPResponseBodyMessage) {
    // An empty part only flushes the head.
    const write = body.length === 0 ? () => body : () => compressor.write(body);
    const encoded = await (more_body ? write() : compressor.end(body));
    await this.#send({ type: "http.response.body", body: encoded, more_body });
  }
}
