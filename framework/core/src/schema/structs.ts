/** Objects with named properties: checked and filled, or checked and written as JSON text. @module */
import { configurationError } from "../common/exceptions.js";
import { compileCode } from "../common/generated-code.js";
import { type SchemaCheck, type Compiler, type Fill, type Property, type Write, canonicalJSON } from "./check.js";
import type { Faults } from "./faults.js";
import { type JSONSchema, listItems } from "./json-schema.js";
import { plainOf, checkAnything, compilePattern } from "./scalars.js";
import { plural } from "../common/messages.js";

/** Any object but a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NO_OBJECT = "Input should be a valid object";
const NO_PLAIN_OBJECT = "Result should be a plain object";

/** Tells if JSON would write a value as an array, as `{}`, or in a form that differs from its content. */
function isOpaque(value: object): boolean {
  if (Array.isArray(value) || value instanceof Map || value instanceof Set || ArrayBuffer.isView(value)) return true;
  return value instanceof Date || value instanceof Promise;
}

/**
 * An object. Keys that the schema does not name are cut (`additionalProperties: false` refuses them on the way in),
 * defaults are filled in, `__proto__` never gets through.
 */
export function compileObject(schema: JSONSchema, compiler: Compiler): SchemaCheck {
  const properties = compileProperties(schema, compiler, (inner) => ({ take: compiler.compile(inner), isText: false }));
  const others = compileOthers(schema, compiler);
  const bounds = compileBounds(schema);
  const isEncode = compiler.direction === "encode";
  let fill: Fill | null = null;
  return (value, faults) => {
    if (typeof value !== "object" || value === null) return refuse(value, isEncode, faults);
    const isPlain = Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain && (isEncode ? isOpaque(value) : Array.isArray(value))) return refuse(value, isEncode, faults);
    // With the first value: 1,000 routes would compile what most processes never use.
    fill ??= GENERATED?.emitFill(properties) ?? fillFrom(properties);
    const result = fill(value as Record<string, unknown>, faults);
    others?.(value as Record<string, unknown>, result, faults);
    bounds?.(value, faults);
    return result;
  };
}

function refuse(value: unknown, isEncode: boolean, faults: Faults): undefined {
  return faults.add("object_type", isEncode ? NO_PLAIN_OBJECT : NO_OBJECT, value);
}

/**
 * Compiles a function that writes an object of a result; `null` for a schema with rules beyond those of its properties.
 */
export function compileStructWrite(schema: JSONSchema, compiler: Compiler): Write | null {
  const { type = "object" } = schema;
  if (type !== "object" || compileOthers(schema, compiler) || compileBounds(schema)) return null;
  const properties = compileProperties(schema, compiler, (inner) => {
    const take = compiler.compileWrite(inner);
    return take ? { take, isText: true } : { take: compiler.compile(inner), isText: false };
  });
  let write: Write | null = null;
  return (value, faults) => {
    if (typeof value !== "object" || value === null) return refuse(value, true, faults);
    if (Object.getPrototypeOf(value) !== Object.prototype && isOpaque(value)) return refuse(value, true, faults);
    write ??= GENERATED?.emitWrite(properties) ?? writeChecked(compiler.compileLate(schema));
    return write(value, faults);
  };
}

function compileProperties(
  { properties = {}, required = [] }: JSONSchema,
  compiler: Compiler,
  compileTake: (schema: JSONSchema) => Pick<Property, "take" | "isText">,
): Property[] {
  return Array.from(new Set([...Object.keys(properties), ...required]), (key) => {
    if (key === "__proto__") throw configurationError("TSGI_RESERVED_PROPERTY_NAME");
    const schema = (Object.hasOwn(properties, key) && properties[key]) || {};
    const isInherited = key in Object.prototype;
    const isRequired = required.includes(key);
    const plain = GENERATED?.plainOf(schema, compiler.direction) ?? null;
    const property: Property = { key, plain, ...compileTake(schema), isRequired, makeDefault: null, isInherited };
    if (schema.default !== undefined) {
      compiler.compileDefault(key, schema, (make) => (property.makeDefault = make));
    }
    return property;
  });
}

/** Reads the value of a property, or its default: `undefined` if both are missing, and after an error. */
function takeItem({ key, take, makeDefault, isRequired }: Property, item: unknown, faults: Faults): unknown {
  if (item === undefined) {
    if (makeDefault !== null) return makeDefault();
    return isRequired ? faults.add("missing", "Field required", null, [key]) : undefined;
  }
  const before = faults.count;
  const taken = take(item, faults);
  return faults.count === before ? taken : faults.within(before, key);
}

/** JSON text of the same. */
function writeItem(property: Property, item: unknown, faults: Faults): unknown {
  const taken = takeItem(property, item, faults);
  if (property.isText && item !== undefined) return taken;
  return faults.count === 0 ? writeJSON(taken) : undefined; // what does not fit may have no JSON form
}

/** The value under a name that objects inherit from `Object.prototype`: an own one, or one of its class. */
export function ownOrGetter(value: Record<string, unknown>, key: string): unknown {
  if (Object.hasOwn(value, key)) return value[key];
  const inherited = value[key];
  return inherited === (Object.prototype as Record<string, unknown>)[key] ? undefined : inherited;
}

/** Makes an object of properties: the plain form of {@link emitFill}. */
function fillFrom(properties: readonly Property[]): Fill {
  return (value, faults) => {
    const result: Record<string, unknown> = {};
    for (const property of properties) {
      const { key, isInherited } = property;
      const taken = takeItem(property, isInherited ? ownOrGetter(value, key) : value[key], faults);
      if (taken !== undefined) result[key] = taken;
    }
    return result;
  };
}

/** The most properties of one function: above, its text takes longer to parse than it saves. */
const MAX_PROPERTIES = 64;

/** Tells properties for which there is to be code. */
function areEmitted(properties: readonly Property[]): boolean {
  return properties.length <= MAX_PROPERTIES && !properties.some(({ isInherited }) => isInherited);
}

/**
 * The code that takes the properties one after the other.
 *
 * @param keep - The code of one: its value is `item`, and `taken` is free. Given the expression of the property too.
 */
function emit(properties: readonly Property[], keep: (property: Property, place: string) => string): string {
  const steps = properties.map((property, index) => {
    return `item = value[${JSON.stringify(property.key)}];\n${keep(property, `properties[${index}]`)}\n`;
  });
  return `let item, taken;\n${steps.join("")}`;
}

/**
 * Emits code that creates an object from the properties, with a separate read and store for each. Under names that are
 * known at run time only, engines look each of them up: that takes 5 % of a request with a struct of three properties,
 * 10 % with one of ten (Node 20). The tests of plain values save 3 and 8 %.
 *
 * @returns `null` if no code should be generated.
 */
function emitFill(properties: readonly Property[]): Fill | null {
  if (!areEmitted(properties)) return null;
  const steps = emit(properties, ({ key, plain }, place) => {
    const name = JSON.stringify(key);
    const other = `if ((taken = takeItem(${place}, item, faults)) !== undefined) result[${name}] = taken;`;
    return plain === null ? other : `if (${plain.test}) result[${name}] = item;\nelse ${other}`;
  });
  const code = `"use strict";\nreturn (value, faults) => {\nconst result = {};\n${steps}return result;\n};`;
  return compileCode(code, { properties, takeItem, ESCAPED });
}

/**
 * Emits what writes the properties as the JSON text of an object, without the checked copy that `JSON.stringify` would need:
 * that takes 6 % of a request with a struct of four properties (Node 20). In lists, whose text is long, it is as fast.
 *
 * @returns `null` if no code should be generated.
 */
function emitWrite(properties: readonly Property[]): Write | null {
  if (!areEmitted(properties)) return null;
  const steps = emit(properties, ({ key, plain }, place) => {
    const name = `${JSON.stringify(key)}:`;
    const start = `text += (text === "" ? ${JSON.stringify(`{${name}`)} : ${JSON.stringify(`,${name}`)})`;
    const other = `if ((taken = writeItem(${place}, item, faults)) !== undefined) ${start} + taken;`;
    return plain === null ? other : `if (${plain.test}) ${start} + ${plain.text};\nelse ${other}`;
  });
  const end = 'return text === "" ? "{}" : text + "}";';
  const code = `"use strict";\nreturn (value, faults) => {\nlet text = "";\n${steps}${end}\n};`;
  return compileCode(code, { properties, writeItem, ESCAPED });
}

/** Writes the result of a check. */
export function writeChecked(check: SchemaCheck): Write {
  return (value, faults) => {
    const checked = check(value, faults);
    return faults.count === 0 ? writeJSON(checked) : undefined; // what does not fit may have no JSON form
  };
}

/** A character that JSON writes as an escape: RFC 8259 §7, and a lone surrogate, which is not told from a pair here. */
const ESCAPED = /[\u0000-\u001f"\\\ud800-\udfff]/; // oxlint-disable-line no-control-regex -- the range is that of the RFC

/**
 * JSON text of a value, `undefined` for what JSON leaves out.
 *
 * @throws TypeError for a value that `JSON.stringify` rejects, with a suggested alternative.
 */
function writeJSON(value: unknown): string | undefined {
  if (typeof value === "string" && !ESCAPED.test(value)) return `"${value}"`;
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

/** A list, or a tuple where `items` (draft-07) or `prefixItems` (2020-12) is a list of schemas. */
export function compileArray(schema: JSONSchema, compiler: Compiler): SchemaCheck {
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

const refuseKey: SchemaCheck = (value, faults) =>
  faults.add("extra_forbidden", "Extra inputs are not permitted", value);

/** Compiles the value under an undeclared key: checked, kept, rejected in requests, or (`null`) removed. */
export function compileRest(rest: JSONSchema | boolean | undefined, compiler: Compiler): SchemaCheck | null {
  if (typeof rest === "object") return compiler.compile(rest);
  if (rest === true) return checkAnything;
  return rest === false && compiler.direction === "decode" ? refuseKey : null;
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

/** Bundles for the web have no generated code, which most of their platforms forbid. */
const GENERATED = process.env["TSGI_PLATFORM"] === "web" ? null : { plainOf, emitFill, emitWrite };
