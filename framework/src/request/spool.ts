import { createBytes, UploadClosedError, type UploadContent } from "../datastructures.js";
import { ChunkQueue } from "./chunk-queue.js";
import { TemporaryFile } from "./temporary-file.js";

/** A file that is larger than this goes to disk. The contract fixes it. */
const MEMORY_PER_FILE = 1024 * 1024;

/** All files of a form that are in memory; beyond it the small ones go to disk as well. */
const MEMORY_PER_FORM = 8 * 1024 * 1024;

/** Bytes that are gathered before they are written: a client that sends single bytes must not cost a call each. */
const WRITE_BYTES = 256 * 1024;

/** Closes the temporary file of a form that nobody has closed and nobody can reach any more. */
const forgotten = new FinalizationRegistry<Promise<TemporaryFile | null>>((opening) => {
  opening.then((file) => file?.close()).catch(() => {});
});

/**
 * Holds the files of one form: the small ones in memory, all others in one temporary file, so that a form of a
 * thousand files takes one descriptor.
 */
export class Spool {
  #file: Promise<TemporaryFile | null> | null = null;
  #inMemory = 0;
  #closed = false;

  /** Whether the files have been given up. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Begins the next file, when the one before has ended. */
  begin(): SpooledFile {
    return new SpooledFile(this);
  }

  /** Whether a file of this size still has its place in memory. */
  keeps(size: number): boolean {
    return size <= MEMORY_PER_FILE && this.#inMemory + size <= MEMORY_PER_FORM;
  }

  /** Counts bytes that stay in memory, or, negative, that have left it. */
  countMemory(bytes: number): void {
    this.#inMemory += bytes;
  }

  /**
   * Does something with the temporary file, which is opened for it if need be; `null` in a runtime without files.
   *
   * @throws UploadClosedError when the files have been given up, also meanwhile.
   */
  async withFile<Result>(use: (file: TemporaryFile) => Result | Promise<Result>): Promise<Result | null> {
    if (this.#closed) throw new UploadClosedError();
    try {
      const file = await (this.#file ??= this.#open());
      return file && (await use(file));
    } catch (error) {
      throw this.#closed ? new UploadClosedError() : error;
    }
  }

  #open(): Promise<TemporaryFile | null> {
    const opening = TemporaryFile.open();
    forgotten.register(this, opening, this);
    return opening;
  }

  /** Gives the files up: their memory and their place on the disk. */
  async close(): Promise<void> {
    this.#closed = true;
    forgotten.unregister(this);
    const opening = this.#file;
    this.#file = null;
    const file = await opening?.catch(() => null);
    await file?.close();
  }
}

/** One file of a form: written part by part, then read anywhere. */
export class SpooledFile implements UploadContent {
  readonly #spool: Spool;
  readonly #waiting = new ChunkQueue();
  #size = 0;
  /** Where it begins in the temporary file; `null` while it is in memory. */
  #position: number | null = null;
  #bytes: Uint8Array | null = null;
  #released = false;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** In bytes, so far. */
  get size(): number {
    return this.#size;
  }

  /** Adds bytes at the end. @throws HTTPException 507 when the disk is full. */
  async write(chunk: Uint8Array): Promise<void> {
    this.#size += chunk.length;
    this.#waiting.push(chunk);
    if (this.#position === null ? await this.#outgrowsMemory() : this.#waiting.bytes >= WRITE_BYTES) {
      await this.#flush();
    }
  }

  /** Whether it has to leave memory, and there is a place to go. */
  async #outgrowsMemory(): Promise<boolean> {
    return !this.#spool.keeps(this.#size) && (await this.#spool.withFile(() => true)) !== null;
  }

  /** Says that all bytes are there. */
  async end(): Promise<void> {
    if (this.#position !== null) return this.#flush();
    this.#bytes = this.#waiting.takeAll();
    this.#spool.countMemory(this.#bytes.length);
  }

  async #flush(): Promise<void> {
    const bytes = this.#waiting.takeAll();
    const position = await this.#spool.withFile((file) => file.append(bytes));
    this.#position ??= position;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    if (this.#released || this.#spool.closed) throw new UploadClosedError();
    if (this.#bytes) return this.#bytes.subarray(position, position + length);
    const start = (this.#position ?? 0) + position;
    return (await this.#spool.withFile((file) => file.read(start, length))) ?? createBytes(0);
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    if (this.#bytes) this.#spool.countMemory(-this.#bytes.length);
    this.#bytes = null;
  }
}
