/** Messages of a WebSocket whose platform cannot stop reading. @module */

/** Bytes that a message takes in addition to its content. */
const MESSAGE_BYTES = 256;

/** Bounds of the messages that wait. */
export interface HeldLimits {
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

  /** Delivers what waits, until the application pauses again. */
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
