/** Compiles JSON Schema and TypeBox into functions that check, convert or write values. @module */
import { configurationError, type ConfigurationError } from "../common/exceptions.js";
import type { SchemaCheck, Compiler, CompileDirection, Run, Write } from "./check.js";
import { Faults, shorten, FAULT_TYPES, type FaultType } from "./faults.js";
import { type JSONSchema, resolveRef, saysType, transformOf, unionMembers, UNREAD_KEYWORDS } from "./json-schema.js";
import { compileArray, compileObject, compileStructWrite, writeChecked } from "./structs.js";
import { checkAnything, checkBoolean, checkNull, compileDate, compileNumber, compileString } from "./scalars.js";
import { compileEnum, compileIntersection, compileNot, compileUnion } from "./unions.js";
import { isObject } from "../common/options.js";

/** The `type`s of TypeBox schemas that stand for values which JSON cannot carry. */
const NO_JSON_FORM = new Set(
  "AsyncIterator Constructor Function Iterator Promise RegExp Uint8Array bigint symbol undefined void".split(" "),
);

/** Keywords that mean something for values of one type only. */
const NEED_TYPE: ReadonlySet<string> = new Set(
  [
    ["format", "pattern", "minLength", "maxLength"],
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
    ["items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"],
    ["required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"],
  ].flat(),
);

const SCALARS = new Set<unknown>(["string", "integer", "number", "boolean", "null", "Date"]);

const COMBINATIONS = ["anyOf", "oneOf", "allOf", "not"] as const;

/**
 * Tells if a combination has a type. TypeBox repeats the type of the members next to `allOf`, where it would be a
 * separate open object.
 */
function hasOwnType({ type, properties, patternProperties }: JSONSchema, hasMembers: boolean): boolean {
  if (type === "object" && !properties && !patternProperties && hasMembers) return false;
  return type !== undefined || properties !== undefined;
}

/** One schema with all that it refers to, each compiled once, so that a struct may contain itself. */
class Document implements Compiler {
  readonly direction: CompileDirection;
  readonly #root: JSONSchema;
  readonly #byId: Map<string, JSONSchema>;
  /** Each schema's check, `null` while it is being compiled. */
  readonly #compiled = new Map<JSONSchema, SchemaCheck | null>();
  readonly #pending: (() => void)[] = [];
  /** `true` where a value may be deeper, or a text longer for its pattern, than the stack holds. */
  #mayOverflow = false;

  constructor(root: JSONSchema, direction: CompileDirection, byId = new Map<string, JSONSchema>()) {
    this.direction = direction;
    this.#root = root;
    this.#byId = byId;
  }

  /** Compiles the schema with all its defaults. */
  compileWhole(schema: JSONSchema): SchemaCheck {
    return this.#finish(this.compile(schema));
  }

  /** The same for what writes results. */
  compileWholeWrite(schema: JSONSchema): Write {
    return this.#finish(this.compileWrite(schema) ?? writeChecked(this.compile(schema)));
  }

  #finish<Result>(run: Run<Result>): Run<Result | undefined> {
    for (const finish of this.#pending.splice(0)) finish();
    return this.#mayOverflow ? boundStack(run) : run;
  }

  compile(schema: JSONSchema): SchemaCheck {
    const isSpecial = hasSpecial(schema);
    // A scalar has no references and no nested schemas.
    if (!isSpecial && SCALARS.has(schema.type)) return this.#around(schema, this.#compileType(schema));
    if (schema.$id !== undefined) this.#byId.set(schema.$id, schema);
    const known = this.#compiled.get(schema);
    if (known) return known;
    if (known === null) return this.#compileLater(schema);
    this.#compiled.set(schema, null);
    const check = this.#around(schema, this.#compileKeywords(schema, isSpecial));
    this.#compiled.set(schema, check);
    return check;
  }

  compileWrite(schema: JSONSchema): Write | null {
    // A schema with a name is what others refer to, which needs its check.
    if (schema.$id !== undefined) this.compile(schema);
    const { $id: _, ...unnamed } = schema;
    const isPlain = !hasSpecial(unnamed) && !transformOf(schema) && schema["errorMessage"] === undefined;
    return isPlain ? compileStructWrite(schema, this) : null;
  }

  compileLate(schema: JSONSchema): SchemaCheck {
    let check: SchemaCheck | null = null;
    return (value, faults) => (check ??= this.#again().compileWhole(schema))(value, faults);
  }

  /** Another compilation of the same document. */
  #again(direction = this.direction): Document {
    return new Document(this.#root, direction, this.#byId);
  }

  /** A schema that is being compiled, seen from inside itself. */
  #compileLater(schema: JSONSchema): SchemaCheck {
    this.#mayOverflow = true;
    let check: SchemaCheck | null = null;
    return (value, faults) => (check ??= this.compile(schema))(value, faults);
  }

  compileDefault(key: string, schema: JSONSchema, use: (make: () => unknown) => void): void {
    const name = `the property ${JSON.stringify(key)}`;
    this.#pending.push(() => {
      if (this.direction === "decode") return use(compileDefault(schema.default, this.compile(schema), name));
      // A default is written in its external form: it is validated like an input, and serialized again.
      const decode = this.#again("decode").compileWhole(schema);
      const make = compileDefault(schema.default, decode, name);
      const encode = this.compile(schema);
      const output = encode(make(), new Faults());
      use(typeof schema.default === "function" ? () => encode(make(), new Faults()) : () => output);
    });
  }

  resolve(schema: JSONSchema): JSONSchema {
    if (schema.$ref === undefined) return schema;
    const target = this.#byId.get(schema.$ref) ?? resolveRef(schema.$ref, this.#root);
    if (target) return target;
    throw configurationError("TSGI_UNRESOLVED_REFERENCE.schema", schema.$ref ?? "");
  }

  #compileKeywords(schema: JSONSchema, isSpecial: boolean): SchemaCheck {
    if (!isSpecial) return saysType(schema) ? this.#compileType(schema) : checkAnything;
    for (const [name, inner] of Object.entries(schema.$defs ?? {})) this.#byId.set(inner.$id ?? name, inner);
    if (schema.pattern !== undefined || schema.patternProperties) this.#mayOverflow = true;
    if (schema.$ref !== undefined) return this.compile(this.resolve(schema));
    if (schema.const !== undefined) return compileEnum([schema.const]);
    if (schema.enum) return compileEnum(schema.enum);
    return COMBINATIONS.some((keyword) => schema[keyword])
      ? this.#compileCombination(schema)
      : this.#compileType(schema);
  }

  #compileCombination(schema: JSONSchema): SchemaCheck {
    const union = unionMembers(schema);
    const { allOf = [] } = schema;
    const checks: SchemaCheck[] = [];
    if (hasOwnType(schema, union !== undefined || allOf.length > 0)) checks.push(this.#compileType(schema));
    if (union) checks.push(compileUnion(union, this));
    for (const member of allOf) checks.push(this.compile(member));
    if (schema.not) checks.push(compileNot(schema.not, this));
    const others = allOf.length > 0 ? (schema.unevaluatedProperties ?? schema.additionalProperties) : undefined;
    const [first = checkAnything] = checks;
    return checks.length > 1 || others !== undefined ? compileIntersection(checks, others, this) : first;
  }

  #compileType(schema: JSONSchema): SchemaCheck {
    const { type = "object" } = schema;
    if (Array.isArray(type)) {
      // Without its symbols: a transform is compiled around it, and must not convert twice.
      const own = Object.fromEntries(Object.entries(schema));
      return compileUnion(
        type.map((one) => ({ ...own, type: one })),
        this,
      );
    }
    switch (type) {
      case "string":
        return compileString(schema, this.direction);
      case "integer":
        return compileNumber(schema, true);
      case "number":
        return compileNumber(schema, false);
      case "boolean":
        return checkBoolean;
      case "null":
        return checkNull;
      case "object":
        return compileObject(schema, this);
      case "array":
        return compileArray(schema, this);
      case "Date":
        return compileDate(schema, this.direction);
      default:
        throw NO_JSON_FORM.has(type)
          ? configurationError("TSGI_SCHEMA_WITHOUT_JSON_FORM", type)
          : configurationError("TSGI_UNKNOWN_SCHEMA_TYPE", type);
    }
  }

  #around(schema: JSONSchema, check: SchemaCheck): SchemaCheck {
    return withOwnMessage(schema, this.#withTransform(schema, check));
  }

  #withTransform(schema: JSONSchema, check: SchemaCheck): SchemaCheck {
    const transform = transformOf(schema);
    if (!transform) return check;
    const convert = (value: unknown, faults: Faults): unknown => {
      try {
        return this.direction === "encode" ? transform.Encode(value) : transform.Decode(value);
      } catch (error) {
        return faults.add("value_error", shorten(error instanceof Error ? error.message : String(error)), value);
      }
    };
    return (value, faults) => {
      const before = faults.count;
      if (this.direction === "encode") {
        const encoded = convert(value, faults);
        return faults.count === before ? check(encoded, faults) : undefined;
      }
      const checked = check(value, faults);
      return faults.count === before ? convert(checked, faults) : undefined;
    };
  }
}

/** A result may contain itself, `jsonDepth` may be raised, and a pattern with a group in a star needs stack for each turn. */
function boundStack<Result>(run: Run<Result>): Run<Result | undefined> {
  return (value, faults) => {
    try {
      return run(value, faults);
    } catch (error) {
      if (!(error instanceof RangeError && /call stack/i.test(error.message))) throw error;
      return faults.add("value_error", "Value is too long, nested too deeply, or contains itself");
    }
  };
}

/** The symbol under which TypeBox stores the origin of a schema. */
const KIND: unique symbol = Symbol.for("TypeBox.Kind");

/** The kinds that stand for a schema which only a module can work out. */
const UNRESOLVED = new Set<unknown>(["Computed", "Argument"]);

/** Keywords that require more than compiling the type next to them. */
const SPECIAL: ReadonlySet<string> = new Set(
  ["$id", "$defs", "$ref", "const", "enum", "pattern", "patternProperties"].concat(COMBINATIONS),
);

/**
 * Tells if the schema has a keyword that requires more than compiling its type. One pass over the keywords that it has:
 * asking objects of many shapes for keywords that they lack is slow.
 *
 * @throws ConfigurationError when part of the schema would not be checked.
 */
function hasSpecial(schema: JSONSchema): boolean {
  let special = false;
  if (UNRESOLVED.has((schema as { [KIND]?: unknown })[KIND])) {
    throw configurationError("TSGI_COMPUTED_TYPE_OUTSIDE_MODULE");
  }
  for (const keyword in schema) {
    if (UNREAD_KEYWORDS.has(keyword)) throw configurationError("TSGI_UNCHECKED_KEYWORD", keyword);
    if (NEED_TYPE.has(keyword) && !saysType(schema)) throw configurationError("TSGI_KEYWORD_WITHOUT_TYPE", keyword);
    special ||= SPECIAL.has(keyword);
  }
  return special;
}

/**
 * Compiles a JSON Schema for one direction.
 *
 * @param root - The schema in which its references are looked up. Defaults to itself.
 * @throws ConfigurationError if it has no JSON form, an unknown format or type, an unresolved reference, a keyword that
 * would not be checked, or an invalid default.
 */
export function compileCheck(schema: JSONSchema, direction: CompileDirection, root: JSONSchema = schema): SchemaCheck {
  return new Document(root, direction).compileWhole(schema);
}

/** Compiles a JSON Schema to what checks, cuts and writes results. @throws ConfigurationError as {@link compileCheck} does. */
export function compileWrite(schema: JSONSchema): Write {
  return new Document(schema, "encode").compileWholeWrite(schema);
}

/** The message for an error of a type; `undefined` leaves the usual one. */
type MessageOf = (type: FaultType) => string | undefined;

/** @throws ConfigurationError for anything but a text, or texts by the type of error. */
function compileMessages(given: unknown): MessageOf {
  if (typeof given === "string") return () => given;
  if (!isObject(given) || !isTable(given)) throw configurationError("TSGI_INVALID_ERROR_MESSAGE", given);
  return (type) => given[type];
}

function isTable(given: object): given is Readonly<Partial<Record<FaultType, string>>> {
  const types = new Set<string>(FAULT_TYPES);
  return Object.entries(given).every(([type, text]) => types.has(type) && typeof text === "string");
}

/**
 * A check whose errors have the messages of the schema's keyword `errorMessage`. Errors inside the value, which a property or
 * an item has, keep theirs: `loc` grows from the inside out, so that it is still empty for the schema's own.
 */
export function withOwnMessage<Given, Result>(
  { errorMessage }: JSONSchema,
  run: (value: Given, faults: Faults) => Result,
): (value: Given, faults: Faults) => Result {
  if (errorMessage === undefined) return run;
  const messageOf = compileMessages(errorMessage);
  return (value, faults) => {
    const before = faults.count;
    const result = run(value, faults);
    for (const fault of faults.list.slice(before)) {
      if (fault.loc.length === 0) fault.msg = messageOf(fault.type as FaultType) ?? fault.msg;
    }
    return result;
  };
}

/** JSON text of a default: a Date in it is written as it travels. */
function write(value: unknown, name: string): string {
  try {
    const text = JSON.stringify(value);
    if (text !== undefined) return text;
  } catch {
    // A bigint or a cycle.
  }
  throw configurationError("TSGI_VALUE_WITHOUT_JSON_FORM.default", name);
}

/**
 * Compiles a default, which is written in its external form: it is checked and converted like any other value, and each
 * request gets a separate one. A function is called for each.
 *
 * @param name - What the default belongs to, for the message.
 * @throws ConfigurationError when it does not fit.
 */
export function compileDefault(value: unknown, check: SchemaCheck, name: string): () => unknown {
  const isMade = typeof value === "function";
  const text = isMade ? "" : write(value, name);
  const make = () => {
    const faults = new Faults();
    const result = check(JSON.parse(isMade ? write((value as () => unknown)(), name) : text), faults);
    const [fault] = faults.list;
    if (fault) throw unfit(name, value, fault.msg);
    return result;
  };
  const first = make();
  return isMade || (typeof first === "object" && first !== null) ? make : () => first;
}

/** The error for a default that its schema refuses. */
export function unfit(name: string, value: unknown, msg: string): ConfigurationError {
  const instead =
    value === null
      ? " With `default: null` in a schema the type of the value cannot see the null: write " +
        "`Query(schema, { default: null })`, or `t.Optional(schema)` for `undefined`."
      : "";
  return configurationError("TSGI_INVALID_DEFAULT", name, msg, instead);
}
