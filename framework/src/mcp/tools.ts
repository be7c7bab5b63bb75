/** Tools: the routes that have the option `mcp`, as agents see them. @module */
import { type App, type Endpoint, endpointsOf } from "../app.js";
import { configurationError, withPlace } from "../exceptions.js";
import { buildDocument, type OpenAPIDocument, type OperationObject } from "../openapi.js";
import { PathPattern } from "../path-pattern.js";
import { type Argument, type Input, inputsOf } from "./inputs.js";
import { resolve, type Schemas, withDefinitions, withLocalReferences } from "./schemas.js";

/** A route as a tool. */
export interface Tool {
  readonly endpoint: Endpoint;
  readonly args: readonly Argument[];
  /** Names of the query that carry a key of the caller. */
  readonly queryKeys: readonly string[];
  /** Its entry in the answer to `tools/list`. */
  readonly listing: { name: string; inputSchema: { type: "object" }; outputSchema?: Record<string, unknown> };
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Makes tools of the routes that ask for it, by name.
 *
 * @throws ConfigurationError naming the route that cannot be one.
 */
export function compileTools(app: App): ReadonlyMap<string, Tool> {
  const keyOf = (method: string, { shape }: PathPattern) => `${method.toLowerCase()} ${shape}`;
  const ids = new Map<string, string>();
  for (const [path, item] of Object.entries(app.openapi().paths)) {
    const pattern = PathPattern.parse(path, "mcp()");
    for (const [method, { operationId }] of Object.entries(item)) ids.set(keyOf(method, pattern), operationId);
  }
  const tools = new Map<string, Tool>();
  for (const endpoint of endpointsOf(app)) {
    const { record, pattern } = endpoint;
    const { method, path, metadata } = record;
    if (!metadata.mcp) continue;
    withPlace(`${method} ${path}`, () => {
      const tool = compileTool(endpoint, ids.get(keyOf(method, pattern)));
      const { name } = tool.listing;
      const other = tools.get(name)?.endpoint.record;
      if (other) throw configurationError("TSGI_INVALID_TOOL.duplicate", name, `${other.method} ${other.path}`);
      tools.set(name, tool);
    });
  }
  return tools;
}

/** @param id - Of the operation; nothing where the document of the application leaves it out. */
function compileTool(endpoint: Endpoint, id: string | undefined): Tool {
  const { record, pattern, plan, streamFormat } = endpoint;
  const { method, metadata } = record;
  if (!METHODS.includes(method)) throw configurationError("TSGI_INVALID_TOOL.method", method);
  const listed = { ...record, metadata: { ...metadata, includeInSchema: true } };
  const route = { record: listed, pattern, plan, streamFormat };
  const document = withLocalReferences(buildDocument({ openapiVersion: "3.1" }, [route]));
  const operation = Object.values(Object.values(document.paths)[0] ?? {})[0] as OperationObject;
  const schemas = document.components?.schemas ?? {};
  const args = inputsOf(operation, endpoint, schemas);
  const given = typeof metadata.mcp === "object" ? metadata.mcp : {};
  const { name = id ?? operation.operationId, description = operation.description ?? operation.summary } = given;
  if (!/^[\w.-]{1,128}$/.test(name)) throw configurationError("TSGI_INVALID_TOOL.name", name);
  const listing = {
    name,
    title: operation.summary,
    description,
    inputSchema: inputSchemaOf(args, schemas),
    ...outputSchemaOf(endpoint, operation, schemas),
    annotations: annotationsOf(method),
  };
  return { endpoint, args, queryKeys: queryKeysOf(document), listing };
}

/** Hints by the semantics of the method (RFC 9110 §9.2). */
function annotationsOf(method: string) {
  return {
    readOnlyHint: method === "GET",
    destructiveHint: method !== "GET" && method !== "POST",
    idempotentHint: method !== "POST" && method !== "PATCH",
  };
}

function inputSchemaOf(inputs: readonly Input[], schemas: Schemas) {
  const required = inputs.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = {
    type: "object" as const,
    properties: Object.fromEntries(inputs.map((input) => [input.name, input.schema])),
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
  return withDefinitions(schema, schemas);
}

/** The schema of `returns`, where it is an object: structured content of another type is unknown to older clients. */
function outputSchemaOf({ record, streamFormat }: Endpoint, { responses }: OperationObject, schemas: Schemas) {
  const { statusCode = 200, returns } = record.metadata;
  const schema = responses[String(statusCode)]?.content?.["application/json"]?.schema;
  if (!returns || streamFormat !== null || !schema) return {};
  const output = resolve(schema, schemas);
  return output.type === "object" ? { outputSchema: { ...withDefinitions(output, schemas) } } : {};
}

function queryKeysOf({ components }: OpenAPIDocument): string[] {
  return Object.values(components?.securitySchemes ?? {}).flatMap((scheme) =>
    scheme.type === "apiKey" && scheme.in === "query" ? [scheme.name] : [],
  );
}
