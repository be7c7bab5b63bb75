/** The responses that the server gives itself, without asking the application. @module */
import { STATUS_CODES } from "node:http";

/** A status and the JSON that the client reads. The connection closes behind it: what follows cannot be trusted. */
export class ErrorResponse {
  /** HTTP status code in range [400...599]. */
  readonly status: number;
  readonly body: Buffer;
  /** `[name, value, …]`, without the one that closes the connection. */
  readonly headers: readonly string[];

  /** @param detail - The text under `detail`. Defaults to the phrase of the status. */
  constructor(status: number, detail = STATUS_CODES[status] ?? "Error", headers: readonly string[] = []) {
    this.status = status;
    this.body = Buffer.from(JSON.stringify({ detail }));
    this.headers = ["content-type", "application/json", "content-length", String(this.body.length), ...headers];
  }
}
