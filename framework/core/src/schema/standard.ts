/** Standard Schema, which Zod, Valibot and ArkType implement. @module */
import { type ConfigurationError, configurationError } from "../common/exceptions.js";
import { isObject } from "../common/options.js";
import { mapValues } from "../common/records.js";
import { type Faults, shorten } from "./faults.js";
import { isKnownRule } from "./scalars.js";
import { type JSONSchema, saysType, UNREAD_KEYWORDS } from "./json-schema.js";

/** One issue that a Standard Schema found. */
interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The result of a Standard Schema's `validate`: the value, or the issues. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/**
 * A schema of any library that implements Standard Schema version 1: Zod, Valibot, ArkType, …
 *
 * @see {@link https://standardschema.dev}
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** The part of Standard JSON Schema that is used: the same schema as JSON Schema, of its input or its output. */
interface StandardJSONSchemaConverter {
  input(options: { target: string }): JSONSchema;
  output(options: { target: string }): JSONSchema;
}

/** Tells a Standard Schema. Asked before anything else: ArkType's schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "~standard" in value &&
    typeof value["~standard"] === "object"
  );
}

/**
 * The JSON Schema that a Standard Schema provides, draft 2020-12 or else draft-07, or `null`.
 */
export function standardJSONSchema(schema: StandardSchema, side: "input" | "output"): JSONSchema | null {
  const converter = (schema["~standard"] as { jsonSchema?: StandardJSONSchemaConverter }).jsonSchema;
  if (!converter) return null;
  for (const target of ["draft-2020-12", "draft-07"]) {
    try {
      return converter[side]({ target });
    } catch {
      // The library cannot write this schema in this draft; the next may do.
    }
  }
  return null;
}

/** Keywords whose values are schemas by name. */
const BY_NAME = new Set(["properties", "patternProperties", "$defs", "definitions"]);

/** Keywords whose values are data. */
const DATA = new Set(["const", "enum", "required", "type"]);

/** Keywords with which a library's JSON Schema describes its own checks and defaults, in its own vocabulary. */
const LIBRARY_CHECKS = new Set(["format", "pattern", "default", "examples", ...UNREAD_KEYWORDS]);

/** A library's JSON Schema of results without what that library has checked and filled in already. */
export function withoutLibraryChecks(schema: JSONSchema): JSONSchema {
  return simplify(schema, () => false) as JSONSchema;
}

/** The same of requests. It keeps the rules of strings that select a member of a union. */
export function withoutUnknownChecks(schema: JSONSchema): JSONSchema {
  return simplify(schema, isKnownRule) as JSONSchema;
}

function simplify(schema: unknown, keeps: typeof isKnownRule): unknown {
  if (Array.isArray(schema)) return schema.map((item) => simplify(item, keeps));
  if (typeof schema !== "object" || schema === null) return schema;
  // A schema without a type restricts values in ways that only matter to the library.
  if (!saysType(schema as JSONSchema)) return {};
  const kept = Object.entries(schema).filter(
    ([keyword, value]) => !LIBRARY_CHECKS.has(keyword) || keeps(keyword, value),
  );
  return mapValues(Object.fromEntries(kept), (value: unknown, keyword) => {
    if (DATA.has(keyword)) return value;
    return BY_NAME.has(keyword) && isObject(value)
      ? mapValues({ ...value }, (item) => simplify(item, keeps))
      : simplify(value, keeps);
  });
}

/** The value at a path, and whether anything is there. */
function valueAt(input: unknown, path: readonly PropertyKey[]): { isThere: boolean; value: unknown } {
  let value = input;
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) {
      return { isThere: false, value: undefined };
    }
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return { isThere: true, value };
}

/** Adds the issues of a Standard Schema as errors, and returns the value if it found no issues. */
export function addIssues(result: StandardResult, faults: Faults, input: unknown): unknown {
  if (!result.issues) return result.value;
  for (const issue of result.issues) {
    if (faults.full) break;
    // Not `path.map`: ArkType's paths are a subclass of arrays, which creates another instance with a different length.
    const path = Array.from(issue.path ?? [], (part) => (typeof part === "object" ? part.key : part));
    const { isThere, value } = valueAt(input, path);
    const loc = path.map((key) => (typeof key === "number" ? key : String(key)));
    const msg = shorten(issue.message);
    if (isThere) faults.add("value_error", msg, value, loc);
    else faults.add("missing", msg, null, loc);
  }
  return undefined;
}

/** Says that a Standard Schema cannot be used where its JSON Schema is needed. */
export function withoutJSONSchema(schema: StandardSchema, where: string, instead: string): ConfigurationError {
  const { vendor } = schema["~standard"];
  return configurationError("TSGI_MISSING_JSON_SCHEMA", vendor, where, instead);
}
