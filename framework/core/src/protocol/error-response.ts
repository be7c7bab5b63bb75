/** The responses that a server sends by itself, without asking the application. @module */
import { encodeUTF8 } from "./header-list.js";
import { statusPhrase } from "../common/exceptions.js";
import { CheckedHeaders, responseFacts, type ServerResponseHead } from "./response.js";

/**
 * The key of an application, and of the state of its lifespan, if its errors are problem details (RFC 9457): the server
 * then sends its own errors in that format too. Registered, so that any server can read it.
 */
export const PROBLEM_DETAILS: unique symbol = Symbol.for("tsgi.problem-details");

/** RFC 9457 §6.1 */
export const PROBLEM_TYPE = "application/problem+json";

/** A whole response with JSON. The connection closes after it: later bytes cannot be trusted. */
export class ErrorResponse {
  readonly head: ServerResponseHead;
  readonly body: Uint8Array;
  readonly #detail: string;
  readonly #headers: readonly string[];
  /** The same response as problem details, made at its first use. */
  #problem: ErrorResponse | null = null;

  /**
   * @param status - HTTP status code in range [400...599].
   * @param detail - The member `detail` of the body. Defaults to the phrase of the status.
   * @param headers - `[name, value, …]` in addition to those of the body.
   * @param isProblem - `true` for problem details.
   */
  constructor(status: number, detail = statusPhrase(status), headers: readonly string[] = [], isProblem = false) {
    const problem = { type: "about:blank", title: statusPhrase(status), status, detail };
    this.body = encodeUTF8(JSON.stringify(isProblem ? problem : { detail }));
    const { length } = this.body;
    const type = isProblem ? PROBLEM_TYPE : "application/json";
    const raw = ["content-type", type, "content-length", String(length), ...headers];
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
  as({ problemDetails }: { readonly problemDetails: boolean }): ErrorResponse {
    if (!problemDetails) return this;
    return (this.#problem ??= new ErrorResponse(this.status, this.#detail, this.#headers, true));
  }
}
