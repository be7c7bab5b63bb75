/**
 * The formats of JSON Schema §7.3 and OpenAPI 3.0.3 §4.4 that are checked, each by an expression that is linear in
 * the length of its text: no nested quantifiers, no alternatives that overlap.
 */
const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const HOSTNAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^(\d{2}):(\d{2}):(\d{2})(?:\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** RFC 6901 §3, by its only two rules: with a group for each character the stack of the expression would be spent. */
const JSON_POINTER_START = /^(?:\/|$)/;
const JSON_POINTER_BAD_TILDE = /~(?![01])/;

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const match = DATE.exec(text);
  if (!match) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = month === 2 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month >= 1 && month <= 12 && day >= 1 && day <= (DAYS[month - 1] as number) + (leap ? 1 : 0);
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (!match) return false;
  return (
    Number(match[1]) <= 23 &&
    Number(match[2]) <= 59 &&
    Number(match[3]) <= 60 &&
    Number(match[5] ?? 0) <= 23 &&
    Number(match[6] ?? 0) <= 59
  );
}

/** RFC 3339 §5.6: date and time with an offset. The leap second is allowed by the grammar. */
export function isDateTime(text: string): boolean {
  return /^.{10}[Tt ]/.test(text) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}

function isIPv6(text: string): boolean {
  if (text.length > 45 || !text.includes(":")) return false;
  const halves = text.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  const last = groups.at(-1) ?? "";
  const embedded = last.includes(".") && IPV4.test(last);
  const size = groups.length + (embedded ? 1 : 0);
  if (halves.length === 2 ? size > 7 : size !== 8) return false;
  return groups.every((group, index) => (embedded && index === groups.length - 1) || /^[0-9a-f]{1,4}$/i.test(group));
}

/** RFC 3986 appendix B, the five parts of a URI. */
const URI_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^#]*))?$/;
const URI_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const URI_AUTHORITY = /^(?:[^@[\]]*@)?(?:\[([0-9A-Fa-f:.]+)\]|([^@:[\]]*))(?::\d*)?$/;
const URI_TEXT = /^[A-Za-z0-9._~:/?@!$&'()*+,;=%-]*$/;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/**
 * The parts of a URI reference, RFC 3986 §4.1, which is ASCII; `null` if it is invalid. Not by `URL.canParse`: Node's
 * takes half a minute for 200,000 combining marks in a host, and they may be percent-encoded.
 */
function parseURI(text: string): { scheme: string | undefined } | null {
  const match = URI_PARTS.exec(text);
  if (!match || BAD_ESCAPE.test(text)) return null;
  const [, scheme, authority, ...others] = match as (string | undefined)[];
  if (scheme !== undefined && !URI_SCHEME.test(scheme)) return null;
  if (!others.every((part) => part === undefined || URI_TEXT.test(part))) return null;
  const isWeb = /^https?$/i.test(scheme ?? "");
  if (authority === undefined) return isWeb ? null : { scheme };
  return isAuthority(authority, isWeb) ? { scheme } : null;
}

/** @param isWeb - RFC 9110 §4.2.1: a URI of `http` or `https` with an empty host is invalid. */
function isAuthority(authority: string, isWeb: boolean): boolean {
  const host = URI_AUTHORITY.exec(authority);
  if (!host || !URI_TEXT.test(authority.replace(/\[.*\]/, ""))) return false;
  const [, address, name] = host;
  return (address === undefined || isIPv6(address)) && !(isWeb && name === "");
}

function isURI(text: string): boolean {
  return parseURI(text)?.scheme !== undefined;
}

function isURIReference(text: string): boolean {
  return parseURI(text) !== null;
}

/** V8 takes 72 µs for each byte of an expression such as `[\\p{L}\\p{L}…]`: a minute for a body of 1 MiB. */
const MAX_REGEX_LENGTH = 1000;

function isRegex(text: string): boolean {
  if (text.length > MAX_REGEX_LENGTH) return false;
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

const always = () => true;

/** Each format that is known, with its check. Those of OpenAPI that only describe a number or a text always hold. */
export const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date-time", isDateTime],
  ["date", isDate],
  ["time", isTime],
  ["duration", (text: string) => DURATION.test(text)],
  ["email", (text: string) => text.length <= 254 && EMAIL.test(text)],
  ["hostname", (text: string) => text.length <= 253 && HOSTNAME.test(text)],
  ["ipv4", (text: string) => IPV4.test(text)],
  ["ipv6", isIPv6],
  ["uri", isURI],
  ["url", isURI],
  ["uri-reference", isURIReference],
  ["uuid", (text: string) => UUID.test(text)],
  ["json-pointer", (text: string) => JSON_POINTER_START.test(text) && !JSON_POINTER_BAD_TILDE.test(text)],
  ["regex", isRegex],
  ["byte", (text: string) => text.length % 4 === 0 && BASE64.test(text)],
  ["binary", always],
  ["password", always],
  ["int32", always],
  ["int64", always],
  ["float", always],
  ["double", always],
]);
