/** The headers of a response, checked before they are sent. @module */
import type { HeaderPair } from "../../protocol/asgi.js";
import { HeaderList, rawHeaders } from "../../protocol/header-list.js";
import { isFieldValue, isToken, parseList } from "../../protocol/http-grammar.js";

/** Rejects a header that would not be transferred unchanged. @throws TypeError that identifies the header. */
function assertHeader(name: string, value: string): void {
  if (!isToken(name)) {
    throw new TypeError(`The header name ${JSON.stringify(name)} is not a token (RFC 9110 §5.6.2).`);
  }
  if (!isFieldValue(value)) {
    throw new TypeError(
      `The value of the header ${name} has a character that HTTP does not allow there (CR, LF, NUL, or one above U+00FF).`,
    );
  }
}

/** Tells if a header describes a body, and is not part of a 304: RFC 9110 §15.4.5. */
export function describesBody(name: string): boolean {
  return name.startsWith("content-") && name !== "content-location" && name !== "content-security-policy";
}

/** Headers as an argument: a record, or pairs where a name may come twice. */
export type HeadersInit = Readonly<Record<string, string>> | Iterable<readonly [name: string, value: string]>;

/** Makes the headers of a message, as they are: a server checks them. */
export const FROM_LIST: unique symbol = Symbol("fromList");
/** Gives the headers for a message: the list that they were made of, unless they were changed. */
export const GET_LIST: unique symbol = Symbol("getList");

/**
 * The headers of a response. Names are case-insensitive, and kept in lower case. Every name and every value is checked
 * when it is set, which prevents header injection.
 *
 * @example
 * ```ts
 * import { ResponseHeaders } from "tsgi";
 *
 * const headers = new ResponseHeaders({ "Cache-Control": "no-store" });
 * headers.append("set-cookie", "a=1");
 * headers.append("set-cookie", "b=2");
 * console.log(headers.get("cache-control")); // no-store
 * console.log(headers.size); // 3
 * ```
 */
export class ResponseHeaders implements Iterable<readonly [name: string, value: string]> {
  #raw: string[] = [];
  /** The unchanged list of the headers; `null` after a change. */
  #source: Iterable<HeaderPair> | null = null;

  /** @internal */
  static [FROM_LIST](list: Iterable<HeaderPair> | undefined): ResponseHeaders {
    const headers = new ResponseHeaders();
    if (list === undefined) return headers;
    headers.#source = list;
    headers.#raw = rawHeaders(list).map((text, index) => (index % 2 === 0 ? text.toLowerCase() : text));
    return headers;
  }

  constructor(init?: HeadersInit) {
    if (!init) return;
    const pairs = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of pairs as Iterable<readonly [string, string]>) this.append(name, value);
  }

  /** The first value under the name, or `undefined`. */
  get(name: string): string | undefined {
    const key = name.toLowerCase();
    const index = this.#indexOf(key);
    return index < 0 ? undefined : this.#raw[index + 1];
  }

  /** Tells if the name is set. */
  has(name: string): boolean {
    return this.#indexOf(name.toLowerCase()) >= 0;
  }

  /** Sets the name to one value. @throws TypeError when name or value is not allowed in HTTP. */
  set(name: string, value: string): this {
    assertHeader(name, value);
    this.delete(name);
    return this.#push(name, value);
  }

  /** Adds a value to the existing ones. @throws TypeError if HTTP does not allow the name or value. */
  append(name: string, value: string): this {
    assertHeader(name, value);
    return this.#push(name, value);
  }

  /** Removes every value under the name. */
  delete(name: string): void {
    const key = name.toLowerCase();
    for (let index = this.#indexOf(key); index >= 0; index = this.#indexOf(key)) this.#raw.splice(index, 2);
    this.#source = null;
  }

  #push(name: string, value: string): this {
    this.#raw.push(name.toLowerCase(), value);
    this.#source = null;
    return this;
  }

  /** The number of headers. */
  get size(): number {
    return this.#raw.length >> 1;
  }

  /** Names and values in their order. */
  *[Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    this.#takeAssigned();
    for (let index = 0; index < this.#raw.length; index += 2) {
      yield [this.#raw[index] ?? "", this.#raw[index + 1] ?? ""];
    }
  }

  /** The headers for an ASGI message. */
  toList(): HeaderList {
    this.#takeAssigned();
    return new HeaderList([...this.#raw]);
  }

  /** @internal */
  [GET_LIST](): Iterable<HeaderPair> {
    this.#takeAssigned();
    return this.#source ?? this.toList();
  }

  /**
   * JavaScript code that writes `headers["x-id"] = "1"`, as on a record, has the effect of `set`; the types allow only
   * `set`.
   */
  #takeAssigned(): void {
    for (const name of Object.keys(this)) this.set(name, String(Reflect.get(this, name)));
  }

  #indexOf(key: string): number {
    for (let index = 0; index < this.#raw.length; index += 2) if (this.#raw[index] === key) return index;
    return -1;
  }
}

/**
 * Adds request headers on which the response depends to the existing ones.
 *
 * @see RFC 9110 §12.5.5
 */
export function addVary(headers: ResponseHeaders, ...names: readonly string[]): void {
  if (!headers.has("vary")) return void headers.set("vary", names.join(", "));
  const lines = [...headers].flatMap(([name, value]) => (name === "vary" ? [value] : []));
  const known = parseList(lines.join(","));
  if (known.includes("*")) return;
  const lower = new Set(known.map((name) => name.toLowerCase()));
  const added = names.filter((name) => !lower.has(name.toLowerCase()));
  if (added.length > 0) headers.set("vary", [...known, ...added].join(", "));
}

/** Headers about the bytes of one form of a body: another coding has another length, other ranges and digests. */
const ABOUT_BYTES = ["content-length", "accept-ranges", "content-digest", "repr-digest", "content-md5"];

/** Changes the headers for the same body in another coding. */
export function changeCoding(headers: ResponseHeaders, coding: string): void {
  if (coding === "identity") headers.delete("content-encoding");
  else headers.set("content-encoding", coding);
  for (const name of ABOUT_BYTES) headers.delete(name);
  weaken(headers);
}

/** RFC 9110 §8.8.3.3: a strong tag does not cover the bytes of another coding. */
export function weaken(headers: ResponseHeaders): void {
  const etag = headers.get("etag");
  if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
}

/** RFC 8187 §3.2.1 `attr-char`: `encodeURIComponent` does not encode four more characters. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

/**
 * The value of a `Content-Disposition` header. A name beyond plain ASCII is given twice: readable by old clients, and
 * whole in `filename*`.
 *
 * @throws TypeError when the name ends with a slash.
 * @see RFC 6266 §4.3 and appendix D
 */
export function contentDisposition(type: "attachment" | "inline", filename: string): string {
  if (type !== "attachment" && type !== "inline") {
    throw new TypeError(`The disposition of a file should be "attachment" or "inline", not ${JSON.stringify(type)}.`);
  }
  // A client could interpret a slash as a folder.
  const last = filename.slice(Math.max(filename.lastIndexOf("/"), filename.lastIndexOf("\\")) + 1);
  // A file of Linux may have control characters in its name. A client must not, not even percent-encoded: they end a line.
  // oxlint-disable-next-line no-control-regex
  const name = last.toWellFormed().replaceAll(/[\u0000-\u001f\u007f]/g, "_");
  if (name === "") throw new TypeError(`The filename ${JSON.stringify(filename)} names no file.`);
  const plain = name.replaceAll(/[^\u0020-\u007e]/gu, "_").replaceAll(/["%]/g, "_");
  const extended = plain === name ? "" : `; filename*=UTF-8''${encodeExtended(name)}`;
  return `${type}; filename="${plain}"${extended}`;
}
