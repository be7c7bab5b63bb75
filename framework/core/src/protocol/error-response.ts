/** The responses that a server sends by itself, without asking the application. @module */
import { encodeUTF8 } from "./header-list.js";
import { statusPhrase } from "../common/exceptions.js";
import { DEFAULT_WRITER, type ErrorWriter } from "./error-format.js";
import { CheckedHeaders, responseFacts, type ServerResponseHead } from "./response.js";

/** The responses in the format of each application, by status, text and headers: they are made at their first use. */
const kept = new WeakMap<ErrorWriter, Map<string, ErrorResponse>>();

/** A whole response with JSON. The connection closes after it: later bytes cannot be trusted. */
export class ErrorResponse {
  readonly head: ServerResponseHead;
  readonly body: Uint8Array;
  readonly #detail: string;
  readonly #headers: readonly string[];

  /**
   * @param status - HTTP status code in range [400...599].
   * @param detail - The text of the error, one of a few. Defaults to the phrase of the status.
   * @param headers - `[name, value, …]` in addition to those of the body.
   * @param writer - Writes the body. Defaults to `{"detail": …}`.
   */
  constructor(
    status: number,
    detail = statusPhrase(status),
    headers: readonly string[] = [],
    writer: ErrorWriter = DEFAULT_WRITER,
  ) {
    const { text, mediaType } = writer.write({ status, detail });
    this.body = encodeUTF8(text);
    const { length } = this.body;
    const raw = ["content-type", mediaType, "content-length", String(length), ...headers];
    const checked = new CheckedHeaders(raw, length, true, false);
    this.head = { status, headers: checked, contentLength: length, facts: responseFacts(status, "GET") };
    this.#detail = detail;
    this.#headers = headers;
  }

  /** HTTP status code in range [400...599]. */
  get status(): number {
    return this.head.status;
  }

  /** The response in the format of an application. */
  as({ errorWriter }: { readonly errorWriter: ErrorWriter }): ErrorResponse {
    if (errorWriter === DEFAULT_WRITER) return this;
    const responses = kept.get(errorWriter) ?? new Map<string, ErrorResponse>();
    kept.set(errorWriter, responses);
    const key = [this.status, this.#detail, ...this.#headers].join("\n");
    const known = responses.get(key) ?? new ErrorResponse(this.status, this.#detail, this.#headers, errorWriter);
    responses.set(key, known);
    return known;
  }
}
