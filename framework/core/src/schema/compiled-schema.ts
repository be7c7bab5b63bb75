/** A compiled schema and what registration reads from it. @module */
import type { SchemaCheck } from "./check.js";
import { type Coerce, compileCoerce, PLAIN } from "./coerce.js";
import type { Faults } from "./faults.js";
import { isArraySchema, isObjectSchema, type JSONSchema, listItems, resolveRef, unionMembers } from "./json-schema.js";

/** A schema with everything that registration learns about it. Rarely needed parts are computed on access. */
export class CompiledSchema {
  /** As JSON Schema, for documents; `null` if a Standard Schema does not provide it. */
  readonly json: JSONSchema | null;
  /** Checks a value and returns it in the form for the handler. */
  readonly check: SchemaCheck;
  /** `true` where `check` may give a promise, as a Standard Schema that checks asynchronously does. */
  readonly maySuspend: boolean;
  /** Returns the replacement of an absent value, or the error `missing`; `null` if neither exists. */
  readonly absent: ((faults: Faults) => unknown) | null;
  readonly #shape: JSONSchema | null;
  #properties: ReadonlyMap<string, JSONSchema> | null | undefined;

  /** @param shape - The parts of `json` that are used here, or `null`. */
  constructor(
    json: JSONSchema | null,
    shape: JSONSchema | null,
    options: Pick<CompiledSchema, "check" | "maySuspend" | "absent">,
  ) {
    this.json = json;
    this.check = options.check;
    this.maySuspend = options.maySuspend;
    this.absent = options.absent;
    this.#shape = shape;
  }

  /** `true` where a bare schema of this shape is the body: an object, or lists, unions, intersections of objects. */
  get isStruct(): boolean {
    return this.#shape !== null && isStruct(this.#shape);
  }

  /** The properties of an object schema by name, each as a separate schema; `null` for any other schema. */
  get properties(): ReadonlyMap<string, JSONSchema> | null {
    if (this.#properties === undefined) {
      this.#properties = this.#shape && propertiesIn(this.#shape);
    }
    return this.#properties;
  }

  /** `true` for an object schema that refuses other names. */
  get isClosed(): boolean {
    return this.#shape !== null && isClosed(this.#shape);
  }

  /** Compiles the conversion of strings to a value for `check`; `null` if strings cannot become one. */
  coerce(): Coerce | null {
    return this.#shape ? this.coerceProperty(this.#shape) : PLAIN;
  }

  /** The same for one property of an object schema. */
  coerceProperty(property: JSONSchema): Coerce | null {
    // Another library has its own messages, and values that replace an invalid one: it gets the string.
    return compileCoerce(property, this.#shape ?? property, { keepsUnread: this.maySuspend });
  }
}

function target(json: JSONSchema, root: JSONSchema): JSONSchema {
  return json.$ref === undefined ? json : (resolveRef(json.$ref, root) ?? {});
}

/** The properties of an object schema, or of an intersection of some; `null` for any other schema. */
export function propertiesIn(schema: JSONSchema): ReadonlyMap<string, JSONSchema> | null {
  const parts = fieldsOf(schema, schema);
  return parts && new Map(parts.flatMap((part) => Object.entries(part.properties ?? {})));
}

/** The objects whose properties an object schema has: itself, or the members of an intersection. */
function fieldsOf(json: JSONSchema, root: JSONSchema): readonly JSONSchema[] | null {
  const schema = target(json, root);
  if (schema.allOf) {
    const members = schema.allOf.map((member) => fieldsOf(member, root));
    return members.includes(null) ? null : members.flatMap((member) => member ?? []);
  }
  return isObjectSchema(schema) && schema.properties ? [schema] : null;
}

function isClosed(json: JSONSchema): boolean {
  const { additionalProperties, unevaluatedProperties } = target(json, json);
  return additionalProperties === false || unevaluatedProperties === false;
}

/** A reference counts as a struct, wherever it leads. */
function isStruct(json: JSONSchema): boolean {
  if (json.$ref !== undefined || isObjectSchema(json)) return true;
  const { prefix, rest } = listItems(json);
  const parts = isArraySchema(json)
    ? [...(prefix ?? []), rest].filter((item) => typeof item === "object")
    : (unionMembers(json) ?? json.allOf ?? []).filter((member) => member.type !== "null");
  return parts.length > 0 && parts.every(isStruct);
}
