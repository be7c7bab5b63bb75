/** Changes of security requirements that break clients. @module */
import type { Place } from "./changes.js";
import { canonical, type Json, listOf, objectOf, resolve, textsOf } from "./json-parts.js";

/** Credentials that together open an operation: scopes by the scheme, which is told by its definition. */
type Alternative = ReadonlyMap<string, { readonly name: string; readonly scopes: readonly string[] }>;

/** Compares what opens an operation. An earlier client has exactly one of the earlier alternatives. */
export function compareSecurity(
  [before, after]: readonly [Json, Json],
  [earlier, later]: readonly [Json, Json],
  place: Place,
): void {
  const [left, right] = [alternativesOf(earlier, before), alternativesOf(later, after)];
  for (const alternative of left) {
    if (!right.some((other) => isEnough(alternative, other))) {
      place.report(
        "security-narrowed",
        `${nameOf(alternative)} no longer opens it, only ${right.map(nameOf).join(" or ")}`,
      );
    }
  }
  for (const alternative of right) {
    if (!left.some((other) => isEnough(alternative, other))) {
      place.report("security-widened", `${nameOf(alternative)} opens it as well`);
    }
  }
}

/** Tells if these credentials are all that the other alternative asks for. */
function isEnough(credentials: Alternative, other: Alternative): boolean {
  return [...other].every(([scheme, { scopes }]) => {
    const own = credentials.get(scheme);
    return own !== undefined && scopes.every((scope) => own.scopes.includes(scope));
  });
}

/** The alternatives of an operation: its own, or those of the document. Without any, credentials are not required. */
function alternativesOf(operation: Json, document: Json): Alternative[] {
  const requirements = listOf(operation["security"] ?? document["security"]);
  const schemes = objectOf(objectOf(document["components"])["securitySchemes"]);
  if (requirements.length === 0) return [new Map()];
  return requirements.map((requirement) => {
    const asked = Object.entries(objectOf(requirement));
    return new Map(
      asked.map(([name, scopes]) => [keyOf(resolve(schemes[name], document), name), { name, scopes: textsOf(scopes) }]),
    );
  });
}

/** A scheme by the facts that a client has to know. Scopes are compared in the requirements. */
function keyOf(scheme: Json, name: string): string {
  const { description: _description, bearerFormat: _format, flows, ...rest } = scheme;
  if (Object.keys(scheme).length === 0) return name;
  const places = Object.entries(objectOf(flows)).map(([flow, value]) => {
    const { scopes: _scopes, ...addresses } = objectOf(value);
    return [flow, addresses];
  });
  return canonical([rest, Object.fromEntries(places)]);
}

function nameOf(alternative: Alternative): string {
  const names = Array.from(alternative.values(), ({ name, scopes }) =>
    scopes.length > 0 ? `${name} with ${scopes.join(", ")}` : name,
  );
  return names.length > 0 ? names.join(" and ") : "a request without credentials";
}
