/** Forms: fields and files by name. @module */
import type { UploadFile } from "./upload-file.js";

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
 * console.log(form.get("tag")); // sale
 * console.log(form.getAll("tag").join(" ")); // new sale
 * ```
 */
export class FormData<Value = FormValue> implements Iterable<readonly [name: string, value: Value]> {
  readonly #entries: readonly (readonly [name: string, value: Value])[];

  constructor(entries: Iterable<readonly [name: string, value: Value]>) {
    this.#entries = [...entries];
  }

  /** The last value under the name, or `null`, like `get` of a query string. */
  get(name: string): Value | null {
    return this.getAll(name).at(-1) ?? null;
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
