/** Tools: the routes that have the option `mcp`, as agents see them. @module */
import { mcpError } from "./errors.js";
import type { App } from "tsgi";
import { describeRoute, type Endpoint, endpointsOf, withPlace } from "tsgi/internals";
import type { OperationObject } from "tsgi/openapi";
import { type Argument, argumentsOf } from "./arguments.js";
import { mirrorsArguments } from "./mirrored.js";
import { resolve, type Schemas, withDefinitions, withLocalReferences } from "./schemas.js";

/** A route as a tool. */
export interface Tool {
  readonly endpoint: Endpoint;
  readonly args: ReadonlyMap<string, Argument>;
  /** Its body travels as a form, and not as JSON. */
  readonly isForm: boolean;
  /** Names of the query that carry a key of the caller. */
  readonly queryKeys: readonly string[];
  /** Clients repeat arguments in headers. */
  readonly isMirrored: boolean;
  /** Its entry in the response to `tools/list`. */
  readonly listing: { name: string; inputSchema: { type: "object" }; outputSchema?: Record<string, unknown> };
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

/**
 * Makes tools of the routes that ask for it, by name.
 *
 * @throws ConfigurationError naming the route that cannot be one.
 */
export function compileTools(app: App): ReadonlyMap<string, Tool> {
  const operations = Object.entries(app.openapi().paths).flatMap(([path, item]) => {
    const shape = path.replaceAll(/\{[^{}]*\}/g, "{}");
    return Object.entries(item).map(([method, { operationId }]) => [`${method} ${shape}`, operationId] as const);
  });
  const ids = new Map(operations);
  const tools = new Map<string, Tool>();
  for (const endpoint of endpointsOf(app)) {
    const { record, pattern } = endpoint;
    const { method, path, metadata } = record;
    if (!metadata.mcp) continue;
    withPlace(`${method} ${path}`, () => {
      const tool = compileTool(endpoint, ids.get(`${method.toLowerCase()} ${pattern.shape}`));
      const { name } = tool.listing;
      const other = tools.get(name)?.endpoint.record;
      if (other) throw mcpError("TSGI_INVALID_TOOL.duplicate", name, `${other.method} ${other.path}`);
      tools.set(name, tool);
    });
  }
  return tools;
}

/** @param id - Of the operation; undefined if the document of the application omits it. */
function compileTool(endpoint: Endpoint, id: string | undefined): Tool {
  const { method, metadata } = endpoint.record;
  const { operation, components } = withLocalReferences(describeRoute("3.1", endpoint));
  if (!operation || !METHODS.includes(method)) throw mcpError("TSGI_INVALID_TOOL.method", method);
  const { schemas = {}, securitySchemes = {} } = components;
  const args = argumentsOf(operation, endpoint);
  const given = typeof metadata.mcp === "object" ? metadata.mcp : {};
  const { name = id ?? operation.operationId, description = operation.description ?? operation.summary } = given;
  if (!/^[\w.-]{1,128}$/.test(name)) throw mcpError("TSGI_INVALID_TOOL.name", name);
  const listing = {
    name,
    title: operation.summary,
    description,
    inputSchema: withDefinitions(inputSchemaOf(args), schemas),
    ...outputSchemaOf(endpoint, operation, schemas),
    // Hints by the semantics of the method (RFC 9110 §9.2).
    annotations: {
      readOnlyHint: method === "GET",
      destructiveHint: !["GET", "POST"].includes(method),
      idempotentHint: !["POST", "PATCH"].includes(method),
    },
  };
  const queryKeys = Object.values(securitySchemes).flatMap((scheme) =>
    scheme.type === "apiKey" && scheme.in === "query" ? [scheme.name] : [],
  );
  const isMirrored = mirrorsArguments(listing.inputSchema);
  const isForm = !operation.requestBody?.content["application/json"];
  return { endpoint, args, isForm, queryKeys, isMirrored, listing };
}

function inputSchemaOf(args: Tool["args"]) {
  const required = [...args].flatMap(([name, { isRequired }]) => (isRequired ? [name] : []));
  return {
    type: "object" as const,
    properties: Object.fromEntries(Array.from(args, ([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/**
 * The schema of `returns`, if it is an object: older clients do not support structured content of another type. Each
 * result without an error must match it, so the route must have no other successful response.
 */
function outputSchemaOf({ record }: Endpoint, { responses }: OperationObject, schemas: Schemas) {
  const { statusCode = 200, returns } = record.metadata;
  if (Object.keys(responses).some((status) => status.startsWith("2") && status !== String(statusCode))) return {};
  const schema = responses[String(statusCode)]?.content?.["application/json"]?.schema;
  const output = returns && schema ? resolve(schema, schemas) : {};
  return output.type === "object" ? { outputSchema: { ...withDefinitions(output, schemas) } } : {};
}
