/** The body of a response: sent whole, and taken apart again by a driver. @module */
import type { HeaderPair, HTTPResponseBodyMessage, Send } from "./asgi.js";
import { createBytes, isASCII } from "./bytes.js";
import { encodeUTF8 } from "./header-list.js";
import { ProtocolError } from "../common/exceptions.js";
import { describe } from "../common/messages.js";

const EMPTY = createBytes(0);

/**
 * The last body message of a response, with text that a driver writes as it is. All other code reads or sets its
 * `body`, which is encoded on access. Bytes that the application encodes and the driver decodes took 4 to 6 % of the
 * processor time of a small response over HTTP/1.1 (Node 20).
 */
export class ASCIIBody implements HTTPResponseBodyMessage {
  declare readonly type: "http.response.body";
  declare more_body: boolean;
  /** `null` after other bytes have been set. */
  declare ascii: string | null;

  constructor(ascii: string) {
    this.type = "http.response.body";
    this.more_body = false;
    this.ascii = ascii;
  }

  get body(): Uint8Array {
    return encodeUTF8(this.ascii ?? "");
  }

  set body(value: Uint8Array) {
    this.ascii = null;
    Object.defineProperty(this, "body", { value, writable: true, enumerable: true, configurable: true });
  }
}

/**
 * The content of another body message. In a copy of an {@link ASCIIBody} the bytes that a middleware has set come before the
 * text.
 *
 * @throws ProtocolError for a body that is not bytes, and for `ascii` that is not ASCII text.
 */
export function contentOf({ body, ascii }: HTTPResponseBodyMessage): Uint8Array | string {
  const content: unknown = body ?? ascii ?? EMPTY;
  if (content instanceof Uint8Array) return content;
  if (typeof body !== "string" && typeof content === "string" && isASCII(content)) return content;
  const found = typeof content === "string" ? "text" : describe(content);
  throw new ProtocolError(`Expected the body of "http.response.body" to be bytes, not ${found}.`);
}

/**
 * Sends a head and one whole body, without a promise if the server does not need one.
 *
 * @param to - The object whose `send` gets the messages.
 * @param body - Bytes, or ASCII text for a server that reads it.
 */
export function sendWhole(
  to: { readonly send: Send },
  status: number,
  headers: Iterable<HeaderPair>,
  body: Uint8Array | string,
): Promise<void> | void {
  const started = to.send({ type: "http.response.start", status, headers });
  const message: HTTPResponseBodyMessage =
    typeof body === "string" ? new ASCIIBody(body) : { type: "http.response.body", body, more_body: false };
  // A `send` that returns anything else, as `(message) => list.push(message)` does, is not asynchronous.
  if (typeof started === "object" && started !== null) return started.then(() => to.send(message));
  const ended = to.send(message);
  if (typeof ended === "object") return ended;
}
