import { createBytes, toFileError } from "../datastructures.js";

/** What of Node is needed here; `null` in a runtime that has no files. */
async function loadFiles() {
  try {
    const [{ open, unlink }, { tmpdir }] = await Promise.all([import("node:fs/promises"), import("node:os")]);
    return { open, unlink, tmpdir };
  } catch {
    return null;
  }
}

/** Opens a temporary file that only this process can find; `null` in a runtime that has no files. */
async function openNameless() {
  const files = await loadFiles();
  if (files === null) return null;
  const name = `${files.tmpdir()}/tsgi-upload-${crypto.randomUUID()}`;
  const file = await files.open(name, "wx+", 0o600);
  try {
    await files.unlink(name);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

type Handle = NonNullable<Awaited<ReturnType<typeof openNameless>>>;

/**
 * A file that loses its name as soon as it is open. Its bytes are gone when its descriptor is closed, whoever closes
 * it: nothing is left of it after a crash or a `kill -9` either.
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
    try {
      const handle = await openNameless();
      return handle && new TemporaryFile(handle);
    } catch (error) {
      throw toFileError(error);
    }
  }

  /**
   * Writes bytes at the end, and gives where they begin. One call at a time.
   *
   * @throws HTTPException 507 when the disk is full.
   */
  async append(bytes: Uint8Array): Promise<number> {
    const position = this.#length;
    this.#length += bytes.length;
    try {
      for (let done = 0; done < bytes.length;) {
        done += (await this.#handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
      }
    } catch (error) {
      throw toFileError(error);
    }
    return position;
  }

  /** Bytes that have been written. */
  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = createBytes(length);
    for (let done = 0; done < length;) {
      const { bytesRead } = await this.#handle.read(bytes, done, length - done, position + done);
      if (bytesRead === 0) throw new Error("The temporary file of an upload is shorter than what was written to it.");
      done += bytesRead;
    }
    return bytes;
  }

  /** Closes it when what is under way has ended. */
  close(): Promise<void> {
    return this.#handle.close();
  }
}
