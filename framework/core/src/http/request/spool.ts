/** Storage of uploaded files: small ones in memory, large ones on disk. @module */
import { createBytes } from "../../protocol/bytes.js";
import { UploadClosedError, type UploadContent } from "../upload-file.js";
import { ChunkQueue } from "./chunk-queue.js";
import { toFileError } from "../save-file.js";
import { hasFiles, nodeModule } from "../../common/platform.js";

/** Opens a file that loses its name at once, so that only this process can find it. */
async function openNameless() {
  const { open, unlink } = nodeModule("node:fs/promises", "UploadFile");
  const { tmpdir } = nodeModule("node:os", "UploadFile");
  const name = `${tmpdir()}/tsgi-upload-${crypto.randomUUID()}`;
  const file = await open(name, "wx+", 0o600);
  try {
    await unlink(name);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** A file without a name. Its bytes are removed when its descriptor is closed, even after a crash or a `kill -9`. */
interface TemporaryFile {
  /** Appends bytes, and returns their position. One call at a time. @throws HTTPException 507 when the disk is full. */
  append(bytes: Uint8Array): Promise<number>;
  /** Reads bytes that have been written. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Closes it when the calls in progress have ended. */
  close(): Promise<void>;
}

/**
 * Opens one in the system's folder for temporary files (`TMPDIR`); `null` in a runtime that has no files.
 *
 * @throws HTTPException 507 when the disk is full.
 */
async function openTemporaryFile(): Promise<TemporaryFile | null> {
  if (!hasFiles()) return null;
  const handle = await openNameless().catch(throwFileError);
  let end = 0;
  return {
    async append(bytes) {
      const position = end;
      end += bytes.length;
      for (let done = 0; done < bytes.length;) {
        const writing = handle.write(bytes, done, bytes.length - done, position + done);
        done += (await writing.catch(throwFileError)).bytesWritten;
      }
      return position;
    },
    async read(position, length) {
      const bytes = createBytes(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await handle.read(bytes, done, length - done, position + done);
        if (bytesRead === 0) throw new Error("The temporary file of an upload is shorter than the data written to it.");
        done += bytesRead;
      }
      return bytes;
    },
    close: () => handle.close(),
  };
}

function throwFileError(error: unknown): never {
  throw toFileError(error);
}

/** Bytes from which a file goes to disk. Fixed by the contract. */
const MEMORY_PER_FILE = 1024 * 1024;

/** Bytes of all files of a form in memory; beyond it the small ones go to disk as well. */
const MEMORY_PER_FORM = 8 * 1024 * 1024;

/** Bytes that are gathered before they are written: a client that sends single bytes must not cost a call each. */
const WRITE_BYTES = 256 * 1024;

/** Closes the temporary file of a form that was garbage-collected without `close`. */
const forgotten = new FinalizationRegistry<Promise<TemporaryFile | null>>((opening) => {
  opening.then((file) => file?.close()).catch(() => {});
});

/**
 * Holds the files of one form: the small ones in memory, all others in one temporary file, so that a form of a
 * thousand files takes one descriptor.
 */
export class Spool {
  /** `true` once the files have been given up. */
  isClosed = false;
  /** Bytes of its files in memory. */
  inMemory = 0;
  #file: Promise<TemporaryFile | null> | null = null;

  /** Begins the next file, when the one before has ended. */
  begin(): SpooledFile {
    return new SpooledFile(this);
  }

  /**
   * Calls `use` with the temporary file, which is opened at its first use; `null` in a runtime without files.
   *
   * @throws UploadClosedError when the files have been given up, also meanwhile.
   */
  async withFile<Result>(use: (file: TemporaryFile) => Result | Promise<Result>): Promise<Result | null> {
    if (this.isClosed) throw new UploadClosedError();
    try {
      if (this.#file === null) {
        this.#file = openTemporaryFile();
        forgotten.register(this, this.#file, this);
      }
      const file = await this.#file;
      return file && (await use(file));
    } catch (error) {
      throw this.isClosed ? new UploadClosedError() : error;
    }
  }

  /** Gives the files up: their memory and their space on the disk. */
  async close(): Promise<void> {
    this.isClosed = true;
    forgotten.unregister(this);
    const opening = this.#file;
    this.#file = null;
    const file = await opening?.catch(() => null);
    await file?.close();
  }
}

/** One file of a form: written part by part, then read anywhere. */
class SpooledFile implements UploadContent {
  /** Bytes so far. */
  size = 0;
  readonly #spool: Spool;
  readonly #waiting = new ChunkQueue();
  /** Its offset in the temporary file; `null` while it is in memory. */
  #position: number | null = null;
  #bytes: Uint8Array | null = null;
  #released = false;

  constructor(spool: Spool) {
    this.#spool = spool;
  }

  /** Adds bytes at the end. @throws HTTPException 507 when the disk is full. */
  async write(chunk: Uint8Array): Promise<void> {
    this.size += chunk.length;
    this.#waiting.push(chunk);
    if (this.#position === null ? await this.#outgrowsMemory() : this.#waiting.bytes >= WRITE_BYTES) {
      await this.#flush();
    }
  }

  async #outgrowsMemory(): Promise<boolean> {
    const fits = this.size <= MEMORY_PER_FILE && this.#spool.inMemory + this.size <= MEMORY_PER_FORM;
    return !fits && (await this.#spool.withFile(() => true)) !== null;
  }

  /** Marks the file as complete. */
  async end(): Promise<void> {
    if (this.#position !== null) return this.#flush();
    this.#bytes = this.#waiting.takeAll();
    this.#spool.inMemory += this.#bytes.length;
  }

  async #flush(): Promise<void> {
    const bytes = this.#waiting.takeAll();
    const position = await this.#spool.withFile((file) => file.append(bytes));
    this.#position ??= position;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    if (this.#released || this.#spool.isClosed) throw new UploadClosedError();
    if (this.#bytes) return this.#bytes.subarray(position, position + length);
    const start = (this.#position ?? 0) + position;
    return (await this.#spool.withFile((file) => file.read(start, length))) ?? createBytes(0);
  }

  release(): void {
    this.#released = true;
    this.#spool.inMemory -= this.#bytes?.length ?? 0;
    this.#bytes = null;
  }
}
