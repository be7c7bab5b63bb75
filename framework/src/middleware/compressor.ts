/** A coding that `gzip` can write. */
export type ContentCoding = "gzip" | "br";

/** Loaded on use: a web runtime has no such module, and an application without compression no need of it. */
const loadZlib = () => import("node:zlib");

let zlib: ReturnType<typeof loadZlib> | null = null;

/** What `node:zlib` makes. */
type Encoder = ReturnType<Awaited<ReturnType<typeof loadZlib>>["createGzip" | "createBrotliCompress"]>;

/** How much work goes into a smaller size. */
export interface CompressionLevels {
  /** From 1 to 9. */
  readonly gzip: number;
  /** From 0 to 11. */
  readonly br: number;
}

/**
 * Up to this many bytes a whole body is encoded at once, in 0.1 ms: a way through the thread pool and back takes three
 * times as long. From 100 KiB on it would keep all other requests waiting for a millisecond.
 */
const MAX_SYNC_BYTES = 32 * 1024;

/** Encodes a whole body. */
export async function encodeWhole(
  coding: ContentCoding,
  levels: CompressionLevels,
  body: Uint8Array,
): Promise<Uint8Array> {
  const { constants, brotliCompress, brotliCompressSync, gzip, gzipSync } = await (zlib ??= loadZlib());
  const brotli = {
    params: { [constants.BROTLI_PARAM_QUALITY]: levels.br, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
  };
  if (body.length <= MAX_SYNC_BYTES) {
    return coding === "gzip" ? gzipSync(body, { level: levels.gzip }) : brotliCompressSync(body, brotli);
  }
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, encoded: Uint8Array) => (error ? reject(error) : resolve(encoded));
    if (coding === "gzip") gzip(body, { level: levels.gzip }, done);
    else brotliCompress(body, brotli, done);
  });
}

/** Encodes one body, part by part. What goes in comes out at once: each part is flushed. */
export class Compressor {
  readonly #stream: Encoder;
  #output: Uint8Array[] = [];

  private constructor(stream: Encoder) {
    this.#stream = stream;
    stream.on("data", (chunk: Uint8Array) => this.#output.push(chunk));
    stream.on("error", () => {
      // Whoever waits for a part is told by its callback.
    });
  }

  static async create(coding: ContentCoding, levels: CompressionLevels): Promise<Compressor> {
    const { constants, createBrotliCompress, createGzip } = await (zlib ??= loadZlib());
    if (coding === "gzip") return new Compressor(createGzip({ level: levels.gzip, flush: constants.Z_SYNC_FLUSH }));
    const params = { [constants.BROTLI_PARAM_QUALITY]: levels.br };
    return new Compressor(createBrotliCompress({ flush: constants.BROTLI_OPERATION_FLUSH, params }));
  }

  /** Takes a part of the body and gives what there is of its encoded form. */
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

  /** Gives its memory back, whether or not the body has come to its end. */
  destroy(): void {
    this.#stream.destroy();
  }

  #take(): Uint8Array {
    const output = this.#output;
    this.#output = [];
    return output.length === 1 ? (output[0] as Uint8Array) : Buffer.concat(output);
  }
}
