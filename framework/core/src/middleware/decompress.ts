/** `decompress`: request bodies in gzip, deflate or brotli. @module */
import type { ASGIApp, HTTPScope, Receive, ReceiveMessage, Send } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { createBytes } from "../protocol/bytes.js";
import { contentHeaders, HeaderList, rawHeaders, textAt } from "../protocol/header-list.js";
import { HTTPException } from "../common/exceptions.js";
import { parseList } from "../protocol/http-grammar.js";
import { limitsOf } from "../http/limits.js";
import { tooLarge } from "../http/request/body.js";
import { assertOptions, type OptionRules, whole } from "../common/options.js";
import { findModule, type NodeModules } from "../common/platform.js";
import { missingModule } from "../common/runtime.js";
import { callWithBody, onHTTP, refuse, refuseLarge } from "./layer.js";

/** Options of `decompress`. */
export interface DecompressOptions {
  /** Bytes of a decoded body; a larger one results in 413. Defaults to the limit `bodyBytes` of the App. */
  maxBytes?: number;
}

const OPTIONS: OptionRules<DecompressOptions> = { maxBytes: whole(0) };

/** A coding that can be undone: RFC 9110 §8.4.1. */
type Coding = "gzip" | "deflate" | "br";

/** Attack: each coding of a request costs a decoder. */
const MAX_CODINGS = 4;

/** Bytes of a body, in chunks. */
type Chunks = AsyncGenerator<Uint8Array, void, undefined>;

/** Undoes one coding of a body. */
type Decoder = (body: Chunks, coding: Coding) => Chunks;

/** The codings that the platform undoes, and its way to do it. */
interface Decoding {
  readonly codings: readonly Coding[];
  readonly decode: Decoder;
}

function findDecoding(): Decoding {
  const zlib = findModule("node:zlib");
  if (zlib !== undefined) return { codings: ["gzip", "deflate", "br"], decode: withZlib(zlib) };
  if (typeof DecompressionStream !== "function") throw missingModule("node:zlib", "decompress()");
  const decode: Decoder = (body, coding) =>
    decoded(body, coding, () => new PlatformDecoder(coding === "gzip" ? "gzip" : "deflate"));
  return { codings: ["gzip", "deflate"], decode };
}

/** Accepts encoded bytes, and returns the decoded ones as they are read: it holds a few KiB of them. */
interface Inflater extends AsyncIterable<Uint8Array> {
  /** Resolves when the decoded bytes of the chunk have been read. */
  write(chunk: Uint8Array): Promise<void>;
  end(): void;
  destroy(reason?: Error): void;
  /** Returns whether the encoded bytes end with the end of the coding. */
  isWhole(writtenBytes: number): boolean;
}

type ZlibStream = ReturnType<NodeModules["node:zlib"]["createGunzip" | "createInflate" | "createBrotliDecompress"]>;

function withZlib({ createBrotliDecompress, createGunzip, createInflate }: NodeModules["node:zlib"]): Decoder {
  const create = { br: createBrotliDecompress, deflate: createInflate, gzip: createGunzip };
  return (body, coding) => decoded(body, coding, () => new ZlibDecoder(create[coding]()));
}

/** A decoder of `node:zlib`, which ignores bytes after the end of the coding. */
class ZlibDecoder implements Inflater {
  readonly #stream: ZlibStream;

  constructor(stream: ZlibStream) {
    this.#stream = stream.on("error", () => {}); // the iterator throws it
  }

  write(chunk: Uint8Array): Promise<void> {
    return new Promise((resolve) => void this.#stream.write(chunk, () => resolve()));
  }

  end(): void {
    this.#stream.end();
  }

  destroy(reason?: Error): void {
    this.#stream.destroy(reason);
  }

  isWhole(writtenBytes: number): boolean {
    return this.#stream.bytesWritten === writtenBytes;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#stream[Symbol.asyncIterator]();
  }
}

/**
 * Bytes that a `DecompressionStream` decodes at a time: Compression Streams §5 keeps all that they become, which is at most
 * 1,032 times as much.
 */
const PIECE_BYTES = 512;

/** A decoder of the platform, which rejects bytes after the end of the coding. */
class PlatformDecoder implements Inflater {
  readonly #writer: ReturnType<DecompressionStream["writable"]["getWriter"]>;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;

  constructor(format: "gzip" | "deflate") {
    const { readable, writable } = new DecompressionStream(format);
    this.#writer = writable.getWriter();
    this.#reader = readable.getReader();
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      await this.#writer.write(new Uint8Array(chunk.subarray(at, at + PIECE_BYTES)));
    }
  }

  end(): void {
    this.#writer.close().catch(() => {}); // the reader throws it
  }

  destroy(reason?: Error): void {
    this.#writer.abort(reason).catch(() => {});
  }

  isWhole(): boolean {
    return true;
  }

  async *[Symbol.asyncIterator](): Chunks {
    for (let step = await this.#reader.read(); !step.done; step = await this.#reader.read()) yield step.value;
  }
}

/** @throws HTTPException 400 for a body that is not encoded so; the errors of the body. */
async function* decoded(body: Chunks, coding: Coding, create: () => Inflater): Chunks {
  const first = await body.next();
  if (first.done) return;
  const inflater = create();
  const failures: Error[] = [];
  let writtenBytes = 0;
  const next = async (): Promise<Uint8Array | void> => {
    try {
      return (await body.next()).value;
    } catch (error) {
      failures.push(error instanceof Error ? error : new Error("The body failed.", { cause: error }));
      inflater.destroy(failures[0]);
    }
  };
  const feed = async (): Promise<void> => {
    for (let chunk: Uint8Array | void = first.value; chunk !== undefined; chunk = await next()) {
      writtenBytes += chunk.length;
      await inflater.write(chunk);
    }
    if (failures.length === 0) inflater.end();
  };
  try {
    feed().catch(() => {}); // the iterator throws it
    yield* inflater;
    if (!inflater.isWhole(writtenBytes)) throw new Error("Bytes follow the end of the coding.");
  } catch (error) {
    throw failures[0] ?? new HTTPException(400, `The body is not valid ${coding}`, { cause: error });
  } finally {
    inflater.destroy();
    body.return().catch(() => {});
  }
}

/** Passes the bytes on, and throws a 413 as soon as there are more. */
async function* limited(body: Chunks, maxBytes: number): Chunks {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/** Bytes of an encoded body: codings add 0.1 % to bytes that they cannot compress. Attack: empty blocks add up to no byte. */
function maxEncodedBytes(maxBytes: number): number {
  return Math.ceil(maxBytes * 1.01) + 1024;
}

const NO_BYTES = createBytes(0);

/** The body of a request, decoded as it is read. */
class DecodedBody {
  readonly #receive: Receive;
  readonly #chunks: Chunks;
  /** The message that ended the body early. */
  #left: ReceiveMessage | null = null;
  #isOver = false;

  constructor(receive: Receive, codings: readonly Coding[], decode: Decoder, maxBytes: number) {
    this.#receive = receive;
    const body = codings.reduceRight(
      (encoded, coding) => decode(limited(encoded, maxEncodedBytes(maxBytes)), coding),
      this.#encoded(),
    );
    this.#chunks = limited(body, maxBytes);
  }

  async *#encoded(): Chunks {
    for (;;) {
      const message = await this.#receive();
      if (message.type !== "http.request") {
        this.#left = message;
        throw new Error("The client has disconnected.");
      }
      if (message.body?.length) yield message.body;
      if (message.more_body !== true) return;
    }
  }

  /** The next message of the body; after it the messages of the server. @throws HTTPException 400 or 413. */
  async next(): Promise<ReceiveMessage> {
    if (this.#isOver) return this.#receive();
    try {
      const step = await this.#chunks.next();
      this.#isOver = step.done === true;
      return { type: "http.request", body: step.done ? NO_BYTES : step.value, more_body: !this.#isOver };
    } catch (error) {
      if (this.#left === null) throw error;
      this.#isOver = true;
      return this.#left;
    }
  }

  /** Frees its memory, whether or not the body has been read. */
  destroy(): void {
    this.#chunks.return().catch(() => {});
  }
}

/** The names of the codings, in the order in which they were applied. `x-gzip` is gzip: RFC 9110 §8.4.1.3. */
function codingsOf(contentEncoding: string): string[] {
  return parseList(contentEncoding.toLowerCase())
    .filter((coding) => coding !== "identity")
    .map((coding) => (coding === "x-gzip" ? "gzip" : coding));
}

/** The scope of the decoded request. Its length is unknown. */
function withoutCoding(scope: HTTPScope): HTTPScope {
  const raw = rawHeaders(scope.headers);
  const dropped = (index: number) => /^content-(?:encoding|length)$/i.test(textAt(raw, index & ~1));
  const { type } = contentHeaders(scope.headers);
  const headers = new HeaderList(
    raw.filter((_, index) => !dropped(index)),
    { type, length: Number.NaN },
  );
  return { ...scope, headers };
}

/**
 * Decodes request bodies with `Content-Encoding: gzip`, `deflate` or `br`, also several of them, while the application reads
 * them. The application sees a request without `Content-Encoding` and `Content-Length`.
 *
 * Responds with 413 to a body that is larger than `maxBytes` when it is decoded, before these bytes are in memory, with 400
 * to one that cannot be decoded, and with 415 to another coding. A platform without `node:zlib` has no brotli.
 *
 * @throws ConfigurationError when `maxBytes` is not a whole number, and on a platform without a decoder.
 * @see RFC 9110 §8.4, §15.5.16
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { decompress } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [decompress({ maxBytes: 10 * 1024 * 1024 })] });
 * ```
 */
export function decompress(options: DecompressOptions = {}): Middleware {
  assertOptions("decompress()", options, OPTIONS);
  const decoding = findDecoding();
  return onHTTP((app) => async (scope, receive, send) => {
    const { encoding } = contentHeaders(scope.headers);
    if (encoding === undefined) return app(scope, receive, send);
    const { maxBytes = limitsOf(scope).bodyBytes } = options;
    return decodeRequest(app, scope, { receive, send, encoding, maxBytes, ...decoding });
  });
}

interface Request extends Decoding {
  readonly receive: Receive;
  readonly send: Send;
  readonly encoding: string;
  readonly maxBytes: number;
}

async function decodeRequest(
  app: ASGIApp,
  scope: HTTPScope,
  { receive, send, encoding, maxBytes, codings, decode }: Request,
): Promise<void> {
  const used = codingsOf(encoding);
  if (used.length === 0) return app(scope, receive, send);
  const known = used.flatMap((name) => codings.filter((coding) => coding === name));
  if (known.length < used.length || used.length > MAX_CODINGS) {
    const headers = { "Accept-Encoding": codings.join(", ") };
    return refuse(scope, send, {
      statusCode: 415,
      detail: `Content-Encoding should be ${codings.join(", ")}`,
      headers,
    });
  }
  if (contentHeaders(scope.headers).length > maxEncodedBytes(maxBytes)) {
    return refuseLarge(scope, send, maxBytes);
  }
  const body = new DecodedBody(receive, known, decode, maxBytes);
  try {
    await callWithBody(app, withoutCoding(scope), () => body.next(), send);
  } finally {
    body.destroy();
  }
}
