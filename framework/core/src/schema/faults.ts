/** The validation errors of one value, with limits on their number and size. @module */
import type { Fault } from "../common/exceptions.js";

/** Every `type` of an error. The page `docs/validation-errors.md` explains them. */
export const FAULT_TYPES = [
  "missing",
  "extra_forbidden",
  "content_type",
  "form_invalid",
  "file_type",
  "json_invalid",
  "string_type",
  "string_unicode",
  "string_too_short",
  "string_too_long",
  "string_pattern_mismatch",
  "string_format",
  "int_type",
  "int_parsing",
  "int_size",
  "float_type",
  "float_parsing",
  "finite_number",
  "greater_than",
  "greater_than_equal",
  "less_than",
  "less_than_equal",
  "multiple_of",
  "bool_type",
  "bool_parsing",
  "null_type",
  "datetime_type",
  "datetime_parsing",
  "literal_error",
  "enum",
  "object_type",
  "list_type",
  "too_short",
  "too_long",
  "unique_items",
  "contains",
  "union_error",
  "union_tag_invalid",
  "not_allowed",
  "value_error",
] as const;

/** One of the documented types of an error. */
export type FaultType = (typeof FAULT_TYPES)[number];

/**
 * The most errors in one response. A body of 1 MiB can contain half a million invalid items, and a response fifty times
 * the size of its request would help an attacker.
 */
const MAX_FAULTS = 100;

/**
 * The longest part of a request's own text that a response repeats, in UTF-16 units: as `input`, as a name in `loc` (a
 * key of 1 MiB above a hundred invalid items would be repeated a hundred times), and as the message of a library.
 */
const MAX_ECHO_LENGTH = 200;

/** Parts of names whose values are never repeated in a response, because a log or a screen could retain them. */
const SECRET_PART = /pass|pwd|secret|token|authorization|cookie|credential|session|api[-_]?key|private[-_]?key/i;

/** Words of names for the same, too short to be looked for inside other words. */
const SECRET_WORDS = new Set(["cvc", "cvv", "jwt", "otp", "pin", "ssn"]);

/** Tells the name of a secret, in `snake_case`, `camelCase` or `kebab-case`. */
export function isSecretName(name: string): boolean {
  return (
    SECRET_PART.test(name) ||
    name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).some((word) => SECRET_WORDS.has(word.toLowerCase()))
  );
}

/** The beginning of a text, as well-formed Unicode. */
export function shorten(text: string): string {
  const isWhole = text.length <= MAX_ECHO_LENGTH;
  return isWhole
    ? text.toWellFormed()
    : text
        .slice(0, MAX_ECHO_LENGTH)
        .replace(/[\uD800-\uDBFF]$/, "")
        .toWellFormed();
}

const shortenKey = (key: string | number) => (typeof key === "string" ? shorten(key) : key);

/** A compiled check, as `remember` needs to know it. */
type Remembered = (value: object, faults: Faults) => unknown;

/** The outcome of a check: its result, or its errors. */
interface Outcome {
  readonly result: unknown;
  readonly faults: readonly Fault[];
}

/** Collects the errors of a value. `loc` grows from the inside out, so that a valid value has no cost. */
export class Faults {
  readonly list: Fault[] = [];
  /** The length of the list: compare before and after a check to detect an error. */
  count = 0;
  /** The number of branching checks that have begun and not ended. */
  #branches = 0;
  /** Outcomes of branching checks inside others. Forgotten when the outermost has ended. */
  #memo: Map<Remembered, Map<object, Outcome>> | null = null;

  /** `true` if the list is full. */
  get full(): boolean {
    return this.list.length >= MAX_FAULTS;
  }

  /** Adds an error; an `input` that is a string, a number, a boolean or null is repeated in the response. */
  add(type: FaultType, msg: string, input?: unknown, loc: readonly (string | number)[] = []): undefined {
    if (this.full) return;
    const fault: Fault = { type, loc: loc.map(shortenKey), msg };
    if (typeof input === "string") fault.input = shorten(input);
    else if (typeof input === "number" || typeof input === "boolean" || input === null) fault.input = input;
    this.count = this.list.push(fault);
  }

  /** Prepends `key` to the location of every error since `from`. */
  within(from: number, key: string | number): void {
    const shown = shortenKey(key);
    for (let index = from; index < this.list.length; index++) this.list[index]?.loc.unshift(shown);
  }

  /** Removes the errors since `from`, which belong to an attempt. */
  rollback(from: number): void {
    this.list.length = this.count = from;
  }

  /** Forgets those since `from` that were listed since `start` already. Members of an intersection see the same. */
  dropRepeated(start: number, from: number): void {
    const keyOf = ({ type, loc }: Fault) => JSON.stringify([type, loc]);
    const known = new Set(this.list.slice(start, from).map(keyOf));
    const added = this.list.splice(from);
    this.count = this.list.push(...added.filter((fault) => !known.has(keyOf(fault))));
  }

  /** Adds the errors of others, up to the limit of the list. */
  take(faults: Iterable<Fault>): void {
    for (const fault of faults) if (!this.full) this.count = this.list.push(fault);
  }

  /** Omits the values of the errors since `from`, which belong to a password-like parameter. */
  hideInputs(from: number): void {
    for (const fault of this.list.slice(from)) hideInput(fault);
  }

  /**
   * Runs a check that tries several ways. Inside another such check it runs once for each value: a union of members
   * that contain the union again would cost n^depth without it.
   */
  remember(check: Remembered, value: object): unknown {
    const known = this.#memo?.get(check)?.get(value);
    if (known) {
      this.take(known.faults.map(copyFault));
      return known.result;
    }
    const before = this.count;
    this.#branches++;
    const result = check(value, this);
    this.#branches--;
    if (this.#branches === 0) this.#memo = null;
    else this.#outcomesOf(check).set(value, { result, faults: this.list.slice(before).map(copyFault) });
    return result;
  }

  #outcomesOf(check: Remembered): Map<object, Outcome> {
    this.#memo ??= new Map();
    let outcomes = this.#memo.get(check);
    if (!outcomes) this.#memo.set(check, (outcomes = new Map<object, Outcome>()));
    return outcomes;
  }

  /** The errors for the client, without the values of password-like fields. */
  forClient(): Fault[] {
    for (const fault of this.list) {
      if (fault.loc.some((part) => typeof part === "string" && isSecretName(part))) hideInput(fault);
    }
    return this.list;
  }
}

const copyFault = (fault: Fault): Fault => ({ ...fault, loc: [...fault.loc] });

/** Characters of a secret in a message that are enough to hide the message: it may itself have been cut. */
const TELLTALE_LENGTH = 8;

/** Omits the received value, even if the message of a library repeats it, plainly or as JSON. */
function hideInput(fault: Fault): void {
  const { type, input, msg } = fault;
  delete fault.input;
  if (type !== "value_error" || input === undefined || input === null || input === "") return;
  const shown = (typeof input === "string" ? input : JSON.stringify(input)).slice(0, TELLTALE_LENGTH);
  if (msg.includes(shown) || msg.includes(JSON.stringify(shown).slice(1, -1))) fault.msg = "Input is not valid";
}
