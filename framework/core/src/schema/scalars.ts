/** Scalars: read from text, checked, and what generated code needs of them. @module */
import { configurationError } from "../common/exceptions.js";
import { messageOfError, plural } from "../common/messages.js";
import { isIPv4, isIPv6 } from "../protocol/http-grammar.js";
import type { SchemaCheck, CompileDirection, PlainValue } from "./check.js";
import type { Faults, FaultType } from "./faults.js";
import { type Bound, type JSONSchema, transformOf } from "./json-schema.js";

/** Turns one text into the value that its schema describes. */
export type CoerceText = (text: string, faults: Faults) => unknown;

const INTEGER = /^[+-]?\d+$/;
/** No digit can be taken by two parts of it: with `\d+\.?\d*` a long row of digits would cost its square. */
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["on", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["off", false],
  ["no", false],
]);

export function coerceInteger(text: string, faults: Faults): number | undefined {
  if (!INTEGER.test(text)) return faults.add("int_parsing", "Input should be a valid integer", text);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    return faults.add("int_parsing", "Input should be an integer from -(2^53 - 1) to 2^53 - 1", text);
  }
  return value + 0;
}

export function coerceNumber(text: string, faults: Faults): number | undefined {
  if (!NUMBER.test(text)) return faults.add("float_parsing", "Input should be a valid number", text);
  const value = Number(text);
  return Number.isFinite(value) ? value : faults.add("finite_number", "Input should be a finite number", text);
}

export function coerceBoolean(text: string, faults: Faults): boolean | undefined {
  const value = BOOLEANS.get(text.toLowerCase());
  return value ?? faults.add("bool_parsing", "Input should be a valid boolean", text);
}

export const keepText: CoerceText = (text) => text;

/** The number of characters as JSON Schema §6.3.1 counts them: code points, not UTF-16 units. */
function lengthOf(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0xdc00 || code > 0xdfff) length++;
  }
  return length;
}

/** Compiles a `pattern`. @throws ConfigurationError when it is not a regular expression. */
export function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern, "u");
  } catch {
    try {
      return new RegExp(pattern);
    } catch (error) {
      throw configurationError("TSGI_INVALID_REGULAR_EXPRESSION", pattern, messageOfError(error));
    }
  }
}

function formatCheck(format: string): (text: string) => boolean {
  const check = FORMATS.get(format);
  if (check) return check;
  throw configurationError("TSGI_UNKNOWN_FORMAT", format, FORMATS.keys());
}

const show = (value: string) => value;
const hide = () => undefined;

/**
 * Text within its length, pattern and format, and on the way in without lone surrogates; a text that the application
 * has cut in the middle of a character may leave, because JSON writes such halves as escapes.
 */
export function compileString(schema: JSONSchema, direction: CompileDirection): SchemaCheck {
  const { minLength = 0, maxLength = Infinity } = schema;
  const shown = schema.format === "password" || schema["writeOnly"] === true ? hide : show;
  const pattern = schema.pattern === undefined ? null : compilePattern(schema.pattern);
  const format = schema.format === undefined ? null : formatCheck(schema.format);
  const isBounded = minLength > 0 || maxLength < Infinity;
  const isFree = !isBounded && pattern === null && format === null;
  return (value, faults) => {
    if (typeof value !== "string") return faults.add("string_type", "Input should be a valid string", value);
    if (direction === "decode" && !value.isWellFormed()) {
      return faults.add("string_unicode", "Input should be text without lone surrogates");
    }
    if (isFree) return value;
    const length = isBounded ? lengthOf(value) : 0;
    if (length < minLength) {
      faults.add("string_too_short", `String should have at least ${plural(minLength, "character")}`, shown(value));
    } else if (length > maxLength) {
      faults.add("string_too_long", `String should have at most ${plural(maxLength, "character")}`, shown(value));
    } else {
      checkForm(value, faults);
    }
    return value;
  };

  function checkForm(value: string, faults: Faults): void {
    if (pattern && !pattern.test(value)) {
      faults.add("string_pattern_mismatch", `String should match pattern '${schema.pattern}'`, shown(value));
    } else if (format && !format(value)) {
      faults.add("string_format", `String should be a valid ${schema.format}`, shown(value));
    }
  }
}

/** A rule for a number: its test, the type of its error, and the message. */
type NumberRule = readonly [isBroken: (value: number) => boolean, type: FaultType, msg: string];

type Rule = readonly [keyword: Bound, isBroken: (bound: number) => NumberRule[0], FaultType, words: string];

const NUMBER_RULES: readonly Rule[] = [
  ["minimum", (bound) => (value) => value < bound, "greater_than_equal", "greater than or equal to"],
  ["exclusiveMinimum", (bound) => (value) => value <= bound, "greater_than", "greater than"],
  ["maximum", (bound) => (value) => value > bound, "less_than_equal", "less than or equal to"],
  ["exclusiveMaximum", (bound) => (value) => value >= bound, "less_than", "less than"],
  ["multipleOf", (bound) => (value) => !isMultiple(value, bound), "multiple_of", "a multiple of"],
];

/** @param suffix - Behind the keywords of TypeBox's dates, whose bounds are milliseconds since 1970. */
function numberRules(schema: JSONSchema, suffix: "" | "Timestamp" = ""): NumberRule[] {
  const write = (keyword: Bound, bound: number) =>
    suffix === "" || keyword === "multipleOf" ? String(bound) : new Date(bound).toISOString();
  return NUMBER_RULES.flatMap(([keyword, isBroken, type, words]): NumberRule[] => {
    const bound = schema[`${keyword}${suffix}`];
    if (bound === undefined) return [];
    return [[isBroken(bound), type, `Input should be ${words} ${write(keyword, bound)}`]];
  });
}

/** 0.3 is a multiple of 0.1, though not in binary fractions: compared within the rounding of the quotient. */
function isMultiple(value: number, step: number): boolean {
  const quotient = value / step;
  return Math.abs(quotient - Math.round(quotient)) <= Number.EPSILON * Math.max(1, Math.abs(quotient));
}

/** A finite number within its bounds; for `integer` a safe integer, so that no digit is lost. */
export function compileNumber(schema: JSONSchema, integer: boolean): SchemaCheck {
  const rules = numberRules(schema);
  if (schema.format !== undefined) formatCheck(schema.format);
  return (value, faults) => {
    if (typeof value !== "number") {
      return integer
        ? faults.add("int_type", "Input should be a valid integer", value)
        : faults.add("float_type", "Input should be a valid number", value);
    }
    if (!Number.isFinite(value)) return faults.add("finite_number", "Input should be a finite number", String(value));
    if (integer && !Number.isSafeInteger(value)) {
      return Number.isInteger(value)
        ? faults.add("int_size", "Input should be an integer from -(2^53 - 1) to 2^53 - 1", value)
        : faults.add("int_type", "Input should be a valid integer", value);
    }
    for (const [isBroken, type, msg] of rules) {
      if (isBroken(value)) return faults.add(type, msg, value);
    }
    return value;
  };
}

/** The keywords of schemas that {@link plainOf} knows: the rules that it writes, and annotations. */
const PLAIN_KEYWORDS: ReadonlySet<string> = new Set(
  "type minLength maxLength minimum maximum title description examples default deprecated errorMessage".split(" "),
);

/** Writes for generated code what most values of a scalar need; `null` for a schema with rules beyond length and bounds. */
export function plainOf(schema: JSONSchema, direction: CompileDirection): PlainValue | null {
  const { type, minLength = 0, maxLength, minimum, maximum } = schema;
  const bounds = [minLength, maxLength, minimum, maximum].filter((bound) => bound !== undefined);
  const isPlain = Object.keys(schema).every((keyword) => PLAIN_KEYWORDS.has(keyword)) && !transformOf(schema);
  if (!isPlain || !bounds.every(Number.isFinite)) return null;
  if (type === "string") {
    const isForm = direction === "decode" ? "item.isWellFormed()" : "!ESCAPED.test(item)";
    // So many code points have from as many to twice as many UTF-16 units.
    const isLong = boundsOf("item.length", 2 * minLength, maxLength);
    return { test: `typeof item === "string"${isLong} && ${isForm}`, text: `'"' + item + '"'` };
  }
  if (type === "boolean") return { test: 'typeof item === "boolean"', text: "item" };
  if (type !== "integer" && type !== "number") return null;
  const isNumber = type === "integer" ? "Number.isSafeInteger(item)" : "Number.isFinite(item)";
  return { test: isNumber + boundsOf("item", minimum, maximum), text: "item" };
}

function boundsOf(value: string, min: number | undefined, max: number | undefined): string {
  return (min === undefined ? "" : ` && ${value} >= ${min}`) + (max === undefined ? "" : ` && ${value} <= ${max}`);
}

/** `true` or `false`. */
export const checkBoolean: SchemaCheck = (value, faults) =>
  typeof value === "boolean" ? value : faults.add("bool_type", "Input should be a valid boolean", value);

/** `null`. */
export const checkNull: SchemaCheck = (value, faults) =>
  value === null ? null : faults.add("null_type", "Input should be null", value);

/** Any JSON value. */
export const checkAnything: SchemaCheck = (value) => value;

/** Length of `toISOString` for the years 0 to 9999: for others it adds a sign, which RFC 3339 does not have. */
const RFC3339_LENGTH = "2024-01-01T00:00:00.000Z".length;

/** The RFC 3339 text of a date; `null` if it cannot be written. */
function textOfDate(date: Date): string | null {
  const text = Number.isNaN(date.getTime()) ? "" : date.toISOString();
  return text.length === RFC3339_LENGTH ? text : null;
}

function encodeDate(value: unknown, faults: Faults): string | undefined {
  const text = value instanceof Date ? textOfDate(value) : null;
  return text ?? faults.add("datetime_type", "Result should be a valid Date of the years 0 to 9999");
}

function decodeDate(value: unknown, faults: Faults): Date | undefined {
  if (typeof value !== "string") return faults.add("datetime_type", "Input should be an RFC 3339 date-time", value);
  // RFC 3339 §5.6 allows small letters, and a space for the T; the parser of dates need not.
  const date = new Date(isDateTime(value) ? value.toUpperCase().replace(" ", "T") : Number.NaN);
  if (textOfDate(date) !== null) return date;
  // With its offset, a time of the year 9999 can be in the year 10000, which the response to it could not contain.
  const years = Number.isNaN(date.getTime()) ? "" : ", in UTC of the years 0 to 9999";
  return faults.add("datetime_parsing", `Input should be an RFC 3339 date-time with an offset${years}`, value);
}

/** A `Date` within its bounds in the handler, RFC 3339 §5.6 text on the wire. */
export function compileDate(schema: JSONSchema, direction: CompileDirection): SchemaCheck {
  const convert = direction === "encode" ? encodeDate : decodeDate;
  const rules = numberRules(schema, "Timestamp");
  if (rules.length === 0) return convert;
  return (value, faults) => {
    const converted = convert(value, faults);
    if (converted === undefined) return undefined;
    const time = new Date(converted).getTime();
    for (const [isBroken, type, msg] of rules) {
      if (isBroken(time)) return faults.add(type, msg, value);
    }
    return converted;
  };
}

const EMAIL =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const HOSTNAME = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DURATION = /^P(?!$)(?:\d+W|(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?!$)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?)$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** RFC 3339 §5.6 `full-time`, the leap second included. */
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** RFC 6901 §3, by its only two rules: with a group for each character the stack of the expression would be spent. */
const JSON_POINTER_START = /^(?:\/|$)/;
const JSON_POINTER_BAD_TILDE = /~(?![01])/;

/** RFC 3339 §5.6 `full-date`. A `Date` takes February 30 for a day of March. */
function isDate(text: string): boolean {
  const time = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** RFC 3339 §5.6: date and time with an offset. */
function isDateTime(text: string): boolean {
  return /^.{10}[Tt ]/.test(text) && isDate(text.slice(0, 10)) && TIME.test(text.slice(11));
}

/**
 * RFC 3986 appendix B, the five parts of a URI. It matches every text, so that it never goes back into a part: a fragment
 * that cannot have another `#` would cost the square of the parts before it.
 */
const URI_PARTS = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([^]*))?$/;
const URI_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const URI_AUTHORITY = /^(?:([^@[\]]*)@)?(?:\[([0-9A-Fa-f:.]+)\]|([^@:[\]]*))(?::\d*)?$/;
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
  if (!others.every(isURIText)) return null;
  const isWeb = /^https?$/i.test(scheme ?? "");
  if (authority === undefined) return isWeb ? null : { scheme };
  return isAuthority(authority, isWeb) ? { scheme } : null;
}

function isURIText(part: string | undefined): boolean {
  return part === undefined || URI_TEXT.test(part);
}

/** @param isWeb - RFC 9110 §4.2.1: a URI of `http` or `https` with an empty host is invalid. */
function isAuthority(authority: string, isWeb: boolean): boolean {
  const match = URI_AUTHORITY.exec(authority);
  if (!match) return false;
  const [, user, address, name] = match as (string | undefined)[];
  const isValid = address === undefined ? isURIText(name) : isIPv6(address);
  return isValid && isURIText(user) && !(isWeb && name === "");
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
const FORMATS: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["date-time", isDateTime],
  ["date", isDate],
  ["time", (text: string) => TIME.test(text)],
  ["duration", (text: string) => DURATION.test(text)],
  ["email", (text: string) => text.length <= 254 && EMAIL.test(text)],
  ["hostname", (text: string) => text.length <= 253 && HOSTNAME.test(text)],
  ["ipv4", isIPv4],
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

/** Tells a rule of strings in the JSON Schema of another library that can be checked here too. */
export function isKnownRule(keyword: string, value: unknown): boolean {
  if (typeof value !== "string" || keyword !== "pattern") return keyword === "format" && FORMATS.has(String(value));
  try {
    return compilePattern(value) instanceof RegExp;
  } catch {
    return false;
  }
}
