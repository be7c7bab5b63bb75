/** The order of the transactions that share one connection: one that begins inside another nests, others wait. @module */
import { AsyncLocalStorage } from "node:async_hooks";

/** A transaction of the sandbox, or the sandbox itself. It runs one statement or inner transaction at a time. */
export class Frame {
  readonly parent: Frame | null;
  #isOpen = true;
  #onEnd: () => void;
  #last: Promise<void> = Promise.resolve();

  /** @param onEnd - Called once, at the end. */
  constructor(parent: Frame | null, onEnd: () => void = () => {}) {
    this.parent = parent;
    this.#onEnd = onEnd;
  }

  /** `false` as soon as it, or one around it, has ended. */
  get isOpen(): boolean {
    return this.#isOpen && (this.parent?.isOpen ?? true);
  }

  end(): void {
    this.#isOpen = false;
    const onEnd = this.#onEnd;
    this.#onEnd = () => {};
    onEnd();
  }

  isWithin(outer: Frame): boolean {
    return this === outer || (this.parent?.isWithin(outer) ?? false);
  }

  /** Waits for its turn. @returns Ends the turn. */
  async takeTurn(): Promise<() => void> {
    let release = (): void => {};
    const before = this.#last;
    this.#last = new Promise((resolve) => (release = resolve));
    await before;
    return release;
  }
}

/** Work of a request or of a callback, and the transactions that it has begun, innermost last. */
class Place {
  readonly outer: Place | null;
  readonly frames: Frame[];

  constructor(outer: Place | null, frames: Frame[]) {
    this.outer = outer;
    this.frames = frames;
  }

  /** The innermost transaction that is open. */
  get frame(): Frame | null {
    return this.frames.findLast(({ isOpen }) => isOpen) ?? this.outer?.frame ?? null;
  }
}

/** The turns of one sandbox. */
export class Turns {
  readonly #places = new AsyncLocalStorage<Place>();
  #root = new Frame(null);

  /** Runs a request: everything that it begins after its transaction is inside that. */
  enter<T>(work: () => T): T {
    return this.#places.run(new Place(this.#places.getStore() ?? null, []), work);
  }

  /** Notes that the current request continues inside a transaction. */
  stayIn(frame: Frame): void {
    this.#places.getStore()?.frames.push(frame);
  }

  /** The transaction that the caller is in. */
  get current(): Frame | null {
    return this.#places.getStore()?.frame ?? null;
  }

  /** Ends everything that is open. Work that waits is rejected: it is of the test before. */
  restart(): void {
    this.#root.end();
    this.#root = new Frame(null);
  }

  /** Runs one statement. @param owner - The transaction whose client runs it; `null` for the database itself. */
  async run<T>(owner: Frame | null, work: () => Promise<T>): Promise<T> {
    const [, release] = await this.#takeTurn(owner);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Runs a transaction. Its turn ends with it, even if `work` continues. */
  async nest<T>(owner: Frame | null, work: (frame: Frame) => Promise<T>): Promise<T> {
    const [parent, release] = await this.#takeTurn(owner);
    const frame = new Frame(parent, release);
    try {
      return await this.#places.run(new Place(this.#places.getStore() ?? null, [frame]), () => work(frame));
    } finally {
      frame.end();
    }
  }

  async #takeTurn(owner: Frame | null): Promise<[parent: Frame, release: () => void]> {
    const root = this.#root;
    for (;;) {
      const inner = this.current ?? root;
      const parent = owner === null || inner.isWithin(owner) ? inner : owner;
      const release = await parent.takeTurn();
      if (parent.isOpen) return [parent, release];
      release();
      if (root !== this.#root) throw new Error("The sandbox was rolled back while this statement waited for its turn.");
      if (parent === owner) throw new Error("The transaction has ended.");
    }
  }
}
