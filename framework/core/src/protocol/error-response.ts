/** The responses that a server sends by itself, without asking the application. @module */
import { encodeUTF8 } from "./header-list.js";
import { statusPhrase } from "../common/exceptions.js";
import { responseFacts } from "./response-facts.js";
import { CheckedHeaders, type ResponseHead } from "./response-head.js";

/** A whole response with JSON. The connection closes after it: later bytes cannot be trusted. */
export class ErrorResponse {
  readonly head: ResponseHead;
  readonly body: Uint8Array;

  /**
   * @param status - HTTP status code in range [400...599].
   * @param detail - The member `detail` of the body. Defaults to the phrase of the status.
   * @param headers - `[name, value, …]` in addition to those of the body.
   */
  constructor(status: number, detail = statusPhrase(status), headers: readonly string[] = []) {
    this.body = encodeUTF8(JSON.stringify({ detail }));
    const { length } = this.body;
    const raw = ["content-type", "application/json", "content-length", String(length), ...headers];
    const checked = new CheckedHeaders(raw, length, true, false);
    this.head = { status, headers: checked, contentLength: length, facts: responseFacts(status, "GET") };
  }

  /** HTTP status code in range [400...599]. */
  get status(): number {
    return this.head.status;
  }
}
