/** The response in the form that the source of an event expects. @module */
import type { ResponseHead } from "tsgi/internals";
import type { EventSource } from "./event.js";

/** A response to Lambda. */
export interface LambdaResult extends LambdaHead {
  body: string;
  /** `true` for a body that is not text. */
  isBase64Encoded: boolean;
}

/** The head of a response to Lambda. */
export interface LambdaHead {
  statusCode: number;
  headers?: Record<string, string>;
  /** For payload format 1.0, and for load balancers with multi-value headers. */
  multiValueHeaders?: Record<string, string[]>;
  /** The values of `Set-Cookie`, for payload format 2.0. */
  cookies?: string[];
}

/** The values of each header, by its name in lower case. */
function valuesOf({ headers: { raw, contentLength: given }, contentLength }: ResponseHead): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? "").toLowerCase();
    const value = toText(raw[index + 1] ?? "");
    const before = values.get(name);
    if (before === undefined) values.set(name, [value]);
    else before.push(value);
  }
  if (given === -1 && contentLength !== -1) values.set("content-length", [String(contentLength)]);
  return values;
}

/** A value as the text of its bytes: Lambda encodes a result as UTF-8. */
function toText(value: string): string {
  return /[^\0-\x7f]/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value;
}

/** Creates the head of a response. It has no field that its source does not know: for those, API Gateway responds with 502. */
export function toLambdaHead(head: ResponseHead, source: EventSource): LambdaHead {
  const values = valuesOf(head);
  const { status: statusCode } = head;
  if (source === "v1") return v1Head(statusCode, values);
  if (source === "alb-multi") return { statusCode, multiValueHeaders: Object.fromEntries(values) };
  const cookies = values.get("set-cookie") ?? [];
  if (source === "alb") return { statusCode, headers: { ...joined(values), ...spelledCookies(cookies) } };
  return { statusCode, headers: joined(values), ...(cookies.length > 0 && { cookies }) };
}

/** API Gateway merges both: headers with one value, and those with several, to which cookies always belong. */
function v1Head(statusCode: number, values: ReadonlyMap<string, string[]>): LambdaHead {
  const headers: Record<string, string> = {};
  const multiValueHeaders: Record<string, string[]> = {};
  for (const [name, all] of values) {
    if (all.length > 1 || name === "set-cookie") multiValueHeaders[name] = all;
    else headers[name] = all[0] ?? "";
  }
  return { statusCode, headers, ...(Object.keys(multiValueHeaders).length > 0 && { multiValueHeaders }) };
}

/** Each header with one value: RFC 9110 §5.3. Cookies cannot be joined (RFC 6265 §3). */
function joined(values: ReadonlyMap<string, string[]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, all] of values) if (name !== "set-cookie") headers[name] = all.join(", ");
  return headers;
}

/**
 * Cookies for a load balancer without multi-value headers: each under another spelling of the name, such as `set-cookie`
 * and `Set-cookie`. An object has both names, and to HTTP they are equal.
 */
function spelledCookies(cookies: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    cookies.map((cookie, index) => {
      const [first, second] = [spell("set", index), spell("cookie", index >> "set".length)];
      return [`${first}-${second}`, cookie];
    }),
  );
}

/** Writes the letters in upper case whose bits are set in a number. */
function spell(word: string, bits: number): string {
  return Array.from(word, (letter, at) => ((bits >> at) & 1 ? letter.toUpperCase() : letter)).join("");
}

/** Types whose bodies are text. `charset` can name another encoding than UTF-8, and such a body is not. */
const TEXT_TYPE =
  /^(?:text\/[^;]*|application\/(?:[^;]*\+)?(?:json|xml)|application\/(?:javascript|ecmascript|graphql|yaml|x-ndjson|jsonl|x-www-form-urlencoded)|image\/svg\+xml)[\t ]*(?:;|$)/i;
const OTHER_CHARSET = /;[\t ]*charset[\t ]*=[\t ]*"?(?!utf-?8|us-ascii)/i;

const strictUTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Writes a body as a string: text as it is, and every other body in base64. */
export function toLambdaBody(
  head: ResponseHead,
  body: Uint8Array | string,
): Pick<LambdaResult, "body" | "isBase64Encoded"> {
  if (body.length === 0) return { body: "", isBase64Encoded: false };
  if (typeof body === "string") return { body, isBase64Encoded: false };
  if (isText(head)) {
    try {
      return { body: strictUTF8.decode(body), isBase64Encoded: false };
    } catch {
      // The bytes are not UTF-8, although the type is text.
    }
  }
  return { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("base64"), isBase64Encoded: true };
}

function isText(head: ResponseHead): boolean {
  const values = valuesOf(head);
  const [type = ""] = values.get("content-type") ?? [];
  const [encoding = "identity"] = values.get("content-encoding") ?? [];
  return encoding.toLowerCase() === "identity" && TEXT_TYPE.test(type) && !OTHER_CHARSET.test(type);
}
