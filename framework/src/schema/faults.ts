import type { Fault } from "../exceptions.js";

/**
 * The most faults that one answer lists. Half a million wrong items fit into a body of 1 MiB, and an answer fifty
 * times the size of its request would be a gift to an attacker.
 */
const MAX_FAULTS = 100;

/** The most attempts at union members in one value: a recursive union of n members costs n^depth without it. */
const MAX_UNION_ATTEMPTS = 10_000;

/** The longest piece of a request's own text that an answer repeats, in characters. */
const MAX_ECHO_LENGTH = 200;

/** Names whose values are never repeated in an answer, where a log or a screen could keep them. */
const SECRET_NAME =
  /pass|pwd|secret|token|authorization|cookie|credential|session|api[-_]?key|private[-_]?key|\botp\b|\bpin\b|\bcvv\b/i;

/** Gathers what is wrong with a value. `loc` grows from the inside out, so that a good value costs nothing. */
export class Faults {
  readonly list: Fault[] = [];
  #unionAttempts = 0;

  /** The number of faults so far; compare before and after a check to learn whether it found one. */
  get count(): number {
    return this.list.length;
  }

  /** Whether no further fault would be listed. */
  get full(): boolean {
    return this.list.length >= MAX_FAULTS;
  }

  /** Adds a fault; an `input` that is text, a number, a boolean or null is repeated in the answer. */
  add(type: string, msg: string, input?: unknown, loc: (string | number)[] = []): undefined {
    if (this.full) return;
    const fault: Fault = { type, loc, msg };
    if (typeof input === "string") fault.input = input.slice(0, MAX_ECHO_LENGTH);
    else if (typeof input === "number" || typeof input === "boolean" || input === null) fault.input = input;
    this.list.push(fault);
  }

  /** Puts `key` in front of the place of every fault since `from`. */
  within(from: number, key: string | number): void {
    for (let index = from; index < this.list.length; index++) this.list[index]?.loc.unshift(key);
  }

  /** Counts one attempt at a union member. `false` when the value has used up its attempts. */
  attemptUnion(): boolean {
    return ++this.#unionAttempts <= MAX_UNION_ATTEMPTS;
  }

  /** Empty faults for one attempt at a union member, which share the count of attempts. */
  attempt(): Faults {
    const attempt = new Faults();
    attempt.#unionAttempts = this.#unionAttempts;
    return attempt;
  }

  /** Takes over the count of attempts of an attempt that has ended. */
  settle(attempt: Faults): void {
    this.#unionAttempts = attempt.#unionAttempts;
  }

  /** The faults for the client, with the values of password-like fields left out. */
  forClient(): Fault[] {
    for (const fault of this.list) {
      if ("input" in fault && fault.loc.some((part) => typeof part === "string" && SECRET_NAME.test(part))) {
        delete fault.input;
      }
    }
    return this.list;
  }
}
