/** Measures programs in pairs, until each row is settled. @module */
import { median } from "../statistics.js";
import { type Interval, intervalOf } from "./interval.js";
import type { LaunchedRow, Sides } from "./slices.js";

/** Two programs that do the same work. */
export interface Contest extends Sides<string> {
  readonly section: string;
  /** The expected time of a launch, in seconds. */
  readonly seconds: number;
  /** Measures the wanted rows once, both programs in fresh processes. @throws Error for a wrong response. */
  readonly launch: (number: number, wants: (row: string) => boolean) => Promise<readonly LaunchedRow[]>;
}

/** One row of a contest over all launches. */
export interface Comparison extends Sides<string>, Interval {
  readonly row: string;
  /** The ratio of each launch. */
  readonly ratios: readonly number[];
  /** The median of {@link LaunchedRow.cost}, for orientation. */
  readonly cost: Sides<number>;
}

/** The comparisons of a contest. If a response was wrong, there is an error instead. */
export interface Outcome {
  readonly contest: Contest;
  readonly comparisons: readonly Comparison[];
  readonly fault: string | null;
}

/** The end of a measurement. */
export interface Limits {
  /** True if a row needs no more launches. */
  readonly isSettled: (row: Pick<Comparison, keyof Interval | "ratios">) => boolean;
  /** No launch begins after it. */
  readonly until: number;
  /** Called before each launch, with the number of launches before it and the number of contests that are open. */
  readonly onLaunch?: (contest: Contest, number: number, open: number) => void;
  /** Called with the first error of a contest, which has no more launches. */
  readonly onFault?: (contest: Contest, fault: string) => void;
}

/**
 * Launches the contests in turns until every row is settled or the time is up. So the launches of a row are spread over
 * the whole time, and a contest that is settled passes its remaining time to the others.
 */
export async function measureInPairs(contests: readonly Contest[], limits: Limits): Promise<Outcome[]> {
  const races = contests.map((contest) => new Race(contest, limits.isSettled));
  for (let number = 0; races.some((race) => race.isOpen); number++) {
    for (const race of races.filter(({ isOpen }) => isOpen)) {
      if (Date.now() >= limits.until) return races.map((one) => one.outcome());
      limits.onLaunch?.(race.contest, number, races.filter(({ isOpen }) => isOpen).length);
      const fault = await race.launch(number);
      if (fault !== null) limits.onFault?.(race.contest, fault);
    }
  }
  return races.map((race) => race.outcome());
}

/** One contest while it is measured. */
class Race {
  readonly contest: Contest;
  isOpen = true;
  readonly #isSettled: Limits["isSettled"];
  readonly #rows = new Map<string, LaunchedRow[]>();
  #fault: string | null = null;

  constructor(contest: Contest, isSettled: Limits["isSettled"]) {
    this.contest = contest;
    this.#isSettled = isSettled;
  }

  /** Measures the rows that are not settled. Returns an error, which ends the contest. */
  async launch(number: number): Promise<string | null> {
    const settled = this.#comparisons().filter(this.#isSettled);
    try {
      const launched = await this.contest.launch(number, (row) => settled.every((one) => one.row !== row));
      for (const row of launched) this.#rows.set(row.name, [...(this.#rows.get(row.name) ?? []), row]);
      this.isOpen = !this.#comparisons().every(this.#isSettled);
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : String(error);
      this.isOpen = false;
    }
    return this.#fault;
  }

  outcome(): Outcome {
    return {
      contest: this.contest,
      comparisons: this.#fault === null ? this.#comparisons() : [],
      fault: this.#fault,
    };
  }

  #comparisons(): Comparison[] {
    const { ours, theirs } = this.contest;
    return [...this.#rows].map(([row, launched]) => {
      const costOf = (side: keyof Sides<number>): number => median(launched.map(({ cost }) => cost[side]));
      const ratios = launched.map(({ ratio }) => ratio);
      return {
        ours,
        theirs,
        row,
        ...intervalOf(ratios),
        ratios,
        cost: { ours: costOf("ours"), theirs: costOf("theirs") },
      };
    });
  }
}
