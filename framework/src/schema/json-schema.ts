/** The part of JSON Schema (draft 2020-12 and draft-07) that is read here. TypeBox schemas have this shape. */
export interface JSONSchema {
  $id?: string;
  $ref?: string;
  $defs?: Record<string, JSONSchema>;
  definitions?: Record<string, JSONSchema>;
  title?: string;
  description?: string;
  default?: unknown;
  examples?: unknown;
  deprecated?: boolean;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JSONSchema[];
  oneOf?: JSONSchema[];
  allOf?: JSONSchema[];
  not?: JSONSchema;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  items?: JSONSchema | JSONSchema[] | boolean;
  prefixItems?: JSONSchema[];
  additionalItems?: JSONSchema | boolean;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  contains?: JSONSchema;
  minContains?: number;
  maxContains?: number;
  properties?: Record<string, JSONSchema>;
  required?: string[];
  additionalProperties?: JSONSchema | boolean;
  patternProperties?: Record<string, JSONSchema>;
  unevaluatedProperties?: JSONSchema | boolean;
  propertyNames?: JSONSchema;
  minProperties?: number;
  maxProperties?: number;
  [keyword: string]: unknown;
}

/** Whether the schema says that it is an object, by its type or by its properties. */
export function isObjectSchema(schema: JSONSchema): boolean {
  return schema.type === "object" || (schema.type === undefined && schema.properties !== undefined);
}

/** The members of a union, whichever keyword it is written with. */
export function unionMembers(schema: JSONSchema): readonly JSONSchema[] | undefined {
  return schema.anyOf ?? schema.oneOf;
}

/** Follows `$ref` within the document whose root is `root`: `#`, `#/$defs/X`, an `$id`, or the name of a definition. */
export function resolveRef(ref: string, root: JSONSchema): JSONSchema | undefined {
  if (ref === "#" || ref === root.$id) return root;
  if (ref.startsWith("#/")) {
    let node: unknown = root;
    for (const part of ref.slice(2).split("/")) {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
      node = (node as Record<string, unknown>)[key];
    }
    return node as JSONSchema;
  }
  const definitions = root.$defs ?? root.definitions;
  if (definitions && Object.hasOwn(definitions, ref)) return definitions[ref];
  return undefined;
}
