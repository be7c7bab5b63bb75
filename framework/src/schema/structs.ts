import { ConfigurationError } from "../exceptions.js";
import { canonicalJSON, type Check, defaultFactory, type Direction, setKey } from "./check.js";
import type { JSONSchema } from "./json-schema.js";
import { plural } from "./scalars.js";

/** Compiles a schema that lies inside another one. */
export type CompileInner = (schema: JSONSchema) => Check;

/** One named property of a struct. */
interface Property {
  readonly key: string;
  readonly check: Check;
  readonly required: boolean;
  /** Makes the default, `null` where there is none. */
  readonly makeDefault: (() => unknown) | null;
  /** Whether every object has this name from its prototype, as `constructor`: then only an own one counts. */
  readonly inherited: boolean;
}

function compileProperties(schema: JSONSchema, compile: CompileInner): Property[] {
  const required = new Set(schema.required);
  return Object.entries(schema.properties ?? {}).map(([key, property]) => {
    if (key === "__proto__") {
      throw new ConfigurationError("A struct cannot have a property named `__proto__`. Give it another name.");
    }
    return {
      key,
      check: compile(property),
      required: required.has(key),
      makeDefault: Object.hasOwn(property, "default") ? defaultFactory(property.default) : null,
      inherited: key in Object.prototype,
    };
  });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Values that JSON would write as `{}` or as something unlike what they hold. */
function isOpaque(value: object): boolean {
  return value instanceof Map || value instanceof Set || value instanceof Date || ArrayBuffer.isView(value);
}

/**
 * An object. Keys that the schema does not name are cut (`additionalProperties: false` refuses them on the way in),
 * defaults are filled in, `__proto__` never gets through.
 */
export function compileObject(schema: JSONSchema, compile: CompileInner, direction: Direction): Check {
  const properties = compileProperties(schema, compile);
  const others = compileOthers(schema, compile, direction);
  const bounds = compileBounds(schema);
  const msg = direction === "decode" ? "Input should be a valid object" : "Result should be a plain object";
  return (value, faults) => {
    if (!isRecord(value) || isOpaque(value)) return faults.add("object_type", msg, value);
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
        result[key] = encodeDefault(property, direction, property.makeDefault());
      } else if (property.required) {
        faults.add("missing", "Field required", undefined, [key]);
      }
    }
    others?.(value, result, faults);
    bounds?.(value, faults);
    return result;
  };

  function encodeDefault(property: Property, way: Direction, value: unknown): unknown {
    // On the way in a default is already what the handler gets; on the way out a Date becomes text like any other.
    return way === "encode" && value instanceof Date ? value.toISOString() : value;
  }
}

function ownOrGetter(value: Record<string, unknown>, key: string): unknown {
  if (Object.hasOwn(value, key)) return value[key];
  const inherited = value[key];
  return inherited === (Object.prototype as Record<string, unknown>)[key] ? undefined : inherited;
}

type OthersCheck = (
  value: Record<string, unknown>,
  result: Record<string, unknown>,
  faults: Parameters<Check>[1],
) => void;

/** What happens to the keys that `properties` does not name; `null` when they are just cut. */
function compileOthers(schema: JSONSchema, compile: CompileInner, direction: Direction): OthersCheck | null {
  const named = new Set(Object.keys(schema.properties ?? {}));
  const patterns = Object.entries(schema.patternProperties ?? {}).map(
    // TypeBox writes a record of any text key with an expression that no key can fail.
    ([pattern, inner]) => [pattern === "^(.*)$" ? null : new RegExp(pattern, "u"), compile(inner)] as const,
  );
  const additional = schema.additionalProperties ?? schema.unevaluatedProperties;
  const rest = typeof additional === "object" ? compile(additional) : null;
  const open = additional === true || (schema.properties === undefined && additional === undefined);
  const refuse = additional === false && direction === "decode";
  if (patterns.length === 0 && !rest && !open && !refuse) return null;
  const keepsAll = open && patterns.length === 0;
  const checkKey = schema.propertyNames ? compile(schema.propertyNames) : null;

  return (value, result, faults) => {
    for (const key of Object.keys(value)) {
      if (named.has(key) || key === "__proto__" || faults.full) continue;
      const before = faults.count;
      checkKey?.(key, faults);
      const check = patterns.find(([pattern]) => pattern === null || pattern.test(key))?.[1] ?? rest;
      if (check && value[key] !== undefined) setKey(result, key, check(value[key], faults));
      else if (keepsAll) setKey(result, key, value[key]);
      else if (refuse) faults.add("extra_forbidden", "Extra inputs are not permitted", value[key]);
      if (faults.count > before) faults.within(before, key);
    }
  };
}

function compileBounds(schema: JSONSchema): ((value: object, faults: Parameters<Check>[1]) => void) | null {
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
export function compileArray(schema: JSONSchema, compile: CompileInner): Check {
  const prefix = (schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : [])).map(compile);
  const restSchema = schema.prefixItems || !Array.isArray(schema.items) ? schema.items : schema.additionalItems;
  const rest = typeof restSchema === "object" && !Array.isArray(restSchema) ? compile(restSchema) : null;
  const closed = restSchema === false;
  const { minItems = 0, uniqueItems = false } = schema;
  const maxItems = Math.min(schema.maxItems ?? Infinity, closed ? prefix.length : Infinity);
  const contains = schema.contains ? compile(schema.contains) : null;
  const { minContains = 1, maxContains = Infinity } = schema;

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
      const before = faults.count;
      const check = prefix[index] ?? rest;
      // A hole or an `undefined` is `null` in JSON, as `JSON.stringify` has it.
      const item = value[index] === undefined ? null : value[index];
      result.push(check ? check(item, faults) : item);
      if (faults.count > before) faults.within(before, index);
    }
    if (uniqueItems && new Set(value.map(canonicalJSON)).size !== value.length) {
      faults.add("unique_items", "List should have no item twice");
    }
    if (contains) {
      const found = value.filter((item) => {
        const attempt = faults.attempt();
        contains(item, attempt);
        return attempt.count === 0;
      }).length;
      if (found < minContains || found > maxContains) {
        faults.add("contains", `List should have ${found < minContains ? "more" : "fewer"} matching items`);
      }
    }
    return result;
  };
}
