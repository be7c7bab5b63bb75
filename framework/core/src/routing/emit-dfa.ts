/** The deterministic automaton as code: nested comparisons, and a function for each state that two others lead to. @module */
import { type Bounds, CodeBuilder, hasText, offset, type Start } from "./code-builder.js";
import type { DfaState } from "./dfa.js";

/** States above which the text would take longer to parse than it saves. */
const MAX_STATES = 20_000;
/** Segments of a path above which the code would nest too deep. */
const MAX_DEPTH = 64;

/**
 * The number of adjacent strings above which they are spread over several functions: V8 does not optimize long ones.
 */
const MAX_TEXTS = 48;

/** Emits an automaton; `null` for one too large or too deep to gain by it, and in bundles for the web. */
export function emitDfa<H, M>(first: DfaState<H, M>): CodeBuilder<H, M> | null {
  if (process.env["TSGI_PLATFORM"] === "web") return null;
  const emitter = new DfaEmitter<H, M>();
  return emitter.survey(first, 0) === null ? null : emitter.emit(first);
}

/** A position of the lookup: before the segment that starts there. */
interface Position extends Start {
  /** The segments before it. */
  readonly bounds: readonly Bounds[];
}

/** Static segments whose first characters are the same. */
interface TextGroup {
  readonly texts: readonly string[];
  /** The number of these characters. */
  readonly from: number;
}

class DfaEmitter<H, M> {
  readonly #code = new CodeBuilder<H, M>();
  #spreads = 0;
  /** The names of the states' functions. */
  readonly #functions = new Map<DfaState<H, M>, string>();
  /** Count of the transitions to a state. */
  readonly #parents = new Map<DfaState<H, M>, number>();
  /** Segments that the routes at and below a state read. */
  readonly #reads = new Map<DfaState<H, M>, ReadonlySet<number>>();

  /** Collects the facts about each state; `null` for an automaton too large or too deep. */
  survey(state: DfaState<H, M>, depth: number): ReadonlySet<number> | null {
    this.#parents.set(state, (this.#parents.get(state) ?? 0) + 1);
    const known = this.#reads.get(state);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH || this.#parents.size > MAX_STATES) return null;
    const reads = new Set(state.route?.positions);
    for (const child of childrenOf(state)) {
      const below = this.survey(child, depth + 1);
      if (below === null) return null;
      below.forEach((position) => reads.add(position));
    }
    this.#reads.set(state, reads);
    return reads;
  }

  emit(first: DfaState<H, M>): CodeBuilder<H, M> {
    const body = this.#state(first, { base: "", add: 1, bounds: [] });
    this.#code.addFind(body);
    return this.#code;
  }

  /** The code before a segment: it returns the match, or runs to its end if the segment does not match. */
  #state(state: DfaState<H, M>, place: Position): string {
    return this.#texts(state, { texts: [...state.statics.keys()], from: 0 }, place) + this.#param(state, place);
  }

  /** Continues with a state: inline if it has no other predecessor or alternative, otherwise by a call. */
  #goOn(from: DfaState<H, M>, to: DfaState<H, M>, place: Position): string {
    const isOnlyWay = from.statics.size + (from.param === null ? 0 : 1) === 1 && this.#parents.get(to) === 1;
    return isOnlyWay ? `${this.#state(to, place)}return null;\n` : this.#call(to, place);
  }

  #call(state: DfaState<H, M>, place: Position): string {
    const positions = this.#passed(state, place);
    let name = this.#functions.get(state);
    if (name === undefined) {
      name = `state${this.#functions.size}`;
      this.#functions.set(state, name);
      const body = this.#state(state, inFunction(place, positions));
      this.#code.add(`function ${name}(${parametersOf(positions)}) {\n${body}return null;\n}\n`);
    }
    return `return ${name}(${argumentsOf(positions, place)});\n`;
  }

  /** The segments behind a place that a function for a state there must be told. */
  #passed(state: DfaState<H, M>, place: Position): number[] {
    const reads = this.#reads.get(state);
    return [...place.bounds.keys()].filter((position) => reads?.has(position));
  }

  /**
   * The code for static segments whose first `from` characters are the same: they are told apart at the first character
   * in which they differ. Runs to its end if no text matches.
   */
  #texts(state: DfaState<H, M>, { texts, from }: TextGroup, place: Position): string {
    const [first] = texts;
    if (first === undefined) return "";
    if (texts.length === 1) return this.#text(state, first, place);
    let index = from;
    while (texts.every((text) => text[index] === first[index])) index++;
    const groups = new Map<number, string[]>();
    for (const text of texts.filter(({ length }) => length > index)) {
      const code = text.charCodeAt(index);
      const group = groups.get(code);
      if (group) group.push(text);
      else groups.set(code, [text]);
    }
    const cases = [...groups].map(([code, group]) => {
      const isSpread = texts.length > MAX_TEXTS && group.length > 1;
      const inner = { texts: group, from: index + 1 };
      const body = isSpread ? this.#textsCall(state, inner, place) : this.#texts(state, inner, place);
      return `case ${code}: {\n${body}break;\n}\n`;
    });
    const ended = texts.filter(({ length }) => length === index).map((text) => this.#text(state, text, place));
    return `switch (path.charCodeAt(${offset(place, index)})) {\n${cases.join("")}}\n${ended.join("")}`;
  }

  /** As `#texts`, by a function that returns `undefined` if no text matches. */
  #textsCall(state: DfaState<H, M>, group: TextGroup, place: Position): string {
    const positions = this.#passed(state, place);
    const name = `texts${this.#spreads++}`;
    const body = this.#texts(state, group, inFunction(place, positions));
    this.#code.add(`function ${name}(${parametersOf(positions)}) {\n${body}}\n`);
    return `const found = ${name}(${argumentsOf(positions, place)});\nif (found !== undefined) return found;\n`;
  }

  /** Compares a static segment, together with the only segments that can follow it. */
  #text(state: DfaState<H, M>, text: string, place: Position): string {
    let whole = text;
    let child = state.statics.get(text)!; // `text` is one of the keys.
    let behind: Position = { ...place, bounds: [...place.bounds, boundsOf(place, 0, whole.length)] };
    for (let next = this.#onlyText(child); next !== null; next = this.#onlyText(child)) {
      const start = whole.length + 1;
      whole += `/${next}`;
      child = child.statics.get(next)!;
      behind = { ...place, bounds: [...behind.bounds, boundsOf(place, start, whole.length)] };
    }
    const end = offset(place, whole.length);
    const onward: Position = { ...behind, add: place.add + whole.length + 1 };
    if (child.route === null) return `if (${hasText(place, `${whole}/`)}) {\n${this.#goOn(state, child, onward)}}\n`;
    const result = this.#code.returnResult(child.route, behind.bounds);
    if (isLeaf(child)) return `if (path.length === ${end} && ${hasText(place, whole)}) {\n${result}}\n`;
    return `if (${hasText(place, whole)}) {
if (path.length === ${end}) {
${result}}
if (path.charCodeAt(${end}) === 47) {
${this.#goOn(state, child, onward)}}
}
`;
  }

  /** The one text that can follow a state at which no route ends. */
  #onlyText(state: DfaState<H, M>): string | null {
    const [text, another] = state.statics.keys();
    const isOnly = text !== undefined && another === undefined && state.param === null && state.route === null;
    return isOnly && this.#parents.get(state) === 1 ? text : null;
  }

  /** Takes any segment that is not empty. */
  #param(state: DfaState<H, M>, place: Position): string {
    const child = state.param;
    if (child === null) return "";
    const start = offset(place, 0);
    const last: Position = { ...place, bounds: [...place.bounds, { start, end: null }] };
    if (isLeaf(child) && child.route !== null) {
      return `if (path.length > ${start} && path.indexOf("/", ${start}) === -1) {\n${this.#code.returnResult(child.route, last.bounds)}}\n`;
    }
    const end = `end${place.bounds.length}`;
    const onward: Position = { base: end, add: 1, bounds: [...place.bounds, { start, end }] };
    const finish =
      child.route === null
        ? ""
        : `if (${end} === -1 && path.length > ${start}) {\n${this.#code.returnResult(child.route, last.bounds)}}\n`;
    return `const ${end} = path.indexOf("/", ${start});\n${finish}if (${end} > ${start}) {\n${this.#goOn(state, child, onward)}}\n`;
  }
}

function childrenOf<H, M>(state: DfaState<H, M>): DfaState<H, M>[] {
  return state.param === null ? [...state.statics.values()] : [...state.statics.values(), state.param];
}

function isLeaf<H, M>(state: DfaState<H, M>): boolean {
  return state.statics.size === 0 && state.param === null;
}

function boundsOf(place: Position, start: number, end: number): Bounds {
  return { start: offset(place, start), end: offset(place, end) };
}

/** The place as a function's body sees it, which gets the start of the segment and the bounds of those behind. */
function inFunction(place: Position, positions: readonly number[]): Position {
  const bounds: Bounds[] = place.bounds.map(() => ({ start: "undefined", end: null }));
  for (const position of positions) bounds[position] = { start: `start${position}`, end: `end${position}` };
  return { base: "start", add: 0, bounds };
}

function parametersOf(positions: readonly number[]): string {
  return ["path", "start", ...positions.flatMap((position) => [`start${position}`, `end${position}`])].join(", ");
}

function argumentsOf(positions: readonly number[], place: Position): string {
  const bounds = positions.flatMap((position) => {
    const { start, end } = place.bounds[position]!; // `positions` are indexes of `bounds`.
    return [start, end ?? "path.length"];
  });
  return ["path", offset(place, 0), ...bounds].join(", ");
}
