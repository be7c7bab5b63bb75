/** The content that a response may have, by its status and the method of its request. @module */

/** The rules for the content of a response, by its status and method. */
export interface ResponseFacts {
  /** `true` for a response without content: a driver drops the body that it gets. */
  readonly bodyless: boolean;
  /**
   * The meaning of `Content-Length`:
   *
   * - `content`: bytes of the content, or for HEAD of the content that GET would get (RFC 9110 §9.3.2).
   * - `given`: only the application knows it (304: RFC 9110 §8.6).
   * - `zero`: always 0. On HTTP/1.1 a 205 ends with its content, and not with its head (RFC 9112 §6.3).
   * - `none`: the field is not allowed (1xx, 204: RFC 9110 §8.6).
   */
  readonly length: "content" | "given" | "zero" | "none";
}

const WHOLE: ResponseFacts = { bodyless: false, length: "content" };
const HEAD: ResponseFacts = { bodyless: true, length: "content" };
const NOT_MODIFIED: ResponseFacts = { bodyless: true, length: "given" };
const RESET_CONTENT: ResponseFacts = { bodyless: true, length: "zero" };
const NO_CONTENT: ResponseFacts = { bodyless: true, length: "none" };

/** Returns whether a response has content, and what its `Content-Length` means: RFC 9110 §6.4.1, §15.3.5, §15.3.6. */
export function responseFacts(status: number, method: string): ResponseFacts {
  if (status < 200 || status === 204) return NO_CONTENT;
  if (status === 205) return RESET_CONTENT;
  if (status === 304) return NOT_MODIFIED;
  return method === "HEAD" ? HEAD : WHOLE;
}
