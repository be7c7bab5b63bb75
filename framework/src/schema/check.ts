import type { Faults } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";

/** A compiled schema: makes something of a value, and adds what is wrong with it to `faults`. */
export type Run<Result> = (value: unknown, faults: Faults) => Result;

/**
 * One compiled schema in one direction. Gives the value as the other side wants it (unknown keys cut, defaults
 * filled in, dates converted) and adds what is wrong to `faults`; with a fault added, the result means nothing.
 */
export type Check = Run<unknown>;

/**
 * One compiled schema of results: checks a value, cuts it and writes it as JSON in one pass, `undefined` for what JSON
 * leaves out. With a fault added, the text means nothing.
 */
export type Write = Run<string | undefined>;

/** One named property of a struct, to be checked or to be written. */
export interface Property<Result> {
  readonly key: string;
  readonly take: Run<Result>;
  readonly required: boolean;
  /** Makes what `take` gives for the default, `null` where there is none. */
  makeDefault: (() => Result) | null;
  /** `true` for a name that every object has from its prototype, as `constructor`: then only an own one counts. */
  readonly inherited: boolean;
}

/** Takes the properties of an object. */
export type TakeObject<Result> = (value: Record<string, unknown>, faults: Faults) => Result;

/** `decode`: from JSON to the handler. `encode`: from the handler to JSON. */
export type Direction = "decode" | "encode";

/** Compiles the schemas inside a keyword, for the compiler of that keyword. */
export interface Compiler {
  readonly direction: Direction;
  compile(schema: JSONSchema): Check;
  compileWrite(schema: JSONSchema): Write;
  /** Follows the schema's reference, where it is one. */
  resolve(schema: JSONSchema): JSONSchema;
  /** Compiles the default of a property, once everything else is there: it is checked, and may be of a recursive struct. */
  compileDefault(key: string, schema: JSONSchema, use: (make: () => unknown) => void): void;
}

/** An object as JSON has it, and nothing that has a meaning of its own. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Equality of JSON values by JSON Schema §4.2.2. */
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
