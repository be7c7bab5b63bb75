import { type Check, jsonEqual } from "./check.js";
import type { Faults } from "./faults.js";
import { isObjectSchema, type JSONSchema } from "./json-schema.js";
import type { CompileInner } from "./structs.js";

function show(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : (JSON.stringify(value) ?? String(value));
}

function list(values: readonly unknown[]): string {
  const shown = values.map(show);
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

/** One of a fixed list of values. */
export function compileEnum(values: readonly unknown[]): Check {
  const scalars = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const structs = values.filter((value) => typeof value === "object" && value !== null);
  const type = values.length === 1 ? "literal_error" : "enum";
  const msg = `Input should be ${list(values)}`;
  return (value, faults) =>
    scalars.has(value) || structs.some((struct) => jsonEqual(struct, value)) ? value : faults.add(type, msg, value);
}

/** The values of a union whose members are all literals, which is how an enum is written in TypeBox. */
export function literalValues(members: readonly JSONSchema[]): unknown[] | null {
  const values = members.map((member) => member.const);
  return values.every((value) => value !== undefined) ? values : null;
}

/** A property that every member fixes to a value of its own, so that it tells which member is meant. */
function findDiscriminator(members: readonly JSONSchema[]): { key: string; values: unknown[] } | null {
  const first = members[0];
  if (members.length < 2 || !members.every(isObjectSchema) || !first) return null;
  for (const key of Object.keys(first.properties ?? {})) {
    const values = members.map((member) =>
      member.required?.includes(key) ? member.properties?.[key]?.const : undefined,
    );
    if (values.every((value) => value !== undefined) && new Set(values).size === values.length) return { key, values };
  }
  return null;
}

function tryMembers(members: readonly Check[], value: unknown, faults: Faults): { result: unknown } | null {
  for (const member of members) {
    if (!faults.attemptUnion()) return null;
    const attempt = faults.attempt();
    const result = member(value, attempt);
    faults.settle(attempt);
    if (attempt.count === 0) return { result };
  }
  return null;
}

/** The first member that fits. With a discriminator, or with one member beside null, the faults are that member's own. */
export function compileUnion(members: readonly JSONSchema[], compile: CompileInner): Check {
  const values = literalValues(members);
  if (values) return compileEnum(values);

  const others = members.filter((member) => member.type !== "null");
  if (others.length === 1 && others.length < members.length) {
    const check = compile(others[0] as JSONSchema);
    return (value, faults) => (value === null ? null : check(value, faults));
  }

  const checks = members.map((member) => compile(member));
  const discriminator = findDiscriminator(members);
  if (discriminator) {
    const byValue = new Map(discriminator.values.map((value, index) => [value, checks[index] as Check]));
    const msg = `Input should be ${list(discriminator.values)}`;
    const { key } = discriminator;
    return (value, faults) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return faults.add("object_type", "Input should be a valid object", value);
      }
      const tag = (value as Record<string, unknown>)[key];
      const check = byValue.get(tag);
      return check ? check(value, faults) : faults.add("union_tag_invalid", msg, tag, [key]);
    };
  }
  return (value, faults) => {
    const match = tryMembers(checks, value, faults);
    return match ? match.result : faults.add("union_error", "Input should fit one of the members of the union", value);
  };
}

function isStruct(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** All members at once: structs are merged, any other value must pass each. */
export function compileIntersection(members: readonly JSONSchema[], compile: CompileInner): Check {
  const checks = members.map((member) => compile(member));
  return (value, faults) => {
    let merged: unknown = value;
    for (const [index, check] of checks.entries()) {
      const before = faults.count;
      const result = check(value, faults);
      if (faults.count > before) continue;
      merged = index > 0 && isStruct(merged) && isStruct(result) ? { ...merged, ...result } : result;
    }
    return merged;
  };
}

/** Anything but what the schema describes. */
export function compileNot(schema: JSONSchema, compile: CompileInner): Check {
  const check = compile(schema);
  return (value, faults) => {
    const attempt = faults.attempt();
    check(value, attempt);
    faults.settle(attempt);
    return attempt.count === 0 ? faults.add("not_allowed", "Input should not be of this kind", value) : value;
  };
}
