/** Path patterns: static segments and `{name}`, and nothing else. @module */
import { configurationError } from "./exceptions.js";
import { decodeSegment, isWellFormed, type SegmentOptions, splitPath } from "./path.js";

/** One segment of a pattern. */
export interface PatternSegment {
  /** The static text in the canonical form (`/` as `%2F`, `%` as `%25`), or the parameter's name. */
  readonly text: string;
  /** `text` is the name of a parameter. */
  readonly isParam: boolean;
}

/** A value that can stand in a path. */
export type PathValue = string | number | bigint | boolean;

/** Nearly every segment is one of these two. Cheaper to compile and to test than the rules with Unicode's tables. */
const PLAIN_TEXT = /^[^{}*%\u0080-\uffff]*$/;
const PLAIN_PARAM = /^\{[\w$-]+\}$/;

const PARAM_NAME = /^[\p{ID_Continue}$-]+$/u;

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
    if (typeof path !== "string") {
      throw configurationError("TSGI_PATH_NOT_A_STRING", place, path);
    }
    const names = new Set<string>();
    const segments = splitPath(path, options).map((segment) => {
      const found = faultOf(segment, names);
      if (found !== null) {
        throw configurationError("TSGI_INVALID_PATH_PATTERN", place, path, found);
      }
      if (!segment.startsWith("{")) return { text: segment, isParam: false };
      const name = segment.slice(1, -1);
      names.add(name);
      return { text: name, isParam: true };
    });
    return new PathPattern(path, segments);
  }

  /** The pattern without the empty segments that do not count: `/users/{id}`. */
  get template(): string {
    return `/${this.segments.map(({ text, isParam }) => (isParam ? `{${text}}` : text)).join("/")}`;
  }

  /** The same text for any two patterns that match the same paths: `/users/{}`. */
  get shape(): string {
    return `/${this.segments.map(({ text, isParam }) => (isParam ? "{}" : text)).join("/")}`;
  }

  /**
   * Builds a path, percent-encoded: each value becomes one segment, a `/` in it `%2F`. `/users/{id}/files/{name}` with
   * `{ id: 7, name: "a/b c" }` gives `/users/7/files/a%2Fb%20c`.
   *
   * @param params - A value for each name of the pattern, and nothing else.
   * @throws ConfigurationError when a name is missing or unknown, or a value is empty, no text or number, not
   *   well-formed Unicode, or `.` or `..`, which clients take out of a path whatever their spelling (RFC 3986 §5.2.4).
   */
  build(params: Readonly<Record<string, PathValue>> = {}): string {
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

function encodeValue(name: string, value: PathValue | undefined, pattern: string): string {
  const where = `urlPathFor ${pattern}: the parameter ${JSON.stringify(name)}`;
  if (value === undefined || value === null) {
    throw configurationError("TSGI_MISSING_URL_PARAMETER", where);
  }
  if (!["string", "number", "bigint", "boolean"].includes(typeof value)) {
    throw configurationError("TSGI_INVALID_URL_PARAMETER.type", where, value);
  }
  const text = String(value);
  if (text === "") {
    throw configurationError("TSGI_INVALID_URL_PARAMETER.empty", where);
  }
  if (text === "." || text === "..") {
    throw configurationError("TSGI_INVALID_URL_PARAMETER.dots", where, text);
  }
  if (!isWellFormed(text)) {
    throw configurationError("TSGI_INVALID_URL_PARAMETER.surrogate", where);
  }
  return encodeURIComponent(text);
}

/** The fault of a segment and the spelling to write instead; `null` for none. */
function faultOf(segment: string, namesBefore: ReadonlySet<string>): string | null {
  if (PLAIN_TEXT.test(segment) || (PLAIN_PARAM.test(segment) && !namesBefore.has(segment.slice(1, -1)))) {
    return null;
  }
  const shown = `"${segment}"`;
  if (!/[{}]/.test(segment)) {
    return faultOfText(segment, shown);
  }
  const name = /^\{([^{}]*)\}$/.exec(segment)?.[1];
  if (name === undefined) {
    return faultOfBraces(segment, shown);
  }
  return faultOfName(name, shown, namesBefore);
}

function faultOfText(text: string, shown: string): string | null {
  if (text.includes("*")) {
    return `${shown} has a wildcard. A route has no catch-all: mount a sub-application at the path in front of it with app.mount(path, asgiApp).`;
  }
  if (/%(?!2F|25)/.test(text)) {
    return `${shown} has a "%" that is no "%2F" (a slash inside a segment) and no "%25" (a percent sign). Write any other character as itself.`;
  }
  if (!isWellFormed(text)) {
    return `${shown} has a lone surrogate, which no path can carry. Write whole characters.`;
  }
  return null;
}

function faultOfBraces(segment: string, shown: string): string {
  if (/^\{[^{}]*[:(\\]/.test(segment)) {
    return constraintFault(segment, shown);
  }
  if (!/^[^{}]*(\{[^{}]*\}[^{}]*)*$/.test(segment)) {
    return `${shown} has a brace without its other half. Write {name} for a parameter.`;
  }
  return `${shown} mixes text and a parameter. A segment is one or the other: write {name} for the whole segment and take it apart in the handler.`;
}

function faultOfName(name: string, shown: string, namesBefore: ReadonlySet<string>): string | null {
  if (name === "") {
    return `${shown} has no name. Write {name}.`;
  }
  if (/^\.\.\.|^\*|\*$|:path$/.test(name)) {
    return `${shown} is a catch-all. A parameter is one segment: mount a sub-application at the path in front of it with app.mount(path, asgiApp).`;
  }
  if (name.endsWith("?")) {
    return `${shown} is an optional segment. Register the path without it as a route of its own, or make the value a query parameter.`;
  }
  if (/[:(\\<]/.test(name)) {
    return constraintFault(`{${name}`, shown);
  }
  if (!PARAM_NAME.test(name)) {
    return `${shown} is no parameter: a name has letters, digits, "_", "$" and "-" only. Write {name}.`;
  }
  if (namesBefore.has(name)) {
    return `${shown} stands there twice. Give each parameter a name of its own.`;
  }
  return null;
}

function constraintFault(segment: string, shown: string): string {
  const name = /^\{([\p{ID_Continue}$-]+)/u.exec(segment)?.[1] ?? "name";
  return `${shown} has a constraint. Write {${name}}, and declare its type in the route's params, as in params: { ${name}: t.Integer() }.`;
}
