/** The look-up by bit masks with its most telling segment first, as the text of a function. @module */
import type { Route } from "./route.js";
import { Source, slice } from "./source.js";
import type { Bounds } from "./source.js";

/** Routes above which the text would take longer to read than it saves. */
const MAX_ROUTES = 2000;
/** Segments of a path above which the functions would have too many parameters. */
const MAX_SEGMENTS = 64;

/**
 * Writes a look-up that finds the slashes once, and then reads of the routes of that length the segment in which most
 * of them differ. Where that leaves one route, it is compared and handed out; where it leaves several, the text calls
 * its variable `masks` with the path.
 *
 * @param byLength - The routes by their number of segments, best first.
 * @returns `null` for route sets too large to gain by it.
 */
export function writeMasks<H, M>(byLength: ReadonlyMap<number, readonly Route<H, M>[]>): Source<H, M> | null {
  const longest = Math.max(...byLength.keys());
  const count = [...byLength.values()].reduce((sum, routes) => sum + routes.length, 0);
  if (longest > MAX_SEGMENTS || count > MAX_ROUTES) {
    return null;
  }
  const source = new Source<H, M>();
  let body = "";
  for (let length = 1; length <= longest; length++) {
    const routes = byLength.get(length);
    const found = routes === undefined ? "null" : `length${length}(${parametersOf(length)})`;
    if (routes !== undefined) {
      writeLength(source, length, routes);
    }
    body += `const end${length - 1} = path.indexOf("/", ${startOf(length - 1)});\nif (end${length - 1} === -1) return ${found};\n`;
  }
  source.add(`return function find(path) {\nif (path.charCodeAt(0) !== 47) return null;\n${body}return null;\n};\n`);
  return source;
}

/** Writes the look-up among the routes of one length. */
function writeLength<H, M>(source: Source<H, M>, length: number, routes: readonly Route<H, M>[]): void {
  const position = mostTelling(length, routes);
  const names = new Map<Route<H, M>, string>();
  const takerOf = (candidates: readonly Route<H, M>[]): string => {
    const [only] = candidates;
    if (only === undefined || candidates.length > 1) {
      return only === undefined ? "nothing" : "masks";
    }
    const name = names.get(only) ?? `take${length}_${names.size}`;
    if (!names.has(only)) {
      names.set(only, name);
      writeTaker(source, name, only);
    }
    return name;
  };
  const entries = textsAt(position, routes).map(
    (text) => `[${JSON.stringify(text)}, ${takerOf(routes.filter((route) => takesAt(position, text, route)))}],\n`,
  );
  const others = takerOf(routes.filter((route) => takesAt(position, null, route)));
  source.add(`const takers${length} = new Map([
${entries.join("")}]);
function length${length}(${parametersOf(length)}) {
const take = takers${length}.get(${slice(boundsOf(length)[position]!)}) ?? ${others};
return take(${parametersOf(length)});
}
`);
}

/** Writes the function that compares all segments of a route, and returns its result or `null`. */
function writeTaker<H, M>(source: Source<H, M>, name: string, route: Route<H, M>): void {
  const bounds = boundsOf(route.texts.length);
  const faults = route.texts.map((text, position) => {
    const segment = bounds[position]!; // One for each of the route's segments.
    if (text !== null) {
      return `${slice(segment)} !== ${JSON.stringify(text)}`;
    }
    return `${segment.end ?? "path.length"} === ${segment.start}`;
  });
  source.add(`function ${name}(${parametersOf(route.texts.length)}) {
if (${faults.join(" || ")}) return null;
${source.returnResult(route, bounds)}}
`);
}

/** The position whose text leaves the fewest routes in the worst case. */
function mostTelling<H, M>(length: number, routes: readonly Route<H, M>[]): number {
  const left = Array.from({ length }, (_, position) =>
    Math.max(
      ...[null, ...textsAt(position, routes)].map(
        (text) => routes.filter((route) => takesAt(position, text, route)).length,
      ),
    ),
  );
  return left.indexOf(Math.min(...left));
}

function textsAt<H, M>(position: number, routes: readonly Route<H, M>[]): string[] {
  const texts = new Set(routes.map((route) => route.texts[position] ?? null));
  return [...texts].filter((text) => text !== null);
}

/** Whether the route takes that text at the position; `null` stands for one that no route names. */
function takesAt<H, M>(position: number, text: string | null, route: Route<H, M>): boolean {
  return route.texts[position] === null ? text !== "" : route.texts[position] === text;
}

/** The bounds of a path's segments, given the ends of all but the last. */
function boundsOf(length: number): Bounds[] {
  return Array.from({ length }, (_, position) => ({
    start: startOf(position),
    end: position === length - 1 ? null : `end${position}`,
  }));
}

function startOf(position: number): string {
  return position === 0 ? "1" : `end${position - 1} + 1`;
}

function parametersOf(length: number): string {
  return ["path", ...Array.from({ length: length - 1 }, (_, position) => `end${position}`)].join(", ");
}
