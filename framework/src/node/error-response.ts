/** The responses that the server gives itself, without asking the application. @module */
import { STATUS_CODES } from "node:http";
import { responseFacts } from "../response-facts.js";
import { CheckedHeaders, type ResponseHead } from "./response-head.js";

/** A whole response with JSON. The connection closes behind it: what follows cannot be trusted. */
export class ErrorResponse {
  readonly head: ResponseHead;
  readonly body: Buffer;

  /**
   * @param status - HTTP status code in range [400...599].
   * @param detail - The text under `detail`. Defaults to the phrase of the status.
   * @param headers - `[name, value, …]` beside those of the body.
   */
  constructor(status: number, detail = STATUS_CODES[status] ?? "Error", headers: readonly string[] = []) {
    this.body = Buffer.from(JSON.stringify({ detail }));
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
