/** The keys of an object that `properties` does not name, and how many there may be. @module */
import { plural } from "../common/messages.js";
import type { SchemaCheck, Compiler } from "./check.js";
import type { Faults } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";
import { checkAnything, compilePattern } from "./scalars.js";

type OthersCheck = (value: Record<string, unknown>, result: Record<string, unknown>, faults: Faults) => void;

/** TypeBox writes a record of any text key with an expression that is to match every key, line breaks included. */
const ANY_KEY = "^(.*)$";

/** Stands for the value of a key that is left out of the result. */
const CUT = Symbol("cut");

/** Compiles the keys that `properties` does not name; `null` when they are just cut. */
export function compileOthers(schema: JSONSchema, compiler: Compiler): OthersCheck | null {
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

const refuse: SchemaCheck = (value, faults) => faults.add("extra_forbidden", "Extra inputs are not permitted", value);

/** Compiles the value under an undeclared key: checked, kept, rejected in requests, or (`null`) removed. */
export function compileRest(rest: JSONSchema | boolean | undefined, compiler: Compiler): SchemaCheck | null {
  if (typeof rest === "object") return compiler.compile(rest);
  if (rest === true) return checkAnything;
  return rest === false && compiler.direction === "decode" ? refuse : null;
}

export function compileBounds(schema: JSONSchema): ((value: object, faults: Faults) => void) | null {
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
