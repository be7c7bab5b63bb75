/** The arguments of a tool, and their places in the request. @module */
import type { Endpoint } from "../app.js";
import { configurationError } from "../exceptions.js";
import type { OperationObject, RequestBodyObject, SchemaObject } from "../openapi.js";
import { resolve, type Schemas } from "./schemas.js";

/** One argument, and where the request has it: as the whole body, as a member of it, or by its name on the wire. */
export interface Argument {
  readonly name: string;
  readonly place: "path" | "query" | "header" | "cookie" | "body" | "member" | "form" | "field";
  readonly wire: string;
}

/** An argument with its schema. */
export interface Input extends Argument {
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/** Headers that are the caller's own. Attack: a text that an agent reads tells it to write another token here. */
const CREDENTIALS: ReadonlySet<string> = new Set(["authorization", "cookie", "proxy-authorization"]);

/** The arguments of a route. Of two parameters with one name the later one has its place in front. */
export function inputsOf(operation: OperationObject, endpoint: Endpoint, schemas: Schemas): Input[] {
  const names = new Set<string>();
  const { requestBody } = operation;
  const body = requestBody ? bodyOf(requestBody, endpoint, schemas) : [];
  return [...parametersOf(operation, endpoint), ...body].map((input) => {
    const name = names.has(input.name) ? `${input.place}_${input.name}` : input.name;
    names.add(name);
    return { ...input, name };
  });
}

function parametersOf({ parameters = [] }: OperationObject, { plan }: Endpoint): Input[] {
  const offered = parameters.filter(
    ({ name, in: place }) => place !== "header" || !CREDENTIALS.has(name.toLowerCase()),
  );
  return offered.map(({ name: wire, in: place, description, required, schema }) => {
    const sources = plan.sources.filter(({ marker }) => marker.source.in === place);
    const described = description === undefined ? schema : { ...schema, description };
    return { name: nameOf(sources, wire), place, wire, schema: described, isRequired: required === true };
  });
}

/** The declared name of what travels under another one. */
function nameOf(sources: Endpoint["plan"]["sources"], wire: string): string {
  return sources.find(({ name, marker }) => marker.wireName(name) === wire)?.name ?? wire;
}

function bodyOf(requestBody: RequestBodyObject, { plan, record }: Endpoint, schemas: Schemas): Input[] {
  if (record.method === "GET") throw configurationError("TSGI_INVALID_TOOL.body", record.method);
  const sources = plan.sources.filter(({ marker }) => marker.source.body !== null);
  const { "application/json": json, "application/x-www-form-urlencoded": form } = requestBody.content;
  const schema = (json ?? form)?.schema;
  const [first] = sources;
  if (!schema || !first) throw configurationError("TSGI_INVALID_TOOL.files");
  if (json ? !plan.embedBody : isStruct(sources)) {
    const place = json ? "body" : "form";
    return [{ name: first.name, place, wire: "", schema, isRequired: requestBody.required === true }];
  }
  const { properties = {}, required = [] } = resolve(schema, schemas);
  return Object.entries(properties).map(([wire, member]) => ({
    name: nameOf(sources, wire),
    place: json ? "member" : "field",
    wire,
    schema: member,
    isRequired: required.includes(wire),
  }));
}

/** Tells if a form is one parameter, each of whose members is a field. */
function isStruct(sources: Endpoint["plan"]["sources"]): boolean {
  const [first, ...others] = sources;
  return others.length === 0 && first?.marker.source.readsProperties === true && !!first.marker.compiled.properties;
}
