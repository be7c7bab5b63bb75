/** Instances of the platform's `Response`, sent by an application. @module */
import { fromWebHeaders } from "../request/web.js";
import type { Response as OwnResponse } from "./response.js";
import { NO_PACE, PACE, type Pace, StreamingResponse } from "./streaming.js";

/**
 * Tells if a value is a response of the platform, or of a package with a separate class, such as undici's. No class is
 * asked for: Node loads its own when it is first named.
 */
export function isWebResponse(result: unknown): result is globalThis.Response {
  return (
    typeof result === "object" &&
    result !== null &&
    Symbol.toStringTag in result &&
    result[Symbol.toStringTag] === "Response" &&
    "bodyUsed" in result &&
    "headers" in result
  );
}

const NOTHING: readonly Uint8Array[] = [];

/** A response of the platform, unchanged: its head is sent immediately, its body as it arrives. */
class WebResponse extends StreamingResponse<Uint8Array> {
  override readonly [PACE]: Pace = { ...NO_PACE, headMs: 1 };
}

/**
 * Makes a response of one of the platform, with its status, its headers and its body as they are.
 *
 * @throws TypeError when its body has been read, or it is the response of a failed `fetch`, which has no status.
 */
export function fromWebResponse(response: globalThis.Response): OwnResponse {
  const { status, headers, body, bodyUsed } = response;
  if (bodyUsed || body?.locked) throw new TypeError("The body of the platform's Response has been read already.");
  if (status < 200) throw new TypeError("Response.error() cannot be sent: it represents a network error.");
  const content = (body as AsyncIterable<Uint8Array> | null) ?? NOTHING;
  return new WebResponse(content, { statusCode: status, headers: pairsOf(fromWebHeaders(headers)) });
}

function* pairsOf(raw: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? "", raw[index + 1] ?? ""];
}
