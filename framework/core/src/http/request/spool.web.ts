/** `spool.ts` in bundles for the web, which have no files: uploads stay in memory. @module */
import { UploadClosedError, type UploadContent } from "../upload-file.js";
import { ChunkQueue } from "./chunk-queue.js";

/** Holds the files of one form in memory. */
export class Spool {
  /** `true` once the files have been given up. */
  isClosed = false;

  /** Begins the next file. */
  begin(): MemoryFile {
    return new MemoryFile(this);
  }

  /** Gives the files up. */
  async close(): Promise<void> {
    this.isClosed = true;
  }
}

class MemoryFile implements UploadContent {
  size = 0;
  readonly #spool: Spool;
  readonly #waiting = new ChunkQueue();
  /** `null` before the end, and once it is released. */
  #bytes: Uint8Array | null = null;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.size += chunk.length;
    this.#waiting.push(chunk);
  }

  async end(): Promise<void> {
    this.#bytes = this.#waiting.takeAll();
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    if (this.#bytes === null || this.#spool.isClosed) throw new UploadClosedError();
    return this.#bytes.subarray(position, position + length);
  }

  release(): void {
    this.#bytes = null;
  }
}
