/** Failures within `WINDOW_MS` after which no worker is expected to start for now. */
const HOPELESS = 5;
const WINDOW_MS = 10_000;

const FIRST_DELAY_MS = 100;

/** Below `WINDOW_MS`, so that a row of failures with these delays between them stays a row. */
const LONGEST_DELAY_MS = 5000;

/** Workers that ended before they were of use: the longer the row, the longer until the next one is tried. */
export class StartFailures {
  /** `true` after a worker was ready. */
  hasSucceeded = false;
  /** `true` once five failed within ten seconds, until one is ready. */
  isHopeless = false;
  readonly #now: () => number;
  #times: number[] = [];

  /** @param now - A clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Failures in a row, the last of them less than ten seconds ago. */
  get count(): number {
    const last = this.#times.at(-1);
    return last === undefined || this.#now() - last > WINDOW_MS ? 0 : this.#times.length;
  }

  /** Milliseconds to wait before the next start: twice as long after each failure. */
  get delayMs(): number {
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, this.count - 1));
  }

  /** The same in whole seconds, for `Retry-After`. */
  get delaySeconds(): number {
    return Math.ceil(this.delayMs / 1000);
  }

  /** Counts a worker that ended before it was of use. */
  add(): void {
    if (this.count === 0) this.#times = [];
    this.#times.push(this.#now());
    const fifthLast = this.#times.at(-HOPELESS) ?? -Infinity;
    this.isHopeless ||= this.#now() - fifthLast <= WINDOW_MS;
  }

  /** A worker is ready. The series continues: the new worker may exit before it is ready. */
  succeed(): void {
    this.isHopeless = false;
    this.hasSucceeded = true;
  }
}
