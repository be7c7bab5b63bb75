/** Instances of the platform's `Response`, sent by an application. @module */
import { foreignError } from "../../common/exceptions.js";
import { trimOWS } from "../../protocol/http-grammar.js";
import { endToEnd, fromWebHeaders } from "../request/web.js";
import { changeCoding, ResponseHeaders } from "./headers.js";
import { Response as OwnResponse } from "./response.js";
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

/** The codings that `fetch` undoes, which differ between platforms: Node 20 to 26, Bun 1.4, Deno 2.9. */
function decodedCodings(): ReadonlySet<string> {
  const { bun, undici = "0" } = globalThis.process?.versions ?? {};
  const known = new Set(["br", "gzip"]);
  if (bun !== undefined || undici !== "0") known.add("x-gzip").add("deflate");
  const [major = 0, minor = 0] = undici.split(".").map(Number);
  // undici 7.11 is the first with `zstd`.
  if (bun !== undefined || major * 100 + minor >= 711) known.add("zstd");
  return known;
}

/** Tells if `fetch` has decoded a body with these codings. Only Node undoes several. */
function isDecoded(contentEncoding: string): boolean {
  const codings = contentEncoding.toLowerCase().split(",").map(trimOWS);
  if (codings.length > 1 && globalThis.process?.versions["undici"] === undefined) return false;
  const known = decodedCodings();
  return codings.every((coding) => known.has(coding));
}

/**
 * Makes a response of one of the platform, with its status, its headers and its body as they are. One that `fetch` has
 * received is forwarded: without fields about its connection, and without a coding that `fetch` has undone.
 *
 * @throws TypeError when its body has been read, or it is the response of a failed `fetch`, which has no status.
 */
export function fromWebResponse(response: globalThis.Response): OwnResponse {
  const { status, headers, body, bodyUsed, url } = response;
  if (bodyUsed || body?.locked) throw new TypeError("The body of the platform's Response has been read already.");
  if (status < 200) throw new TypeError("Response.error() cannot be sent: it represents a network error.");
  const content = (body as AsyncIterable<Uint8Array> | null) ?? NOTHING;
  const raw = fromWebHeaders(headers);
  // Fetch §5.5: only a response that was received has a URL.
  const isReceived = Boolean(url);
  const sent = new ResponseHeaders(pairsOf(isReceived ? endToEnd(raw) : raw));
  if (isReceived && isDecoded(headers.get("content-encoding") ?? "")) changeCoding(sent, "identity");
  return new WebResponse(content, { statusCode: status, headers: sent });
}

function* pairsOf(raw: readonly string[]): Generator<readonly [name: string, value: string]> {
  for (let index = 0; index + 1 < raw.length; index += 2) yield [raw[index] ?? "", raw[index + 1] ?? ""];
}

/**
 * The response that a function of the application has returned, or `null` for another value.
 *
 * @throws ConfigurationError for a response of another copy of tsgi, which JSON would write with its members.
 */
export function responseOf(result: unknown): OwnResponse | null {
  if (result instanceof OwnResponse) return result;
  if (isWebResponse(result)) return fromWebResponse(result);
  const error = foreignError(result);
  if (error !== null) throw error;
  return null;
}
