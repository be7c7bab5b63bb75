/** What `node:http` parsed of a request's head, checked for what it lets through. @module */
import type { IncomingMessage } from "node:http";
import { isAuthority } from "./authority.js";
import type { Connection } from "./connection.js";
import type { Framing } from "./framing.js";
import { Refusal } from "./refusal.js";

/** The bounds of a request's head. */
export interface RequestLimits {
  /** Bytes of the request target: path and query (414). Defaults to 8,192. */
  targetBytes: number;
  /** Bytes of all header lines together (431). Defaults to 16,384. */
  headerBytes: number;
  /** Number of header lines (431). Defaults to 100. */
  headerCount: number;
}

/** A head that may reach the application. */
export class RequestHead {
  /** Path and query, in origin form. */
  readonly target: string;
  /** `[name, value, …]`; `Host` is the one that counts. */
  readonly headers: readonly string[];
  readonly hasBody: boolean;
  /** The length of the header lines when they are written as `Name: value`. */
  readonly headerBytes: number;

  constructor(target: string, headers: readonly string[], hasBody: boolean, headerBytes: number) {
    this.target = target;
    this.headers = headers;
    this.hasBody = hasBody;
    this.headerBytes = headerBytes;
  }
}

/** Neither visible US-ASCII nor allowed in a target: RFC 9112 §3.2, and RFC 9110 §7.1 for the fragment. */
const NOT_IN_TARGET = /[^!"$-~]/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)(.*)$/i;

/** What an Express application adds to a request that it hands on under a prefix. */
interface MountedRequest extends IncomingMessage {
  originalUrl?: string;
}

const refusals = {
  version: new Refusal(505, "Expected HTTP/1.0 or HTTP/1.1."),
  line: new Refusal(400, "The request line is malformed."),
  targetBytes: new Refusal(414),
  target: new Refusal(400, "The request target is malformed."),
  headerBytes: new Refusal(431, "The header lines are too long."),
  headerCount: new Refusal(431, "There are too many header lines."),
  host: new Refusal(400, "Expected exactly one well-formed Host header."),
  expect: new Refusal(417, "Expected no expectation but 100-continue."),
  oldTransferEncoding: new Refusal(400, "Transfer-Encoding needs HTTP/1.1."),
  transferEncoding: new Refusal(501, "Expected no Transfer-Encoding but chunked."),
};

/** What is known of a head before it is checked: the part of `IncomingMessage` that is looked at. */
export interface ParsedHead {
  readonly method?: string;
  readonly url?: string;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  /** `[name, value, …]` as they came. */
  readonly rawHeaders: readonly string[];
  /** At least these, by their name in lower case. */
  readonly headers: Readonly<Framing>;
}

/** Where the last `Host` is kept that was found to be well formed. */
export interface HostMemory {
  knownHost: string | undefined;
}

/** Reads the head of a request of `node:http`, or says why it is refused. */
export function readHead(req: IncomingMessage, connection: Connection, limits: RequestLimits): RequestHead | Refusal {
  const head = checkHead(req, (req as MountedRequest).originalUrl ?? req.url ?? "", connection, limits);
  if (connection.lines !== null && head instanceof RequestHead && !connection.lines.areDivided(req, head.headerBytes)) {
    return refusals.line;
  }
  return head;
}

/** Checks a head, whichever parser it comes from, or says why it is refused. */
export function checkHead(
  req: ParsedHead,
  target: string,
  memory: HostMemory,
  limits: RequestLimits,
): RequestHead | Refusal {
  // Only a cleartext-HTTP/2 library or a client with its own idea of versions gets here with another one.
  if (req.httpVersionMajor !== 1 || req.httpVersionMinor > 1) {
    return refusals.version;
  }
  if (target.length > limits.targetBytes) {
    return refusals.targetBytes;
  }
  const raw = req.rawHeaders;
  if (raw.length > 2 * limits.headerCount) {
    return refusals.headerCount;
  }
  let bytes = 0;
  let hosts = 0;
  let host: string | undefined;
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string;
    const value = raw[index + 1] as string;
    bytes += name.length + value.length + 4;
    if (name.length === 4 && (name === "Host" || name.toLowerCase() === "host")) {
      hosts++;
      host = value;
    }
  }
  if (bytes > limits.headerBytes) {
    return refusals.headerBytes;
  }
  if (hosts > 1 || (hosts === 0 && req.httpVersionMinor === 1)) {
    return refusals.host;
  }
  if (host !== undefined && host !== memory.knownHost) {
    if (!isAuthority(host)) {
      return refusals.host;
    }
    memory.knownHost = host;
  }
  return readFraming(req, target, raw, bytes);
}

function readFraming(
  req: ParsedHead,
  target: string,
  raw: readonly string[],
  headerBytes: number,
): RequestHead | Refusal {
  const { headers } = req;
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (req.httpVersionMinor === 0) {
      return refusals.oldTransferEncoding; // RFC 9112 §6.1
    }
    if (coding.toLowerCase() !== "chunked") {
      return refusals.transferEncoding;
    }
  }
  const { expect } = headers;
  // RFC 9110 §10.1.1: an HTTP/1.0 client's is ignored.
  if (expect !== undefined && req.httpVersionMinor === 1 && expect.toLowerCase() !== "100-continue") {
    return refusals.expect;
  }
  const length = headers["content-length"];
  const hasBody = coding !== undefined || (length !== undefined && length !== "0");
  if (NOT_IN_TARGET.test(target)) {
    return refusals.target;
  }
  const head = new RequestHead(target, raw, hasBody, headerBytes);
  return target.charCodeAt(0) === 0x2f ? originForm(head) : otherForm(head, req.method);
}

function originForm(head: RequestHead): RequestHead | Refusal {
  const { target } = head;
  return target.includes("%") && BROKEN_ESCAPE.test(pathOf(target)) ? refusals.target : head;
}

/** The absolute form, whose authority counts and not that of `Host` (RFC 9112 §3.2.2), and the asterisk of OPTIONS. */
function otherForm(head: RequestHead, method: string | undefined): RequestHead | Refusal {
  const { target, headers: raw, hasBody, headerBytes } = head;
  if (target === "*" && method === "OPTIONS") {
    return head;
  }
  const [, authority, rest] = ABSOLUTE_FORM.exec(target) ?? [];
  if (authority === undefined || rest === undefined || !isAuthority(authority)) {
    return refusals.target;
  }
  const headers = ["host", authority];
  for (let index = 0; index < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() !== "host") {
      headers.push(raw[index] as string, raw[index + 1] as string);
    }
  }
  return originForm(new RequestHead(rest.startsWith("/") ? rest : `/${rest}`, headers, hasBody, headerBytes));
}

function pathOf(target: string): string {
  const mark = target.indexOf("?");
  return mark === -1 ? target : target.slice(0, mark);
}
