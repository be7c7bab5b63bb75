/**
 * Schemas: their description, and how values are checked against them, filtered, converted and written as JSON. @module
 */
import type {
  OptionalKind,
  TSchema,
  ArrayOptions,
  DateOptions,
  IntegerOptions,
  NumberOptions,
  SchemaOptions,
  StringOptions,
  TArray,
  TBoolean,
  TDate,
  TInteger,
  TLiteral,
  TLiteralValue,
  TNumber,
  TString,
  Union,
} from "@sinclair/typebox";
import { configurationError } from "../common/exceptions.js";
import type { SchemaCheck } from "./check.js";
import { compileCheck, compileWrite, compileDefault, unfit } from "./compile.js";
import { CompiledSchema } from "./compiled-schema.js";
import { Faults } from "./faults.js";
import { type JSONSchema, saysType } from "./json-schema.js";
import {
  addIssues,
  isStandardSchema,
  standardJSONSchema,
  type StandardResult,
  type StandardSchema,
  withoutJSONSchema,
  withoutLibraryChecks,
  withoutUnknownChecks,
} from "./standard.js";
import { Type } from "./typebox.js";

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
// The builder is the same: its types say more.
export const t: SchemaBuilder = Type as SchemaBuilder;

/** A TypeBox schema, or a schema of any library that implements Standard Schema. */
export type Schema = TSchema | StandardSchema;

/** A schema whose value may be absent. */
export interface OptionalSchema {
  [OptionalKind]: "Optional";
}

/**
 * The type of the value that a handler gets for a schema. `S["static"]` costs the compiler a third of `infer`: 134
 * instantiations against 248 for a route with its own object schemas.
 */
export type SchemaOutput<S> = S extends { static: unknown }
  ? S extends { [OptionalKind]: "Optional" }
    ? S["static"] | undefined
    : S["static"]
  : S extends { readonly "~standard": { readonly types?: { readonly output: infer O } | undefined } }
    ? O
    : never;

/** The type of the value that a handler may return for a schema. */
export type SchemaInput<S> = S extends { static: unknown }
  ? S["static"]
  : S extends { readonly "~standard": { readonly types?: { readonly input: infer I } | undefined } }
    ? I
    : never;

/** A value that is only read: a constant and a frozen list do as well. */
export type Readable<T> = T extends object ? (T extends Date ? T : { readonly [K in keyof T]: Readable<T[K]> }) : T;

const KIND = Symbol.for("TypeBox.Kind");
const OPTIONAL = Symbol.for("TypeBox.Optional");

/** Tells a schema of either family. */
export function isSchema(value: unknown): value is Schema {
  return isStandardSchema(value) || (typeof value === "object" && value !== null && KIND in value);
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
  const check = compileCheck(json, "decode");
  const makeDefault = json.default === undefined ? null : compileDefault(json.default, check, "the schema");
  const absent = makeDefault ?? (OPTIONAL in schema ? () => undefined : null);
  return new CompiledSchema(json, json, { check, maySuspend: false, absent });
}

function compileStandard(schema: StandardSchema): CompiledSchema {
  const json = standardJSONSchema(schema, "input");
  const { validate } = schema["~standard"];
  const check: SchemaCheck = (value, faults) => {
    const result = validate(value);
    return result instanceof Promise
      ? result.then((settled: StandardResult) => addIssues(settled, faults, value))
      : addIssues(result, faults, value);
  };
  // A JSON Schema that allows anything would hand `undefined` to the application's own transforms.
  const absent = json === null || saysType(json) ? compileAbsent(validate) : null;
  return new CompiledSchema(json, json && withoutUnknownChecks(json), { check, maySuspend: true, absent });
}

/**
 * Asks a Standard Schema for the result of no value: its default, `undefined`, or issues. Asks again for each request,
 * because its default may be a new one each time.
 */
function compileAbsent(
  validate: (value: unknown) => StandardResult | Promise<StandardResult>,
): CompiledSchema["absent"] {
  const valueOf = (result: StandardResult, faults: Faults) =>
    result.issues ? faults.add("missing", "Field required", null) : result.value;
  let first: StandardResult | Promise<StandardResult>;
  try {
    first = validate(undefined);
  } catch {
    // A custom transform that cannot handle an absent value.
    return null;
  }
  if (first instanceof Promise) {
    first.catch(() => {});
    return async (faults) => {
      try {
        return valueOf(await validate(undefined), faults);
      } catch {
        return faults.add("missing", "Field required", null);
      }
    };
  }
  return first.issues ? null : (faults) => valueOf(validate(undefined) as StandardResult, faults);
}

/** A schema as JSON Schema, for sent or received data; `null` if a Standard Schema does not provide it. */
export function toJSONSchema(schema: Schema, side: "input" | "output"): JSONSchema | null {
  return isStandardSchema(schema) ? standardJSONSchema(schema, side) : schema;
}

/**
 * Checks a handler's result against `returns` and returns the JSON text of the filtered result, or `undefined` for
 * values that JSON omits.
 */
export type CompiledReturns = (value: unknown, faults: Faults) => Promise<string | undefined> | string | undefined;

const compiledReturns = new WeakMap<object, CompiledReturns>();

/**
 * Compiles the schema of a result, once for each schema object: properties that are not in it are removed.
 *
 * @throws ConfigurationError for a value that is not a schema, and for a Standard Schema without JSON Schema, whose
 * properties are unknown.
 */
export function compileReturns(schema: Schema): CompiledReturns {
  if (!isSchema(schema)) throw configurationError("TSGI_INVALID_RETURNS", schema);
  let compiled = compiledReturns.get(schema);
  if (!compiled) {
    compiled = isStandardSchema(schema) ? compileStandardReturns(schema) : compileWrite(schema);
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
      "Without it, the response could contain unintended properties. Use a schema that has one, or a TypeBox schema.",
    );
  }
  const write = compileWrite(withoutLibraryChecks(json));
  const { validate } = schema["~standard"];
  const finish = (result: StandardResult, value: unknown, faults: Faults) => {
    const checked = addIssues(result, faults, value);
    return faults.count > 0 ? undefined : write(checked, faults);
  };
  return (value, faults) => {
    const result = validate(value);
    return result instanceof Promise
      ? result.then((settled: StandardResult) => finish(settled, value, faults))
      : finish(result, value, faults);
  };
}

/** @throws ConfigurationError for a Standard Schema that cannot read text, because it has no JSON Schema. */
export function assertReadable(schema: Schema, where: string): void {
  if (isStandardSchema(schema) && standardJSONSchema(schema, "input") === null) {
    throw withoutJSONSchema(
      schema,
      where,
      "Specify the source with `Query(schema)` or `Body(schema)`; the schema then receives the original string.",
    );
  }
}

/**
 * Compiles the default of a parameter function, which is a value as the handler gets it, unlike a default in a schema.
 *
 * @param where - What it belongs to, for the message.
 * @throws ConfigurationError when it does not fit.
 */
export function compileMarkerDefault(schema: Schema, value: unknown, where: string): () => unknown {
  if (typeof value !== "object" && isStandardSchema(schema)) return () => value;
  if (value === null) return () => null;
  // Only the library knows what its own values are made of.
  if (isStandardSchema(schema)) return () => structuredClone(value);
  const faults = new Faults();
  const sent = compileCheck(schema, "encode")(value, faults);
  const [fault] = faults.list;
  if (fault) throw unfit(where, value, fault.msg);
  return compileDefault(sent, compileSchema(schema).check, where);
}

/** A schema with a default: its value may be left out of a request. */
export interface WithDefault {
  readonly default: unknown;
}

type TypeBox = typeof Type;

/**
 * The builder. TypeBox's own types do not tell a schema that has a default, so that a client would have to send the value.
 * The overloads of scalars have no type parameter: to infer the options would cost a route 12 instantiations a schema.
 */
export interface SchemaBuilder extends TypeBox {
  String(options: StringOptions & WithDefault): TString & WithDefault;
  String(options?: StringOptions): TString;
  Integer(options: IntegerOptions & WithDefault): TInteger & WithDefault;
  Integer(options?: IntegerOptions): TInteger;
  Number(options: NumberOptions & WithDefault): TNumber & WithDefault;
  Number(options?: NumberOptions): TNumber;
  Boolean(options: SchemaOptions & WithDefault): TBoolean & WithDefault;
  Boolean(options?: SchemaOptions): TBoolean;
  Date(options: DateOptions & WithDefault): TDate & WithDefault;
  Date(options?: DateOptions): TDate;
  Literal<Value extends TLiteralValue>(
    value: Value,
    options: SchemaOptions & WithDefault,
  ): TLiteral<Value> & WithDefault;
  Literal<Value extends TLiteralValue>(value: Value, options?: SchemaOptions): TLiteral<Value>;
  Union<Types extends TSchema[]>(types: [...Types], options: SchemaOptions & WithDefault): Union<Types> & WithDefault;
  Union<Types extends TSchema[]>(types: [...Types], options?: SchemaOptions): Union<Types>;
  Array<Item extends TSchema>(items: Item, options: ArrayOptions & WithDefault): TArray<Item> & WithDefault;
  Array<Item extends TSchema>(items: Item, options?: ArrayOptions): TArray<Item>;
}
