import { ClientDisconnect } from "../exceptions.js";

/** A part that waits until it is asked for. */
interface Waiting {
  readonly chunk: Uint8Array;
  readonly taken: () => void;
  readonly refused: (error: Error) => void;
}

/**
 * The body of an answer as a stream of the platform. A part is given when it is asked for, and only then is its sender
 * told that it may go on: the stream itself keeps none.
 */
export class AnswerBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  readonly #waiting: Waiting[] = [];
  /** `true` while a reader waits for a part. */
  #isAwaited = false;
  #isLast = false;
  #onEnd: (() => void) | null = null;

  /** @param onCancel - Called when the reader gives up. */
  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#pull(),
        cancel: () => {
          this.#refuse();
          onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Gives a part. Returns nothing where it is awaited, else a promise that resolves when it is taken. */
  write(chunk: Uint8Array): Promise<void> | void {
    if (chunk.length === 0) return;
    if (this.#isAwaited) return this.#give(chunk);
    return new Promise((taken, refused) => this.#waiting.push({ chunk, taken, refused }));
  }

  /** Ends the body behind the parts that wait, and calls `onEnd` then. */
  end(onEnd: () => void): void {
    this.#isLast = true;
    this.#onEnd = onEnd;
    this.#closeIfEmpty();
  }

  /** Ends the body with an error. */
  fail(error: unknown): void {
    this.#refuse();
    this.#controller.error(error);
  }

  #pull(): void {
    this.#isAwaited = true;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#give(next.chunk);
    next.taken();
    this.#closeIfEmpty();
  }

  #give(chunk: Uint8Array): void {
    this.#isAwaited = false; // before it is given: the stream may ask for the next one at once
    this.#controller.enqueue(chunk);
  }

  #closeIfEmpty(): void {
    if (!this.#isLast || this.#waiting.length > 0) return;
    this.#controller.close();
    this.#onEnd?.();
  }

  #refuse(): void {
    for (const { refused } of this.#waiting.splice(0)) refused(new ClientDisconnect());
  }
}
