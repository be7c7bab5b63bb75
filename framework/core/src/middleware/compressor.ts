/** The encoders of `compress`, over `node:zlib`. @module */
import { nodeModule } from "../common/platform.js";

/** A coding that `compress` can write. */
export type ContentCoding = "gzip" | "br";

/** Loaded on use: an application without compression does not need it. @throws ConfigurationError where there is none. */
export const loadZlib = () => nodeModule("node:zlib", "compress()");

type Encoder = ReturnType<ReturnType<typeof loadZlib>["createGzip" | "createBrotliCompress"]>;

/** Levels of compression: gzip from 1 to 9, brotli from 0 to 11. */
export type CompressionLevels = Readonly<Record<ContentCoding, number>>;

/**
 * Bytes up to which a whole body is encoded at once, in 0.1 ms: a trip through the thread pool takes three times as
 * long. From 100 KiB on it would keep all other requests waiting for a millisecond.
 */
const MAX_SYNC_BYTES = 32 * 1024;

/** Encodes a whole body. */
export async function encodeWhole(
  coding: ContentCoding,
  levels: CompressionLevels,
  body: Uint8Array,
): Promise<Uint8Array> {
  const { constants, brotliCompressSync, gzipSync } = loadZlib();
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: body.length };
  if (body.length > MAX_SYNC_BYTES) return (await Compressor.create(coding, levels, size)).end(body);
  return coding === "gzip"
    ? gzipSync(body, { level: levels.gzip })
    : brotliCompressSync(body, { params: { ...size, [constants.BROTLI_PARAM_QUALITY]: levels.br } });
}

/** Encodes one body part by part. Each part is flushed: its encoded form is complete. */
export class Compressor {
  readonly #stream: Encoder;
  #output: Uint8Array[] = [];

  private constructor(stream: Encoder) {
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => this.#output.push(chunk));
    stream.on("error", () => {}); // rejects `write` or `end` too
  }

  /** @param hints - Further parameters of brotli. */
  static async create(
    coding: ContentCoding,
    levels: CompressionLevels,
    hints: Readonly<Record<number, number>> = {},
  ): Promise<Compressor> {
    const { constants, createBrotliCompress, createGzip } = loadZlib();
    if (coding === "gzip") return new Compressor(createGzip({ level: levels.gzip, flush: constants.Z_SYNC_FLUSH }));
    const params = { ...hints, [constants.BROTLI_PARAM_QUALITY]: levels.br };
    return new Compressor(createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params }));
  }

  /** Takes a part of the body and gives its encoded form. */
  write(part: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#stream.write(part, (error) => (error ? reject(error) : resolve(this.#take())));
    });
  }

  /** Takes the last part and gives the rest. */
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
