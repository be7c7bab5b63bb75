/** Messages for one reader, in order: those that came before it asked, and then those that it waits for. */
export class Mailbox<T> {
  readonly #messages: T[] = [];
  readonly #waiting: { resolve(message: T): void; reject(end: Error): void }[] = [];
  #end: Error | null = null;

  /** Adds a message. */
  put(message: T): void {
    const reader = this.#waiting.shift();
    if (reader) reader.resolve(message);
    else this.#messages.push(message);
  }

  /** Nothing more comes. Who waits, and who asks when all is taken, gets the error. */
  end(error: Error): void {
    this.#end ??= error;
    for (const reader of this.#waiting.splice(0)) reader.reject(error);
  }

  /** The next message. */
  take(): Promise<T> {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift() as T);
    if (this.#end) return Promise.reject(this.#end);
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
}
