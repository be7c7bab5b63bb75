/** Generated code: the text of a lookup, its results, and the comparison of a static text. @module */
import { needsNullPrototype, type Route } from "./radix-node.js";

/** The bounds of a segment in the path, as JavaScript expressions. */
export interface Bounds {
  readonly start: string;
  /** `null` for the end of the path. */
  readonly end: string | null;
}

/**
 * The text of a function `find(path)` while it is written. A pattern's text and names are inserted only with
 * `JSON.stringify`; handlers and metadata stay in the list of routes, which the code reads as its variable `routes`.
 */
export class CodeBuilder<H, M> {
  /** The routes that the text names by their index. */
  readonly routes: Route<H, M>[] = [];
  readonly #functions: string[] = [];
  readonly #indexes = new Map<Route<H, M>, number>();

  /** Adds a function or another declaration. */
  add(text: string): void {
    this.#functions.push(text);
  }

  /** Returns a route's result, read from the bounds of the path's segments. */
  returnResult(route: Route<H, M>, bounds: readonly Bounds[]): string {
    const values = route.positions.map((position) => slice(bounds[position]!)); // A segment for each position.
    return `if (path.includes("%")) return ${this.#result(
      route,
      values.map((value) => `decode(${value})`),
    )};
return ${this.#result(route, values)};
`;
  }

  /** Adds the function itself, after all that it calls. The body runs to its end if it finds no match. */
  addFind(body: string): void {
    this.add(`return function find(path) {
if (path.charCodeAt(0) !== 47) return null;
${body}return null;
};
`);
  }

  /** The whole text, indented as its braces say. */
  toString(): string {
    let depth = 0;
    const lines = `"use strict";\n${this.#functions.join("")}`.split("\n").map((line) => {
      depth -= line.startsWith("}") ? 1 : 0;
      const indented = "  ".repeat(depth) + line;
      depth += line.endsWith("{") ? 1 : 0;
      return indented;
    });
    return lines.join("\n");
  }

  #result(route: Route<H, M>, values: readonly string[]): string {
    let index = this.#indexes.get(route);
    if (index === undefined) {
      index = this.routes.push(route) - 1;
      this.#indexes.set(route, index);
    }
    return `[routes[${index}].handler, ${paramsOf(route.names, values)}, routes[${index}].metadata]`;
  }
}

/** The literal of the object that `createParams` creates. A computed `["__proto__"]` is a member like any other. */
function paramsOf(names: readonly string[], values: readonly string[]): string {
  if (!needsNullPrototype(names)) {
    return `{ ${names.map((name, index) => `${JSON.stringify(name)}: ${values[index]}`).join(", ")} }`;
  }
  return `{ __proto__: nullProto, ${names.map((name, index) => `[${JSON.stringify(name)}]: ${values[index]}`).join(", ")} }`;
}

/** The segment's text. */
function slice({ start, end }: Bounds): string {
  return end === null ? `path.slice(${start})` : `path.slice(${start}, ${end})`;
}

/** An offset in the path: a variable, or `""` for zero, plus a number. */
export interface Start {
  readonly base: string;
  readonly add: number;
}

/** Characters up to which they are compared one by one: 70 instead of 78 ns for a path with texts of 6, 8 and 6. */
const MAX_CHARACTERS = 8;

/** The expression of an offset. */
export function offset(start: Start, index: number): string {
  const sum = start.add + index;
  if (start.base === "") return String(sum);
  return sum === 0 ? start.base : `${start.base} + ${sum}`;
}

/** The comparison of the path's text at an offset. */
export function hasText(start: Start, text: string): string {
  if (text.length > MAX_CHARACTERS) {
    return `path.slice(${offset(start, 0)}, ${offset(start, text.length)}) === ${JSON.stringify(text)}`;
  }
  const characters = Array.from({ length: text.length }, (_, index) => {
    return `path.charCodeAt(${offset(start, index)}) === ${text.charCodeAt(index)}`;
  });
  return characters.join(" && ") || "true";
}
