/** Checks of enums and unions. @module */
import { type SchemaCheck, type Compiler, isPlainObject, jsonEqual } from "./check.js";
import type { Faults } from "./faults.js";
import { isObjectSchema, type JSONSchema, transformOf } from "./json-schema.js";
import { compileRest, isRecord, ownOrGetter } from "./structs.js";

/** The most values that a message lists: an enum of thousands would create a response of megabytes. */
const MAX_SHOWN = 20;

function show(value: unknown): string {
  return typeof value === "string" ? `'${value}'` : (JSON.stringify(value) ?? String(value));
}

function list(values: readonly unknown[]): string {
  if (values.length > MAX_SHOWN) return `${values.slice(0, MAX_SHOWN).map(show).join(", ")}, …`;
  const shown = values.map(show);
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} or ${shown.at(-1)}`;
}

/** One of a fixed list of values. */
export function compileEnum(values: readonly unknown[]): SchemaCheck {
  const scalars = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const structs = values.filter((value) => typeof value === "object" && value !== null);
  const type = values.length === 1 ? "literal_error" : "enum";
  const msg = `Input should be ${list(values)}`;
  return (value, faults) =>
    scalars.has(value) || structs.some((struct) => jsonEqual(struct, value)) ? value : faults.add(type, msg, value);
}

/** The values of a union whose members are all literals, which is how an enum is written in TypeBox. */
function literalValues(members: readonly JSONSchema[]): unknown[] | null {
  const values = members.map((member) => (transformOf(member) ? undefined : member.const));
  return values.every((value) => value !== undefined) ? values : null;
}

/** Runs a check that tries several ways through a value, so that it runs once for each value. */
function remembered(check: SchemaCheck): SchemaCheck {
  return (value, faults) =>
    typeof value === "object" && value !== null ? faults.remember(check, value) : check(value, faults);
}

/** A property with a different fixed value in every member, which identifies the member. */
export function findDiscriminator(members: readonly JSONSchema[]): { key: string; values: unknown[] } | null {
  const first = members[0];
  if (members.length < 2 || !first || members.some((member) => !isObjectSchema(member) || transformOf(member))) {
    return null;
  }
  for (const key of Object.keys(first.properties ?? {})) {
    const tags = members.map((member) => (member.required?.includes(key) ? (member.properties?.[key] ?? {}) : {}));
    const values = literalValues(tags);
    if (values && new Set(values).size === values.length) return { key, values };
  }
  return null;
}

/**
 * The first member that fits. With a discriminator, or with one member and null, the errors are those of that member.
 */
export function compileUnion(members: readonly JSONSchema[], compiler: Compiler): SchemaCheck {
  const others = members.filter((member) => member.type !== "null" || transformOf(member));
  if (others.length < members.length && others.length > 0) {
    const check = compileUnion(others, compiler);
    return (value, faults) => (value === null ? null : check(value, faults));
  }
  const checks = members.map((member) => compiler.compile(member));
  const [only] = checks;
  if (only && checks.length === 1) return only;
  const values = literalValues(members);
  if (values) return compileEnum(values);
  const discriminator = findDiscriminator(members.map((member) => compiler.resolve(member)));
  return discriminator ? compileTagged(discriminator, checks) : compileUntagged(checks);
}

function compileTagged(
  { key, values }: { key: string; values: unknown[] },
  checks: readonly SchemaCheck[],
): SchemaCheck {
  const byValue = new Map(values.map((value, index) => [value, checks[index]]));
  const msg = `Input should be ${list(values)}`;
  return (value, faults) => {
    if (!isRecord(value)) return faults.add("object_type", "Input should be a valid object", value);
    const tag = ownOrGetter(value, key);
    const check = byValue.get(tag);
    if (check) return check(value, faults);
    return tag === undefined
      ? faults.add("missing", "Field required", null, [key])
      : faults.add("union_tag_invalid", msg, tag, [key]);
  };
}

function compileUntagged(checks: readonly SchemaCheck[]): SchemaCheck {
  return remembered((value, faults) => {
    const before = faults.count;
    for (const check of checks) {
      const result = check(value, faults);
      if (faults.count === before) return result;
      faults.rollback(before);
    }
    return faults.add("union_error", "Input should fit one of the members of the union", value);
  });
}

/**
 * Merges the results of two checks of the same value. If one part did not change a value, the result of the other is
 * used, so that an open object schema neither reverts a conversion nor restores removed properties.
 */
function merge(left: unknown, right: unknown, raw: unknown): unknown {
  if (left === raw) return right;
  if (right === raw) return left;
  if (Array.isArray(left) && Array.isArray(right) && Array.isArray(raw)) {
    return left.map((item, index) => merge(item, right[index], raw[index]));
  }
  if (!isPlainObject(left) || !isPlainObject(right) || !isRecord(raw)) return right;
  const merged: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    merged[key] = Object.hasOwn(left, key) ? merge(left[key], value, raw[key]) : value;
  }
  return merged;
}

/**
 * All checks at once: structs are merged, any other value must pass each.
 *
 * @param others - The handling of undeclared keys, `undefined` to remove them.
 */
export function compileIntersection(
  checks: readonly SchemaCheck[],
  others: JSONSchema | boolean | undefined,
  compiler: Compiler,
): SchemaCheck {
  const rest = compileRest(others, compiler);
  return remembered((value, faults) => {
    const start = faults.count;
    let merged: unknown = value;
    for (const check of checks) {
      const before = faults.count;
      const result = check(value, faults);
      if (faults.count === before || isPlainObject(result)) merged = merge(merged, result, value);
      if (faults.count > before) faults.dropRepeated(start, before);
    }
    if (!rest || !isRecord(value) || !isPlainObject(merged)) return merged;
    const known = new Set<unknown>(faults.list.slice(start).map((fault) => fault.loc[0]));
    // An error of the whole value, such as one of a nested union, does not show the names of that member.
    return known.has(undefined) ? merged : addRest(rest, { merged, value, known }, faults);
  });
}

/** A value, and the part of it that the members of an intersection have named. */
interface Intersected {
  readonly merged: Readonly<Record<string, unknown>>;
  readonly value: Readonly<Record<string, unknown>>;
  /** The keys with errors. */
  readonly known: ReadonlySet<unknown>;
}

/** Adds the keys of a value that no member of an intersection has named. */
function addRest(rest: SchemaCheck, { merged, value, known }: Intersected, faults: Faults): Record<string, unknown> {
  const result = { ...merged };
  for (const key of Object.keys(value)) {
    if (Object.hasOwn(merged, key) || known.has(key) || key === "__proto__" || faults.full) continue;
    const before = faults.count;
    const checked = rest(value[key], faults);
    if (faults.count === before) result[key] = checked;
    else faults.within(before, key);
  }
  return result;
}

/** Any value that does not match the schema. */
export function compileNot(schema: JSONSchema, compiler: Compiler): SchemaCheck {
  const check = compiler.compile(schema);
  return (value, faults) => {
    if (faults.full) return value;
    const before = faults.count;
    check(value, faults);
    if (faults.count === before) return faults.add("not_allowed", "Input should not be of this kind", value);
    faults.rollback(before);
    return value;
  };
}
