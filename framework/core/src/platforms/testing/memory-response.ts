/** The HTTP response that refuses a handshake in memory. @module */
import { concatBytes } from "../../protocol/bytes.js";
import { encodeUTF8, HeaderList, parseHeaders } from "../../protocol/header-list.js";
import type { ResponseStream } from "../../protocol/engine.js";
import type { ResponseHead } from "../../protocol/response-head.js";
import type { Refused } from "./refused-error.js";

/** A refusal with the head and the body of a response. */
export function toRefused({ status, headers }: ResponseHead, body: Uint8Array): Refused {
  return { statusCode: status, headers: parseHeaders(new HeaderList(headers.raw)), body };
}

/** Collects a response. */
export class MemoryResponse implements ResponseStream {
  readonly #connection: { readonly destroyed: boolean };
  readonly #onEnd: (refused: Refused, head: ResponseHead) => void;
  #head: ResponseHead | null = null;
  readonly #parts: Uint8Array[] = [];
  #isCut = false;

  /** @param onEnd - Gets the response, whole or cut. */
  constructor(connection: { readonly destroyed: boolean }, onEnd: (refused: Refused, head: ResponseHead) => void) {
    this.#connection = connection;
    this.#onEnd = onEnd;
  }

  get destroyed(): boolean {
    return this.#isCut || this.#connection.destroyed;
  }

  respond(head: ResponseHead, body: Uint8Array | string): void {
    this.begin(head);
    this.write(typeof body === "string" ? encodeUTF8(body) : body);
    this.end();
  }

  begin(head: ResponseHead): void {
    this.#head = head;
  }

  write(chunk: Uint8Array): boolean {
    this.#parts.push(chunk.slice());
    return true;
  }

  end(): void {
    this.#finish({});
  }

  /** Everything is with the client at once. */
  flushed(): undefined {}

  destroy(cause?: unknown): void {
    this.#isCut = true;
    this.#finish({ cause });
  }

  #finish(cut: Pick<Refused, "cause">): void {
    if (this.#head !== null) this.#onEnd({ ...toRefused(this.#head, concatBytes(this.#parts)), ...cut }, this.#head);
  }
}
