import { configurationError } from "../exceptions.js";
import { plural } from "../messages.js";
import type { Check, Compiler, Property, Run, TakeObject, Write } from "./check.js";
import { emitFill, emitWrite } from "./emit-struct.js";
import type { Faults } from "./faults.js";
import type { JSONSchema } from "./json-schema.js";
import { checkAnything, compilePattern } from "./scalars.js";

/** @param finish - Makes of a default what `compileTake`'s functions give. */
function compileProperties<Result>(
  { properties = {}, required = [] }: JSONSchema,
  compiler: Compiler,
  compileTake: (schema: JSONSchema) => Run<Result>,
  finish: (value: unknown) => Result,
): Property<Result>[] {
  return Array.from(new Set([...Object.keys(properties), ...required]), (key) => {
    if (key === "__proto__") throw configurationError("TSGI_RESERVED_PROPERTY_NAME");
    const schema = (Object.hasOwn(properties, key) && properties[key]) || {};
    const property: Property<Result> = {
      key,
      take: compileTake(schema),
      required: required.includes(key),
      makeDefault: null,
      inherited: key in Object.prototype,
    };
    if (schema.default !== undefined) {
      compiler.compileDefault(key, schema, (make) => (property.makeDefault = () => finish(make())));
    }
    return property;
  });
}

/** Gives the default of a property that is absent. */
function takeAbsent<Result>({ key, makeDefault, required }: Property<Result>, faults: Faults): Result | undefined {
  if (makeDefault !== null) return makeDefault();
  return required ? faults.add("missing", "Field required", null, [key]) : undefined;
}

/** Takes a property of a struct, or its default: `undefined` where there is neither, and after a fault. */
function takeProperty<Result>(
  property: Property<Result>,
  value: Record<string, unknown>,
  faults: Faults,
): Result | undefined {
  const { key } = property;
  const item = property.inherited ? ownOrGetter(value, key) : value[key];
  if (item === undefined) return takeAbsent(property, faults);
  const before = faults.count;
  const taken = property.take(item, faults);
  if (faults.count === before) return taken;
  faults.within(before, key);
  return undefined;
}

/** Any object but a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NO_OBJECT = "Input should be a valid object";
const NO_PLAIN_OBJECT = "Result should be a plain object";

/** Tells an object that JSON writes as what it holds. */
function isWritable(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype || (isRecord(value) && !isOpaque(value));
}

/** Tells values that JSON would write as `{}`, or as something unlike what they hold. */
function isOpaque(value: object): boolean {
  if (value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return true;
  return value instanceof Date || value instanceof Promise;
}

/**
 * An object. Keys that the schema does not name are cut (`additionalProperties: false` refuses them on the way in),
 * defaults are filled in, `__proto__` never gets through.
 */
export function compileObject(schema: JSONSchema, compiler: Compiler): Check {
  const properties = compileProperties(
    schema,
    compiler,
    (inner) => compiler.compile(inner),
    (value) => value,
  );
  const others = compileOthers(schema, compiler);
  const bounds = compileBounds(schema);
  const isEncode = compiler.direction === "encode";
  const [isObject, msg] = isEncode ? [isWritable, NO_PLAIN_OBJECT] : [isRecord, NO_OBJECT];
  let take: TakeObject<Record<string, unknown>> | null = null;
  return (value, faults) => {
    if (!isObject(value)) return faults.add("object_type", msg, value);
    // With the first value: 1,000 routes would compile what most processes never use.
    take ??= emitFill(properties, takeAbsent) ?? fillFrom(properties);
    const result = take(value, faults);
    others?.(value, result, faults);
    bounds?.(value, faults);
    return result;
  };
}

/** Makes an object of properties: the plain form of {@link emitFill}. */
function fillFrom(properties: readonly Property<unknown>[]): TakeObject<Record<string, unknown>> {
  return (value, faults) => {
    const result: Record<string, unknown> = {};
    for (const property of properties) {
      const taken = takeProperty(property, value, faults);
      if (taken !== undefined) result[property.key] = taken;
    }
    return result;
  };
}

/** Writes an object of properties: the plain form of {@link emitWrite}. */
function writeFrom(properties: readonly Property<string | undefined>[]): TakeObject<string> {
  return (value, faults) => {
    const members: string[] = [];
    for (const property of properties) {
      const taken = takeProperty(property, value, faults);
      if (taken !== undefined) members.push(`${JSON.stringify(property.key)}:${taken}`);
    }
    return `{${members.join(",")}}`;
  };
}

/**
 * Compiles what writes an object of a result; `null` for a schema with rules beyond those of its properties. A struct of
 * four properties is checked and written in 110 ns, where a checked copy and `JSON.stringify` take 300 (Node 20). In
 * lists, whose text is long, the copy is as fast.
 */
export function compileStructWrite(schema: JSONSchema, compiler: Compiler): Write | null {
  const { type = "object" } = schema;
  if (type !== "object" || compileOthers(schema, compiler) || compileBounds(schema)) return null;
  const properties = compileProperties(schema, compiler, (inner) => compiler.compileWrite(inner), writeJSON);
  let write: TakeObject<string> | null = null;
  return (value, faults) => {
    if (!isWritable(value)) return faults.add("object_type", NO_PLAIN_OBJECT, value);
    write ??= emitWrite(properties, takeAbsent) ?? writeFrom(properties);
    return write(value, faults);
  };
}

/** A character that JSON writes as an escape: RFC 8259 §7, and a lone surrogate, which is not told from a pair here. */
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/; // oxlint-disable-line no-control-regex -- the range is that of the RFC

/**
 * JSON text of a value, `undefined` for what JSON leaves out.
 *
 * @throws TypeError for what `JSON.stringify` refuses, with what to return instead.
 */
export function writeJSON(value: unknown): string | undefined {
  if (typeof value === "string" && !ESCAPED.test(value)) return `"${value}"`;
  if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
  if (typeof value === "boolean") return value ? "true" : "false";
  try {
    return JSON.stringify(value);
  } catch (error) {
    throw explainJSON(error);
  }
}

/** Says for the two errors of `JSON.stringify` what to return instead. */
export function explainJSON(error: unknown): unknown {
  const message = error instanceof TypeError ? error.message : "";
  const instead = message.includes("BigInt")
    ? "A handler cannot return a bigint, which JSON does not have. Return String(value)."
    : message.includes("circular")
      ? "A handler cannot return an object that contains itself. Return one without the circle, or declare `returns`."
      : null;
  return instead === null ? error : new TypeError(instead, { cause: error });
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

const refuse: Check = (value, faults) => faults.add("extra_forbidden", "Extra inputs are not permitted", value);

/** Compiles the value under a key that nothing names: checked, kept, refused on the way in, or (`null`) cut. */
export function compileRest(rest: JSONSchema | boolean | undefined, compiler: Compiler): Check | null {
  if (typeof rest === "object") return compiler.compile(rest);
  if (rest === true) return checkAnything;
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
