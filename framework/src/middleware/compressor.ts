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

  /** @param isWhole - Whether one part is the whole body, which compresses better and needs no flush. */
  static async create(coding: ContentCoding, levels: CompressionLevels, isWhole: boolean): Promise<Compressor> {
    const { constants, createBrotliCompress, createGzip } = await (zlib ??= loadZlib());
    if (coding === "gzip") {
      return new Compressor(
        createGzip({ level: levels.gzip, flush: isWhole ? constants.Z_NO_FLUSH : constants.Z_SYNC_FLUSH }),
      );
    }
    const flush = isWhole ? constants.BROTLI_OPERATION_PROCESS : constants.BROTLI_OPERATION_FLUSH;
    return new Compressor(createBrotliCompress({ flush, params: { [constants.BROTLI_PARAM_QUALITY]: levels.br } }));
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
