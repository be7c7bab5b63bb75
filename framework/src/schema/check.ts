import type { Faults } from "./faults.js";

/**
 * One compiled schema in one direction. Gives the value as the other side wants it (unknown keys cut, defaults
 * filled in, dates converted) and adds what is wrong to `faults`; with a fault added, the result means nothing.
 */
export type Check = (value: unknown, faults: Faults) => unknown;

/** `decode`: from JSON to the handler. `encode`: from the handler to JSON. */
export type Direction = "decode" | "encode";

/** Runs one check after the other on the same value, stopping at the first that finds a fault. */
export function inTurn(first: Check, second: Check | undefined): Check {
  if (!second) return first;
  return (value, faults) => {
    const before = faults.count;
    const result = first(value, faults);
    return faults.count === before ? second(result, faults) : result;
  };
}

/** A copy of a default value of its own for each request, so that a handler that changes it changes nobody else's. */
export function defaultFactory(value: unknown): () => unknown {
  return typeof value === "object" && value !== null ? () => structuredClone(value) : () => value;
}

/** Sets a property as data. `__proto__` is dropped: assigned, it would change the object's prototype. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") target[key] = value;
}

/** Whether two JSON values are equal, in the sense of JSON Schema §4.2.2. */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (Object.is(left, right) || left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) &&
      jsonEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key]),
  );
}

/** A text that is equal for equal JSON values, to find duplicates in linear time. */
export function canonicalJSON(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJSON).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1));
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJSON(item)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "undefined";
}
