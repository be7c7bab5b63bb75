/** Schemas of a document as TypeScript, in the words of openapi-typescript. @module */
import type { SchemaObject } from "tsgi/openapi";
import { pointerKey } from "./json-parts.js";

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const COMPONENT = "#/components/schemas/";

/** The members of an object type, one a line, each under its comment. */
export function block(lines: readonly string[]): string {
  return lines.length === 0 ? "{}" : `{\n${lines.map((line) => indent(line)).join("\n")}\n}`;
}

function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

/** A name as a property: JSON text is a string of TypeScript too. */
export function nameText(name: string): string {
  return IDENTIFIER.test(name) ? name : JSON.stringify(name);
}

/** One property, with a description above it. */
export function member(name: string, type: string, { isRequired = true, description = "" } = {}): string {
  return `${comment(description)}${nameText(name)}${isRequired ? "" : "?"}: ${type};`;
}

/** Attack: a text that ends the comment would be code. U+2028 and U+2029 are ends of lines to some tools. */
function comment(description: string): string {
  const lines = description
    .replaceAll("*/", "*\\/")
    .split(/[\n\r\u2028\u2029]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  if (lines.length === 0) return "";
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}`).join("\n")}\n */\n`;
}

/** Alternatives, each once. */
function union(types: readonly string[]): string {
  const members = [...new Set(types)];
  return members.includes("unknown") ? "unknown" : members.join(" | ") || "never";
}

function intersection(types: readonly string[]): string {
  const known = [...new Set(types)].filter((type) => type !== "unknown");
  if (known.length < 2) return known[0] ?? "unknown";
  return known.map((type) => (isUnion(type) ? `(${type})` : type)).join(" & ");
}

/** Tells a type with a `|` outside of its brackets and texts. */
function isUnion(type: string): boolean {
  let depth = 0;
  for (const [token] of type.matchAll(/"(?:\\.|[^"\\])*"|\/\*[^]*?\*\/|[[\](){}<>|&]/g)) {
    if ("[({<".includes(token)) depth++;
    else if ("])}>".includes(token)) depth--;
    else if (depth === 0 && (token === "|" || token === "&")) return true;
  }
  return false;
}

function arrayOf(item: string): string {
  return isUnion(item) ? `(${item})[]` : `${item}[]`;
}

/** An object by its properties. Without any, and without a word of others, it is empty. */
function objectText(schema: SchemaObject): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
  const members = Object.entries(properties).map(([name, property]) =>
    member(name, schemaText(property), {
      isRequired: required.includes(name),
      description: property.description ?? "",
    }),
  );
  const others = additionalProperties === undefined || additionalProperties === false ? [] : [additionalProperties];
  const patterns = Object.values((patternProperties ?? {}) as Record<string, SchemaObject>);
  const values = [...others.filter((value) => value !== true), ...patterns].map((value) => schemaText(value));
  if (others.length === 0 && patterns.length === 0)
    return members.length === 0 ? "Record<string, never>" : block(members);
  const index = block([`[key: string]: ${values.length === 0 ? "unknown" : union(values)};`]);
  return members.length === 0 ? index : intersection([block(members), index]);
}

function listText({ items, prefixItems }: SchemaObject): string {
  if (Array.isArray(prefixItems))
    return `[${(prefixItems as SchemaObject[]).map((item) => schemaText(item)).join(", ")}]`;
  return arrayOf(typeof items === "object" ? schemaText(items) : "unknown");
}

const SCALARS: Readonly<Record<string, string>> = {
  string: "string",
  number: "number",
  integer: "number",
  boolean: "boolean",
  null: "null",
};

function typeText(type: string, schema: SchemaObject): string {
  if (type === "object") return objectText(schema);
  return type === "array" ? listText(schema) : (SCALARS[type] ?? "unknown");
}

/** The type according to the schema's own `type` or values, or `unknown`. */
function ownText(schema: SchemaObject): string {
  const { type, enum: values } = schema;
  if ("const" in schema) return JSON.stringify(schema["const"]);
  if (values !== undefined) return union(values.map((value) => JSON.stringify(value)));
  if (type === undefined) return schema.properties || schema.additionalProperties ? objectText(schema) : "unknown";
  return union((Array.isArray(type) ? type : [type]).map((one) => typeText(one, schema)));
}

/** The type of the values that a schema allows. `true` and `false` are schemas of JSON Schema too. */
export function schemaText(schema: SchemaObject | boolean): string {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  const { $ref, allOf = [], anyOf, oneOf, nullable } = schema;
  if ($ref !== undefined) return referenceText($ref);
  const alternatives = [anyOf, oneOf].flatMap((list) => (list ? [union(list.map((one) => schemaText(one)))] : []));
  const type = intersection([ownText(schema), ...allOf.map((one) => schemaText(one)), ...alternatives]);
  return nullable === true ? union([type, "null"]) : type;
}

/** The address of a component, or of a part of one. */
function referenceText($ref: string): string {
  if (!$ref.startsWith(COMPONENT)) return "unknown";
  const [name = "", ...rest] = $ref.slice(COMPONENT.length).split("/").map(pointerKey);
  return rest.length > 0 ? "unknown" : `components["schemas"][${JSON.stringify(name)}]`;
}
