/** Conditional requests, RFC 9110 §13. */
import { trimOWS } from "../../protocol/http-grammar.js";
import type { Request } from "../request.js";

/** RFC 9110 §5.6.7: the one form that is sent, and the two obsolete ones that are still understood. */
const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC_850 = /^[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** An HTTP date in milliseconds since 1970, whole seconds; `null` for anything else. */
export function parseHTTPDate(text: string): number | null {
  const isKnown = IMF_FIXDATE.test(text) || RFC_850.test(text);
  if (!isKnown && !ASCTIME.test(text)) return null;
  const milliseconds = Date.parse(isKnown ? text : `${text} GMT`);
  return Number.isNaN(milliseconds) ? null : milliseconds;
}

/** 132 bits: two results with the same tag do not occur, not even if an attacker writes them. */
const TAG_LENGTH = 22;

/** The entity tag of a content with this SHA-256 digest. */
export function tagOf(digest: string): string {
  return `"${digest.slice(0, TAG_LENGTH)}"`;
}

/** The validators of one state of a file. */
export interface Validators {
  /** The `ETag` as it is sent, quotes included. */
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds; `null` if it is not sent. */
  readonly lastModified: number | null;
}

/** The result of the conditions of a request. */
export type Verdict = "send" | "not-modified" | "failed";

/** RFC 9110 §8.8.3 `entity-tag`, followed by a comma or the end. */
const ENTITY_TAG = /[ \t]*(W\/)?("[\u0021\u0023-\u007e\u0080-\u00ff]*")[ \t]*(?:,|$)/y;

/** Tells if a list of entity tags has this one. Weak tags never match where the comparison is strong (§8.8.3.2). */
export function listsTag(header: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (trimOWS(header) === "*") return true;
  const opaque = etag.replace(/^W\//, "");
  const isWeak = opaque !== etag;
  ENTITY_TAG.lastIndex = 0;
  for (let match = ENTITY_TAG.exec(header); match !== null; match = ENTITY_TAG.exec(header)) {
    if (match[2] === opaque && (comparison === "weak" || !(isWeak || match[1] !== undefined))) return true;
    if (ENTITY_TAG.lastIndex >= header.length) return false;
  }
  return false;
}

/** The conditions of a GET or a HEAD, in the order of §13.2.2. An invalid date is ignored. */
export function evaluateConditions(request: Request, { etag, lastModified }: Validators): Verdict {
  const ifMatch = request.header("if-match");
  const isUnchanged =
    ifMatch === undefined
      ? wasModifiedSince(request.header("if-unmodified-since"), lastModified) !== true
      : listsTag(ifMatch, etag, "strong");
  if (!isUnchanged) return "failed";
  const ifNoneMatch = request.header("if-none-match");
  const isKnown =
    ifNoneMatch === undefined
      ? wasModifiedSince(request.header("if-modified-since"), lastModified) === false
      : listsTag(ifNoneMatch, etag, "weak");
  return isKnown ? "not-modified" : "send";
}

/** `undefined` without a date on either side. */
function wasModifiedSince(header: string | undefined, lastModified: number | null): boolean | undefined {
  const date = header === undefined ? null : parseHTTPDate(header);
  return date === null || lastModified === null ? undefined : lastModified > date;
}

/** Tells if `If-Range` matches the current state of the file, §13.1.5: both validators must be strong. */
export function holdsIfRange(request: Request, { etag, lastModified }: Validators): boolean {
  const ifRange = request.header("if-range");
  if (ifRange === undefined) return true;
  if (ifRange.startsWith('"')) return ifRange === etag;
  const date = parseHTTPDate(ifRange);
  return date !== null && date === lastModified;
}
