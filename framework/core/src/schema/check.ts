/** The types of compiled schemas. @module */
import type { Faults } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";

/** A compiled schema: converts a value, and adds its errors to `faults`. */
export type Run<Result> = (value: unknown, faults: Faults) => Result;

/**
 * One compiled schema in one direction. Returns the value in the form for the other side (unknown keys removed,
 * defaults filled in, dates converted) and adds its errors to `faults`; if it adds an error, the result is undefined.
 */
export type SchemaCheck = Run<unknown>;

/**
 * One compiled schema of results: checks a value, cuts it and writes it as JSON in one pass, `undefined` for what JSON
 * leaves out. If it adds an error, the text is undefined.
 */
export type Write = Run<string | undefined>;

/** Expressions over `item` for generated code, by which most values of a scalar need no call. */
export interface PlainValue {
  /** Tells if the check returns a value unchanged, and, for a result, whether its JSON text is {@link text}. */
  readonly test: string;
  readonly text: string;
}

/** One named property of a struct, to be checked or to be written. */
export interface Property {
  readonly key: string;
  readonly take: SchemaCheck | Write;
  /** The path of most values in generated code, or `null`. */
  readonly plain: PlainValue | null;
  /** `true` if `take` returns JSON text. */
  readonly isText: boolean;
  readonly isRequired: boolean;
  /** Creates the default, or `null`. */
  makeDefault: (() => unknown) | null;
  /** `true` for a name that every object has from its prototype, as `constructor`: then only an own one counts. */
  readonly isInherited: boolean;
}

/** Makes an object of the properties of another. */
export type Fill = (value: Record<string, unknown>, faults: Faults) => Record<string, unknown>;

/** `decode`: from JSON to the handler. `encode`: from the handler to JSON. */
export type CompileDirection = "decode" | "encode";

/** Compiles the schemas inside a keyword, for the compiler of that keyword. */
export interface Compiler {
  readonly direction: CompileDirection;
  compile(schema: JSONSchema): SchemaCheck;
  /** Compiles a schema whose check few processes need, with the first value. */
  compileLate(schema: JSONSchema): SchemaCheck;
  /** Gives `null` where the checked value is to be written as a whole. */
  compileWrite(schema: JSONSchema): Write | null;
  /** Follows the schema's reference, if it is one. */
  resolve(schema: JSONSchema): JSONSchema;
  /** Compiles the default of a property, once everything else is there: it is checked, and may be of a recursive struct. */
  compileDefault(key: string, schema: JSONSchema, use: (make: () => unknown) => void): void;
}

/** An object as in JSON, without special meanings. */
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
