/** The body of a request on a connection: cut out of its bytes by its framing (RFC 9112 §6). @module */
import type { ErrorResponse } from "../../../protocol/error-response.js";
import type { RequestBody } from "../../../protocol/request-body.js";
import type { RequestLimits } from "../header-section.js";
import { ChunkedDecoder } from "./parse-chunked.js";

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
