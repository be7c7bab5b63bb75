/** The common part of the converters to OpenAPI 3.0 and 3.1. @module */
import type { StreamFormat } from "../routing/options.js";
import type { JSONSchema } from "../schema/json-schema.js";
import type { DiscriminatorObject, MediaTypeObject, OpenAPIDocument, PathItemObject, SchemaObject } from "./types.js";

/** `input`: what a client sends. `output`: what it gets. They differ where a default fills in for an absent value. */
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
