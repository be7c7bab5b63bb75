/** Generated code: the text of a look-up, its results, and the comparison of static texts. @module */
import { needsNullPrototype } from "./route.js";
import type { Route } from "./route.js";

/** The bounds of a segment in the path, as JavaScript expressions. */
export interface Bounds {
  readonly start: string;
  /** `null` for the end of the path. */
  readonly end: string | null;
}

/**
 * The text of a function `find(path)` while it is written. A pattern's text and names get into it by `JSON.stringify`
 * alone; handlers and metadata stay in the list of routes, which the text reads as its variable `routes`.
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
    return `[routes[${index}].handler, ${paramsOf(route.names, values)}, routes[${index}].metadata]`;
  }
}

/** The literal of what `createParams` makes. A computed `["__proto__"]` is a member like any other. */
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

/** An offset in the path: a variable, or `""` for none, plus a number. */
export interface Start {
  readonly base: string;
  readonly add: number;
}

/** Texts side by side above which they are spread over several functions: V8 leaves long ones unoptimised. */
const MAX_TEXTS = 48;
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

/** Emits the code for static texts that have been told apart. */
export interface TextEmitters {
  /** The code for the one text that is left. It compares it, and runs through where it is not there. */
  one(text: string): string;
  /** The code for some of more than `MAX_TEXTS`, which have their first `from` characters in common. */
  some(texts: readonly string[], from: number): string;
}

/** Tells texts apart at the first character in which they differ. The code runs through where none of them is there. */
export function emitSwitch(start: Start, texts: readonly string[], emit: TextEmitters, from = 0): string {
  const [first] = texts;
  if (first === undefined) return "";
  if (texts.length === 1) return emit.one(first);
  let index = from;
  while (texts.every((text) => text[index] === first[index])) index++;
  const groups = new Map<number, string[]>();
  for (const text of texts.filter(({ length }) => length > index)) {
    const code = text.charCodeAt(index);
    const group = groups.get(code) ?? [];
    group.push(text);
    groups.set(code, group);
  }
  const cases = [...groups].map(([code, group]) => {
    const isSpread = texts.length > MAX_TEXTS && group.length > 1;
    const body = isSpread ? emit.some(group, index + 1) : emitSwitch(start, group, emit, index + 1);
    return `case ${code}: {\n${body}break;\n}\n`;
  });
  const ended = texts.filter(({ length }) => length === index);
  return `switch (path.charCodeAt(${offset(start, index)})) {\n${cases.join("")}}\n${ended.map((text) => emit.one(text)).join("")}`;
}
