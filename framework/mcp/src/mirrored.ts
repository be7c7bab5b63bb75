/** Arguments that clients repeat in headers, so that proxies can route by them (SEP-2243). @module */
import { isRecord, isToken } from "tsgi/internals";
import { mcpError } from "./errors.js";

const KEYWORD = "x-mcp-header";

interface Annotation {
  /** The keys from the input schema to the annotated one. */
  readonly path: readonly string[];
  readonly header: unknown;
  readonly type: unknown;
}

function* annotationsIn(schema: unknown, path: readonly string[] = []): Generator<Annotation> {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    // An object is the schema of a property with this name.
    if (key === KEYWORD && !isRecord(value)) yield { path, header: value, type: "type" in schema && schema.type };
    else yield* annotationsIn(value, [...path, key]);
  }
}

/**
 * Returns true if clients repeat arguments of this schema in headers.
 *
 * @throws ConfigurationError for an annotation by which clients reject the tool (SEP-2243).
 */
export function mirrorsArguments(inputSchema: object): boolean {
  const names = new Set<string>();
  for (const { path, header, type } of annotationsIn(inputSchema)) {
    const isProperty = path.length > 0 && path.length % 2 === 0;
    const isReachable = isProperty && path.every((key, index) => index % 2 === 1 || key === "properties");
    const isPrimitive = type === "string" || type === "integer" || type === "boolean";
    const name = typeof header === "string" ? header.toLowerCase() : "";
    if (!isReachable || !isPrimitive || !isToken(name) || names.has(name)) {
      throw mcpError("TSGI_INVALID_TOOL.header", header, path.filter((key) => key !== "properties").join("."));
    }
    names.add(name);
  }
  return names.size > 0;
}
