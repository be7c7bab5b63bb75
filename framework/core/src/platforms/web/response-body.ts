/** The body of a response as a stream of the platform. @module */

/**
 * A part is given to the stream when its reader asks for it, and only then may the sender go on: the stream itself keeps
 * none.
 */
export class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Parts that no reader has asked for. */
  #waiting: Uint8Array[] = [];
  /** `true` while a reader waits for a part. */
  #isAwaited = false;
  #isLast = false;
  /** The callers of {@link flushed}. */
  #flushing: (() => void)[] = [];

  /** @param onCancel - Called when the reader gives up. */
  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#pull(),
        cancel: () => {
          this.#drop();
          onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Writes a part. Returns whether a reader has waited for it. */
  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    if (this.#isAwaited) this.#give(chunk);
    else this.#waiting.push(chunk);
    return this.#waiting.length === 0;
  }

  /** Ends the body after the parts that wait. */
  end(): void {
    this.#isLast = true;
    this.#closeIfEmpty();
  }

  /** Ends the body with an error. */
  fail(error: unknown): void {
    this.#drop();
    this.#controller.error(error);
  }

  /** Resolves once no part waits. */
  flushed(): Promise<void> | undefined {
    return this.#waiting.length === 0 ? undefined : new Promise((resolve) => this.#flushing.push(resolve));
  }

  #pull(): void {
    this.#isAwaited = true;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#give(next);
    this.#closeIfEmpty();
    if (this.#waiting.length === 0) this.#settle();
  }

  #give(chunk: Uint8Array): void {
    this.#isAwaited = false; // before it is given: the stream may ask for the next one at once
    this.#controller.enqueue(chunk);
  }

  #closeIfEmpty(): void {
    if (this.#isLast && this.#waiting.length === 0) this.#controller.close();
  }

  #drop(): void {
    this.#waiting = [];
    this.#settle();
  }

  #settle(): void {
    for (const resolve of this.#flushing.splice(0)) resolve();
  }
}
