import { readFileSync } from "node:fs";

/** An object out of a JSON text. */
export type JsonObject = Record<string, unknown>;

/** Whether a value out of a JSON text is an object, and no array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Parses a JSON text that holds an object.
 *
 * @throws TypeError when it holds anything else; SyntaxError when it is no JSON
 */
export function parseJson(text: string, what: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) {
    throw new TypeError(`${what} holds no object`);
  }
  return value;
}

/** Reads a JSON file that holds an object. */
export function readJson(path: string): JsonObject {
  return parseJson(readFileSync(path, "utf8"), path);
}

/** JSON as it is written into a project, and as formatters have it: two spaces, a list of plain values on one line. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  const lists = text.replaceAll(
    /\[\n\s+([^[\]{}]*?)\n\s*\]/g,
    (_, items: string) => `[${items.replaceAll(/\n\s+/g, " ")}]`,
  );
  return `${lists}\n`;
}

/** Those members of an object out of a JSON text that are texts; of anything else, none. */
export function textsOf(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}

/** The same members, in the order of their names. */
export function sortKeys(value: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
