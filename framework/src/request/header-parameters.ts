import { decodeUTF8 } from "../datastructures.js";

/** A name of RFC 9110 §5.6.2. */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Whether a text is a token of RFC 9110 §5.6.2, as header and parameter names are. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** A value that ends before `end` in the header. */
interface Parsed {
  readonly text: string;
  readonly end: number;
}

/** What follows a parameter's value: another parameter, or nothing. */
const AFTER_VALUE = /[ \t]*(?:;|$)/y;

/** Whether the value of a parameter ends at this place of the header. */
function endsAt(value: string, index: number): boolean {
  AFTER_VALUE.lastIndex = index;
  return AFTER_VALUE.test(value);
}

/**
 * The text between quotes, of which the first is at `start`; `null` when there is no second. Browsers write a backslash
 * as it is (WHATWG HTML, multipart form data); older clients put one before a quote that does not end the value.
 */
function parseQuoted(value: string, start: number): Parsed | null {
  let text = "";
  for (let index = start + 1; index < value.length; index++) {
    const char = value.charAt(index);
    if (char === '"') return { text, end: index + 1 };
    const isEscape = char === "\\" && value.charAt(index + 1) === '"' && !endsAt(value, index + 2);
    if (isEscape) index++;
    text += isEscape ? '"' : char;
  }
  return null;
}

/**
 * The parameters behind a header's first `;`, their names in lower case. One pass over the text.
 *
 * @returns `null` when they are malformed, or a name comes twice: two readers would each take another one.
 * @see RFC 9110 §5.6.6
 */
export function parseParameters(value: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let index = value.indexOf(";");
  while (index >= 0 && index < value.length) {
    const equals = value.indexOf("=", index);
    if (equals < 0) return value.slice(index + 1).trim() === "" ? parameters : null;
    const name = value
      .slice(index + 1, equals)
      .trim()
      .toLowerCase();
    const parsed = value.charAt(equals + 1) === '"' ? parseQuoted(value, equals + 1) : null;
    if (!isToken(name) || parameters.has(name) || (parsed === null && value.charAt(equals + 1) === '"')) return null;
    const semicolon = value.indexOf(";", parsed?.end ?? equals);
    const end = semicolon < 0 ? value.length : semicolon;
    const rest = value.slice(parsed?.end ?? equals + 1, end).trim();
    if (parsed !== null && rest !== "") return null;
    parameters.set(name, parsed?.text ?? rest);
    index = end;
  }
  return parameters;
}

/** A value with its charset and percent-encoding, RFC 8187 §3.2; `null` when it is none. */
export function decodeExtended(value: string): string | null {
  const [charset = "", , encoded = null] = value.split("'", 3);
  if (encoded === null || !/^(?:[!#$&+.^_`|~0-9A-Za-z-]|%[0-9A-Fa-f]{2})*$/.test(encoded)) return null;
  const latin1 = encoded.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (charset.toLowerCase() === "iso-8859-1") return latin1;
  if (charset.toLowerCase() !== "utf-8") return null;
  return decodeUTF8(Uint8Array.from(latin1, (char) => char.charCodeAt(0)));
}
