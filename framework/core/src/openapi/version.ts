/** The common part of the converters to OpenAPI 3.0 and 3.1. @module */
import type { StreamFormat } from "../routing/options.js";
import type { JSONSchema } from "../schema/json-schema.js";
import type { DiscriminatorObject, MediaTypeObject, OpenAPIDocument, PathItemObject, SchemaObject } from "./types.js";
import { configurationError } from "../common/exceptions.js";
import { messageOfError } from "../common/messages.js";

/** On the way in a default makes a property optional, on the way out it is always there. */
export function requiredOf({ properties = {}, required = [] }: JSONSchema, direction: Direction): string[] {
  const hasDefault = (key: string) => Object.hasOwn(properties, key) && Object.hasOwn(properties[key] ?? {}, "default");
  const isRequired =
    direction === "input"
      ? (key: string) => required.includes(key) && !hasDefault(key)
      : (key: string) => required.includes(key) || hasDefault(key);
  const names = Object.keys(properties).filter(isRequired);
  for (const key of required) if (!Object.hasOwn(properties, key)) names.push(key);
  return names;
}

/** A value as a document holds it. @throws ConfigurationError for one that JSON cannot write. */
export function toJSONValue(value: unknown): unknown {
  if (value === undefined || value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (Number.isFinite(value)) return value;
  try {
    const text: string | undefined = JSON.stringify(value);
    const written: unknown = text === undefined ? undefined : JSON.parse(text);
    return written;
  } catch (error) {
    throw configurationError("TSGI_VALUE_WITHOUT_JSON_FORM.example", messageOfError(error));
  }
}

/**
 * `input`: data that a client sends. `output`: data that it receives. They differ where a default fills in for an
 * absent value.
 */
export type Direction = "input" | "output";

/** Converts a schema that lies inside another one. */
export type Inner = (schema: JSONSchema | boolean) => SchemaObject;

/** The facts about one schema that are not in its keywords. */
export interface SchemaContext {
  readonly inner: Inner;
  readonly direction: Direction;
  /** Of a union whose members are components; `null` for any other schema. */
  readonly discriminator: DiscriminatorObject | null;
}

/** Remarks on a schema, in the keywords of JSON Schema. */
export interface Annotations {
  readonly description?: string | undefined;
  readonly deprecated?: boolean | undefined;
  readonly default?: unknown;
  readonly examples?: readonly unknown[] | undefined;
}

/** The differences between one version of OpenAPI and the others. */
export interface DocumentVersion {
  /** The document's member `openapi`. */
  readonly openapi: OpenAPIDocument["openapi"];
  /** @throws ConfigurationError when the schema has no JSON form. */
  readonly writeSchema: (schema: JSONSchema, context: SchemaContext) => SchemaObject;
  /** Adds annotations to a schema that is written, in place unless the version needs a wrapper. */
  readonly annotate: (schema: SchemaObject, annotations: Annotations) => SchemaObject;
  /** The body of a stream. `item` converts the schema of one item, which becomes a component. */
  readonly streamBody: (format: StreamFormat, item: () => SchemaObject) => MediaTypeObject;
  /** Members of the document for the webhooks, of which there is at least one. */
  readonly webhooks: (items: Record<string, PathItemObject>) => Partial<OpenAPIDocument>;
}
