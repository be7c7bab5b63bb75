/** The parts that all generated look-ups share: their results, and the text as a whole. @module */
import { needsBare } from "./route.js";
import type { Route } from "./route.js";

/** Where a segment lies in the path, as JavaScript expressions. */
export interface Bounds {
  readonly start: string;
  /** `null` for the end of the path. */
  readonly end: string | null;
}

/**
 * The text of a function `find(path)` while it is written. A pattern's text and names get into it by `JSON.stringify`
 * alone; handlers and metadata stay in the list of routes, which the text reads as its variable `routes`.
 */
export class Source<H, M> {
  /** The routes that the text names by their index. */
  readonly routes: Route<H, M>[] = [];
  readonly #functions: string[] = [];
  readonly #indexes = new Map<Route<H, M>, number>();
  readonly #shapes = new Map<string, string>();

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

  /** Adds the function itself, after all that it calls. The body runs through when it finds nothing. */
  addFind(body: string): void {
    this.add(`return function find(path) {
if (path.length <= longestFixed) {
const result = fixed.get(path);
if (result !== undefined) return result;
}
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
    return `[routes[${index}].handler, new ${this.#shape(route.names)}(${values.join(", ")}), routes[${index}].metadata]`;
  }

  /** The constructor of the parameters of those names: what `createParams` makes, filled in one go. */
  #shape(names: readonly string[]): string {
    const key = JSON.stringify(names);
    let shape = this.#shapes.get(key);
    if (shape === undefined) {
      shape = `Params${this.#shapes.size}`;
      this.#shapes.set(key, shape);
      const values = names.map((_, position) => `value${position}`);
      const stores = names.map((name, position) => `this[${JSON.stringify(name)}] = value${position};\n`);
      this.add(
        `function ${shape}(${values.join(", ")}) {\n${stores.join("")}}\n${shape}.prototype = ${needsBare(names) ? "bare" : "plain"};\n`,
      );
    }
    return shape;
  }
}

/** The segment's text. */
export function slice({ start, end }: Bounds): string {
  return end === null ? `path.slice(${start})` : `path.slice(${start}, ${end})`;
}
