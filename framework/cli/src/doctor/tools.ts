/** Routes that no agent should be offered: those that take or give credentials. @module */
import type { App } from "tsgi";
import { describeRoute, type Endpoint, endpointsOf, isObject } from "tsgi/internals";
import type { SchemaObject } from "tsgi/openapi";
import { fault, type Finding, ok } from "./finding.js";

type Components = ReturnType<typeof describeRoute>["components"];

/** Names of fields that hold a secret of a user or a client. */
const SECRET = /^(?:.*_)?(?:pass(?:word|wd|phrase|code)|(?:client_?)?secret|refresh_?token|otp|totp|pin)$/i;

/** Names of fields that contain a credential from a login (RFC 6749 §5.1). */
const CREDENTIAL = /^(?:(?:access|refresh|id|session|auth|bearer)_?token|token|jwt|api_?key)$/i;

/**
 * Finds tools that log in, or that hand out tokens. Attack: the input and output of a tool are in the agent's context,
 * and pages that the agent reads can make it repeat them.
 */
export function checkTools(app: App): Finding[] {
  const tools = endpointsOf(app).filter(({ record }) => record.metadata.mcp);
  if (tools.length === 0) return [];
  const tokenPaths = tokenPathsOf(app);
  const faults = tools.flatMap((endpoint) => {
    const { method, path } = endpoint.record;
    const reason = tokenPaths.get(endpoint.pattern.template) ?? reasonOf(endpoint);
    if (reason === null) return [];
    return [fault("agents", `${method} ${path} is offered as a tool, and ${reason}. Take away the option mcp.`)];
  });
  return faults.length > 0
    ? faults
    : [ok("agents", `${tools.length} of the routes ${tools.length === 1 ? "is a tool" : "are tools"}`)];
}

/** The paths at which the security schemes of the application give tokens. */
function tokenPathsOf(app: App): Map<string, string> {
  const paths = new Map<string, string>();
  for (const [name, scheme] of Object.entries(app.openapi().components?.securitySchemes ?? {})) {
    if (scheme.type !== "oauth2") continue;
    for (const { tokenUrl, refreshUrl } of Object.values(scheme.flows)) {
      for (const url of [tokenUrl, refreshUrl]) {
        if (url !== undefined) paths.set(new URL(url, "http://localhost/").pathname, `returns the tokens of ${name}`);
      }
    }
  }
  return paths;
}

function reasonOf(endpoint: Endpoint): string | null {
  const { operation, components } = describeRoute("3.2", endpoint);
  const { parameters = [], requestBody, responses = {} } = operation ?? {};
  for (const [name, schema] of [
    ...parameters.map((one) => [one.name, one.schema] as const),
    ...fieldsOf(requestBody, components),
  ]) {
    if (SECRET.test(name) || schema.format === "password") return `takes a secret, ${JSON.stringify(name)}`;
  }
  for (const [name] of fieldsOf(Object.values(responses), components)) {
    if (CREDENTIAL.test(name)) return `gives a credential, ${JSON.stringify(name)}`;
  }
  const headers = Object.values(responses).flatMap((response) => Object.keys(response.headers ?? {}));
  return headers.some((name) => name.toLowerCase() === "set-cookie") ? "sets a cookie" : null;
}

/** The properties of every schema in a part of a document, those that it refers to included. */
function fieldsOf(root: unknown, { schemas }: Components): [name: string, schema: SchemaObject][] {
  const found: [string, SchemaObject][] = [];
  const seen = new Set<unknown>();
  const visit = (part: unknown): void => {
    if (typeof part !== "object" || part === null || seen.has(part)) return;
    seen.add(part);
    const { $ref, properties } = part as SchemaObject;
    if (typeof $ref === "string") visit(schemas?.[$ref.slice("#/components/schemas/".length)]);
    if (isObject(properties)) found.push(...Object.entries(properties));
    for (const member of Object.values(part)) visit(member);
  };
  visit(root);
  return found;
}
