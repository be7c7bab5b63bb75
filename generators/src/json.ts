import { readFileSync } from "node:fs";

export type JsonObject = Record<string, unknown>;

/** True for an object that is not an array. */
export function isRecord(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Parses a JSON object.
 *
 * @throws TypeError for other values; SyntaxError for invalid JSON
 */
export function parseJson(text: string, what: string): JsonObject {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) {
    throw new TypeError(`${what} is not a JSON object`);
  }
  return value;
}

/** Reads a JSON object from a file. */
export function readJson(path: string): JsonObject {
  return parseJson(readFileSync(path, "utf8"), path);
}

/** JSON in the form that formatters keep: two spaces, lists of primitive values on one line. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value, null, 2);
  const lists = text.replaceAll(
    /\[\n\s+([^[\]{}]*?)\n\s*\]/g,
    (_, items: string) => `[${items.replaceAll(/\n\s+/g, " ")}]`,
  );
  return `${lists}\n`;
}

/** The string members of a JSON object; empty for other values. */
export function textsOf(value: unknown): Record<string, string> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(entries.flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])));
}

/** The same members, in the order of their names. */
export function sortKeys(value: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
