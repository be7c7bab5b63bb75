/** Counts the work of a parser, so that tests of its growth do not depend on the speed of a machine. @module */

// oxlint-disable-next-line unbound-method -- it is called with a pattern, and replaced for a while
const nativeExec = RegExp.prototype.exec;

type Op =
  | { readonly do: "char"; readonly fits: (char: string) => boolean }
  | { readonly do: "split"; readonly first: number; readonly second: number }
  | { readonly do: "start" | "end" | "word edge" | "accept" }
  | { readonly do: "look"; readonly program: readonly Op[]; readonly isNegative: boolean; readonly isBehind: boolean };

/** The characters that an atom such as `[a-z]`, `\d` or `x` matches: the platform decides, once for each character. */
function charTest(atom: string, flags: string): (char: string) => boolean {
  const pattern = new RegExp(`^${atom}$`, flags.replaceAll(/[gmy]/g, ""));
  const known = new Map<string, boolean>();
  return (char) => {
    let fits = known.get(char);
    if (fits === undefined) known.set(char, (fits = nativeExec.call(pattern, char) !== null));
    return fits;
  };
}

const isWord = charTest(String.raw`\w`, "");

const ATOM = /\\[pP]\{[^}]*\}|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[]/iuy;
/** A lazy one takes as many steps in a search that fails. */
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y;

/** Translates the syntax that the patterns of the core use into the program of a backtracking matcher, as V8's is one. */
class Translator {
  readonly #source: string;
  readonly #flags: string;
  #index = 0;

  constructor({ source, flags }: RegExp) {
    this.#source = source;
    this.#flags = flags;
  }

  translate(): Op[] {
    const program = this.#union();
    if (this.#index < this.#source.length) throw this.#fault();
    return [...program, { do: "accept" }];
  }

  #eat(text: string): boolean {
    const isHere = this.#source.startsWith(text, this.#index);
    if (isHere) this.#index += text.length;
    return isHere;
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#index;
    const match = nativeExec.call(pattern, this.#source);
    if (match) this.#index = pattern.lastIndex;
    return match;
  }

  #union(): Op[] {
    const left = this.#sequence();
    if (!this.#eat("|")) return left;
    const right = this.#union();
    const jump: Op = { do: "split", first: right.length + 1, second: 0 };
    return [{ do: "split", first: 1, second: left.length + 2 }, ...left, jump, ...right];
  }

  #sequence(): Op[] {
    const program: Op[] = [];
    while (this.#index < this.#source.length && !/[|)]/.test(this.#source.charAt(this.#index))) {
      program.push(...this.#quantified(this.#term()));
    }
    return program;
  }

  #term(): Op[] {
    if (this.#eat("^")) return [{ do: "start" }];
    if (this.#eat("$")) return [{ do: "end" }];
    if (this.#eat(String.raw`\b`)) return [{ do: "word edge" }];
    const look = this.#take(/\(\?(<?)([=!])/y);
    if (look) {
      const program: Op[] = [...this.#group(), { do: "accept" }];
      const isBehind = look[1] === "<";
      if (isBehind && (program.length !== 2 || program[0]?.do !== "char")) throw this.#fault();
      return [{ do: "look", program, isNegative: look[2] === "!", isBehind }];
    }
    if (this.#take(/\((?:\?:|\?<\w+>)?/y)) return this.#group();
    const atom = this.#take(ATOM)?.[0] ?? "";
    return [{ do: "char", fits: charTest(atom, this.#flags) }];
  }

  #group(): Op[] {
    const program = this.#union();
    if (!this.#eat(")")) throw this.#fault();
    return program;
  }

  #fault(): Error {
    return new Error(`Cannot count the steps of ${this.#source}`);
  }

  #quantified(body: Op[]): Op[] {
    const match = this.#take(QUANTIFIER);
    if (!match) return body;
    const [, sign, from, comma, to] = match;
    const min = sign === undefined ? Number(from) : sign === "+" ? 1 : 0;
    const max = sign === undefined ? (comma ? Number(to || Infinity) : min) : sign === "?" ? 1 : Infinity;
    const program = Array.from({ length: min }, () => body).flat();
    if (max === Infinity) {
      program.push({ do: "split", first: 1, second: body.length + 2 }, ...body);
      program.push({ do: "split", first: -body.length - 1, second: 0 });
    } else {
      for (let left = max - min; left > 0; left--) {
        program.push({ do: "split", first: 1, second: (body.length + 1) * left }, ...body);
      }
    }
    return program;
  }
}

const programs = new Map<string, readonly Op[]>();

function programOf(pattern: RegExp): readonly Op[] {
  const key = String(pattern);
  let program = programs.get(key);
  if (!program) programs.set(key, (program = new Translator(pattern).translate()));
  return program;
}

class Matcher {
  readonly #text: string;
  readonly #max: number;
  steps = 0;

  constructor(text: string, max: number) {
    this.#text = text;
    this.#max = max;
  }

  /** @param isHere - Whether the expression is sticky: it matches at `from` or not at all. */
  search(program: readonly Op[], from: number, isHere: boolean): void {
    const last = isHere || program[0]?.do === "start" ? from : this.#text.length;
    for (let start = from; start <= last && this.steps <= this.#max; start++) {
      if (this.#matchAt(program, start)) return;
    }
  }

  #matchAt(program: readonly Op[], start: number): boolean {
    const pending: number[] = [0, start];
    while (pending.length > 0) {
      let index = pending.pop() as number;
      let at = pending.pop() as number;
      for (;;) {
        if (++this.steps > this.#max) return false;
        const op = program[at] as Op;
        if (op.do === "accept") return true;
        if (op.do === "split") {
          if (op.second !== 0) pending.push(at + op.second, index);
          at += op.first;
          continue;
        }
        if (!this.#fits(op, index)) break;
        if (op.do === "char") index++;
        at++;
      }
    }
    return false;
  }

  #fits(op: Op, index: number): boolean {
    if (op.do === "char") return index < this.#text.length && op.fits(this.#text[index] as string);
    if (op.do === "look") return this.#looks(op, index) !== op.isNegative;
    if (op.do === "word edge") return isWord(this.#text[index - 1] ?? "") !== isWord(this.#text[index] ?? "");
    return op.do === "start" ? index === 0 : index === this.#text.length;
  }

  #looks({ program, isBehind }: Op & { readonly do: "look" }, index: number): boolean {
    return isBehind ? index > 0 && this.#matchAt(program, index - 1) : this.#matchAt(program, index);
  }
}

/** Methods that read a text up to a match, and methods that read it to its end. */
const SEARCH_TEXT = ["indexOf", "includes"];
const READ_TEXT = ["lastIndexOf", "split", "replaceAll", "trim", "toLowerCase", "toUpperCase"];
const READ_LIST = "includes indexOf filter find some every map flatMap join concat shift".split(" ");

type LengthOf = (self: never, args: readonly unknown[], result: unknown) => number;

/** Reports how many characters or items methods read. Returns the function that ends it. */
function watch(onRead: (length: number) => void): () => void {
  const natives: (() => void)[] = [];
  const patch = (prototype: object, names: readonly string[], lengthOf: LengthOf) => {
    for (const name of names) {
      const native = Reflect.get(prototype, name) as (...args: unknown[]) => unknown;
      Reflect.set(prototype, name, function watched(this: never, ...args: unknown[]) {
        const result = Reflect.apply(native, this, args);
        onRead(lengthOf(this, args, result) + 1);
        return result;
      });
      natives.push(() => Reflect.set(prototype, name, native));
    }
  };
  const searched: LengthOf = ({ length }: string, [, from], result) =>
    (typeof result === "number" && result >= 0 ? result : length) - (typeof from === "number" ? from : 0);
  patch(String.prototype, SEARCH_TEXT, searched);
  patch(String.prototype, READ_TEXT, ({ length }: string) => length);
  patch(String.prototype, ["charAt", "charCodeAt"], () => 0);
  patch(Array.prototype, READ_LIST, ({ length }: readonly unknown[]) => length);
  return () => {
    for (const restore of natives) restore();
  };
}

/** Counted work. */
export interface PatternWork {
  /**
   * The steps of a backtracking matcher, and the characters and items that methods of strings and lists read. Counting stops at
   * `maxSteps`.
   */
  readonly steps: number;
  /** The source of each expression. */
  readonly patterns: ReadonlySet<string>;
}

/** Records the work of everything in the process until it is stopped. */
export class WorkRecorder {
  #searches: (readonly [RegExp, text: string, from: number])[] = [];
  readonly #restore: () => void;
  #read = 0;

  constructor() {
    const patch = (exec: typeof nativeExec) => Object.assign(RegExp.prototype, { exec });
    const unwatch = watch((length) => void (this.#read += length));
    const note = (...search: readonly [RegExp, string, number]) => void this.#searches.push(search);
    patch(function exec(this: RegExp, text: string) {
      note(this, text, this.global || this.sticky ? this.lastIndex : 0);
      return nativeExec.call(this, text);
    });
    this.#restore = () => {
      patch(nativeExec);
      unwatch();
    };
  }

  /** Returns the work since the last call. */
  take(maxSteps: number): PatternWork {
    const searches = this.#searches;
    let steps = this.#read;
    this.#searches = []; // the translation of a pattern uses patterns too
    for (const [pattern, text, from] of searches) {
      if (steps > maxSteps) break;
      const matcher = new Matcher(text, maxSteps - steps);
      matcher.search(programOf(pattern), from, pattern.sticky);
      steps += matcher.steps;
    }
    const patterns = new Set<string>();
    for (const [{ source }] of searches) patterns.add(source);
    this.#searches = [];
    this.#read = 0;
    return { steps, patterns };
  }

  [Symbol.dispose](): void {
    this.#restore();
  }
}

/**
 * Calls a function, and counts its work.
 *
 * @param maxSteps - The steps after which counting stops. Defaults to 10,000,000.
 */
export function countPatternSteps(run: () => void, maxSteps = 10_000_000): PatternWork {
  using recorder = new WorkRecorder();
  run();
  return recorder.take(maxSteps);
}
