/** Strings of parameters, converted to the type that a schema declares. @module */
import { compileCheck, withOwnMessage } from "./compile.js";
import type { Faults } from "./faults.js";
import { isArraySchema, isObjectSchema, type JSONSchema, listItems, resolveRef, unionMembers } from "./json-schema.js";
import { type CoerceText, coerceBoolean, coerceInteger, coerceNumber, keepText } from "./scalars.js";

/** The conversion of values with one name: of the last string, or of every string of an array. */
export type Coerce =
  | { readonly isList: false; readonly convert: CoerceText }
  | { readonly isList: true; readonly convert: (texts: readonly string[], faults: Faults) => unknown };

/** The unchanged string. */
export const PLAIN: Coerce = { isList: false, convert: keepText };

/** Fixed values: the one that the text spells, or the text itself, which the check then refuses. */
function coerceEnum(values: readonly unknown[]): CoerceText {
  const spelt = values.filter((value) => value !== null && typeof value !== "object");
  const byText = new Map(spelt.map((value) => [String(value), value]));
  return (text) => (byText.has(text) ? byText.get(text) : text);
}

/** The first member that accepts the string and its converted value; plain text is tried last. */
function coerceUnion(schema: JSONSchema, members: readonly JSONSchema[], root: JSONSchema): CoerceText | null {
  const readable = members
    .filter((member) => member.type !== "null")
    .map((member) => coerceText(member, root))
    .filter((coerce) => coerce !== null);
  const coercers = readable.toSorted((left, right) => Number(left === keepText) - Number(right === keepText));
  const [first = null] = coercers;
  if (coercers.length < 2) return first;
  const check = compileCheck(schema, "decode", root);
  return (text, faults) => {
    const before = faults.count;
    for (const coerce of coercers) {
      const value = coerce(text, faults);
      if (faults.count === before) check(value, faults);
      if (faults.count === before) return value;
      faults.rollback(before);
    }
    return text;
  };
}

/** Compiles the conversion of one string; `null` if strings cannot become a value, as for an object. */
function coerceText(schema: JSONSchema, outer: JSONSchema): CoerceText | null {
  const [resolved, root] = follow(schema, outer);
  const coerce = coerceResolved(resolved, root);
  return coerce === null || coerce === keepText ? coerce : withOwnMessage(resolved, coerce);
}

function coerceResolved(resolved: JSONSchema, root: JSONSchema): CoerceText | null {
  const values = fixedValues(resolved);
  if (values) return coerceEnum(values);
  const { type } = resolved;
  const members =
    unionMembers(resolved) ?? (Array.isArray(type) ? type.map((one) => ({ ...resolved, type: one })) : null);
  if (members) return coerceUnion(resolved, members, root);
  if (isObjectSchema(resolved)) return null;
  if (type !== undefined) return COERCE_TYPE.get(type) ?? (COERCE_TYPE.has(type) ? null : keepText);
  const parts = (resolved.allOf ?? []).map((member) => coerceText(member, root));
  return parts.includes(null) ? null : (parts.find((part) => part !== keepText) ?? keepText);
}

/** The types that a text is not already a value of. */
const COERCE_TYPE: ReadonlyMap<unknown, CoerceText | null> = new Map<unknown, CoerceText | null>([
  ["integer", coerceInteger],
  ["number", coerceNumber],
  ["boolean", coerceBoolean],
  ["array", null],
]);

/** The values of a schema that lists them; `undefined` for any other. */
function fixedValues(schema: JSONSchema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  const members = unionMembers(schema);
  return members?.every((member) => member.const !== undefined) ? members.map((member) => member.const) : undefined;
}

/** The schema that a reference leads to, and the one in which its own references are looked up. */
function follow(schema: JSONSchema, outer: JSONSchema): readonly [JSONSchema, root: JSONSchema] {
  const root = schema.$defs || schema.definitions ? schema : outer;
  let current = schema;
  for (let steps = 0; current.$ref !== undefined && steps < 32; steps++) current = resolveRef(current.$ref, root) ?? {};
  return [current, root];
}

/** The list that the schema describes, itself or as a member of a union. */
function listOf(schema: JSONSchema, root: JSONSchema): JSONSchema | undefined {
  if (isArraySchema(schema)) return schema;
  return unionMembers(schema)
    ?.map((member) => follow(member, root)[0])
    .find(isArraySchema);
}

/**
 * Compiles how the texts under one name become a value.
 *
 * @param outer - The schema in which references are looked up. Defaults to itself.
 * @returns `null` if strings cannot become a value, as for an object.
 */
export function compileCoerce(schema: JSONSchema, outer: JSONSchema = schema): Coerce | null {
  const [resolved, root] = follow(schema, outer);
  const list = listOf(resolved, root);
  if (!list) {
    const text = coerceText(schema, outer);
    return text && { isList: false, convert: text };
  }
  const items = listItems(list);
  const rest = typeof items.rest === "object" ? coerceText(items.rest, root) : keepText;
  const prefix = (items.prefix ?? []).map((item) => coerceText(item, root));
  const isReadable = (coerce: CoerceText | null): coerce is CoerceText => coerce !== null;
  if (!isReadable(rest) || !prefix.every(isReadable)) return null;
  return {
    isList: true,
    convert: (texts, faults) => {
      const values: unknown[] = [];
      for (let index = 0; index < texts.length && !faults.full; index++) {
        const before = faults.count;
        values.push((prefix[index] ?? rest)(texts[index] ?? "", faults));
        if (faults.count > before) faults.within(before, index);
      }
      return values;
    },
  };
}
