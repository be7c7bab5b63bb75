import { configurationError } from "../exceptions.js";
import { plural } from "../messages.js";
import { canonicalJSON, type Check, type Compiler } from "./check.js";
import type { Faults } from "./faults.js";
import { type JSONSchema, listItems } from "./json-schema.js";
import { compilePattern } from "./scalars.js";

/** One named property of a struct. */
interface Property {
  readonly key: string;
  readonly check: Check;
  readonly required: boolean;
  /** Makes the default, `null` where there is none. */
  makeDefault: (() => unknown) | null;
  /** `true` for a name that every object has from its prototype, as `constructor`: then only an own one counts. */
  readonly inherited: boolean;
}

function compileProperties(schema: JSONSchema, compiler: Compiler): Property[] {
  const { properties = {}, required = [] } = schema;
  const all: Property[] = [];
  for (const key in properties) all.push(compileProperty(key, properties[key] ?? {}, required.includes(key), compiler));
  for (const key of required) if (!Object.hasOwn(properties, key)) all.push(compileProperty(key, {}, true, compiler));
  return all;
}

function compileProperty(key: string, schema: JSONSchema, required: boolean, compiler: Compiler): Property {
  if (key === "__proto__") throw configurationError("TSGI_RESERVED_PROPERTY_NAME");
  const check = compiler.compile(schema);
  const property: Property = { key, check, required, makeDefault: null, inherited: key in Object.prototype };
  if (schema.default !== undefined) compiler.compileDefault(key, schema, (make) => (property.makeDefault = make));
  return property;
}

/** Any object but a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Tells values that JSON would write as `{}`, or as something unlike what they hold. */
function isOpaque(value: object): boolean {
  if (Object.getPrototypeOf(value) === Object.prototype) return false;
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return true;
  return value instanceof Date || value instanceof Promise;
}

/**
 * An object. Keys that the schema does not name are cut (`additionalProperties: false` refuses them on the way in),
 * defaults are filled in, `__proto__` never gets through.
 */
export function compileObject(schema: JSONSchema, compiler: Compiler): Check {
  const properties = compileProperties(schema, compiler);
  const others = compileOthers(schema, compiler);
  const bounds = compileBounds(schema);
  const isEncode = compiler.direction === "encode";
  const msg = isEncode ? "Result should be a plain object" : "Input should be a valid object";
  return (value, faults) => {
    if (!isRecord(value) || (isEncode && isOpaque(value))) return faults.add("object_type", msg, value);
    const result: Record<string, unknown> = {};
    for (const property of properties) {
      const { key } = property;
      const item = property.inherited ? ownOrGetter(value, key) : value[key];
      if (item !== undefined) {
        const before = faults.count;
        const checked = property.check(item, faults);
        if (faults.count === before) result[key] = checked;
        else faults.within(before, key);
      } else if (property.makeDefault) {
        result[key] = property.makeDefault();
      } else if (property.required) faults.add("missing", "Field required", null, [key]);
    }
    others?.(value, result, faults);
    bounds?.(value, faults);
    return result;
  };
}

/** The value under a name that objects have from `Object.prototype`: one of its own, or one of its class. */
export function ownOrGetter(value: Record<string, unknown>, key: string): unknown {
  if (Object.hasOwn(value, key)) return value[key];
  const inherited = value[key];
  return inherited === (Object.prototype as Record<string, unknown>)[key] ? undefined : inherited;
}

type OthersCheck = (value: Record<string, unknown>, result: Record<string, unknown>, faults: Faults) => void;

/** TypeBox writes a record of any text key with an expression that is to match every key, line breaks included. */
const ANY_KEY = "^(.*)$";

/** Stands for the value of a key that is left out of the result. */
const CUT = Symbol("cut");

/** Compiles the keys that `properties` does not name; `null` when they are just cut. */
function compileOthers(schema: JSONSchema, compiler: Compiler): OthersCheck | null {
  const { properties, patternProperties, additionalProperties, unevaluatedProperties } = schema;
  const isOpen = properties === undefined && patternProperties === undefined;
  const rest = compileRest(additionalProperties ?? unevaluatedProperties ?? (isOpen || undefined), compiler);
  if (patternProperties === undefined && !rest) return null;
  const named = new Set(Object.keys(properties ?? {}));
  const patterns = Object.entries(patternProperties ?? {}).map(
    ([pattern, inner]) => [pattern === ANY_KEY ? null : compilePattern(pattern), compiler.compile(inner)] as const,
  );
  const checkKey = compileKey(schema, compiler);

  function checkValue(key: string, item: unknown, faults: Faults): unknown {
    let checked: unknown = CUT;
    for (const [pattern, check] of patterns) {
      if (pattern === null || pattern.test(key)) checked = check(item, faults);
    }
    return checked === CUT && rest ? rest(item, faults) : checked;
  }

  return (value, result, faults) => {
    for (const key of Object.keys(value)) {
      const item = value[key];
      if (item === undefined || key === "__proto__" || faults.full || named.has(key)) continue;
      const before = faults.count;
      const checked = checkValue(key, item, faults);
      if (checked === CUT) continue;
      checkKey(key, faults);
      if (faults.count === before) result[key] = checked;
      else faults.within(before, key);
    }
  };
}

/** The rules of a key that `properties` does not name. */
function compileKey(schema: JSONSchema, compiler: Compiler): (key: string, faults: Faults) => void {
  const check = schema.propertyNames ? compiler.compile(schema.propertyNames) : null;
  const isDecode = compiler.direction === "decode";
  return (key, faults) => {
    if (isDecode && !key.isWellFormed()) faults.add("string_unicode", "Key should be text without lone surrogates");
    check?.(key, faults);
  };
}

const keep: Check = (value) => value;

const refuse: Check = (value, faults) => faults.add("extra_forbidden", "Extra inputs are not permitted", value);

/** Compiles the value under a key that nothing names: checked, kept, refused on the way in, or (`null`) cut. */
export function compileRest(rest: JSONSchema | boolean | undefined, compiler: Compiler): Check | null {
  if (typeof rest === "object") return compiler.compile(rest);
  if (rest === true) return keep;
  return rest === false && compiler.direction === "decode" ? refuse : null;
}

function compileBounds(schema: JSONSchema): ((value: object, faults: Faults) => void) | null {
  const { minProperties = 0, maxProperties = Infinity } = schema;
  if (minProperties === 0 && maxProperties === Infinity) return null;
  return (value, faults) => {
    const count = Object.keys(value).length;
    if (count < minProperties) {
      faults.add("too_short", `Object should have at least ${plural(minProperties, "key")}`);
    } else if (count > maxProperties) {
      faults.add("too_long", `Object should have at most ${plural(maxProperties, "key")}`);
    }
  };
}

/** A list, or a tuple where `items` (draft-07) or `prefixItems` (2020-12) is a list of schemas. */
export function compileArray(schema: JSONSchema, compiler: Compiler): Check {
  const items = listItems(schema);
  const prefix = (items.prefix ?? []).map((item) => compiler.compile(item));
  const rest = typeof items.rest === "object" ? compiler.compile(items.rest) : null;
  const closed = items.rest === false;
  const { minItems = 0, uniqueItems = false } = schema;
  const maxItems = Math.min(schema.maxItems ?? Infinity, closed ? prefix.length : Infinity);
  const checkContains = compileContains(schema, compiler);
  const isEncode = compiler.direction === "encode";

  function checkItem(item: unknown, index: number, faults: Faults): unknown {
    const before = faults.count;
    const check = prefix[index] ?? rest;
    const checked = check ? check(item, faults) : item;
    if (faults.count > before) faults.within(before, index);
    return checked;
  }

  return (value, faults) => {
    if (!Array.isArray(value)) return faults.add("list_type", "Input should be a valid list", value);
    if (value.length < minItems) {
      return faults.add("too_short", `List should have at least ${plural(minItems, "item")}, not ${value.length}`);
    }
    if (value.length > maxItems) {
      return faults.add("too_long", `List should have at most ${plural(maxItems, "item")}, not ${value.length}`);
    }
    const result: unknown[] = [];
    for (let index = 0; index < value.length && !faults.full; index++) {
      // A hole or an `undefined` is `null` in JSON, as `JSON.stringify` has it.
      const item: unknown = value[index] === undefined ? null : value[index];
      result.push(checkItem(item, index, faults));
    }
    if (uniqueItems && !hasUniqueItems(isEncode ? result : value)) {
      faults.add("unique_items", "List should have no item twice");
    }
    checkContains?.(value, faults);
    return result;
  };
}

function hasUniqueItems(items: readonly unknown[]): boolean {
  return new Set(items.map(canonicalJSON)).size === items.length;
}

/** Counts the items that fit the schema of `contains`; `null` where the list has no such rule. */
function compileContains(
  schema: JSONSchema,
  compiler: Compiler,
): ((value: readonly unknown[], faults: Faults) => void) | null {
  if (!schema.contains) return null;
  const check = compiler.compile(schema.contains);
  const { minContains = 1, maxContains = Infinity } = schema;
  return (value, faults) => {
    if (faults.full) return;
    const before = faults.count;
    let found = 0;
    for (const item of value) {
      check(item, faults);
      if (faults.count === before) found++;
      faults.rollback(before);
    }
    if (found < minContains || found > maxContains) {
      faults.add("contains", `List should have ${found < minContains ? "more" : "fewer"} matching items`);
    }
  };
}
