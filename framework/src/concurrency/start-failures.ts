/** So many failures within `WINDOW_MS` say that no worker will come up for now. */
const HOPELESS = 5;
const WINDOW_MS = 10_000;

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/** Workers that ended, or failed, before they were ready: the longer the row, the longer until the next is tried. */
export class StartFailures {
  readonly #times: number[] = [];
  #isHopeless = false;
  #hasSucceeded = false;

  /** How many in a row. */
  get count(): number {
    return this.#times.length;
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
    return Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (this.count - 1));
  }

  /** The same in whole seconds, for `Retry-After`. */
  get delaySeconds(): number {
    return Math.ceil(this.delayMs / 1000);
  }

  add(): void {
    const now = performance.now();
    this.#times.push(now);
    const fifthLast = this.#times.at(-HOPELESS);
    if (fifthLast !== undefined && now - fifthLast <= WINDOW_MS) this.#isHopeless = true;
  }

  /** One was ready: the next failure is the first again. */
  clear(): void {
    this.#times.length = 0;
    this.#isHopeless = false;
    this.#hasSucceeded = true;
  }
}
