/** What says where the body of a request ends: RFC 9112 §6.3. @module */

/** The headers that say it, beside the one that asks before it is sent. */
export interface Framing {
  "transfer-encoding"?: string;
  "content-length"?: string;
  expect?: string;
}

/** The length of a body: 0 where there is none, `NaN` where its framing hides it. */
export function bodyBytesOf(headers: Readonly<Framing>): number {
  return headers["transfer-encoding"] === undefined ? Number(headers["content-length"] ?? 0) : Number.NaN;
}
