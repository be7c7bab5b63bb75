/** The header lines of a request: its end, how its connection continues, and its host. @module */
import type { ContentHeaders } from "../../protocol/header-list.js";
import { isAuthority, trimOWS } from "../../protocol/http-grammar.js";
import { ErrorResponse } from "../../protocol/error-response.js";

/** Limits of a request's head. */
export interface RequestLimits {
  /** Bytes of the request target: path and query (414). Defaults to 8,192. */
  targetBytes: number;
  /** Bytes of all header lines together (431). Defaults to 16,384. */
  headerBytes: number;
  /** Number of header lines (431). Defaults to 100. */
  headerCount: number;
}

/** The default limits. */
export const DEFAULT_REQUEST_LIMITS: RequestLimits = { targetBytes: 8192, headerBytes: 16_384, headerCount: 100 };

/** Header lines that were checked. A connection's next request may have the same. */
export interface HeaderSection {
  /** `[name, value, …]` as received; `Host` is the one that counts. */
  readonly headers: readonly string[];
  /** The facts about the body, for the application. */
  readonly content: ContentHeaders;
  /** Bytes of the body: 0 for no body, `NaN` for a chunked one. */
  readonly bodyBytes: number;
  /** `true` where the client takes another response on this connection. */
  readonly keepAlive: boolean;
  /** `true` where the client waits for `100 Continue`. */
  readonly expectsContinue: boolean;
  /** `true` if the client requests a WebSocket. */
  readonly upgrade: boolean;
}

const errors = {
  headerCount: new ErrorResponse(431, "There are too many header lines."),
  host: new ErrorResponse(400, "Expected exactly one well-formed Host header."),
  expect: new ErrorResponse(417, "Expected no expectation but 100-continue."),
  contentLength: new ErrorResponse(400, "Expected one Content-Length, and no Transfer-Encoding with it."),
  oldTransferEncoding: new ErrorResponse(400, "Transfer-Encoding needs HTTP/1.1."),
  transferEncoding: new ErrorResponse(501, "Unsupported Transfer-Encoding: use chunked."),
};

/** The fields that frame a message, and the type of its body, by the length of their names: no two are alike in it. */
const FRAMING_FIELDS: readonly (string | undefined)[] = (() => {
  const fields: string[] = [];
  for (const name of [
    "host",
    "expect",
    "upgrade",
    "connection",
    "content-type",
    "content-length",
    "content-encoding",
    "transfer-encoding",
  ]) {
    fields[name.length] = name;
  }
  return fields;
})();

/** The values of the framing fields, each of which most requests have once or not at all. */
type FramingValues = Readonly<Record<string, readonly string[] | undefined>>;
const NONE: readonly string[] = [];

/**
 * Checks header lines that are well formed.
 *
 * @param headers - `[name, value, …]` as received.
 * @param minorVersion - The minor version of HTTP/1: 0 or 1.
 * @returns The facts in them, or the reason why the request is rejected.
 */
export function parseHeaderSection(
  headers: readonly string[],
  minorVersion: number,
  limits: RequestLimits,
): HeaderSection | ErrorResponse {
  if (headers.length > 2 * limits.headerCount) return errors.headerCount;
  const values = framingValues(headers);
  const fault = checkHost(values, minorVersion) ?? checkExpectation(values, minorVersion);
  if (fault !== null) return fault;
  const bodyBytes = parseBodyBytes(values, minorVersion);
  if (typeof bodyBytes !== "number") return bodyBytes;
  const expectsContinue = values["expect"] !== undefined && minorVersion === 1;
  const { "content-type": types, "content-encoding": encodings } = values;
  const content = { type: types?.join(", "), length: bodyBytes, encoding: encodings?.join(", ") };
  return { headers, content, bodyBytes, expectsContinue, ...parseConnection(values, minorVersion) };
}

/** Length and first letter tell most other fields apart. */
function framingValues(headers: readonly string[]): FramingValues {
  const values: Record<string, string[] | undefined> = {};
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? "";
    const field = FRAMING_FIELDS[name.length];
    if (field === undefined || (name.charCodeAt(0) | 0x20) !== field.charCodeAt(0)) continue;
    if (name !== field && name.toLowerCase() !== field) continue;
    (values[field] ??= []).push(headers[index + 1] ?? "");
  }
  return values;
}

/** The last `Host` that was found to be well formed: the clients of a server name few. */
let knownHost = "";

function checkHost({ host: hosts = NONE }: FramingValues, minorVersion: number): ErrorResponse | null {
  const [host] = hosts;
  if (host === undefined) return minorVersion === 1 ? errors.host : null;
  if (hosts.length > 1) return errors.host;
  if (host === knownHost) return null;
  if (!isAuthority(host)) return errors.host;
  knownHost = host;
  return null;
}

/** RFC 9110 §10.1.1: an HTTP/1.0 client's expectation is ignored. */
function checkExpectation({ expect }: FramingValues, minorVersion: number): ErrorResponse | null {
  const isKnown = expect === undefined || minorVersion === 0 || expect.join().toLowerCase() === "100-continue";
  return isKnown ? null : errors.expect;
}

function parseConnection({ connection, upgrade }: FramingValues, minorVersion: number) {
  if (connection === undefined) return { keepAlive: minorVersion === 1, upgrade: false };
  const options = connection.join().toLowerCase().split(",").map(trimOWS);
  return {
    keepAlive: !options.includes("close") && (minorVersion === 1 || options.includes("keep-alive")),
    upgrade: upgrade?.at(-1)?.toLowerCase() === "websocket" && options.includes("upgrade"),
  };
}

/** RFC 9112 §6.3. */
function parseBodyBytes(values: FramingValues, minorVersion: number): number | ErrorResponse {
  const { "content-length": lengths = NONE, "transfer-encoding": codings = NONE } = values;
  if (codings.length === 0) {
    if (lengths.length === 0) return 0;
    const [length] = lengths as readonly [string];
    return lengths.length === 1 && /^0*\d{1,15}$/.test(length) ? Number(length) : errors.contentLength;
  }
  if (minorVersion === 0) return errors.oldTransferEncoding; // RFC 9112 §6.1
  if (lengths.length > 0) return errors.contentLength;
  const isChunked = codings.length === 1 && codings[0]?.toLowerCase() === "chunked";
  return isChunked ? Number.NaN : errors.transferEncoding;
}
