/** Errors of tests whose WebSocket handshake was rejected. @module */
import { WebSocketException } from "../../common/exceptions.js";

/** RFC 6455 §7.4.1: the code in a browser for a handshake that was answered with anything but 101. */
const ABNORMAL = 1006;

/** The refusal of a handshake. */
export interface Refused {
  /** The close code, where the application closed in place of accepting. */
  readonly code?: number;
  readonly reason?: string;
  /** HTTP status code in range [200...599]; `null` where the client would see the close code instead. */
  readonly statusCode: number | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly cause?: unknown;
}

/** The application did not take the WebSocket. */
export class WebSocketRefusedError extends WebSocketException {
  override readonly name = "WebSocketRefusedError";
  /** HTTP status code in range [200...599]; `null` for a close with 4000 to 4999, which clients see as the code. */
  readonly statusCode: number | null;
  /** The headers of the answer, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body of the answer. */
  readonly body: Uint8Array;

  constructor(path: string, { code = ABNORMAL, reason = "", statusCode, headers, body, cause }: Refused) {
    super(code, reason);
    this.statusCode = statusCode;
    this.headers = headers ?? {};
    this.body = body ?? Buffer.alloc(0);
    const how = statusCode === null ? `code ${code}` : `status ${statusCode}`;
    this.message = `The WebSocket ${path} was refused with ${how}. ${this.text() || reason}`.trimEnd();
    if (cause !== undefined) this.cause = cause;
  }

  /** The body as UTF-8 text. */
  text(): string {
    return new TextDecoder().decode(this.body);
  }

  /** The body parsed as JSON. @throws SyntaxError when it is not JSON. */
  json(): unknown {
    return JSON.parse(this.text());
  }
}
