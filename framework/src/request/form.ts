import { decodeLatin1, decodeUTF8, FormData, type FormValue, UploadFile } from "../datastructures.js";
import { HTTPException } from "../exceptions.js";
import { parseParameters } from "../http-grammar.js";
import type { Limits } from "../limits.js";
import { tooLarge } from "./body.js";
import { ChunkQueue } from "./chunk-queue.js";
import { type ByteSource, MultipartError, MultipartParser } from "./multipart.js";
import type { PartHead } from "./part-head.js";
import type { Spool } from "./spool.js";

export { MultipartError } from "./multipart.js";

/** The media types of forms. */
export const URLENCODED = "application/x-www-form-urlencoded";
export const MULTIPART = "multipart/form-data";

/**
 * The names and values of a query string or a form. `URLSearchParams` would take a question mark at the beginning for
 * one that introduces a query, though here it is part of the first name.
 */
export function parsePairs(text: string): URLSearchParams {
  return new URLSearchParams(text.startsWith("?") ? `&${text}` : text);
}

function tooManyParts(maxParts: number): HTTPException {
  return new HTTPException(413, `The form has more than ${maxParts} parts`);
}

const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * The bytes with each plus made the space that it means, in a copy. `URLSearchParams` does it too, but Node's puts a
 * text together at each: 60 ms for 1 MiB of them, 4 ms this way.
 */
function withSpaces(bytes: Uint8Array): Uint8Array {
  const first = bytes.indexOf(PLUS);
  if (first < 0) return bytes;
  const spaced = new Uint8Array(bytes);
  for (let index = first; index < spaced.length; index++) {
    if (spaced[index] === PLUS) spaced[index] = SPACE;
  }
  return spaced;
}

/**
 * Parses `application/x-www-form-urlencoded` (WHATWG URL §5.1).
 *
 * @throws HTTPException 413 when there are more than `maxParts` fields.
 */
export function parseURLEncoded(bytes: Uint8Array, maxParts: number): FormData {
  const plain = withSpaces(bytes);
  const text = decodeUTF8(plain) ?? decodeLatin1(plain);
  let parts = 1;
  for (let index = text.indexOf("&"); index >= 0; index = text.indexOf("&", index + 1)) {
    if (++parts > maxParts) throw tooManyParts(maxParts);
  }
  return new FormData(parsePairs(text));
}

/** One to 70 characters that do not end with a space, RFC 2046 §5.1.1; of any visible kind, as clients write them. */
const BOUNDARY = /^[ -~]{0,69}[!-~]$/;

/** @throws MultipartError when the `Content-Type` has no boundary, or one that cannot be. */
export function boundaryOf(contentType: string): string {
  const boundary = parseParameters(contentType)?.get("boundary");
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw new MultipartError("The Content-Type of the form has no boundary of 1 to 70 characters");
  }
  return boundary;
}

/** What parts of a form may have that bears no file, however small `bodyBytes` is: boundaries and headers. */
const FRAMING_BYTES = 64 * 1024;

/** The most bytes of a whole multipart body. */
export function maxMultipartBytes({ bodyBytes, uploadBytes }: Readonly<Limits>): number {
  return uploadBytes + Math.max(bodyBytes, FRAMING_BYTES);
}

/** Field names and values are UTF-8 whatever they say, and begin where they begin. WHATWG Fetch, `formData()`. */
const fieldText = new TextDecoder("utf-8", { ignoreBOM: true });

/** Reads one multipart form within the limits. */
class MultipartReader {
  readonly #parser: MultipartParser;
  readonly #limits: Readonly<Limits>;
  readonly #spool: Spool;
  #fieldBytes = 0;
  #fileBytes = 0;

  constructor(source: ByteSource, boundary: string, limits: Readonly<Limits>, spool: Spool) {
    this.#limits = limits;
    this.#spool = spool;
    this.#parser = new MultipartParser(this.#limited(source), boundary);
  }

  /** Holds for preamble, epilogue, and everything between the parts. */
  #limited(source: ByteSource): ByteSource {
    const limit = maxMultipartBytes(this.#limits);
    let bytes = 0;
    return async () => {
      const chunk = await source();
      bytes += chunk?.length ?? 0;
      if (bytes > limit) throw tooLarge(limit);
      return chunk;
    };
  }

  async read(): Promise<FormData> {
    const entries: [string, FormValue][] = [];
    for (let head = await this.#parser.next(); head; head = await this.#parser.next()) {
      if (entries.length >= this.#limits.formParts) throw tooManyParts(this.#limits.formParts);
      this.#countField(head.name.length);
      entries.push([head.name, head.filename === null ? await this.#readField() : await this.#readFile(head)]);
    }
    return new FormData(entries);
  }

  #countField(bytes: number): void {
    const { bodyBytes } = this.#limits;
    this.#fieldBytes += bytes;
    if (this.#fieldBytes > bodyBytes) throw tooLarge(bodyBytes, "fields of the form are");
  }

  async #readField(): Promise<string> {
    const chunks = new ChunkQueue();
    for await (const chunk of this.#parser.content()) {
      this.#countField(chunk.length);
      chunks.push(chunk);
    }
    return fieldText.decode(chunks.takeAll());
  }

  async #readFile({ filename, contentType, headers }: PartHead): Promise<UploadFile> {
    const { uploadBytes } = this.#limits;
    const file = this.#spool.begin();
    for await (const chunk of this.#parser.content()) {
      this.#fileBytes += chunk.length;
      if (this.#fileBytes > uploadBytes) throw tooLarge(uploadBytes, "files of the form are");
      await file.write(chunk);
    }
    await file.end();
    return new UploadFile(file, { filename: filename ?? "", contentType, headers });
  }
}

/**
 * Reads `multipart/form-data`; large files go to the spool.
 *
 * @throws MultipartError when it is malformed.
 * @throws HTTPException 413 when it is beyond a limit, 507 when the disk is full.
 */
export function readMultipart(
  source: ByteSource,
  boundary: string,
  limits: Readonly<Limits>,
  spool: Spool,
): Promise<FormData> {
  return new MultipartReader(source, boundary, limits, spool).read();
}
