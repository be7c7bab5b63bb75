/** Several schemas of one value: whether any value can match all of them. @module */
import { jsonEqual } from "./check.js";
import { fixedValues, follow } from "./coerce.js";
import { type JSONSchema, unionMembers } from "./json-schema.js";

const RULES_OF_TEXT = "format pattern minLength maxLength enum const anyOf oneOf allOf not".split(" ");

/** Tells the schema of a string without any rule. */
export function isAnyText(json: JSONSchema): boolean {
  return json.type === "string" && RULES_OF_TEXT.every((keyword) => json[keyword] === undefined);
}

/** The remarks on a schema, and its name: they do not change which values match. */
const REMARKS = new Set(["$id", "title", "description", "default", "examples", "deprecated"]);

/** Tells if two schemas have the same rules. */
export function haveSameRules(left: JSONSchema, right: JSONSchema): boolean {
  const rulesOf = (schema: JSONSchema) =>
    Object.fromEntries(Object.entries(schema).filter(([keyword]) => !REMARKS.has(keyword)));
  return left === right || jsonEqual(rulesOf(left), rulesOf(right));
}

/** A schema, and the one in which its references are looked up. */
export interface Rooted {
  readonly schema: JSONSchema;
  readonly root: JSONSchema;
}

/** Types of JSON Schema and of TypeBox whose values have another type in JSON. */
const TYPE_IN_JSON: ReadonlyMap<string, string> = new Map([
  ["Date", "string"],
  ["integer", "number"],
]);

function typeOfValue(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

/** The types that a schema allows; `null` for a schema that does not restrict them. */
function typesOf(given: Rooted): ReadonlySet<string> | null {
  const [schema, root] = follow(given.schema, given.root);
  const values = fixedValues(schema);
  if (values) return new Set(values.map(typeOfValue));
  if (schema.type !== undefined) return new Set([schema.type].flat().map((type) => TYPE_IN_JSON.get(type) ?? type));
  if (schema.properties) return new Set(["object"]);
  const typesOfAll = (schemas: readonly JSONSchema[] = []) => schemas.map((one) => typesOf({ schema: one, root }));
  const members = typesOfAll(unionMembers(schema));
  if (members.length > 0)
    return members.includes(null) ? null : new Set(members.flatMap((types) => [...(types ?? [])]));
  return typesOfAll(schema.allOf).find((types) => types !== null) ?? null;
}

function intersect(left: Iterable<unknown>, right: Iterable<unknown>): boolean {
  const others = [...right];
  return [...left].some((value) => others.some((other) => jsonEqual(value, other)));
}

/** Returns `false` for two schemas whose types or fixed values are disjoint. */
export function canBothMatch(left: Rooted, right: Rooted): boolean {
  const types = [typesOf(left), typesOf(right)] as const;
  if (types[0] !== null && types[1] !== null && !intersect(types[0], types[1])) return false;
  const values = [left, right].map(({ schema, root }) => fixedValues(follow(schema, root)[0]));
  return values[0] === undefined || values[1] === undefined || intersect(values[0], values[1]);
}
