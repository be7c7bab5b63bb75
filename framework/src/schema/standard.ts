import { ConfigurationError } from "../exceptions.js";
import type { Faults } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";

/** One fault that a Standard Schema found. */
interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a Standard Schema's `validate` gives: the value, or the issues. */
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

/** Whether the value is a Standard Schema. Asked before anything else: ArkType's schemas are functions. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "~standard" in value &&
    typeof value["~standard"] === "object"
  );
}

/**
 * The JSON Schema that a Standard Schema gives of itself, draft 2020-12 or else draft-07; `null` when it gives none.
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

/** Adds the issues that a Standard Schema found as faults. */
export function addIssues(result: StandardResult, faults: Faults, input: unknown): unknown {
  if (!result.issues) return result.value;
  for (const issue of result.issues) {
    const loc = (issue.path ?? []).map((part) => {
      const key = typeof part === "object" ? part.key : part;
      return typeof key === "number" ? key : String(key);
    });
    faults.add("value_error", issue.message, loc.length === 0 ? input : undefined, loc);
  }
  return undefined;
}

/** Says that a Standard Schema cannot be used where its JSON Schema is needed. */
export function withoutJSONSchema(schema: StandardSchema, where: string, instead: string): ConfigurationError {
  const { vendor } = schema["~standard"];
  return new ConfigurationError(`The ${vendor} schema of ${where} gives no JSON Schema. ${instead}`);
}
