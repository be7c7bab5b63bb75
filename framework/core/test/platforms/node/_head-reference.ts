/**
 * A parser of request heads to compare with: the grammar of RFC 9112 §2 to §6, an expression for each rule, on a text
 * that was received at once. Methods, versions, forms of a target and limits as in `docs/http1.md`.
 *
 * @module
 */
import { isIPv6 } from "node:net";
import type { RequestLimits } from "../../../src/platforms/node/header-section.js";
import { FIELD_LINE, Refusal } from "./_http1-grammar.js";

/** A head, as an application and its connection need it. */
export interface ReferenceHead {
  readonly method: string;
  readonly target: string;
  readonly minorVersion: number;
  /** `[name, value, …]` */
  readonly headers: readonly string[];
  readonly content: {
    readonly type: string | undefined;
    readonly length: number;
    readonly encoding: string | undefined;
  };
  /** `NaN` for a chunked body. */
  readonly bodyBytes: number;
  readonly keepAlive: boolean;
  readonly expectsContinue: boolean;
  readonly upgrade: boolean;
  /** The position of the first byte after it. */
  readonly end: number;
}

/** The registry of RFC 9110 §16.1.1, and two methods of `node:http`. */
const METHODS: ReadonlySet<string> = new Set(
  `ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR MKCOL
  MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT REBIND REPORT SEARCH TRACE UNBIND
  UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL QUERY
  M-SEARCH NOTIFY SUBSCRIBE UNSUBSCRIBE PURGE SOURCE`.split(/\s+/),
);

const MAX_EMPTY_LINES = 16;
/** Bytes of a request line without its target. */
const MAX_LINE_REST = 64;

/** Parses the head at the start of a text; `null` if the text may be the beginning of one. */
export function parseReference(text: string, limits: RequestLimits): ReferenceHead | Refusal | null {
  const begin = /^(?:\r\n)*/.exec(text)?.[0].length ?? 0;
  if (begin > 2 * MAX_EMPTY_LINES || /^\r[^\n]/.test(text.slice(begin))) return new Refusal(400);
  const length = text.slice(begin).search(/\r\n\r\n/);
  if (length === -1) {
    const isTooLong = text.length - begin > limits.targetBytes + limits.headerBytes + MAX_LINE_REST;
    return isTooLong ? new Refusal(400, 405, 414, 431, 505) : null;
  }
  const [requestLine = "", ...lines] = text.slice(begin, begin + length).split("\r\n");
  const line = parseRequestLine(requestLine, limits);
  if (line instanceof Refusal) return line;
  const headers = parseFieldLines(lines, limits);
  if (headers instanceof Refusal) return headers;
  return parseFields(line, headers, limits, begin + length + 4);
}

interface RequestLine {
  readonly method: string;
  readonly target: string;
  readonly minorVersion: number;
}

/** RFC 9112 §3: `method SP request-target SP HTTP-version`. */
function parseRequestLine(line: string, limits: RequestLimits): RequestLine | Refusal {
  if (/[\r\n]/.test(line)) return new Refusal(400, 414);
  const [, method = "", target = "", version] = /^([^ ]*)(?: ([^ ]*)(?: ([^]*))?)?$/.exec(line) ?? [];
  if (!METHODS.has(method)) return new Refusal(400);
  if (target.length > limits.targetBytes) return new Refusal(414);
  if (!/^[!"$-~]+$/.test(target)) return new Refusal(400);
  if (version === undefined) return new Refusal(method === "GET" && target.startsWith("/") ? 505 : 400);
  const minorVersion = ["HTTP/1.0", "HTTP/1.1"].indexOf(version);
  if (minorVersion === -1) return new Refusal(/^HTTP\/\d(?:\.\d)?$/.test(version) ? 505 : 400);
  return method === "CONNECT" ? new Refusal(405) : { method, target, minorVersion };
}

/** RFC 9112 §5. */
function parseFieldLines(lines: readonly string[], limits: RequestLimits): string[] | Refusal {
  const bytes = lines.reduce((sum, line) => sum + line.length + 2, 0);
  if (bytes > limits.headerBytes) return new Refusal(400, 431);
  const headers: string[] = [];
  for (const line of lines) {
    const [, name, value] = FIELD_LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) return new Refusal(400);
    headers.push(name, value.replace(/^[\t ]+|[\t ]+$/g, ""));
  }
  return headers;
}

function parseFields(
  { method, target, minorVersion }: RequestLine,
  headers: readonly string[],
  limits: RequestLimits,
  end: number,
): ReferenceHead | Refusal {
  const valuesOf = (wanted: string): string[] =>
    headers.filter((_, index) => index % 2 === 1 && headers[index - 1]?.toLowerCase() === wanted);
  if (headers.length > 2 * limits.headerCount) return new Refusal(431);
  const hosts = valuesOf("host");
  if (hosts.length > 1 || (hosts.length === 0 && minorVersion === 1)) return new Refusal(400);
  if (!hosts.every(isHost)) return new Refusal(400);
  const expectation = valuesOf("expect");
  if (minorVersion === 1 && expectation.length > 0 && expectation.join().toLowerCase() !== "100-continue") {
    return new Refusal(417);
  }
  const bodyBytes = parseFraming(valuesOf("content-length"), valuesOf("transfer-encoding"), minorVersion);
  if (bodyBytes instanceof Refusal) return bodyBytes;
  const resolved = resolveTarget(method, target, headers);
  if (resolved === null) return new Refusal(400);
  const joined = (name: string) => {
    const values = valuesOf(name);
    return values.length === 0 ? undefined : values.join(", ");
  };
  const options = valuesOf("connection")
    .join()
    .toLowerCase()
    .split(/[\t ]*,[\t ]*/);
  return {
    method,
    minorVersion,
    ...resolved,
    content: { type: joined("content-type"), length: bodyBytes, encoding: joined("content-encoding") },
    bodyBytes,
    keepAlive: !options.includes("close") && (minorVersion === 1 || options.includes("keep-alive")),
    expectsContinue: minorVersion === 1 && expectation.length > 0,
    upgrade: options.includes("upgrade") && valuesOf("upgrade").at(-1)?.toLowerCase() === "websocket",
    end,
  };
}

/** RFC 9112 §6.1 to §6.3. */
function parseFraming(lengths: readonly string[], codings: readonly string[], minorVersion: number): number | Refusal {
  if (codings.length > 0 && (minorVersion === 0 || lengths.length > 0)) return new Refusal(400);
  if (codings.length > 0) return codings.join().toLowerCase() === "chunked" ? Number.NaN : new Refusal(501);
  if (lengths.length === 0) return 0;
  const length = lengths.join().replace(/^0+(?=\d)/, "");
  return /^\d{1,15}$/.test(length) ? Number(length) : new Refusal(400);
}

/** RFC 9112 §3.2: the origin form and the asterisk as they are, the absolute form as an origin form and a host. */
function resolveTarget(
  method: string,
  target: string,
  headers: readonly string[],
): { target: string; headers: readonly string[] } | null {
  if (target === "*") return method === "OPTIONS" ? { target, headers } : null;
  const [, authority, rest = ""] = /^https?:\/\/([^/?]*)(.*)$/i.exec(target) ?? [null, undefined, target];
  const path = authority !== undefined && !rest.startsWith("/") ? `/${rest}` : rest;
  if (!path.startsWith("/") || /%(?![0-9A-Fa-f]{2})/.test(path.replace(/\?.*/, ""))) return null;
  if (authority === undefined) return { target, headers };
  if (!isHost(authority)) return null;
  const others = headers.filter((_, index) => headers[index - (index % 2)]?.toLowerCase() !== "host");
  return { target: path, headers: ["host", authority, ...others] };
}

/** RFC 9110 §7.2: `uri-host [ ":" port ]`, by RFC 3986 §3.2.2 and §3.2.3, and a host that is not empty. */
function isHost(text: string): boolean {
  const pattern = /^(?:\[([^\]]*)\]|(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})+)(?::(\d{0,5}))?$/;
  const [matched, address, port] = pattern.exec(text) ?? [];
  if (matched === undefined || Number(port ?? 0) > 65_535) return false;
  return address === undefined || (isIPv6(address) && !address.includes("%"));
}
