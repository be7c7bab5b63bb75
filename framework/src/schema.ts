/** Schemas: what they describe, how values are checked against them, cut, converted and written as JSON. @module */
import { type OptionalKind, type TSchema, Type } from "@sinclair/typebox";
import { ConfigurationError } from "./exceptions.js";
import type { Check } from "./schema/check.js";
import { compileCheck } from "./schema/compile.js";
import { type Coerce, compileCoerce, isListSchema } from "./schema/coerce.js";
import { Faults } from "./schema/faults.js";
import { isObjectSchema, type JSONSchema, resolveRef, unionMembers } from "./schema/json-schema.js";
import {
  addIssues,
  isStandardSchema,
  standardJSONSchema,
  type StandardResult,
  type StandardSchema,
  withoutJSONSchema,
} from "./schema/standard.js";

export { type Coerce, compileCoerce } from "./schema/coerce.js";
export { Faults } from "./schema/faults.js";
export { isObjectSchema, type JSONSchema, resolveRef, unionMembers } from "./schema/json-schema.js";
export { isStandardSchema, type StandardSchema } from "./schema/standard.js";
export type { Static, TSchema } from "@sinclair/typebox";

/**
 * TypeBox's schema builder.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 *
 * const User = t.Object({ username: t.String({ minLength: 1 }), disabled: t.Boolean({ default: false }) });
 * ```
 * @see {@link https://github.com/sinclairzx81/typebox}
 */
export const t: typeof Type = Type;

/** A TypeBox schema, or a schema of any library that implements Standard Schema. */
export type Schema = TSchema | StandardSchema;

/** The type of the value that a handler gets for a schema. */
export type SchemaOutput<S> = S extends { static: infer O }
  ? S extends { [OptionalKind]: "Optional" }
    ? O | undefined
    : O
  : S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } }
    ? O
    : never;

/** The type of the value that a handler may return for a schema. */
export type SchemaInput<S> = S extends { static: infer O }
  ? O
  : S extends { readonly "~standard": { readonly types?: { readonly input: infer I } | undefined } }
    ? I
    : never;

const KIND = Symbol.for("TypeBox.Kind");
const OPTIONAL = Symbol.for("TypeBox.Optional");

/** Whether the value is a schema of either family. */
export function isSchema(value: unknown): value is Schema {
  return isStandardSchema(value) || (typeof value === "object" && value !== null && KIND in value);
}

/** A schema with everything that registration learns about it. */
export interface CompiledSchema {
  /** As JSON Schema, for documents and coercion; `null` when a Standard Schema gives none. */
  readonly json: JSONSchema | null;
  /** Whether a bare schema of this shape is the body: an object, or lists, unions, intersections of objects. */
  readonly isStruct: boolean;
  /** Whether a repeated key fills a list. */
  readonly isList: boolean;
  /** Whether the value may be left out and is then `undefined` (`t.Optional`). */
  readonly isOptional: boolean;
  /** Whether there is a default in the schema itself. */
  readonly hasDefault: boolean;
  /** The default in the schema itself. */
  readonly defaultValue: unknown;
  /** From texts to a value, which `check` then looks at. */
  readonly coerce: Coerce;
  /** Checks a value and gives it as the handler gets it. A promise only for a Standard Schema that checks so. */
  readonly check: (value: unknown, faults: Faults) => unknown;
  /** The properties of an object schema by name, each with a schema of its own; `null` for any other. */
  readonly properties: ReadonlyMap<string, JSONSchema> | null;
}

const compiledSchemas = new WeakMap<object, CompiledSchema>();

/**
 * Compiles a schema, once for each schema object.
 *
 * @throws ConfigurationError when it has no JSON form, or names a format, type or reference that is not known.
 */
export function compileSchema(schema: Schema): CompiledSchema {
  let compiled = compiledSchemas.get(schema);
  if (!compiled) {
    compiled = isStandardSchema(schema) ? compileStandard(schema) : compileTypeBox(schema);
    compiledSchemas.set(schema, compiled);
  }
  return compiled;
}

function compileTypeBox(schema: TSchema): CompiledSchema {
  const json: JSONSchema = schema;
  return {
    json,
    isStruct: isStruct(json, json),
    isList: isListSchema(json),
    isOptional: OPTIONAL in schema,
    hasDefault: Object.hasOwn(schema, "default"),
    defaultValue: schema.default,
    coerce: compileCoerce(json),
    check: compileCheck(json, "decode"),
    properties: propertiesOf(json),
  };
}

function compileStandard(schema: StandardSchema): CompiledSchema {
  const json = standardJSONSchema(schema, "input");
  const { validate } = schema["~standard"];
  const absent = validate(undefined);
  const takesAbsence = !(absent instanceof Promise) && !absent.issues;
  const defaultValue = takesAbsence ? (absent as { value: unknown }).value : undefined;
  return {
    json,
    isStruct: json !== null && isStruct(json, json),
    isList: json !== null && isListSchema(json),
    isOptional: takesAbsence && defaultValue === undefined,
    hasDefault: takesAbsence && defaultValue !== undefined,
    defaultValue,
    coerce: json ? compileCoerce(json) : (texts) => texts[texts.length - 1],
    check(value, faults) {
      const result = validate(value);
      return result instanceof Promise
        ? result.then((settled: StandardResult) => addIssues(settled, faults, value))
        : addIssues(result, faults, value);
    },
    properties: json && propertiesOf(json),
  };
}

function propertiesOf(json: JSONSchema): Map<string, JSONSchema> | null {
  const target = json.$ref === undefined ? json : (resolveRef(json.$ref, json) ?? json);
  if (target.allOf?.every(isObjectSchema)) {
    return new Map(target.allOf.flatMap((member) => Object.entries(member.properties ?? {})));
  }
  return isObjectSchema(target) ? new Map(Object.entries(target.properties ?? {})) : null;
}

function isStruct(json: JSONSchema, root: JSONSchema): boolean {
  if (json.$ref !== undefined) return true;
  if (isObjectSchema(json)) return true;
  if (json.type === "array" && typeof json.items === "object" && !Array.isArray(json.items)) {
    return isStruct(json.items, root);
  }
  const members = (unionMembers(json) ?? json.allOf)?.filter((member) => member.type !== "null");
  return members !== undefined && members.length > 0 && members.every((member) => isStruct(member, root));
}

/** A schema as JSON Schema, of what is sent or of what is received; `null` when a Standard Schema gives none. */
export function toJSONSchema(schema: Schema, side: "input" | "output"): JSONSchema | null {
  return isStandardSchema(schema) ? standardJSONSchema(schema, side) : schema;
}

/** Checks a handler's result against `returns` and gives what may leave the process. */
export type CompiledReturns = (value: unknown, faults: Faults) => unknown;

const compiledReturns = new WeakMap<object, CompiledReturns>();

/**
 * Compiles the schema of a result, once for each schema object: what it does not name is cut.
 *
 * @throws ConfigurationError when a Standard Schema gives no JSON Schema, because then nothing says what to cut.
 */
export function compileReturns(schema: Schema): CompiledReturns {
  let compiled = compiledReturns.get(schema);
  if (!compiled) {
    compiled = isStandardSchema(schema) ? compileStandardReturns(schema) : compileCheck(schema, "encode");
    compiledReturns.set(schema, compiled);
  }
  return compiled;
}

function compileStandardReturns(schema: StandardSchema): CompiledReturns {
  const json = standardJSONSchema(schema, "output");
  if (!json) {
    throw withoutJSONSchema(
      schema,
      "`returns`",
      "What it does not name could leave the process. Use a schema that has one, or a TypeBox schema.",
    );
  }
  const cut: Check = compileCheck(withoutFormats(json), "encode");
  const { validate } = schema["~standard"];
  const finish = (result: StandardResult, value: unknown, faults: Faults) => {
    const checked = addIssues(result, faults, value);
    return faults.count > 0 ? undefined : cut(checked, faults);
  };
  return (value, faults) => {
    const result = validate(value);
    return result instanceof Promise
      ? result.then((settled: StandardResult) => finish(settled, value, faults))
      : finish(result, value, faults);
  };
}

/** The library has checked formats and patterns already, by rules of its own and under names of its own. */
function withoutFormats(schema: JSONSchema): JSONSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      (key === "format" || key === "pattern") && typeof value === "string" ? undefined : value,
    ),
  ) as JSONSchema;
}

/** Whether a Standard Schema can be used to read text by its JSON Schema. Those without need a marker. */
export function assertReadable(schema: Schema, where: string): void {
  if (isStandardSchema(schema) && compileSchema(schema).json === null) {
    throw withoutJSONSchema(
      schema,
      where,
      "Say where it comes from with a marker, `Query(schema)` or `Body(schema)`; its text then goes in as it came.",
    );
  }
}

/** Refuses a default that does not fit. @throws ConfigurationError with the first fault. */
export function assertDefault(schema: Schema, value: unknown, where: string): void {
  if (isStandardSchema(schema) || value === null || value === undefined || value instanceof Date) return;
  const faults = new Faults();
  compileCheck(schema, "decode")(value, faults);
  const fault = faults.list[0];
  if (fault) throw new ConfigurationError(`The default of ${where} does not fit its schema: ${fault.msg}.`);
}
