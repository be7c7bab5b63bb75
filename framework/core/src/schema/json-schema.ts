/** The keywords of JSON Schema that are supported. @module */

type Of<Value, Keywords extends string> = { [K in Keywords]?: Value };

type TextKeywords = "$id" | "$ref" | "title" | "description" | "format" | "pattern";

type NumberKeywords =
  | ("minLength" | "maxLength" | "minItems" | "maxItems" | "minContains" | "maxContains" | "minProperties")
  | ("maxProperties" | Bound | `${Bound}Timestamp`);

/**
 * Bounds of a number. TypeBox's `t.Date` has the same names with the suffix `Timestamp`, in milliseconds since 1970.
 */
export type Bound = "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf";

type ListKeywords = "anyOf" | "oneOf" | "allOf" | "prefixItems";

type FlagOrSchemaKeywords = "additionalItems" | "additionalProperties" | "unevaluatedProperties";

type MapKeywords = "$defs" | "definitions" | "properties" | "patternProperties";

/** The part of JSON Schema (draft 2020-12 and draft-07) that is read here. TypeBox schemas have this shape. */
export interface JSONSchema
  extends
    Of<string, TextKeywords>,
    Of<number, NumberKeywords>,
    Of<boolean, "deprecated" | "readOnly" | "uniqueItems" | "writeOnly">,
    Of<JSONSchema[], ListKeywords>,
    Of<JSONSchema, "not" | "contains" | "propertyNames">,
    Of<JSONSchema | boolean, FlagOrSchemaKeywords>,
    Of<Record<string, JSONSchema>, MapKeywords> {
  type?: string | string[];
  enum?: unknown[];
  required?: string[];
  items?: JSONSchema | JSONSchema[] | boolean;
  [keyword: string]: unknown;
}

/** The types that the schema allows, except for null. */
function typesOf({ type }: JSONSchema): readonly string[] {
  if (typeof type === "string") return type === "null" ? [] : [type];
  return type?.filter((one) => one !== "null") ?? [];
}

/** Tells the schema of an object, by its type or by its properties. */
export function isObjectSchema(schema: JSONSchema): boolean {
  const types = typesOf(schema);
  return types.length === 0 ? schema.properties !== undefined : types.every((type) => type === "object");
}

export function isArraySchema(schema: JSONSchema): boolean {
  const types = typesOf(schema);
  return types.length > 0 && types.every((type) => type === "array");
}

const SAYS_TYPE = ["type", "properties", "const", "enum", "$ref", "anyOf", "oneOf", "allOf"];

/** Tells a schema that restricts the type of a value in one way or another. */
export function saysType(schema: JSONSchema): boolean {
  return SAYS_TYPE.some((keyword) => schema[keyword] !== undefined);
}

/** The members of a union, written with any keyword. */
export function unionMembers(schema: JSONSchema): readonly JSONSchema[] | undefined {
  return schema.anyOf ?? schema.oneOf;
}

/** Keywords that decide what fits, and that no check is compiled for. */
export const UNREAD_KEYWORDS: ReadonlySet<string> = new Set(
  "if then else dependentRequired dependentSchemas dependencies unevaluatedItems".split(" "),
);

/** The schemas of a list's items. */
export interface ListItems {
  /** Those of the first items, by position; `null` for a list other than a tuple. */
  readonly prefix: readonly JSONSchema[] | null;
  /** The schema of the items after them; `false` if they are not allowed. */
  readonly rest: JSONSchema | boolean | undefined;
}

/** A tuple has `items` and `additionalItems` in draft-07, `prefixItems` and `items` in 2020-12. */
export function listItems({ prefixItems, items, additionalItems }: JSONSchema): ListItems {
  if (Array.isArray(items)) return { prefix: prefixItems ?? items, rest: prefixItems ? undefined : additionalItems };
  return { prefix: prefixItems ?? null, rest: items };
}

/** The symbol under which TypeBox keeps the two functions of `t.Transform`. */
const TRANSFORM: unique symbol = Symbol.for("TypeBox.Transform");

/** The two halves of TypeBox's `t.Transform`. */
export interface Transform {
  Decode(value: unknown): unknown;
  Encode(value: unknown): unknown;
}

/** The conversion that `t.Transform` put on the schema. */
export function transformOf(schema: JSONSchema & { [TRANSFORM]?: Transform }): Transform | undefined {
  return schema[TRANSFORM];
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The key in a part of a JSON pointer (RFC 6901 §6). Zod does not encode its `%`, which is then invalid. */
export function pointerKey(part: string): string {
  try {
    return unescapePointer(decodeURIComponent(part));
  } catch {
    return unescapePointer(part);
  }
}

/** Follows `$ref` within the document whose root is `root`: `#`, `#/$defs/X`, an `$id`, or the name of a definition. */
export function resolveRef(ref: string, root: JSONSchema): JSONSchema | undefined {
  if (ref === "#" || ref === root.$id) return root;
  if (ref.startsWith("#/")) {
    let node: unknown = root;
    for (const part of ref.slice(2).split("/")) {
      if (typeof node !== "object" || node === null) return undefined;
      const verbatim = unescapePointer(part);
      const key = Object.hasOwn(node, verbatim) ? verbatim : pointerKey(part);
      if (!Object.hasOwn(node, key)) return undefined;
      node = Reflect.get(node, key);
    }
    return node as JSONSchema;
  }
  const definitions = root.$defs ?? root.definitions;
  if (definitions && Object.hasOwn(definitions, ref)) return definitions[ref];
  return undefined;
}
