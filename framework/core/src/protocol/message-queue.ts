/** Messages that are not read yet: between a sender and a reader, or from a WebSocket that cannot stop reading. @module */
import { markHandled } from "../common/promises.js";

/** Messages in order: those that arrived before they were requested, then awaited ones, then the end. */
export class MessageQueue<Message> {
  readonly #messages: Message[] = [];
  /** The waiting calls of {@link take}, or `null`. */
  #waiting: ((message: Message | Promise<Message>) => void)[] | null = null;
  /** Given, as often as it is asked for, once all messages are taken. */
  #end: Promise<Message> | null = null;

  /** The number of messages in the queue. */
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

  /** The next queued message, or `undefined` if the queue is empty. */
  shift(): Message | undefined {
    return this.#messages.shift();
  }

  /** The next message, after it has arrived. */
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

/** Bytes that a message takes in addition to its content. */
const MESSAGE_BYTES = 256;

/** Bounds of the messages that wait. */
interface HeldLimits {
  readonly messages: number;
  /** Bytes, each message with 256 in addition. */
  readonly bytes: number;
}

/** Keeps the messages that arrive while the application makes its client wait. */
export class HeldMessages {
  isPaused = false;
  readonly #limits: HeldLimits;
  readonly #deliver: (data: string | Uint8Array) => void;
  #held: (string | Uint8Array)[] = [];
  #heldBytes = 0;

  /** @param deliver - Takes a message; it may pause again. */
  constructor(limits: HeldLimits, deliver: (data: string | Uint8Array) => void) {
    this.#limits = limits;
    this.#deliver = deliver;
  }

  /** Delivers a message, or keeps it. Returns whether the bounds allow it. */
  take(data: string | Uint8Array): boolean {
    if (!this.isPaused) {
      this.#deliver(data);
      return true;
    }
    this.#held.push(data);
    this.#heldBytes += data.length + MESSAGE_BYTES;
    return this.#held.length <= this.#limits.messages && this.#heldBytes <= this.#limits.bytes;
  }

  /** Delivers queued messages until the application pauses again. */
  resume(): void {
    this.isPaused = false;
    while (!this.isPaused && this.#held.length > 0) this.#deliverFirst();
  }

  /** Delivers everything that waits: the connection has ended. */
  flush(): void {
    while (this.#held.length > 0) this.#deliverFirst();
  }

  #deliverFirst(): void {
    const data = this.#held.shift() as string | Uint8Array;
    this.#heldBytes -= data.length + MESSAGE_BYTES;
    this.#deliver(data);
  }
}
