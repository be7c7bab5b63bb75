/**
 * Schemas.
 *
 * See [parameters.md](parameters.md#annotations).
 * @module
 */

import { describe } from "../messages.js";

export const SCHEMAS = {
  /**
   * A type is computed from a reference outside of a module.
   *
   * `t.Pick(t.Ref(…))`, `t.Partial(t.Ref(…))` and similar types can only be resolved inside a module.
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
   * The default of a schema does not match the schema.
   *
   * tsgi checks defaults once at registration, not in each request. If the default is `null`, set it on the parameter
   * function, such as `Query({ default: null })`, so that TypeScript infers the type.
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
   * A schema has a rule for one type, but does not specify the type.
   *
   * For example, `{ minLength: 1 }` without a type does not reject a number.
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
    `The keyword ${JSON.stringify(keyword)} needs a \`type\` next to it. Add the type, as t.String({ … }) does.`,
  /**
   * A schema of another library does not provide the JSON Schema that tsgi needs.
   *
   * tsgi uses the JSON Schema to convert strings and to build the OpenAPI document. The message tells you how to
   * provide it.
   */
  TSGI_MISSING_JSON_SCHEMA: (vendor: string, place: string, instead: string) =>
    `The ${vendor} schema of ${place} has no JSON Schema. ${instead}`,
  /**
   * An object schema has a property with the name `__proto__`.
   *
   * The property would set the prototype of each object that is created from the schema.
   */
  TSGI_RESERVED_PROPERTY_NAME: "A struct cannot have a property named `__proto__`. Give it another name.",
  /**
   * You use a function of `t` that bundles for the web do not contain.
   *
   * If a bundler sets the condition `browser`, as for Cloudflare Workers, `t` lacks the functions that a JSON API rarely needs,
   * such as `t.Extends`. You can import them from TypeBox, because its schemas work with every copy of the package:
   *
   * ```ts
   * import { Type } from "@sinclair/typebox";
   *
   * const Text = Type.Extract(
   *   Type.Union([Type.Literal("a"), Type.Literal(1)]),
   *   Type.String(),
   * );
   * ```
   */
  TSGI_SCHEMA_FUNCTION_LEFT_OUT: (name: string) =>
    `t.${name} is not in bundles for the web. Import it from TypeBox: import { Type } from "@sinclair/typebox".`,
  /**
   * The type of a schema has no JSON form, for example a function, a symbol or a promise.
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
    `A schema of type ${JSON.stringify(type)} has no JSON form. Describe the transferred value instead.`,
  /**
   * A schema has a keyword that tsgi does not check.
   *
   * Examples are `if` and `dependentRequired`. Without this error, you would rely on a rule that has no effect.
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
   * The `format` of a schema is unknown.
   *
   * tsgi cannot check an unknown format. The message lists the known formats.
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
   * The `type` of a schema is not a type of JSON Schema.
   *
   * The types are `string`, `number`, `integer`, `boolean`, `object`, `array` and `null`.
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
   * A schema refers to a schema that does not exist.
   *
   * `t.Ref()` refers to a name in the same module. Outside of a module, use the schema itself.
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
   * @remarks Thrown when the OpenAPI document is built.
   */
  "TSGI_UNRESOLVED_REFERENCE.document": (ref: unknown) =>
    `The reference ${JSON.stringify(ref)} does not exist in its schema. Define it in the $defs of that ` +
    "schema, or write the schema itself in its place.",
  /** @remarks `t.Ref()` outside of its module. */
  "TSGI_UNRESOLVED_REFERENCE.schema": (ref: string) =>
    `The reference ${JSON.stringify(ref)} cannot be resolved. Use the schema itself instead of a reference, or ` +
    "`t.Module({ … }).Import(name)` for object schemas that refer to each other.",
  /**
   * A default, an example or a value of an `enum` has no JSON form.
   *
   * Examples are a function, a `bigint`, a circular object and an instance of a custom class. Write the value in the
   * form that JSON uses.
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
  /** @remarks For example a function, a `bigint` or your own class. */
  "TSGI_VALUE_WITHOUT_JSON_FORM.default": (name: string) =>
    `The default of ${name} has no JSON form. Write it as it would travel.`,
};
