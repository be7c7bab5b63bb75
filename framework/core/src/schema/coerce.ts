/** Strings of parameters, converted to the type that a schema declares. @module */
import { compileCheck, withOwnMessage } from "./compile.js";
import type { SchemaCheck } from "./check.js";
import type { Faults } from "./faults.js";
import { isArraySchema, isObjectSchema, type JSONSchema, listItems, resolveRef, unionMembers } from "./json-schema.js";
import { type CoerceText, coerceBoolean, coerceInteger, coerceNumber, keepText } from "./scalars.js";

/** The strings that were sent under one name. */
export interface SentTexts {
  /** The only string, unchanged; `undefined` if the name was repeated. */
  readonly whole: string | undefined;
  /** The items of an array. */
  readonly items: readonly string[];
}

type CoerceTexts = (sent: SentTexts, faults: Faults) => unknown;

/** The conversion of values with one name: of the last string, or of everything that was sent. */
export type Coerce =
  | { readonly isList: false; readonly convert: CoerceText }
  | { readonly isList: true; readonly convert: CoerceTexts };

/** The unchanged string. */
export const PLAIN: Coerce = { isList: false, convert: keepText };

/** Facts that do not change inside a schema. */
export interface CoerceOptions {
  /** `true`: a string that cannot be converted is left unchanged for the check, and is not an error. */
  readonly keepsUnread: boolean;
}

/** Fixed values: the first one that the text spells, or the text itself, which the check then refuses. */
function coerceEnum(values: readonly unknown[]): CoerceText {
  const spelt = values.filter((value) => value !== null && typeof value !== "object");
  const byText = new Map(spelt.toReversed().map((value) => [String(value), value]));
  return (text) => (byText.has(text) ? byText.get(text) : text);
}

/** One member of a union. */
interface Member<Sent> {
  readonly convert: (sent: Sent, faults: Faults) => unknown;
  readonly check: SchemaCheck;
}

/** The value of the first member that can convert and validate it. */
function coerceFirst<Sent>(members: readonly Member<Sent>[], unread: (sent: Sent) => unknown): Member<Sent>["convert"] {
  return (sent, faults) => {
    const before = faults.count;
    for (const { convert, check } of members) {
      const value = convert(sent, faults);
      if (faults.count === before) check(value, faults);
      if (faults.count === before) return value;
      faults.rollback(before);
    }
    return unread(sent);
  };
}

/** A scalar in a union with an array: a repeated name can only be the array. */
function ofWhole({ isList, convert }: Coerce): CoerceTexts {
  if (isList) return convert;
  return (sent, faults) =>
    sent.whole === undefined ? faults.add("string_type", "Input should be one text") : convert(sent.whole, faults);
}

/** The types that a text is not already a value of. */
const COERCE_TYPE: ReadonlyMap<unknown, CoerceText | null> = new Map<unknown, CoerceText | null>([
  ["integer", coerceInteger],
  ["number", coerceNumber],
  ["boolean", coerceBoolean],
  ["array", null],
]);

/** The values of a schema that lists them; `undefined` for any other. */
export function fixedValues(schema: JSONSchema): readonly unknown[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  const members = unionMembers(schema);
  return members?.every((member) => member.const !== undefined) ? members.map((member) => member.const) : undefined;
}

/** The members of a union, including one that is written as a list of types. */
function membersOf(schema: JSONSchema): readonly JSONSchema[] | undefined {
  const { type } = schema;
  if (!Array.isArray(type)) return unionMembers(schema);
  // Without its symbols: a transform converts the whole value.
  const own = Object.fromEntries(Object.entries(schema));
  return type.map((one) => ({ ...own, type: one }));
}

/** The schema that a reference leads to, and the one in which its own references are looked up. */
export function follow(schema: JSONSchema, outer: JSONSchema): readonly [JSONSchema, root: JSONSchema] {
  const root = schema.$defs || schema.definitions ? schema : outer;
  let current = schema;
  for (let steps = 0; current.$ref !== undefined && steps < 32; steps++) current = resolveRef(current.$ref, root) ?? {};
  return [current, root];
}

/** Compiles the conversions of one schema and of everything in it. */
class Coercion {
  readonly #keepsUnread: boolean;

  constructor({ keepsUnread }: CoerceOptions) {
    this.#keepsUnread = keepsUnread;
  }

  /** Compiles the conversion of the strings of one name, or of one item of an array, which cannot be an array. */
  compile(schema: JSONSchema, outer: JSONSchema, isItem = false): Coerce | null {
    const [resolved, root] = follow(schema, outer);
    if (isArraySchema(resolved)) return isItem ? null : this.#ofArray(resolved, root);
    const coerce = this.#ofResolved(resolved, root, isItem);
    return coerce === null || coerce.isList || coerce.convert === keepText
      ? coerce
      : { isList: false, convert: withOwnMessage(resolved, coerce.convert) };
  }

  #ofItem(schema: JSONSchema, outer: JSONSchema): CoerceText | null {
    const coerce = this.compile(schema, outer, true);
    return coerce === null || coerce.isList ? null : coerce.convert;
  }

  #ofResolved(schema: JSONSchema, root: JSONSchema, isItem: boolean): Coerce | null {
    const values = fixedValues(schema);
    if (values) return { isList: false, convert: coerceEnum(values) };
    const members = membersOf(schema);
    if (members) return this.#ofUnion(members, root, isItem);
    if (isObjectSchema(schema)) return null;
    const { type } = schema;
    if (type !== undefined) return this.#ofType(type);
    const parts = (schema.allOf ?? []).map((member) => this.#ofItem(member, root));
    if (parts.includes(null)) return null;
    return { isList: false, convert: parts.find((part) => part !== null && part !== keepText) ?? keepText };
  }

  #ofType(type: unknown): Coerce | null {
    const convert = COERCE_TYPE.get(type);
    if (convert === undefined) return PLAIN;
    if (convert === null) return null;
    return { isList: false, convert: this.#keepsUnread ? keepUnread(convert) : convert };
  }

  #ofUnion(members: readonly JSONSchema[], root: JSONSchema, isItem: boolean): Coerce | null {
    const readable = members.flatMap((member) => {
      const coerce = member.type === "null" ? null : this.compile(member, root, isItem);
      return coerce ? [{ member, coerce }] : [];
    });
    if (readable.length < 2) return readable[0]?.coerce ?? null;
    if (readable.every(({ coerce }) => coerce.convert === keepText)) return PLAIN;
    const checkOf = (member: JSONSchema) => compileCheck(member, "decode", root);
    const texts = readable.flatMap(({ member, coerce }) =>
      coerce.isList ? [] : [{ convert: coerce.convert, check: checkOf(member) }],
    );
    if (texts.length === readable.length) return { isList: false, convert: coerceFirst(texts, (text) => text) };
    const all = readable.map(({ member, coerce }) => ({ convert: ofWhole(coerce), check: checkOf(member) }));
    return { isList: true, convert: coerceFirst(all, ({ whole, items }) => whole ?? items) };
  }

  #ofArray(schema: JSONSchema, root: JSONSchema): Coerce | null {
    const items = listItems(schema);
    const rest = typeof items.rest === "object" ? this.#ofItem(items.rest, root) : keepText;
    const prefix = (items.prefix ?? []).map((item) => this.#ofItem(item, root));
    const isReadable = (coerce: CoerceText | null): coerce is CoerceText => coerce !== null;
    if (!isReadable(rest) || !prefix.every(isReadable)) return null;
    return {
      isList: true,
      convert: ({ items: texts }, faults) => {
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
}

/** Leaves a text that cannot be converted to the check. */
function keepUnread(convert: CoerceText): CoerceText {
  return (text, faults) => {
    const before = faults.count;
    const value = convert(text, faults);
    if (faults.count === before) return value;
    faults.rollback(before);
    return text;
  };
}

/**
 * Compiles how the texts under one name become a value.
 *
 * @param outer - The schema in which references are looked up.
 * @returns `null` if strings cannot become a value, as for an object.
 */
export function compileCoerce(schema: JSONSchema, outer: JSONSchema, options: CoerceOptions): Coerce | null {
  return new Coercion(options).compile(schema, outer);
}
