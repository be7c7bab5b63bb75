import type { SchemaObject } from "./types.js";

/** What a reference leads to. */
export interface Target {
  readonly base: string;
  readonly content: SchemaObject | null;
}

/** The names of a `required`, or the texts of an `enum`: their order means nothing. */
function isTextList(value: object): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Whether schemas whose references have no names yet say the same. */
export class Comparison {
  readonly #targets: ReadonlyMap<object, Target>;
  readonly #isAcross: boolean;
  /** Pairs that are being compared, which count as equal: structs may contain themselves. */
  readonly #assumed = new Map<Target, Set<Target>>();

  /**
   * @param targets - What each reference leads to.
   * @param isAcross - Whether an input is compared with an output, which never has further keys and does not say so.
   */
  constructor(targets: ReadonlyMap<object, Target>, isAcross: boolean) {
    this.#targets = targets;
    this.#isAcross = isAcross;
  }

  /** Compares two schemas, or parts of them. */
  same(left: unknown, right: unknown): boolean {
    if (left === right) return true;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
    const leftTarget = this.#targets.get(left);
    const rightTarget = this.#targets.get(right);
    if (leftTarget && rightTarget) return this.#sameTarget(leftTarget, rightTarget);
    if (leftTarget || rightTarget || Array.isArray(left) !== Array.isArray(right)) return false;
    if (isTextList(left) && isTextList(right)) return left.toSorted().join("\n") === right.toSorted().join("\n");
    return this.#sameMembers(left as Record<string, unknown>, right as Record<string, unknown>);
  }

  #sameTarget(left: Target, right: Target): boolean {
    if (left === right || this.#assumed.get(left)?.has(right)) return true;
    if (left.base !== right.base) return false;
    this.#assumed.set(left, (this.#assumed.get(left) ?? new Set()).add(right));
    return this.same(left.content, right.content);
  }

  #sameMembers(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
    const isSame = (key: string) =>
      (this.#isAcross && key === "additionalProperties" && !left[key] && !right[key]) ||
      this.same(left[key], right[key]);
    return (
      Object.keys(left).every(isSame) && Object.keys(right).every((key) => Object.hasOwn(left, key) || isSame(key))
    );
  }
}
