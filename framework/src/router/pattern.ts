/** The grammar of a route's pattern: static segments and `{name}`, and nothing else. @module */
import { ConfigurationError } from "../exceptions.js";

/** One segment of a pattern. */
export interface PatternSegment {
  /** The static text in the canonical form (`/` as `%2F`, `%` as `%25`), or the parameter's name. */
  readonly text: string;
  /** Whether `text` is the name of a parameter. */
  readonly isParam: boolean;
}

/** How a pattern or a path is cut into segments. */
export interface SegmentOptions {
  /** Keeps empty segments, so that a trailing slash counts (WebSocket paths). Defaults to `false`: they are dropped. */
  readonly exact?: boolean;
}

/** Nearly every segment is one of these two. Cheaper to compile and to test than the rules with Unicode's tables. */
const PLAIN_TEXT = /^[^{}*%\u0080-\uffff]*$/;
const PLAIN_PARAM = /^\{[\w$-]+\}$/;

const PARAM_NAME = /^[\p{ID_Continue}$-]+$/u;

/**
 * Cuts a path or a pattern at its slashes. The slash in front carries no segment; of the others' empty segments none
 * counts, unless `exact` is set.
 */
export function splitPath(path: string, options: SegmentOptions = {}): string[] {
  if (options.exact) {
    return (path.startsWith("/") ? path.slice(1) : path).split("/");
  }
  return path.split("/").filter((segment) => segment !== "");
}

/**
 * Reads a pattern.
 *
 * @param path - `/users/{id}/posts`; the static text is in the canonical form, so `%` is written `%25`.
 * @param method - Only for the error's message.
 * @throws ConfigurationError for everything that is neither plain text nor `{name}`; it says what to write instead.
 */
export function parsePattern(path: string, method: string, options: SegmentOptions = {}): PatternSegment[] {
  if (typeof path !== "string") {
    throw new ConfigurationError(
      `${method}: the path of a route is text such as "/items/{item_id}", but this one is ${typeof path}.`,
      { code: "TSGI_PATH_NOT_A_STRING" },
    );
  }
  const names = new Set<string>();
  return splitPath(path, options).map((segment) => {
    const found = faultOf(segment, names);
    if (found !== null) {
      throw new ConfigurationError(`${method} ${path}: ${found}`, { code: "TSGI_INVALID_PATH_PATTERN" });
    }
    if (!segment.startsWith("{")) {
      return { text: segment, isParam: false };
    }
    const name = segment.slice(1, -1);
    names.add(name);
    return { text: name, isParam: true };
  });
}

/** The names of a pattern's parameters, in their order. @throws ConfigurationError as `parsePattern` does. */
export function paramNames(path: string, method: string): string[] {
  return parsePattern(path, method)
    .filter((segment) => segment.isParam)
    .map((segment) => segment.text);
}

/** What is wrong with a segment and what to write instead, or `null`. */
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

/** Whether the text has no lone surrogate, so that it has a UTF-8 form. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
