/** The prepared nodes of a method as the text of one function for each place where ways part. @module */
import type { PreparedNode } from "./prepared-node.js";
import { Source } from "./source.js";
import type { Bounds } from "./source.js";
import { hasText, offset, writeTexts } from "./write-texts.js";
import type { Start } from "./write-texts.js";

/** Nodes above which the text would take longer to read than it saves. */
const MAX_NODES = 20_000;
/** Segments of a path above which the code would nest too deep. */
const MAX_DEPTH = 64;

/** Writes the look-up of the routes below a prepared node; `null` for what is too large or too deep to gain by it. */
export function writeNodes<H, M>(first: PreparedNode<H, M>): Source<H, M> | null {
  const writer = new NodeWriter<H, M>();
  return writer.survey(first, 0) === null ? null : writer.write(first);
}

/** How far the look-up is where a piece of code stands: before the segment that starts there. */
interface Place extends Start {
  /** The segments before it. */
  readonly bounds: readonly Bounds[];
}

/** Writes the look-up of one method. */
class NodeWriter<H, M> {
  readonly #source = new Source<H, M>();
  #spreads = 0;
  /** The names of the nodes' functions. */
  readonly #nodes = new Map<PreparedNode<H, M>, string>();
  /** How many ways lead to a node. */
  readonly #parents = new Map<PreparedNode<H, M>, number>();
  /** Which segments the routes at and below a node read. */
  readonly #reads = new Map<PreparedNode<H, M>, ReadonlySet<number>>();

  /** Learns what the code needs to know of each node; `null` for what is too large or too deep to write. */
  survey(node: PreparedNode<H, M>, depth: number): ReadonlySet<number> | null {
    this.#parents.set(node, (this.#parents.get(node) ?? 0) + 1);
    const known = this.#reads.get(node);
    if (known !== undefined) {
      return known;
    }
    if (depth > MAX_DEPTH || this.#parents.size > MAX_NODES) {
      return null;
    }
    const reads = new Set(node.route?.positions);
    for (const child of childrenOf(node)) {
      const below = this.survey(child, depth + 1);
      if (below === null) {
        return null;
      }
      below.forEach((position) => reads.add(position));
    }
    this.#reads.set(node, reads);
    return reads;
  }

  write(first: PreparedNode<H, M>): Source<H, M> {
    const body = this.#node(first, { base: "", add: 1, bounds: [] });
    this.#source.addFind(body);
    return this.#source;
  }

  /** The code before a segment: it returns what it finds, or runs through when the segment leads nowhere. */
  #node(node: PreparedNode<H, M>, place: Place): string {
    return this.#texts(node, [...node.statics.keys()], 0, place) + this.#param(node, place);
  }

  /** The code that goes on to a node: a call where it lies on one of several ways, else its own code in place. */
  #goOn(from: PreparedNode<H, M>, to: PreparedNode<H, M>, place: Place): string {
    const isOnlyWay = from.statics.size + (from.param === null ? 0 : 1) === 1 && this.#parents.get(to) === 1;
    return isOnlyWay ? `${this.#node(to, place)}return null;\n` : this.#call(to, place);
  }

  #call(node: PreparedNode<H, M>, place: Place): string {
    const positions = this.#passed(node, place);
    let name = this.#nodes.get(node);
    if (name === undefined) {
      name = `node${this.#nodes.size}`;
      this.#nodes.set(node, name);
      const body = this.#node(node, inFunction(place, positions));
      this.#source.add(`function ${name}(${parametersOf(positions)}) {\n${body}return null;\n}\n`);
    }
    return `return ${name}(${argumentsOf(positions, place)});\n`;
  }

  /** The segments behind a place that a function for a node there must be told. */
  #passed(node: PreparedNode<H, M>, place: Place): number[] {
    const reads = this.#reads.get(node);
    return [...place.bounds.keys()].filter((position) => reads?.has(position));
  }

  /** The code for static segments whose first `from` characters are the same. */
  #texts(node: PreparedNode<H, M>, texts: readonly string[], from: number, place: Place): string {
    const one = (text: string): string => this.#text(node, text, place);
    const some = (group: readonly string[], index: number): string => this.#textsCall(node, group, index, place);
    return writeTexts(place, texts, { one, some }, from);
  }

  /** As `#texts`, by a function that gives `undefined` when none of them is there. */
  #textsCall(node: PreparedNode<H, M>, texts: readonly string[], from: number, place: Place): string {
    const positions = this.#passed(node, place);
    const name = `texts${this.#spreads++}`;
    const body = this.#texts(node, texts, from, inFunction(place, positions));
    this.#source.add(`function ${name}(${parametersOf(positions)}) {\n${body}}\n`);
    return `const found = ${name}(${argumentsOf(positions, place)});\nif (found !== undefined) return found;\n`;
  }

  /** Compares a static segment, and with it those that alone can follow. */
  #text(node: PreparedNode<H, M>, text: string, place: Place): string {
    let whole = text;
    let child = node.statics.get(text)!; // `text` is one of the keys.
    let behind: Place = { ...place, bounds: [...place.bounds, boundsOf(place, 0, whole.length)] };
    for (let next = this.#onlyText(child); next !== null; next = this.#onlyText(child)) {
      const start = whole.length + 1;
      whole += `/${next}`;
      child = child.statics.get(next)!;
      behind = { ...place, bounds: [...behind.bounds, boundsOf(place, start, whole.length)] };
    }
    const end = offset(place, whole.length);
    const onward: Place = { ...behind, add: place.add + whole.length + 1 };
    if (child.route === null) {
      return `if (${hasText(place, `${whole}/`)}) {\n${this.#goOn(node, child, onward)}}\n`;
    }
    const result = this.#source.returnResult(child.route, behind.bounds);
    if (isLeaf(child)) {
      return `if (path.length === ${end} && ${hasText(place, whole)}) {\n${result}}\n`;
    }
    return `if (${hasText(place, whole)}) {
if (path.length === ${end}) {
${result}}
if (path.charCodeAt(${end}) === 47) {
${this.#goOn(node, child, onward)}}
}
`;
  }

  /** The one text that can follow a node at which no route ends. */
  #onlyText(node: PreparedNode<H, M>): string | null {
    const [text, another] = node.statics.keys();
    const isOnly = text !== undefined && another === undefined && node.param === null && node.route === null;
    return isOnly && this.#parents.get(node) === 1 ? text : null;
  }

  /** Takes any segment that is not empty. */
  #param(node: PreparedNode<H, M>, place: Place): string {
    const child = node.param;
    if (child === null) {
      return "";
    }
    const start = offset(place, 0);
    const last: Place = { ...place, bounds: [...place.bounds, { start, end: null }] };
    if (isLeaf(child) && child.route !== null) {
      return `if (path.length > ${start} && path.indexOf("/", ${start}) === -1) {\n${this.#source.returnResult(child.route, last.bounds)}}\n`;
    }
    const end = `end${place.bounds.length}`;
    const onward: Place = { base: end, add: 1, bounds: [...place.bounds, { start, end }] };
    const finish =
      child.route === null
        ? ""
        : `if (${end} === -1 && path.length > ${start}) {\n${this.#source.returnResult(child.route, last.bounds)}}\n`;
    return `const ${end} = path.indexOf("/", ${start});\n${finish}if (${end} > ${start}) {\n${this.#goOn(node, child, onward)}}\n`;
  }
}

function childrenOf<H, M>(node: PreparedNode<H, M>): PreparedNode<H, M>[] {
  return node.param === null ? [...node.statics.values()] : [...node.statics.values(), node.param];
}

function isLeaf<H, M>(node: PreparedNode<H, M>): boolean {
  return node.statics.size === 0 && node.param === null;
}

function boundsOf(place: Place, start: number, end: number): Bounds {
  return { start: offset(place, start), end: offset(place, end) };
}

/** The place as a function's body sees it, which is told the start of the segment and the bounds of those behind. */
function inFunction(place: Place, positions: readonly number[]): Place {
  const bounds: Bounds[] = place.bounds.map(() => ({ start: "undefined", end: null }));
  for (const position of positions) {
    bounds[position] = { start: `start${position}`, end: `end${position}` };
  }
  return { base: "start", add: 0, bounds };
}

function parametersOf(positions: readonly number[]): string {
  return ["path", "start", ...positions.flatMap((position) => [`start${position}`, `end${position}`])].join(", ");
}

function argumentsOf(positions: readonly number[], place: Place): string {
  const bounds = positions.flatMap((position) => {
    const { start, end } = place.bounds[position]!; // `positions` are indexes of `bounds`.
    return [start, end ?? "path.length"];
  });
  return ["path", offset(place, 0), ...bounds].join(", ");
}
