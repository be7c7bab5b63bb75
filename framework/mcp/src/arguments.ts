/** The arguments of a tool, and their places in the request. @module */
import { mcpError } from "./errors.js";
import type { Endpoint } from "tsgi/internals";
import type { OperationObject, RequestBodyObject, SchemaObject } from "tsgi/openapi";

/** An argument, and its place in the request. */
export interface Argument {
  readonly place: "path" | "query" | "header" | "cookie" | "body";
  /** The name there; `""` for the whole body. */
  readonly wire: string;
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/** Headers that are the caller's own. Attack: a text that an agent reads tells it to write another token here. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * The arguments of a route by their names. Of two parameters with one name, the later one gets its source as a prefix.
 */
export function argumentsOf(operation: OperationObject, endpoint: Endpoint): ReadonlyMap<string, Argument> {
  const { parameters = [], requestBody } = operation;
  const args = new Map<string, Argument>();
  const add = (argument: Argument) => {
    const name = nameOf(argument, endpoint);
    args.set(args.has(name) ? `${argument.place}_${name}` : name, argument);
  };
  for (const { name: wire, in: place, description, required, schema } of parameters) {
    if (place === "header" && CREDENTIALS.has(wire.toLowerCase())) continue;
    add({ place, wire, schema: { ...schema, ...(description && { description }) }, isRequired: required === true });
  }
  if (requestBody) bodyOf(requestBody, endpoint).forEach(add);
  return args;
}

/** The declared name of what may travel under another one. */
function nameOf({ place, wire }: Argument, { plan }: Endpoint): string {
  const sources = plan.sources.filter(({ marker }) => (marker.source.in ?? "body") === place);
  return sources.find(({ name, marker }) => wire === "" || marker.wireName(name) === wire)?.name ?? wire;
}

/** A body is one argument where one parameter takes the whole of it; else each member is one. */
function bodyOf({ content, required }: RequestBodyObject, { plan, record }: Endpoint): Argument[] {
  if (record.method === "GET") throw mcpError("TSGI_INVALID_TOOL.body", record.method);
  const { "application/json": json, "application/x-www-form-urlencoded": form } = content;
  const schema = (json ?? form)?.schema;
  if (!schema) throw mcpError("TSGI_INVALID_TOOL.files");
  const [first, ...others] = plan.sources.filter(({ marker }) => marker.source.body !== null);
  const isWhole = json ? !plan.embedBody : others.length === 0 && first?.marker.compiled.properties;
  if (isWhole) return [{ place: "body", wire: "", schema, isRequired: required === true }];
  const names = Object.entries(schema.properties ?? {});
  return names.map(([wire, member]) => {
    return { place: "body", wire, schema: member, isRequired: schema.required?.includes(wire) === true };
  });
}
