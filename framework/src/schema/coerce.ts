import type { Faults } from "./faults.js";
import { type JSONSchema, resolveRef, unionMembers } from "./json-schema.js";

/** Turns the texts of one parameter (a repeated query key gives several) into the value that its schema describes. */
export type Coerce = (texts: readonly string[], faults: Faults) => unknown;

/** Turns one text into a value. */
type CoerceText = (text: string, faults: Faults) => unknown;

const INTEGER = /^[+-]?\d+$/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["on", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["off", false],
  ["no", false],
]);

function coerceInteger(text: string, faults: Faults): number | undefined {
  if (!INTEGER.test(text)) return faults.add("int_parsing", "Input should be a valid integer", text);
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    return faults.add("int_size", "Input should be an integer from -(2^53 - 1) to 2^53 - 1", text);
  }
  return value + 0;
}

function coerceNumber(text: string, faults: Faults): number | undefined {
  if (!NUMBER.test(text)) return faults.add("float_parsing", "Input should be a valid number", text);
  const value = Number(text);
  return Number.isFinite(value) ? value : faults.add("finite_number", "Input should be a finite number", text);
}

function coerceBoolean(text: string, faults: Faults): boolean | undefined {
  const value = BOOLEANS.get(text) ?? BOOLEANS.get(text.toLowerCase());
  return value ?? faults.add("bool_parsing", "Input should be a valid boolean", text);
}

const keepText: CoerceText = (text) => text;

/** A list of fixed values: the one that the text spells, or the text itself, which the check then refuses. */
function coerceEnum(values: readonly unknown[]): CoerceText {
  const byText = new Map(values.map((value) => [String(value), value]));
  return (text) => (byText.has(text) ? byText.get(text) : text);
}

/** The first member that takes the text, numbers and booleans before plain text. */
function coerceUnion(members: readonly JSONSchema[], root: JSONSchema): CoerceText {
  const coercers = members
    .filter((member) => member.type !== "null")
    .map((member) => coerceText(member, root))
    .toSorted((left, right) => Number(left === keepText) - Number(right === keepText));
  if (coercers.length === 1) return coercers[0] as CoerceText;
  return (text, faults) => {
    for (const coerce of coercers) {
      const attempt = faults.attempt();
      const value = coerce(text, attempt);
      if (attempt.count === 0) return value;
    }
    return text;
  };
}

function coerceText(schema: JSONSchema, root: JSONSchema): CoerceText {
  const resolved = follow(schema, root);
  const members = unionMembers(resolved);
  if (resolved.const !== undefined) return coerceEnum([resolved.const]);
  if (resolved.enum) return coerceEnum(resolved.enum);
  if (members?.every((member) => member.const !== undefined)) {
    return coerceEnum(members.map((member) => member.const));
  }
  if (members) return coerceUnion(members, root);
  if (Array.isArray(resolved.type)) {
    return coerceUnion(
      resolved.type.map((type) => ({ ...resolved, type })),
      root,
    );
  }
  switch (resolved.type) {
    case "integer":
      return coerceInteger;
    case "number":
      return coerceNumber;
    case "boolean":
      return coerceBoolean;
    case undefined: {
      const only = resolved.allOf?.[0];
      return only ? coerceText(only, root) : keepText;
    }
    default:
      return keepText;
  }
}

function follow(schema: JSONSchema, root: JSONSchema): JSONSchema {
  let current = schema;
  for (let steps = 0; current.$ref !== undefined && steps < 32; steps++) {
    current = resolveRef(current.$ref, root) ?? {};
  }
  return current;
}

/** Whether texts of one name go into a list. */
export function isListSchema(schema: JSONSchema): boolean {
  const resolved = follow(schema, schema);
  if (resolved.type === "array") return true;
  return unionMembers(resolved)?.some((member) => member.type === "array") ?? false;
}

/** Compiles how the texts under one name become a value. A scalar takes the last text, a list takes them all. */
export function compileCoerce(schema: JSONSchema): Coerce {
  if (!isListSchema(schema)) {
    const coerce = coerceText(schema, schema);
    return (texts, faults) => coerce(texts[texts.length - 1] as string, faults);
  }
  const resolved = follow(schema, schema);
  const list =
    resolved.type === "array" ? resolved : (unionMembers(resolved)?.find((one) => one.type === "array") ?? {});
  const prefix = list.prefixItems ?? (Array.isArray(list.items) ? list.items : []);
  const rest = typeof list.items === "object" && !Array.isArray(list.items) ? coerceText(list.items, schema) : keepText;
  const coercers = prefix.map((item) => coerceText(item, schema));
  return (texts, faults) => {
    const values: unknown[] = [];
    for (let index = 0; index < texts.length && !faults.full; index++) {
      const before = faults.count;
      values.push((coercers[index] ?? rest)(texts[index] as string, faults));
      faults.within(before, index);
    }
    return values;
  };
}
