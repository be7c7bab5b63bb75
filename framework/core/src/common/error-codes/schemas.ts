/**
 * Schemas.
 *
 * See [parameters.md](parameters.md#annotations).
 * @module
 */

import { describe } from "../messages.js";

export const SCHEMAS = {
  /**
   * A type is computed from a reference that is not known yet.
   *
   * `t.Pick(t.Ref(…))`, `t.Partial(t.Ref(…))` and the like are resolved inside a module.
   *
   * ```js
   * // Right
   * const models = t.Module({
   *   User: t.Object({ name: t.String(), email: t.String() }),
   *   UserUpdate: t.Partial(t.Ref("User")),
   * });
   * app.patch(
   *   "/users/me",
   *   { params: { changes: Body(models.Import("UserUpdate")) } },
   *   readItem,
   * );
   * ```
   */
  TSGI_COMPUTED_TYPE_OUTSIDE_MODULE:
    "A type that is computed from a reference is known inside a module only: write `t.Module({ … " +
    "}).Import(name)`.",
  /**
   * The default of a schema does not fit the schema.
   *
   * Defaults are checked once, here, and not for each request. `null` belongs on the descriptor, where the type of the value sees it.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { params: { page: Query(t.Integer({ default: "one" })) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get(
   *   "/items",
   *   { params: { page: Query(t.Integer({ default: 1 })), tag: Query({ default: null }) } },
   *   listItems,
   * );
   * ```
   */
  TSGI_INVALID_DEFAULT: (name: string, msg: string, instead: string) =>
    `The default of ${name} does not fit its schema: ${msg}.${instead}`,
  /**
   * `errorMessage` of a schema is neither a string nor an object of strings by [type of error](validation-errors.md#types).
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { params: { code: Query(t.String({ errorMessage: { pattern: "A-Z" } })) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get(
   *   "/items",
   *   { params: { code: Query(t.String({ pattern: "[A-Z]", errorMessage: "A-Z" })) } },
   *   listItems,
   * );
   * ```
   */
  TSGI_INVALID_ERROR_MESSAGE: (given: unknown) =>
    "`errorMessage` is a string, or an object of strings by the type of an error, such as " +
    `{ string_pattern_mismatch: "…" }. Received ${describe(given)}.`,
  /**
   * The `pattern` of a schema is not a regular expression.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { params: { code: Query(t.String({ pattern: "[A-Z" })) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get(
   *   "/items",
   *   { params: { code: Query(t.String({ pattern: "^[A-Z]+$" })) } },
   *   listItems,
   * );
   * ```
   */
  TSGI_INVALID_REGULAR_EXPRESSION: (pattern: unknown, reason: string) =>
    `The pattern ${JSON.stringify(pattern)} is not a regular expression: ${reason}. Fix the pattern, or escape ` +
    "literal characters with \\.",
  /**
   * A schema has a rule for one type, and does not say which type that is.
   *
   * `{ minLength: 1 }` alone checks nothing of a number.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { name: Query(t.Unsafe({ minLength: 1 })) } }, listItems);
   *
   * // Right
   * app.get("/items", { params: { name: Query(t.String({ minLength: 1 })) } }, listItems);
   * ```
   */
  TSGI_KEYWORD_WITHOUT_TYPE: (keyword: unknown) =>
    `The keyword ${JSON.stringify(keyword)} needs a \`type\` beside it. Say which one is meant, as ` +
    "t.String({ … }) does.",
  /**
   * A schema of another library gives no JSON Schema, where one is needed.
   *
   * Text is coerced by it, and the document is made from it. The message says what that library needs.
   */
  TSGI_MISSING_JSON_SCHEMA: (vendor: string, place: string, instead: string) =>
    `The ${vendor} schema of ${place} gives no JSON Schema. ${instead}`,
  /**
   * A struct has a property of the name `__proto__`.
   *
   * It would set the prototype of whatever is built from it.
   */
  TSGI_RESERVED_PROPERTY_NAME: "A struct cannot have a property named `__proto__`. Give it another name.",
  /**
   * A schema is of a type that cannot travel: a function, a symbol, a promise and the like.
   *
   * ```js
   * // Wrong
   * app.post("/items", { params: { callback: Body(t.Function([], t.Void())) } }, readItem);
   *
   * // Right
   * app.post(
   *   "/items",
   *   { params: { callback: Body(t.String({ format: "uri" })) } },
   *   readItem,
   * );
   * ```
   */
  TSGI_SCHEMA_WITHOUT_JSON_FORM: (type: unknown) =>
    `A schema of type ${JSON.stringify(type)} has no JSON form. Describe what travels on the wire instead.`,
  /**
   * A schema has a keyword that would not be checked.
   *
   * `if`, `dependentRequired` and others. A rule that is not checked is worse than none.
   *
   * ```js
   * // Wrong
   * app.post(
   *   "/items",
   *   { params: { item: Body(t.Object({}, { minContains: 1, if: { type: "object" } })) } },
   *   readItem,
   * );
   *
   * // Right
   * app.post(
   *   "/items",
   *   {
   *     params: {
   *       item: Body(t.Union([t.Object({ a: t.String() }), t.Object({ b: t.String() })])),
   *     },
   *   },
   *   readItem,
   * );
   * ```
   */
  TSGI_UNCHECKED_KEYWORD: (keyword: unknown) =>
    `The keyword ${JSON.stringify(keyword)} is not checked. Write the rule with a union, an intersection or ` +
    "`t.Transform`, or use a Standard Schema that checks it.",
  /**
   * The `format` of a schema is not known.
   *
   * An unknown format would check nothing. The message has those that are known.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { params: { color: Query(t.String({ format: "color" })) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get(
   *   "/items",
   *   { params: { color: Query(t.String({ pattern: "^#[0-9a-f]{6}$" })) } },
   *   listItems,
   * );
   * ```
   */
  TSGI_UNKNOWN_FORMAT: (format: unknown, formats: Iterable<string>) =>
    `The format ${JSON.stringify(format)} is not known. Known formats: ${[...formats].join(", ")}. Write it ` +
    "as `pattern`, or use a Standard Schema that checks it.",
  /**
   * The `type` of a schema is none of JSON Schema.
   *
   * They are `string`, `number`, `integer`, `boolean`, `object`, `array` and `null`.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { page: Query(t.Unsafe({ type: "int" })) } }, listItems);
   *
   * // Right
   * app.get("/items", { params: { page: Query(t.Integer()) } }, listItems);
   * ```
   */
  TSGI_UNKNOWN_SCHEMA_TYPE: (type: unknown) =>
    `The schema type ${JSON.stringify(type)} is not known. Known types: string, number, integer, boolean, ` +
    "object, array, null.",
  /**
   * A schema refers to another one that is not there.
   *
   * `t.Ref()` leads to a name of its own module. Outside of one, use the schema itself.
   *
   * ```js
   * // Wrong
   * app.post(
   *   "/items",
   *   { params: { item: Body(t.Object({ owner: t.Ref("User") })) } },
   *   readItem,
   * );
   *
   * // Right
   * const User = t.Object({ name: t.String() });
   * app.post("/items", { params: { item: Body(t.Object({ owner: User })) } }, readItem);
   * ```
   *
   * @remarks Said when the document is built.
   */
  "TSGI_UNRESOLVED_REFERENCE.document": (ref: unknown) =>
    `The reference ${JSON.stringify(ref)} leads nowhere within its schema. Define it in the $defs of that ` +
    "schema, or write the schema itself in its place.",
  /** @remarks `t.Ref()` outside of its module. */
  "TSGI_UNRESOLVED_REFERENCE.schema": (ref: string) =>
    `The reference ${JSON.stringify(ref)} leads nowhere. Use the schema itself instead of a reference, or ` +
    "`t.Module({ … }).Import(name)` for structs that refer to each other.",
  /**
   * A default, an example or a value of an `enum` cannot be written as JSON.
   *
   * A function, a `bigint`, a cycle, an instance of a class of your own. Write it as it would travel.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { page: Query(t.Integer({ default: 1n })) } }, listItems);
   *
   * // Right
   * app.get("/items", { params: { page: Query(t.Integer({ default: 1 })) } }, listItems);
   * ```
   *
   * @remarks In an `enum` or as a default.
   */
  "TSGI_VALUE_WITHOUT_JSON_FORM.value": (type: string) =>
    `A value of type ${type} has no JSON form, so no document can list it. Write it as it would travel.`,
  "TSGI_VALUE_WITHOUT_JSON_FORM.example": (reason: string) =>
    `A default or an example has no JSON form: ${reason}. Write it as it would travel.`,
  /** @remarks A function, a `bigint`, a class of your own. */
  "TSGI_VALUE_WITHOUT_JSON_FORM.default": (name: string) =>
    `The default of ${name} has no JSON form. Write it as it would travel.`,
};
