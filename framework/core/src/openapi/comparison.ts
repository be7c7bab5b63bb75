/** Equality of schemas, following their references. @module */
import type { SchemaObject } from "./types.js";

/** The target of a reference. */
export interface Target {
  readonly base: string;
  readonly content: SchemaObject | null;
}

/** The names of a `required`, or the strings of an `enum`: their order has no meaning. */
function isTextList(value: object): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function sameTexts(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && JSON.stringify(left.toSorted()) === JSON.stringify(right.toSorted());
}

/** Compares schemas whose references have no names yet. */
export class Comparison {
  readonly #targets: ReadonlyMap<object, Target>;
  readonly #isAcross: boolean;
  /** Pairs that are being compared, which count as equal: structs may contain themselves. */
  #assumed: Map<Target, Set<Target>> | null = null;

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
    if (!isObject(left) || !isObject(right)) return false;
    const leftTarget = this.#targets.get(left);
    const rightTarget = this.#targets.get(right);
    if (Boolean(leftTarget) !== Boolean(rightTarget) || Array.isArray(left) !== Array.isArray(right)) return false;
    // From OpenAPI 3.1 on, a reference can have keywords next to it, which apply as well.
    if (leftTarget && rightTarget && !this.#sameTarget(leftTarget, rightTarget)) return false;
    if (isTextList(left) && isTextList(right)) return sameTexts(left, right);
    return this.#sameMembers(left as Record<string, unknown>, right as Record<string, unknown>);
  }

  #sameTarget(left: Target, right: Target): boolean {
    if (left === right || this.#assumed?.get(left)?.has(right)) return true;
    if (left.base !== right.base) return false;
    const assumed = (this.#assumed ??= new Map<Target, Set<Target>>());
    assumed.set(left, (assumed.get(left) ?? new Set()).add(right));
    return this.same(left.content, right.content);
  }

  #sameMembers(left: Readonly<Record<string, unknown>>, right: Readonly<Record<string, unknown>>): boolean {
    const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
    const isImplied = (key: string) => this.#isAcross && key === "additionalProperties" && !left[key] && !right[key];
    return [...keys].every((key) => isImplied(key) || this.same(left[key], right[key]));
  }
}
