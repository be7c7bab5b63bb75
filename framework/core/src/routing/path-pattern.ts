/** Path patterns, which consist of static segments and `{name}`. @module */
import type { MessageKey } from "../common/error-codes.js";
import { configurationError } from "../common/exceptions.js";
import { decodeSegment, isWellFormed, type PathValues, type SegmentOptions, splitPath } from "../protocol/path.js";

/** One segment of a pattern. */
export interface PatternSegment {
  /** The static text in the canonical form (`/` as `%2F`, `%` as `%25`), or the parameter's name. */
  readonly text: string;
  /** `text` is the name of a parameter. */
  readonly isParam: boolean;
}

/** Nearly every segment is one of these two. Cheaper to compile and to test than the rules with Unicode's tables. */
const PLAIN_TEXT = /^[^{}*%\u0080-\uffff]*$/;
const PLAIN_PARAM = /^\{[\w$-]+\}$/;

/** RFC 3986 §3.3: `encodeURIComponent` escapes these, which a segment may have as they are. */
const ALLOWED_IN_SEGMENT = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;

/**
 * A pattern, parsed once at registration: the router's tree, the parameters of handlers, the OpenAPI document and
 * `urlPathFor` read this object.
 */
export class PathPattern {
  /** As it was written. */
  readonly text: string;
  readonly segments: readonly PatternSegment[];
  /** The names of the parameters, in their order. */
  readonly names: readonly string[];
  #template: string | null = null;

  private constructor(text: string, segments: readonly PatternSegment[]) {
    this.text = text;
    this.segments = segments;
    this.names = segments.filter(({ isParam }) => isParam).map((segment) => segment.text);
  }

  /**
   * Parses a pattern.
   *
   * @param path - `/users/{id}/posts`; the static text is in the canonical form, so `%` is written `%25`.
   * @param place - The method, or the call that was given the pattern: opens the error's message.
   * @throws ConfigurationError for everything that is neither plain text nor `{name}`; it says what to write instead.
   */
  static parse(path: string, place: string, options: SegmentOptions = {}): PathPattern {
    if (typeof path !== "string") throw configurationError("TSGI_PATH_NOT_A_STRING", place, path);
    const names = new Set<string>();
    const segments = splitPath(path, options).map((segment) => {
      assertSegment(segment, names, { place, path });
      if (!segment.startsWith("{")) return { text: segment, isParam: false };
      const name = segment.slice(1, -1);
      names.add(name);
      return { text: name, isParam: true };
    });
    return new PathPattern(path, segments);
  }

  /** The pattern without the empty segments that do not count: `/users/{id}`. */
  get template(): string {
    return (this.#template ??= `/${this.segments.map(({ text, isParam }) => (isParam ? `{${text}}` : text)).join("/")}`);
  }

  /** The same text for any two patterns that match the same paths: `/users/{}`. */
  get shape(): string {
    return `/${this.segments.map(({ text, isParam }) => (isParam ? "{}" : text)).join("/")}`;
  }

  /**
   * Builds a path, percent-encoded: each value becomes one segment, a `/` in it `%2F`. `/users/{id}/files/{name}` with
   * `{ id: 7, name: "a/b c" }` becomes `/users/7/files/a%2Fb%20c`. An array is joined by commas, and a comma in an item
   * becomes `%2C`.
   *
   * @param params - Exactly one value for each name of the pattern.
   * @throws ConfigurationError if a name is missing or unknown, or a value is empty, not a string or number, not
   *   well-formed Unicode, or `.` or `..`, which clients remove from a path in any spelling (RFC 3986 §5.2.4).
   */
  build(params: PathValues = {}): string {
    for (const name of Object.keys(params)) {
      if (this.names.includes(name)) continue;
      throw configurationError("TSGI_UNKNOWN_URL_PARAMETER", this.text, name);
    }
    const parts = this.segments.map(({ text, isParam }) => {
      if (isParam) return encodeValue(text, Object.hasOwn(params, text) ? params[text] : undefined, this.text);
      return encodeURIComponent(decodeSegment(text)).replace(ALLOWED_IN_SEGMENT, decodeURIComponent);
    });
    return `/${parts.join("/")}`;
  }
}

function encodeValue(name: string, value: PathValues[string] | undefined, pattern: string): string {
  const where = `urlPathFor ${pattern}: the parameter ${JSON.stringify(name)}`;
  if (value === undefined || value === null) throw configurationError("TSGI_MISSING_URL_PARAMETER", where);
  const items = [value].flat();
  for (const item of items) {
    if (["string", "number", "bigint", "boolean"].includes(typeof item)) continue;
    throw configurationError("TSGI_INVALID_URL_PARAMETER.type", where, item);
  }
  const text = items.join();
  if (text === "") throw configurationError("TSGI_INVALID_URL_PARAMETER.empty", where);
  if (text === "." || text === "..") throw configurationError("TSGI_INVALID_URL_PARAMETER.dots", where, text);
  if (!isWellFormed(text)) throw configurationError("TSGI_INVALID_URL_PARAMETER.surrogate", where);
  return items.map((item) => encodeURIComponent(String(item))).join();
}

type Fault = Exclude<MessageKey & `TSGI_INVALID_PATH_PATTERN.${string}`, "TSGI_INVALID_PATH_PATTERN.constraint">;

/**
 * The possible errors of a segment, in the order of the search: `null` is a constraint, whose message contains the
 * name.
 */
type Rules = readonly (readonly [fault: Fault | null, RegExp])[];

const TEXT_FAULTS: Rules = [
  ["TSGI_INVALID_PATH_PATTERN.wildcard", /\*/],
  ["TSGI_INVALID_PATH_PATTERN.escape", /%(?!2F|25)/],
  ["TSGI_INVALID_PATH_PATTERN.surrogate", /\p{Surrogate}/u],
];

const NAME_FAULTS: Rules = [
  ["TSGI_INVALID_PATH_PATTERN.unnamed", /^\{\}$/],
  ["TSGI_INVALID_PATH_PATTERN.catchAll", /^\{(?:\.{3}|\*)|(?:\*|:path)\}$/],
  ["TSGI_INVALID_PATH_PATTERN.optional", /\?\}$/],
  [null, /[:(\\<]/],
  ["TSGI_INVALID_PATH_PATTERN.name", /[^\p{ID_Continue}${}-]/u],
];

const BRACE_FAULTS: Rules = [
  [null, /^\{[^{}]*[:(\\]/],
  ["TSGI_INVALID_PATH_PATTERN.brace", /^(?![^{}]*(?:\{[^{}]*\}[^{}]*)*$)/],
  ["TSGI_INVALID_PATH_PATTERN.mixed", /^/],
];

/** @throws ConfigurationError for a segment that is neither plain text nor a new `{name}`. */
function assertSegment(
  segment: string,
  namesBefore: ReadonlySet<string>,
  { place, path }: { readonly place: string; readonly path: string },
): void {
  const isRepeated = namesBefore.has(segment.slice(1, -1));
  const where = `${place} ${path}`;
  if (PLAIN_TEXT.test(segment) || (PLAIN_PARAM.test(segment) && !isRepeated)) return;
  const isName = /^\{[^{}]*\}$/.test(segment);
  const rules = /[{}]/.test(segment) ? (isName ? NAME_FAULTS : BRACE_FAULTS) : TEXT_FAULTS;
  const found = rules.find(([, rule]) => rule.test(segment));
  if (found === undefined) {
    if (isName && isRepeated) throw configurationError("TSGI_INVALID_PATH_PATTERN.twice", where, segment);
    return;
  }
  if (found[0] !== null) throw configurationError(found[0], where, segment);
  const name = /^\{([\p{ID_Continue}$-]+)/u.exec(segment)?.[1] ?? "name";
  throw configurationError("TSGI_INVALID_PATH_PATTERN.constraint", where, segment, name);
}
