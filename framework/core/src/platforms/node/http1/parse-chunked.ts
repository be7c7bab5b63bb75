/**
 * The chunked transfer coding: from bytes to the parts of a body, or to the response that refuses them.
 *
 * The result depends only on the bytes, not on how they were split into packets.
 *
 * @see RFC 9112 §7.1
 * @module
 */
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { RequestLimits } from "../header-section.js";
import type { RequestBody } from "../../../protocol/request-body.js";

/** Digits of the largest size that a number holds exactly, 2^52 - 1. */
const MAX_DIGITS = 13;
/** Bytes of one line with the size of a chunk and its extensions. */
const MAX_LINE_BYTES = 4096;
/** Bytes of all extensions of a body: bytes outside the body must be limited too. */
const MAX_EXTENSION_BYTES = 16_384;

/** Bytes of a line without its end that are looked at: a byte at a time, all of a long one would take quadratic time. */
const MAX_CHECKED_PART_BYTES = 256;

/**
 * RFC 9112 §7.1 and §7.1.1, with blanks around `;` and `=` (BWS). Leading zeros apart, 13 digits are the largest size
 * that a number holds exactly.
 */
const SIZE_LINE =
  /^0*([0-9A-Fa-f]{1,13})((?:[\t ]*;[\t ]*[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:[\t ]*=[\t ]*(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*)$/;
/** The beginning of a line that may still become one. */
const SIZE_LINE_PART = /^(?:[0-9A-Fa-f]+(?:[\t ]*(?:;[\t\x20-\x7e\x80-\xff]*)?)?)?\r?$/;
const FIELD_LINE = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[\t\x20-\x7e\x80-\xff]*$/;
const FIELD_LINE_PART = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*(?:(?<=.):[\t\x20-\x7e\x80-\xff]*)?\r?$/;

/** RFC 9110 §6.5.1: fields of framing, routing and authentication, which are not allowed after the body. */
const FORBIDDEN_TRAILERS: ReadonlySet<string> = new Set(
  (
    "authorization connection content-length cookie expect host keep-alive max-forwards proxy-authorization " +
    "proxy-connection set-cookie te trailer transfer-encoding upgrade"
  ).split(" "),
);

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  extensions: new ErrorResponse(413, "The chunk extensions are too long."),
  trailer: new ErrorResponse(400, "The trailer section has a field that is not allowed there."),
  trailerBytes: new ErrorResponse(431, "The trailer section is too long."),
};

const CR = 0x0d;
const LF = 0x0a;
const CRLF = Buffer.from("\r\n");

/** The position of the decoder: before a size, in the data of a chunk, after it, or in the trailer section. */
type Phase = "size" | "data" | "dataEnd" | "trailers" | "complete";

/** Takes the body of one request. */
export class ChunkedDecoder {
  readonly #limits: RequestLimits;
  #phase: Phase = "size";
  /** Bytes of the current chunk that are still to come. */
  #remaining = 0;
  #extensionBytes = 0;
  #trailerBytes = 0;
  #trailers = 0;

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** `true` at the end of the body and its trailer section. */
  get isComplete(): boolean {
    return this.#phase === "complete";
  }

  /**
   * Decodes from `start` on, and passes the data of each chunk to `onData`.
   *
   * @returns The position after the decoded bytes; pass the bytes after it again, with more. Or the response that
   *   refuses the body.
   */
  decode(bytes: Buffer, start: number, onData: (data: Buffer) => void): number | ErrorResponse {
    let at = start;
    while (this.#phase !== "complete") {
      const next = this.#phase === "data" ? this.#data(bytes, at, onData) : this.#line(bytes, at);
      if (next === null) return at;
      if (typeof next !== "number") return next;
      at = next;
    }
    return at;
  }

  #data(bytes: Buffer, at: number, onData: (data: Buffer) => void): number | null {
    if (at === bytes.length) return null;
    const end = Math.min(bytes.length, at + this.#remaining);
    this.#remaining -= end - at;
    if (this.#remaining === 0) this.#phase = "dataEnd";
    onData(bytes.subarray(at, end));
    return end;
  }

  #line(bytes: Buffer, at: number): number | ErrorResponse | null {
    if (this.#phase === "dataEnd") return this.#dataEnd(bytes, at);
    const plainEnd = this.#phase === "size" ? this.#plainSize(bytes, at) : -1;
    return plainEnd === -1 ? this.#checkLine(bytes, at) : plainEnd;
  }

  #checkLine(bytes: Buffer, at: number): number | ErrorResponse | null {
    const isSize = this.#phase === "size";
    const limit = isSize ? MAX_LINE_BYTES : Math.max(0, this.#limits.headerBytes - this.#trailerBytes);
    const end = bytes.indexOf(CRLF, at);
    const line = bytes.toString("latin1", at, Math.min(end === -1 ? bytes.length : end, at + limit + 2));
    const isTooLong = line.length > limit + (end === -1 && line.charCodeAt(limit) === CR ? 1 : 0);
    const checked = end === -1 && !isTooLong ? Math.min(limit, MAX_CHECKED_PART_BYTES) : limit;
    if (!(isSize ? SIZE_LINE_PART : FIELD_LINE_PART).test(line.slice(0, checked))) return errors.malformed;
    if (isTooLong) return isSize ? errors.extensions : errors.trailerBytes;
    if (end === -1) return null;
    return (isSize ? this.#size(line) : this.#trailer(line)) ?? end + 2;
  }

  /** The CR LF behind the data of a chunk. */
  #dataEnd(bytes: Buffer, at: number): number | ErrorResponse | null {
    if (at < bytes.length && bytes[at] !== CR) return errors.malformed;
    if (at + 1 >= bytes.length) return null;
    if (bytes[at + 1] !== LF) return errors.malformed;
    this.#phase = "size";
    return at + 2;
  }

  /**
   * A size without extensions, as nearly all are. Digit by digit, a chunk takes 2,700 instructions instead of 6,500 by a
   * match of its line.
   *
   * @returns The position after the line, or -1 if it needs the general parser.
   */
  #plainSize(bytes: Buffer, at: number): number {
    let size = 0;
    let index = at;
    for (let digit; index < at + MAX_DIGITS && (digit = hexDigit(bytes[index])) !== -1; index++) {
      size = size * 16 + digit;
    }
    if (index === at || bytes[index] !== CR || bytes[index + 1] !== LF) return -1;
    this.#startChunk(size);
    return index + 2;
  }

  #startChunk(size: number): void {
    this.#remaining = size;
    this.#phase = size === 0 ? "trailers" : "data";
  }

  #size(line: string): ErrorResponse | null {
    const [, size, extensions] = SIZE_LINE.exec(line) ?? [];
    if (size === undefined || extensions === undefined) return errors.malformed;
    this.#extensionBytes += extensions.length;
    if (this.#extensionBytes > MAX_EXTENSION_BYTES) return errors.extensions;
    this.#startChunk(Number.parseInt(size, 16));
    return null;
  }

  #trailer(line: string): ErrorResponse | null {
    if (line === "") {
      this.#phase = "complete";
      return null;
    }
    this.#trailerBytes += line.length + 2;
    const name = FIELD_LINE.exec(line)?.[1];
    if (name === undefined) return errors.malformed;
    if (FORBIDDEN_TRAILERS.has(name.toLowerCase())) return errors.trailer;
    return ++this.#trailers > this.#limits.headerCount ? errors.trailerBytes : null;
  }
}

/** The value of a hexadecimal digit, or -1. */
function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const EMPTY = Buffer.alloc(0);

/** Reads one body, and hands it on part by part. */
export class BodyReader {
  /** Bytes that are to come where the length is known. */
  #remaining = 0;
  #decoder: ChunkedDecoder | null = null;
  /** `null` if the rest is not needed. */
  #body: RequestBody | null;
  /** `true` while the application has to take the bytes that it was given, before more is read. */
  isFull = false;

  /** @param bodyBytes - Bytes of the body; `NaN` for a chunked one. */
  constructor(body: RequestBody | null, bodyBytes: number, limits: RequestLimits) {
    this.#body = body;
    if (Number.isNaN(bodyBytes)) this.#decoder = new ChunkedDecoder(limits);
    else this.#remaining = bodyBytes;
  }

  /** Bytes that may still arrive: 0 if the body is complete, `Infinity` if the length is unknown. */
  get outstanding(): number {
    return this.#decoder === null ? this.#remaining : Infinity;
  }

  /** Lets the rest pass unread. */
  discard(): void {
    this.#body = null;
  }

  /** Reads from `at` on. Returns the position after the read bytes, or the response that rejects the body. */
  read(input: Buffer, at: number): number | ErrorResponse {
    return this.#decoder === null ? this.#readSized(input, at) : this.#readChunked(input, at, this.#decoder);
  }

  #readSized(input: Buffer, at: number): number {
    const end = Math.min(input.length, at + this.#remaining);
    this.#remaining -= end - at;
    this.#take(at === 0 && end === input.length ? input : input.subarray(at, end), this.#remaining === 0);
    return end;
  }

  #readChunked(input: Buffer, at: number, decoder: ChunkedDecoder): number | ErrorResponse {
    const end = decoder.decode(input, at, (data) => this.#take(data, false));
    if (typeof end !== "number" || !decoder.isComplete) return end;
    this.#decoder = null;
    this.#take(EMPTY, true);
    return end;
  }

  #take(chunk: Buffer, isLast: boolean): void {
    this.isFull = this.#body?.take(chunk, isLast) === false;
  }
}
