/** Counts the work of regular expressions, so that tests of their growth do not depend on the speed of a machine. @module */

// oxlint-disable-next-line unbound-method -- it is called with a pattern, and replaced for a while
const nativeExec = RegExp.prototype.exec;

type Op =
  | { readonly do: "char"; readonly fits: (char: string) => boolean }
  | { readonly do: "split"; readonly first: number; readonly second: number }
  | { readonly do: "start" | "end" | "accept" }
  | { readonly do: "look"; readonly program: readonly Op[]; readonly isNegative: boolean };

/** The characters that an atom such as `[a-z]`, `\d` or `x` matches: the platform decides, once for each character. */
function charTest(atom: string, flags: string): (char: string) => boolean {
  const pattern = new RegExp(`^${atom}$`, flags.replaceAll(/[gy]/g, ""));
  const known = new Map<string, boolean>();
  return (char) => {
    let fits = known.get(char);
    if (fits === undefined) known.set(char, (fits = nativeExec.call(pattern, char) !== null));
    return fits;
  };
}

const ATOM = /\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|\\.|\[(?:\\.|[^\]\\])*\]|[^\\[]/uy;
const QUANTIFIER = /([*+?])|\{(\d+)(,?)(\d*)\}/y;

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
    if (this.#index < this.#source.length) throw new Error(`Cannot count the steps of ${this.#source}`);
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
    const isNegative = this.#eat("(?!");
    if (isNegative || this.#eat("(?="))
      return [{ do: "look", program: [...this.#group(), { do: "accept" }], isNegative }];
    if (this.#eat("(?:") || this.#eat("(")) return this.#group();
    const atom = this.#take(ATOM)?.[0] ?? "";
    return [{ do: "char", fits: charTest(atom, this.#flags) }];
  }

  #group(): Op[] {
    const program = this.#union();
    if (!this.#eat(")")) throw new Error(`Cannot count the steps of ${this.#source}`);
    return program;
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

  search(program: readonly Op[]): boolean {
    for (let start = 0; start <= this.#text.length; start++) {
      if (this.#matchAt(program, start)) return true;
    }
    return false;
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
    if (op.do === "char") return index < this.#text.length && op.fits(this.#text.charAt(index));
    if (op.do === "look") return this.#matchAt(op.program, index) !== op.isNegative;
    return op.do === "start" ? index === 0 : index === this.#text.length;
  }
}

/** The work of the regular expressions that a function has used. */
export interface PatternWork {
  /** The steps of a backtracking matcher, at most `maxSteps` for each expression and text. */
  readonly steps: number;
  /** The source of each expression. */
  readonly patterns: ReadonlySet<string>;
}

/**
 * Calls a function, and counts the steps of each regular expression that it applies.
 *
 * @param maxSteps - The steps after which counting a search stops. Defaults to 10,000,000.
 */
export function countPatternSteps(run: () => void, maxSteps = 10_000_000): PatternWork {
  const searches: (readonly [RegExp, string])[] = [];
  const patch = (exec: typeof nativeExec) => Object.assign(RegExp.prototype, { exec });
  patch(function exec(this: RegExp, text: string) {
    searches.push([this, text]);
    return nativeExec.call(this, text);
  });
  try {
    run();
  } finally {
    patch(nativeExec);
  }
  let steps = 0;
  for (const [pattern, text] of searches) {
    const matcher = new Matcher(text, maxSteps);
    matcher.search(programOf(pattern));
    steps += matcher.steps;
  }
  return { steps, patterns: new Set(searches.map(([{ source }]) => source)) };
}
