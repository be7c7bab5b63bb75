/** So many failures within `WINDOW_MS` say that no worker will come up for now. */
const HOPELESS = 5;
const WINDOW_MS = 10_000;

const FIRST_DELAY_MS = 100;

/** Below `WINDOW_MS`, so that a row of failures with these delays between them stays a row. */
const LONGEST_DELAY_MS = 5000;

/** Workers that ended before they were of use: the longer the row, the longer until the next one is tried. */
export class StartFailures {
  readonly #now: () => number;
  #times: number[] = [];
  #isHopeless = false;
  #hasSucceeded = false;

  /** @param now - A clock in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How many in a row, the last of them less than ten seconds ago. */
  get count(): number {
    const last = this.#times.at(-1);
    return last === undefined || this.#now() - last > WINDOW_MS ? 0 : this.#times.length;
  }

  /** Whether a worker has ever been ready. */
  get hasSucceeded(): boolean {
    return this.#hasSucceeded;
  }

  /** Whether five failed within ten seconds, and none has been ready since. */
  get isHopeless(): boolean {
    return this.#isHopeless;
  }

  /** How long to wait before the next, in milliseconds: twice as long after each. */
  get delayMs(): number {
    return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.max(0, this.count - 1));
  }

  /** The same in whole seconds, for `Retry-After`. */
  get delaySeconds(): number {
    return Math.ceil(this.delayMs / 1000);
  }

  /** One ended before it was of use. */
  add(): void {
    if (this.count === 0) this.#times = [];
    const now = this.#now();
    this.#times.push(now);
    const fifthLast = this.#times.at(-HOPELESS);
    if (fifthLast !== undefined && now - fifthLast <= WINDOW_MS) this.#isHopeless = true;
  }

  /** One is ready. The row goes on all the same: it may end before it is of use. */
  succeed(): void {
    this.#isHopeless = false;
    this.#hasSucceeded = true;
  }
}
