/** The two parsers, driven as a connection drives them. */
import { ErrorResponse } from "../../../src/protocol/error-response.js";
import { ChunkedDecoder } from "../../../src/platforms/node/http1/parse-chunked.js";
import { parseHead } from "../../../src/platforms/node/http1/parse-head.js";
import type { RequestLimits } from "../../../src/platforms/node/header-section.js";

/** A parser's result for a head, in a form that can be compared. */
function told(head: ReturnType<typeof parseHead>): unknown {
  if (head === null) return "incomplete";
  return head instanceof ErrorResponse ? head : Object.fromEntries(Object.entries(head));
}

/** Parses as a connection does: all received bytes again with each packet, until there is a result. */
export function parseInPieces(parts: readonly string[], bounds: RequestLimits): unknown {
  let bytes = Buffer.alloc(0);
  let checked = 0;
  for (const part of parts) {
    bytes = Buffer.concat([bytes, Buffer.from(part, "latin1")]);
    const head = parseHead(bytes, 0, bounds, checked);
    if (head !== null) return told(head);
    checked = bytes.length;
  }
  return "incomplete";
}

/** Parses all at once. */
export function parseWhole(text: string, bounds: RequestLimits): unknown {
  return told(parseHead(Buffer.from(text, "latin1"), 0, bounds));
}

/** The outcome of a decoder: the data that it has delivered, and how it ended. */
export interface Decoding {
  data: string;
  /** The position after the body, the response that refuses it, or `null` if more bytes are needed. */
  end: number | ErrorResponse | null;
}

/**
 * Decodes as a connection does: bytes that were not decoded are given again, with more.
 *
 * @param head - The end of the head, which is in the first packet.
 */
export function decodeInPieces(parts: readonly string[], bounds: RequestLimits, head = ""): Decoding {
  const decoder = new ChunkedDecoder(bounds);
  let data = "";
  let bytes = Buffer.from(head);
  let at = head.length;
  let given = -at;
  for (const part of parts) {
    bytes = Buffer.concat([bytes, Buffer.from(part, "latin1")]);
    const end = decoder.decode(bytes, at, (chunk) => (data += chunk.toString("latin1")));
    if (end instanceof ErrorResponse) return { data, end };
    given += end;
    if (decoder.isComplete) return { data, end: given };
    bytes = bytes.subarray(end);
    at = 0;
  }
  return { data, end: null };
}
