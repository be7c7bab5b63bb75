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

  add(frame: Frame): void {
    const open = this.frames.filter(({ isOpen }) => isOpen);
    this.frames.splice(0, this.frames.length, ...open, frame);
  }

  /** The innermost transaction that is open. */
  get frame(): Frame | null {
    return this.frames.findLast(({ isOpen }) => isOpen) ?? this.outer?.frame ?? null;
  }
}

/** The turns of one sandbox. */
export class Turns {
  readonly #places = new AsyncLocalStorage<Place>();
  /** The place of work outside of requests; `null` if such work is in callbacks. */
  readonly #outside: Place | null;
  #root = new Frame(null);

  /** @param hasCallbacks - `false` if transactions begin and end by statements. */
  constructor({ hasCallbacks }: { readonly hasCallbacks: boolean }) {
    this.#outside = hasCallbacks ? null : new Place(null, []);
  }

  get #place(): Place | null {
    return this.#places.getStore() ?? this.#outside;
  }

  /** Runs a request: everything that it begins after its transaction is inside that. */
  enter<T>(work: () => T): T {
    return this.#places.run(new Place(this.#place, []), work);
  }

  /** Notes that the current request continues inside a transaction. */
  stayIn(frame: Frame): void {
    this.#place?.add(frame);
  }

  /** The transaction that the caller is in. */
  get current(): Frame | null {
    return this.#place?.frame ?? null;
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
      return await this.#places.run(new Place(this.#place, [frame]), () => work(frame));
    } finally {
      frame.end();
    }
  }

  /** Begins a transaction that ends by `frame.end()`. Until then, its request continues inside it. */
  async open(): Promise<Frame> {
    const [parent, release] = await this.#takeTurn(null);
    const frame = new Frame(parent, release);
    this.stayIn(frame);
    return frame;
  }

  /** Runs a statement of an open transaction, after those that have begun inside it. */
  async runIn<T>(frame: Frame, work: () => Promise<T>): Promise<T> {
    const release = await frame.takeTurn();
    try {
      if (!frame.isOpen) throw new Error("The transaction has ended.");
      return await work();
    } finally {
      release();
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
