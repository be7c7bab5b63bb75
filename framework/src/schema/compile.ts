import { ConfigurationError } from "../exceptions.js";
import { type Check, type Direction, inTurn } from "./check.js";
import { type JSONSchema, resolveRef, unionMembers } from "./json-schema.js";
import { checkAnything, checkBoolean, checkNull, compileDate, compileNumber, compileString } from "./scalars.js";
import { compileArray, compileObject } from "./structs.js";
import { compileEnum, compileIntersection, compileNot, compileUnion } from "./unions.js";

/** The symbol under which TypeBox keeps the two functions of `t.Transform`. */
const TRANSFORM: unique symbol = Symbol.for("TypeBox.Transform");

/** The two halves of TypeBox's `t.Transform`. */
interface Transform {
  Decode(value: unknown): unknown;
  Encode(value: unknown): unknown;
}

/** The `type`s of TypeBox schemas that stand for values which JSON cannot carry. */
const NO_JSON_FORM = new Set([
  "AsyncIterator",
  "Constructor",
  "Function",
  "Iterator",
  "Promise",
  "RegExp",
  "Uint8Array",
  "bigint",
  "symbol",
  "undefined",
  "void",
]);

/** Where references of one schema document lead, each compiled once, so that a struct may contain itself. */
class Document {
  readonly #root: JSONSchema;
  readonly #direction: Direction;
  readonly #byId = new Map<string, JSONSchema>();
  readonly #compiled = new Map<JSONSchema, { check: Check | null }>();

  constructor(root: JSONSchema, direction: Direction) {
    this.#root = root;
    this.#direction = direction;
  }

  readonly compile = (schema: JSONSchema): Check => {
    if (typeof schema.$id === "string") this.#byId.set(schema.$id, schema);
    const known = this.#compiled.get(schema);
    if (known) return known.check ?? ((value, faults) => (known.check as Check)(value, faults));
    const entry: { check: Check | null } = { check: null };
    this.#compiled.set(schema, entry);
    entry.check = this.#withTransform(schema, this.#compileKeywords(schema));
    return entry.check;
  };

  #resolve(ref: string): JSONSchema {
    const target = this.#byId.get(ref) ?? resolveRef(ref, this.#root);
    if (target) return target;
    throw new ConfigurationError(
      `The reference ${JSON.stringify(ref)} leads nowhere. Use the schema itself instead of a reference, or ` +
        "`t.Module({ … }).Import(name)` for structs that refer to each other.",
    );
  }

  #compileKeywords(schema: JSONSchema): Check {
    for (const [name, definition] of Object.entries(schema.$defs ?? {})) {
      this.#byId.set(definition.$id ?? name, definition);
    }
    if (schema.$ref !== undefined) return this.compile(this.#resolve(schema.$ref));
    if (schema.const !== undefined) return compileEnum([schema.const]);
    if (schema.enum) return compileEnum(schema.enum);
    const union = unionMembers(schema);
    const checks: Check[] = [];
    if (schema.type !== undefined || schema.properties) checks.push(this.#compileType(schema));
    if (union) checks.push(compileUnion(union, this.compile));
    if (schema.allOf) {
      // `t.Intersect` puts keywords of its own beside `allOf`; its type only repeats that of the members.
      if (schema.type === "object" && !schema.properties) checks.pop();
      checks.push(compileIntersection(schema.allOf, this.compile));
    }
    if (schema.not) checks.push(compileNot(schema.not, this.compile));
    return checks.reduceRight<Check | undefined>((next, check) => inTurn(check, next), undefined) ?? checkAnything;
  }

  #compileType(schema: JSONSchema): Check {
    const { type = "object" } = schema;
    if (Array.isArray(type)) {
      return compileUnion(
        type.map((one) => ({ ...schema, type: one })),
        this.compile,
      );
    }
    switch (type) {
      case "string":
        return compileString(schema);
      case "integer":
        return compileNumber(schema, true);
      case "number":
        return compileNumber(schema, false);
      case "boolean":
        return checkBoolean;
      case "null":
        return checkNull;
      case "object":
        return compileObject(schema, this.compile, this.#direction);
      case "array":
        return compileArray(schema, this.compile);
      case "Date":
        return compileDate(this.#direction);
      default:
        throw new ConfigurationError(
          NO_JSON_FORM.has(type)
            ? `A schema of type ${JSON.stringify(type)} has no JSON form. Describe what travels on the wire instead.`
            : `The schema type ${JSON.stringify(type)} is not known.`,
        );
    }
  }

  #withTransform(schema: JSONSchema, check: Check): Check {
    const transform = (schema as { [TRANSFORM]?: Transform })[TRANSFORM];
    if (!transform) return check;
    const convert: Check = (value, faults) => {
      try {
        return this.#direction === "decode" ? transform.Decode(value) : transform.Encode(value);
      } catch (error) {
        return faults.add("value_error", error instanceof Error ? error.message : String(error), value);
      }
    };
    return this.#direction === "decode" ? inTurn(check, convert) : inTurn(convert, check);
  }
}

/**
 * Compiles a JSON Schema for one direction.
 *
 * @throws ConfigurationError when it has no JSON form, an unknown format or type, or a reference that leads nowhere.
 */
export function compileCheck(schema: JSONSchema, direction: Direction): Check {
  return new Document(schema, direction).compile(schema);
}
