/**
 * The head of a request: from bytes to its facts, or to the response that rejects it.
 *
 * The result depends only on the bytes, not on how they were split into packets. A part of a head is rejected only if
 * every continuation would be rejected with the same status: of the request line and the header lines, the first error
 * of form or length decides, then their combination.
 *
 * @see RFC 9112 §§2–5, RFC 9110 §5
 * @module
 */
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { RequestLimits } from "../header-section.js";
import { createHead, hasBrokenEscape, NOT_IN_TARGET, type RequestHead } from "../request-head.js";

/** A head and its place in the bytes. */
export interface ParsedHead extends RequestHead {
  /** The position after the head. */
  readonly end: number;
  /**
   * The text after the target, compared with the next head; `null` if that is not sufficient, because the target
   * contains another host.
   */
  readonly tail: string | null;
}

/**
 * RFC 9110 §16.1.1, the registry of methods. `PRI` is the preface of HTTP/2 (RFC 9113 §3.4), which is refused for its
 * version; `PURGE` and `SOURCE` are known to `node:http`, so that applications may use them.
 */
const METHODS: ReadonlyMap<string, string> = new Map(
  (
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK M-SEARCH MERGE MKACTIVITY " +
    "MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE NOTIFY OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PURGE " +
    "PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UNSUBSCRIBE UPDATE " +
    "UPDATEREDIRECTREF VERSION-CONTROL"
  )
    .split(" ")
    .map((method) => [method, method]), // the value has its hash already, which a router looks for
);
const MAX_METHOD_BYTES = 32;
const METHOD_PREFIX = /^[A-Z-]{0,32}$/;
/** Bytes of ` HTTP/1.1`. */
const MAX_VERSION_BYTES = 9;

/** RFC 9112 §2.2 asks to ignore at least one; more than these are not a client's mistake. */
const MAX_EMPTY_LINE_BYTES = 32;

const VERSION = /^HTTP\/\d(?:\.\d)?$/;

const FIELD_LINES = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*/y;
/** The beginning of a line that may still become one. */
const FIELD_LINE_PART = /^(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?::[\t\x20-\x7e\x80-\xff]*)?)?\r?$/;
/** Bytes of a line without its end that are looked at: a byte at a time, all of a long one would take quadratic time. */
const MAX_CHECKED_PART_BYTES = 256;
const END_OF_HEAD = Buffer.from("\r\n\r\n");
const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const TAB = 0x09;
const SLASH = 0x2f;

/** For each byte: 0 if no target contains it, 3 for `%`, 1 for the others. */
const TARGET_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  if (NOT_IN_TARGET.test(character)) return 0;
  return character === "%" ? 3 : 1;
});

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  line: new ErrorResponse(400, "The request line is malformed."),
  target: new ErrorResponse(400, "The request target is malformed."),
  targetBytes: new ErrorResponse(414),
  version: new ErrorResponse(505, "Expected HTTP/1.0 or HTTP/1.1."),
  connect: new ErrorResponse(405, undefined, ["allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE"]),
  headerBytes: new ErrorResponse(431, "The header lines are too long."),
};

/**
 * Parses the head that begins at `start`.
 *
 * @param checked - How many bytes from `start` on were given before, and found to be part of a head.
 * @param previous - The head before it on the connection, whose header lines need no second look where they come again.
 * @returns The head, the response that refuses it, or `null` where more bytes are needed to tell.
 */
export function parseHead(
  bytes: Buffer,
  start: number,
  limits: RequestLimits,
  checked = 0,
  previous: ParsedHead | null = null,
): ParsedHead | ErrorResponse | null {
  const begin = bytes[start] === CR ? skipEmptyLines(bytes, start) : start;
  if (begin === -1) return errors.malformed;
  if (checked === 0) {
    const repeated = previous === null ? null : repeatHead(bytes, begin, limits, previous, previous.tail);
    if (repeated !== null) return repeated;
  }
  const end = bytes.indexOf(END_OF_HEAD, Math.max(begin, start + checked - END_OF_HEAD.length));
  if (end === -1) return checkPart(bytes, begin, limits, start + checked);
  const text = bytes.toString("latin1", begin, end + END_OF_HEAD.length);
  const lineEnd = text.indexOf("\n") - 1;
  if (text.charCodeAt(lineEnd) !== CR) return checkLinePart(text.slice(0, lineEnd + 1), limits) ?? errors.malformed;
  const line = parseRequestLine(text, lineEnd, limits);
  if (line instanceof ErrorResponse) return line;
  const fieldsEnd = text.length - 2;
  const fault = checkFieldLines(text, lineEnd + 2, fieldsEnd, limits);
  return (
    fault ?? completeHead(line, cutFieldLines(text, lineEnd + 2, fieldsEnd), text, end + END_OF_HEAD.length, limits)
  );
}

function completeHead(
  { method, target, minorVersion }: RequestLine,
  headers: readonly string[],
  text: string,
  end: number,
  limits: RequestLimits,
): ParsedHead | ErrorResponse {
  const head = createHead(method, target, minorVersion, headers, limits);
  if (head instanceof ErrorResponse) return head;
  const tail = head.target === target ? text.slice(method.length + 1 + target.length) : null;
  return { method, target: head.target, minorVersion, section: head.section, end, tail };
}

/**
 * A head that differs from the previous one only in its target, as clients of an API send them: the header lines are
 * not parsed again. `null` for another one. To decode and match it took twice the instructions.
 */
function repeatHead(
  bytes: Buffer,
  begin: number,
  limits: RequestLimits,
  { method, minorVersion, section }: ParsedHead,
  tail: string | null,
): ParsedHead | null {
  if (tail === null) return null;
  for (let index = 0; index < method.length; index++) {
    if (bytes[begin + index] !== method.charCodeAt(index)) return null;
  }
  const targetBegin = begin + method.length + 1;
  if (bytes[targetBegin - 1] !== SP || bytes[targetBegin] !== SLASH) return null;
  const maxTargetEnd = Math.min(bytes.length - tail.length, targetBegin + limits.targetBytes);
  let targetEnd = targetBegin;
  let kind = 1;
  let kinds = 0;
  while (targetEnd <= maxTargetEnd && (kind = TARGET_BYTES[bytes[targetEnd] as number] as number) !== 0) {
    kinds |= kind;
    targetEnd++;
  }
  const end = targetEnd + tail.length;
  if (targetEnd > maxTargetEnd || bytes[end - 1] !== LF || bytes[end - 3] !== LF) return null;
  if (bytes.toString("latin1", targetEnd, end) !== tail) return null;
  const target = bytes.toString("latin1", targetBegin, targetEnd);
  const isBroken = kinds > 1 && hasBrokenEscape(target);
  return isBroken ? null : { method, target, minorVersion, section, end, tail };
}

/** @returns The position after the empty lines, or -1 if a CR is followed by something other than a request. */
function skipEmptyLines(bytes: Buffer, start: number): number {
  let begin = start;
  while (bytes[begin] === CR) {
    if (begin + 1 === bytes.length) return begin;
    if (bytes[begin + 1] !== LF || begin - start >= MAX_EMPTY_LINE_BYTES) return -1;
    begin += 2;
  }
  return begin;
}

/**
 * Rejects the beginning of a head that no continuation can make valid. The part before `checked` is already known not
 * to contain one.
 */
function checkPart(bytes: Buffer, begin: number, limits: RequestLimits, checked: number): ErrorResponse | null {
  const lineFeed = bytes.indexOf(LF, begin);
  if (lineFeed === -1 || lineFeed >= checked) {
    const fault = checkLine(bytes, begin, lineFeed, limits);
    if (fault !== null || lineFeed === -1) return fault;
  }
  const fieldsBegin = lineFeed + 1;
  const lineBegin = Math.max(fieldsBegin, bytes.lastIndexOf(LF, Math.max(checked - 1, begin)) + 1);
  const needsCheck = checked - lineBegin < MAX_CHECKED_PART_BYTES || bytes.includes(LF, checked);
  const end = Math.min(bytes.length, fieldsBegin + limits.headerBytes);
  const fault = needsCheck ? checkFieldPart(bytes.toString("latin1", lineBegin, end)) : null;
  return fault ?? (bytes.length - fieldsBegin > limits.headerBytes + 1 ? errors.headerBytes : null);
}

/** Checks the request line, or its received part if it is incomplete. */
function checkLine(bytes: Buffer, begin: number, lineFeed: number, limits: RequestLimits): ErrorResponse | null {
  const maxLineEnd = begin + MAX_METHOD_BYTES + limits.targetBytes + MAX_VERSION_BYTES + 4;
  const line = bytes.toString("latin1", begin, lineFeed === -1 ? maxLineEnd : lineFeed);
  if (lineFeed === -1) return checkLinePart(line, limits);
  if (!line.endsWith("\r")) return checkLinePart(line, limits) ?? errors.malformed;
  const parsed = parseRequestLine(line, line.length - 1, limits);
  return parsed instanceof ErrorResponse ? parsed : null;
}

/** Checks header lines of which the last has no end yet. */
function checkFieldPart(text: string): ErrorResponse | null {
  FIELD_LINES.lastIndex = 0;
  FIELD_LINES.test(text);
  const part = text.slice(FIELD_LINES.lastIndex);
  const isPart = !part.includes("\n") && FIELD_LINE_PART.test(part.slice(0, MAX_CHECKED_PART_BYTES));
  return isPart ? null : errors.malformed;
}

/** The same for a request line without its end. */
function checkLinePart(part: string, limits: RequestLimits): ErrorResponse | null {
  const text = part.endsWith("\r") ? part.slice(0, -1) : part;
  const space = text.indexOf(" ");
  const method = space === -1 ? text : text.slice(0, space);
  if (!METHOD_PREFIX.test(method)) return errors.line;
  if (space === -1) return null;
  if (!METHODS.has(method)) return errors.line;
  const secondSpace = text.indexOf(" ", space + 1);
  if ((secondSpace === -1 ? text.length : secondSpace) - space - 1 > limits.targetBytes) return errors.targetBytes;
  const isTooLong = secondSpace !== -1 && text.length - secondSpace > MAX_VERSION_BYTES;
  if (!isTooLong) return null;
  return NOT_IN_TARGET.test(text.slice(space + 1, secondSpace)) ? errors.target : errors.line;
}

type RequestLine = Pick<RequestHead, "method" | "target" | "minorVersion">;

/** RFC 9112 §3: method, target and version, one space between them. */
function parseRequestLine(text: string, lineEnd: number, limits: RequestLimits): RequestLine | ErrorResponse {
  const space = text.indexOf(" ");
  const method = space > MAX_METHOD_BYTES ? undefined : parseMethod(text, space);
  if (method === undefined) return errors.line;
  let targetEnd = text.indexOf(" ", space + 1);
  if (targetEnd === -1 || targetEnd > lineEnd) targetEnd = lineEnd; // HTTP/0.9 has no version
  if (targetEnd - space - 1 > limits.targetBytes) return errors.targetBytes;
  const target = text.slice(space + 1, targetEnd);
  if (target === "") return errors.line;
  if (NOT_IN_TARGET.test(target)) return errors.target;
  if (targetEnd === lineEnd) return isOldLine(method, target) ? errors.version : errors.line;
  const minorVersion = parseMinorVersion(text, targetEnd + 1, lineEnd);
  if (typeof minorVersion !== "number") return minorVersion;
  return method === "CONNECT" ? errors.connect : { method, target, minorVersion };
}

/** @param end - The index of the space behind the method; -1 without one. */
function parseMethod(text: string, end: number): string | undefined {
  if (end === -1) return undefined;
  return text.startsWith("GET ") ? "GET" : METHODS.get(text.slice(0, end));
}

/** RFC 1945 §4.1: a request of HTTP/0.9, which has no version. */
function isOldLine(method: string, target: string): boolean {
  return method === "GET" && target.startsWith("/");
}

function parseMinorVersion(text: string, begin: number, end: number): 0 | 1 | ErrorResponse {
  if (end - begin === 8 && text.startsWith("HTTP/1.", begin)) {
    const digit = text.charCodeAt(end - 1) - 0x30;
    if (digit === 1 || digit === 0) return digit;
  }
  return VERSION.test(text.slice(begin, end)) ? errors.version : errors.line;
}

/** Checks the grammar and the limit of the header lines, in the order in which they are violated. */
function checkFieldLines(text: string, begin: number, end: number, limits: RequestLimits): ErrorResponse | null {
  if (end - begin > limits.headerBytes) {
    return checkFieldPart(text.slice(begin, begin + limits.headerBytes)) ?? errors.headerBytes;
  }
  FIELD_LINES.lastIndex = begin;
  FIELD_LINES.test(text);
  return FIELD_LINES.lastIndex === end ? null : errors.malformed;
}

/** Cuts header lines that are well formed into `[name, value, …]`. */
function cutFieldLines(text: string, begin: number, end: number): readonly string[] {
  const headers: string[] = [];
  for (let at = begin; at < end;) {
    const colon = text.indexOf(":", at);
    const lineEnd = text.indexOf("\r", colon);
    headers.push(text.slice(at, colon), trimmed(text, colon + 1, lineEnd));
    at = lineEnd + 2;
  }
  return headers;
}

/** The value without the blanks around it: RFC 9110 §5.6.3, `OWS`. */
function trimmed(text: string, from: number, to: number): string {
  let first = from;
  let end = to;
  while (first < end && isBlank(text.charCodeAt(first))) first++;
  while (end > first && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(first, end);
}

function isBlank(code: number): boolean {
  return code === SP || code === TAB;
}
