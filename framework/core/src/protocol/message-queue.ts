/** Messages between one who sends and one who takes. @module */
import { markHandled } from "../common/promises.js";

/** Messages in order: those that came before they were asked for, then those that are waited for, then the end. */
export class MessageQueue<Message> {
  readonly #messages: Message[] = [];
  /** The calls of {@link take} that wait; `null` for none. */
  #waiting: ((message: Message | Promise<Message>) => void)[] | null = null;
  /** Given, as often as it is asked for, once all messages are taken. */
  #end: Promise<Message> | null = null;

  /** The number of messages that nobody has taken. */
  get length(): number {
    return this.#messages.length;
  }

  /** `true` while a message is awaited. */
  get isAwaited(): boolean {
    return this.#waiting !== null;
  }

  get hasEnded(): boolean {
    return this.#end !== null;
  }

  /** Adds a message. */
  push(message: Message): void {
    const reader = this.#waiting?.shift();
    if (this.#waiting?.length === 0) this.#waiting = null;
    if (reader === undefined) this.#messages.push(message);
    else reader(message);
  }

  /** Ends with a last message. The first end counts. */
  end(last: Message): void {
    this.#close(Promise.resolve(last));
  }

  /** Ends with an error. The first end counts. */
  fail(reason: Error): void {
    this.#close(markHandled(Promise.reject(reason)));
  }

  /** The next message that has come; `undefined` for none. */
  shift(): Message | undefined {
    return this.#messages.shift();
  }

  /** The next message, once it comes. */
  take(): Promise<Message> {
    if (this.#messages.length > 0) return Promise.resolve(this.#messages.shift() as Message);
    return this.#end ?? new Promise((resolve) => void (this.#waiting = this.#waiting?.concat(resolve) ?? [resolve]));
  }

  #close(end: Promise<Message>): void {
    if (this.#end !== null) return;
    this.#end = end;
    for (const reader of this.#waiting ?? []) reader(end);
    this.#waiting = null;
  }
}
