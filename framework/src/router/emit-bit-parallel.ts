/** The simulation's most selective segment as code, before the masks. @module */
import { CodeBuilder, MAX_TEXTS, emitSwitch, hasText, offset, slice } from "./code-builder.js";
import type { Bounds, Start } from "./code-builder.js";
import type { Route } from "./route.js";

/** Routes above which the text would take longer to parse than it saves. */
const MAX_ROUTES = 2000;
/** Segments of a path above which the functions would have too many parameters. */
const MAX_SEGMENTS = 64;

/**
 * Emits a look-up that finds the slashes once, and then reads, of the routes of that length, the segment in which most of
 * them differ. One candidate that is left is compared; several are left to the text's variable `simulate`. Its variable
 * `nothing` gives `null`.
 *
 * @param byLength - The routes by their number of segments, in order of precedence.
 * @returns `null` for route sets too large to gain by it.
 */
export function emitBitParallel<H, M>(byLength: ReadonlyMap<number, readonly Route<H, M>[]>): CodeBuilder<H, M> | null {
  const longest = Math.max(...byLength.keys());
  const count = [...byLength.values()].reduce((sum, routes) => sum + routes.length, 0);
  if (longest > MAX_SEGMENTS || count > MAX_ROUTES) return null;
  const code = new CodeBuilder<H, M>();
  let body = "";
  for (let length = 1; length <= longest; length++) {
    const routes = byLength.get(length);
    const found = routes === undefined ? "return null;\n" : emitLength(code, length, routes);
    const end = `end${length - 1}`;
    body += `const ${end} = path.indexOf("/", ${offset(startOf(length - 1), 0)});\nif (${end} === -1) {\n${found}}\n`;
  }
  code.addFind(body);
  return code;
}

/** Emits the functions for the routes of one length, and gives the code that calls one of them. */
function emitLength<H, M>(code: CodeBuilder<H, M>, length: number, routes: readonly Route<H, M>[]): string {
  const position = mostSelective(length, routes);
  const { byText, params } = groupAt(position, routes);
  const names = new Map<Route<H, M>, string>();
  const matcherFor = (candidates: readonly Route<H, M>[]): string => {
    const [only] = candidates;
    if (only === undefined || candidates.length > 1) return only === undefined ? "nothing" : "simulate";
    const name = names.get(only) ?? `match${length}_${names.size}`;
    if (!names.has(only)) {
      names.set(only, name);
      emitMatcher(code, name, only, position);
    }
    return name;
  };
  const matchers = new Map(
    [...byText].map(([text, fixed]) => [text, matcherFor(text === "" ? fixed : [...fixed, ...params])]),
  );
  return emitChoice(code, length, position, matchers, matcherFor(params));
}

/** Reads the segment at a position and calls its matcher: by its characters, or by a `Map` where there are many texts. */
function emitChoice<H, M>(
  code: CodeBuilder<H, M>,
  length: number,
  position: number,
  matchers: ReadonlyMap<string, string>,
  others: string,
): string {
  const segment = boundsOf(length)[position]!; // `position` is below `length`.
  const parameters = parametersOf(length);
  if (matchers.size > MAX_TEXTS) {
    const entries = [...matchers].map(([text, matcher]) => `[${JSON.stringify(text)}, ${matcher}],\n`);
    code.add(`const matchers${length} = new Map([\n${entries.join("")}]);\n`);
    return `return (matchers${length}.get(${slice(segment)}) ?? ${others})(${parameters});\n`;
  }
  const start = startOf(position);
  const one = (text: string): string => {
    const isWhole = `${segment.end ?? "path.length"} === ${offset(start, text.length)}`;
    return `if (${isWhole} && ${hasText(start, text)}) return ${matchers.get(text)}(${parameters});\n`;
  };
  const choice = emitSwitch(start, [...matchers.keys()], { one, some: (texts) => texts.map(one).join("") });
  return `${choice}return ${others}(${parameters});\n`;
}

/** Emits the function that compares a route's segments, but the one that led to it, and returns its result or `null`. */
function emitMatcher<H, M>(code: CodeBuilder<H, M>, name: string, route: Route<H, M>, known: number): void {
  const bounds = boundsOf(route.texts.length);
  const faults = route.texts.flatMap((text, position) => {
    const segment = bounds[position]!; // One for each of the route's segments.
    if (text === null) return [`${segment.end ?? "path.length"} === ${segment.start}`];
    return position === known ? [] : [`${slice(segment)} !== ${JSON.stringify(text)}`];
  });
  code.add(`function ${name}(${parametersOf(route.texts.length)}) {
if (${faults.join(" || ")}) return null;
${code.returnResult(route, bounds)}}
`);
}

/** The position whose text leaves the fewest routes in the worst case. */
function mostSelective<H, M>(length: number, routes: readonly Route<H, M>[]): number {
  const left = Array.from({ length }, (_, position) => {
    const { byText, params } = groupAt(position, routes);
    return params.length + [...byText.values()].reduce((most, group) => Math.max(most, group.length), 0);
  });
  return left.indexOf(Math.min(...left));
}

/** The routes that have a static segment at the position, by its text, and those that have a parameter there. */
function groupAt<H, M>(
  position: number,
  routes: readonly Route<H, M>[],
): { byText: Map<string, Route<H, M>[]>; params: Route<H, M>[] } {
  const byText = new Map<string, Route<H, M>[]>();
  const params: Route<H, M>[] = [];
  for (const route of routes) {
    const text = route.texts[position] ?? null;
    if (text === null) {
      params.push(route);
    } else {
      const group = byText.get(text) ?? [];
      group.push(route);
      byText.set(text, group);
    }
  }
  return { byText, params };
}

/** The bounds of a path's segments, given the ends of all but the last. */
function boundsOf(length: number): Bounds[] {
  return Array.from({ length }, (_, position) => ({
    start: offset(startOf(position), 0),
    end: position === length - 1 ? null : `end${position}`,
  }));
}

function startOf(position: number): Start {
  return position === 0 ? { base: "", add: 1 } : { base: `end${position - 1}`, add: 1 };
}

function parametersOf(length: number): string {
  return ["path", ...Array.from({ length: length - 1 }, (_, position) => `end${position}`)].join(", ");
}
