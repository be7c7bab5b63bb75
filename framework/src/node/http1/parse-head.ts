/**
 * The head of a request: from bytes to what they say, or to the response that refuses them.
 *
 * The result depends on the bytes alone, not on how they were cut into packets. A part of a head is refused only where
 * every continuation of it would be refused with the same status.
 *
 * @see RFC 9112 §§2–5, RFC 9110 §5
 * @module
 */
import { ErrorResponse } from "../error-response.js";
import { checkHead, NOT_IN_TARGET, RequestHead, type RequestLimits } from "../request-head.js";

/**
 * RFC 9110 §16.1.1, the registry of methods. `PRI` is the preface of HTTP/2 (RFC 9113 §3.4), which is refused for its
 * version; `PURGE` and `SOURCE` are known to `node:http`, so that applications may use them.
 */
const METHODS: ReadonlySet<string> = new Set(
  (
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK M-SEARCH MERGE MKACTIVITY " +
    "MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE NOTIFY OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PURGE " +
    "PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UNSUBSCRIBE UPDATE " +
    "UPDATEREDIRECTREF VERSION-CONTROL"
  ).split(" "),
);
const MAX_METHOD_BYTES = 32;
const METHOD_PREFIX = /^[A-Z-]{0,32}$/;
/** Bytes of ` HTTP/1.1`. */
const MAX_VERSION_BYTES = 9;

/** RFC 9112 §2.2 asks to ignore at least one; more than these are no client's mistake. */
const MAX_EMPTY_LINE_BYTES = 32;

const VERSION = /^HTTP\/\d(?:\.\d)?$/;

/** RFC 9112 §5 and RFC 9110 §5.5. No two neighbouring classes overlap, so that the match takes linear time. */
const FIELD_LINES = /(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*/y;

const END_OF_HEAD = Buffer.from("\r\n\r\n");
const CR = 0x0d;
const LF = 0x0a;
const SP = 0x20;
const TAB = 0x09;

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
 * @returns The head, the response that refuses it, or `null` where more bytes are needed to tell.
 */
export function parseHead(bytes: Buffer, start: number, limits: RequestLimits): RequestHead | ErrorResponse | null {
  const begin = skipEmptyLines(bytes, start);
  if (begin === -1) return errors.malformed;
  const end = bytes.indexOf(END_OF_HEAD, begin);
  if (end === -1) return checkPart(bytes, begin, limits);
  const text = bytes.toString("latin1", begin, end + 2);
  const lineEnd = text.indexOf("\n") - 1;
  if (text.charCodeAt(lineEnd) !== CR) return checkLinePart(text.slice(0, lineEnd + 1), limits) ?? errors.malformed;
  const head = parseRequestLine(text, lineEnd, limits);
  if (head instanceof ErrorResponse) return head;
  const fault = checkFieldLines(text, lineEnd + 2, limits);
  if (fault !== null) return fault;
  cutFieldLines(head.headers, text, lineEnd + 2);
  head.end = end + 4;
  return checkHead(head, limits) ?? head;
}

/** @returns The position behind the empty lines, or -1 where something else than a request follows a CR. */
function skipEmptyLines(bytes: Buffer, start: number): number {
  let begin = start;
  while (bytes[begin] === CR) {
    if (begin + 1 === bytes.length) return begin;
    if (bytes[begin + 1] !== LF || begin - start >= MAX_EMPTY_LINE_BYTES) return -1;
    begin += 2;
  }
  return begin;
}

/** Refuses the beginning of a head that no continuation can mend. */
function checkPart(bytes: Buffer, begin: number, limits: RequestLimits): ErrorResponse | null {
  const lineFeed = bytes.indexOf(LF, begin);
  const maxLineEnd = begin + MAX_METHOD_BYTES + limits.targetBytes + MAX_VERSION_BYTES + 4;
  const line = bytes.toString("latin1", begin, lineFeed === -1 ? maxLineEnd : lineFeed);
  if (lineFeed === -1) return checkLinePart(line, limits);
  if (bytes[lineFeed - 1] !== CR) return checkLinePart(line, limits) ?? errors.malformed;
  const head = parseRequestLine(line, line.length - 1, limits);
  if (head instanceof ErrorResponse) return head;
  const fieldsBegin = lineFeed + 1;
  if (hasBareLineEnd(bytes, fieldsBegin, Math.min(bytes.length, fieldsBegin + limits.headerBytes))) {
    return errors.malformed;
  }
  return bytes.length - fieldsBegin > limits.headerBytes + 1 ? errors.headerBytes : null;
}

/** The same for a request line without its end. */
function checkLinePart(part: string, limits: RequestLimits): ErrorResponse | null {
  const text = part.endsWith("\r") ? part.slice(0, -1) : part;
  const space = text.indexOf(" ");
  const method = space === -1 ? text : text.slice(0, space);
  if (!METHOD_PREFIX.test(method)) return errors.line;
  if (space === -1) return null;
  const secondSpace = text.indexOf(" ", space + 1);
  if ((secondSpace === -1 ? text.length : secondSpace) - space - 1 > limits.targetBytes) return errors.targetBytes;
  const isTooLong = secondSpace !== -1 && text.length - secondSpace > MAX_VERSION_BYTES;
  return isTooLong ? errors.line : null;
}

/** Whether a CR or an LF stands alone (RFC 9112 §2.2). A CR at the end may still get its LF. */
function hasBareLineEnd(bytes: Buffer, from: number, to: number): boolean {
  for (let at = bytes.indexOf(LF, from); at !== -1 && at < to; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) return true;
  }
  for (let at = bytes.indexOf(CR, from); at !== -1 && at < to - 1; at = bytes.indexOf(CR, at + 1)) {
    if (bytes[at + 1] !== LF) return true;
  }
  return false;
}

/** RFC 9112 §3: method, target and version, one space between them. */
function parseRequestLine(text: string, lineEnd: number, limits: RequestLimits): RequestHead | ErrorResponse {
  const space = text.indexOf(" ");
  if (space === -1 || space > MAX_METHOD_BYTES) return errors.line;
  const method = text.slice(0, space);
  if (!METHODS.has(method)) return errors.line;
  let targetEnd = text.indexOf(" ", space + 1);
  if (targetEnd === -1 || targetEnd > lineEnd) targetEnd = lineEnd; // HTTP/0.9 has no version
  if (targetEnd - space - 1 > limits.targetBytes) return errors.targetBytes;
  const target = text.slice(space + 1, targetEnd);
  if (target === "") return errors.line;
  if (NOT_IN_TARGET.test(target)) return errors.target;
  if (lineEnd - targetEnd !== 9 || !text.startsWith("HTTP/1.", targetEnd + 1)) {
    return targetEnd === lineEnd || VERSION.test(text.slice(targetEnd + 1, lineEnd)) ? errors.version : errors.line;
  }
  const minorVersion = text.charCodeAt(lineEnd - 1) - 0x30;
  if (minorVersion !== 1 && minorVersion !== 0) {
    return minorVersion > 1 && minorVersion < 10 ? errors.version : errors.line;
  }
  if (method === "CONNECT") return errors.connect;
  return new RequestHead(method, target, minorVersion);
}

/** Holds the header lines to their limit and their grammar, in this order. */
function checkFieldLines(text: string, begin: number, limits: RequestLimits): ErrorResponse | null {
  FIELD_LINES.lastIndex = begin;
  const isWellFormed = FIELD_LINES.test(text) && FIELD_LINES.lastIndex === text.length;
  if (isWellFormed && text.length - begin <= limits.headerBytes) return null;
  if (text.length - begin <= limits.headerBytes) return errors.malformed;
  return /(?<!\r)\n|\r[^\n]/.test(text.slice(begin, begin + limits.headerBytes))
    ? errors.malformed
    : errors.headerBytes;
}

/** Cuts header lines that are well formed. */
function cutFieldLines(headers: string[], text: string, begin: number): void {
  for (let at = begin; at < text.length;) {
    const colon = text.indexOf(":", at);
    const lineEnd = text.indexOf("\r", colon);
    headers.push(text.slice(at, colon), trimmed(text, colon + 1, lineEnd));
    at = lineEnd + 2;
  }
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
