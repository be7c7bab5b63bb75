/** Temporary files that other processes cannot open. @module */
import { createBytes } from "../../protocol/bytes.js";
import { toFileError } from "../save-file.js";
import { hasFiles, nodeModule } from "../../common/platform.js";

/** Opens a temporary file that only this process can find; `null` in a runtime that has no files. */
async function openNameless() {
  if (!hasFiles()) return null;
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

type Handle = NonNullable<Awaited<ReturnType<typeof openNameless>>>;

/**
 * A file that loses its name as soon as it is open. Its bytes are gone when its descriptor is closed: nothing is left of
 * it after a crash or a `kill -9` either.
 */
export class TemporaryFile {
  readonly #handle: Handle;
  #length = 0;

  private constructor(handle: Handle) {
    this.#handle = handle;
  }

  /**
   * Opens one in the system's folder for temporary files (`TMPDIR`); `null` in a runtime that has no files.
   *
   * @throws HTTPException 507 when the disk is full.
   */
  static async open(): Promise<TemporaryFile | null> {
    const handle = await openNameless().catch(throwFileError);
    return handle && new TemporaryFile(handle);
  }

  /**
   * Writes bytes at the end, and gives their position. One call at a time.
   *
   * @throws HTTPException 507 when the disk is full.
   */
  async append(bytes: Uint8Array): Promise<number> {
    const position = this.#length;
    this.#length += bytes.length;
    for (let done = 0; done < bytes.length;) {
      const writing = this.#handle.write(bytes, done, bytes.length - done, position + done);
      done += (await writing.catch(throwFileError)).bytesWritten;
    }
    return position;
  }

  /** Reads bytes that have been written. */
  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = createBytes(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await this.#handle.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) throw new Error("The temporary file of an upload is shorter than what was written to it.");
      done += bytesRead;
    }
    return bytes;
  }

  /** Closes it when the calls in progress have ended. */
  close(): Promise<void> {
    return this.#handle.close();
  }
}

function throwFileError(error: unknown): never {
  throw toFileError(error);
}
