/** Uploaded files, as handlers read them. @module */
import { markCopy } from "../common/copies.js";
import { createRecord } from "../protocol/header-list.js";
import { MarkedGenerator, markMethods } from "../common/promises.js";
import { asBytes } from "../protocol/bytes.js";
import { saveFile } from "./save-file.js";

/** The storage of an uploaded file. */
export interface UploadContent {
  /** The bytes from `position` on, at most `length` of them. @throws Error when they have been given up. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Gives the bytes up. Also called a second time. */
  release(): void;
}

/** Options of an `UploadFile`. */
export interface UploadFileOptions {
  /** The name that the client sent. Defaults to `""`. */
  filename?: string;
  /** Defaults to `application/octet-stream`. */
  contentType?: string;
  /** All headers of its part, with lower-case names. */
  headers?: Readonly<Record<string, string>>;
}

/** Bytes that are read at a time when a file is read to its end. */
const CHUNK_BYTES = 64 * 1024;

/** Bytes that are there already. */
function inMemory(given: Uint8Array): UploadContent {
  let bytes: Uint8Array | null = asBytes(given);
  return {
    read: async (position, length) => {
      if (bytes === null) throw new UploadClosedError();
      return bytes.subarray(position, position + length);
    },
    release: () => void (bytes = null),
  };
}

/** A file was read after it had been closed: by its own `close()`, or because its request has ended. */
export class UploadClosedError extends Error {
  override readonly name = "UploadClosedError";

  constructor() {
    super("The uploaded file is closed: its request has ended, or close() was called. Read or save it before that.");
  }
}

/**
 * A file of a multipart form. It is closed when its request ends; read or save it before that.
 *
 * Name and type are claims of the client: `filename` has no directories or control characters, but do not use it as a
 * path.
 *
 * @example
 * ```ts
 * import { App, File } from "tsgi";
 *
 * const app = new App();
 * app.post("/avatar", { params: { avatar: File() } }, async ({ avatar }) => {
 *   await avatar.saveTo(`/srv/avatars/${crypto.randomUUID()}`);
 *   return { filename: avatar.filename, size: avatar.size };
 * });
 * ```
 * @see RFC 7578
 */
export class UploadFile {
  static {
    markCopy(this);
  }

  /** The name that the client sent, without directories and control characters; `""` if it sent no name. */
  readonly filename: string;
  /** The type that the client sent. */
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** The headers of its part: no prototype, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #content: UploadContent;
  #position = 0;

  static {
    markMethods(UploadFile.prototype, ["read", "text", "saveTo", "close"]);
  }

  /** @param content - Its bytes; a test makes a file of some. */
  constructor(content: Uint8Array | (UploadContent & { readonly size: number }), options: UploadFileOptions = {}) {
    const isBytes = content instanceof Uint8Array;
    this.size = isBytes ? content.length : content.size;
    this.filename = options.filename ?? "";
    this.contentType = options.contentType ?? "application/octet-stream";
    this.headers = options.headers ?? createRecord();
    this.#content = isBytes ? inMemory(content) : content;
  }

  /**
   * The next `length` bytes, or all remaining ones; empty at the end. `seek(0)` goes back to the beginning.
   *
   * @throws UploadClosedError after `close()` and after the end of the request.
   */
  async read(length = Infinity): Promise<Uint8Array> {
    const wanted = Math.min(Math.max(0, Math.trunc(length)), this.size - this.#position);
    if (Number.isNaN(wanted)) throw new TypeError(`read() takes a number of bytes, not ${String(length)}.`);
    const from = this.#position;
    this.#position += wanted;
    return this.#content.read(from, wanted);
  }

  /** Sets the position of the next `read()`, in bytes from the beginning. */
  seek(position: number): void {
    if (!(position >= 0)) throw new RangeError(`seek() takes a position from 0 on, not ${String(position)}.`);
    this.#position = Math.min(Math.trunc(position), this.size);
  }

  /**
   * The whole file as UTF-8 text, with U+FFFD for invalid bytes.
   *
   * @throws UploadClosedError after `close()` and after the end of the request.
   */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.#content.read(0, this.size));
  }

  /**
   * The whole file in chunks, even after `read()`. As often as it is called.
   *
   * @throws UploadClosedError after `close()` and after the end of the request.
   */
  stream(): AsyncGenerator<Uint8Array, void, undefined> {
    return new MarkedGenerator(this.#chunks());
  }

  async *#chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let position = 0; position < this.size; position += CHUNK_BYTES) {
      yield await this.#content.read(position, Math.min(CHUNK_BYTES, this.size - position));
    }
  }

  /**
   * Writes the whole file to a path, which is the application's and never the client's. An existing file is replaced in
   * one step after all bytes are written; on failure it does not change, and no other file remains.
   *
   * @throws HTTPException 507 when the disk is full.
   * @throws UploadClosedError after `close()` and after the end of the request.
   */
  async saveTo(path: string | URL): Promise<void> {
    await saveFile(path, this.stream());
  }

  /** Gives up what holds its bytes before the request ends. Further calls have no effect. */
  async close(): Promise<void> {
    this.#content.release();
  }
}

/** A value of a form: text, or a file. */
export type FormValue = string | UploadFile;

/**
 * The parts of a form: text and files under names, in the order in which they were received; a name can be repeated.
 *
 * @example
 * ```ts
 * import { FormData } from "tsgi";
 *
 * const form = new FormData([
 *   ["tag", "new"],
 *   ["tag", "sale"],
 * ]);
 * console.log(form.get("tag")); // new
 * console.log(form.getAll("tag").join(" ")); // new sale
 * ```
 */
export class FormData<Value = FormValue> implements Iterable<readonly [name: string, value: Value]> {
  readonly #entries: readonly (readonly [name: string, value: Value])[];

  constructor(entries: Iterable<readonly [name: string, value: Value]>) {
    this.#entries = [...entries];
  }

  /** The first value under the name, or `null`, like `get` of the `FormData` of browsers. */
  get(name: string): Value | null {
    return this.getAll(name)[0] ?? null;
  }

  /** All values under the name. */
  getAll(name: string): Value[] {
    return this.#entries.filter(([key]) => key === name).map(([, value]) => value);
  }

  /** Tells if the form has the name. */
  has(name: string): boolean {
    return this.#entries.some(([key]) => key === name);
  }

  /** Names and values in their order. */
  entries(): IterableIterator<readonly [name: string, value: Value]> {
    return this.#entries[Symbol.iterator]();
  }

  /** The same as `entries()`. */
  [Symbol.iterator](): IterableIterator<readonly [name: string, value: Value]> {
    return this.entries();
  }
}
