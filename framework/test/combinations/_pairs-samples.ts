/** Values in the requests of the arrays, and in their responses. @module */
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Combination } from "./_pairs-factors.js";

export type Value = string | number | Readonly<Record<string, string | number>>;

/** Values of a schema, as JSON. Strings are made of them for a source that holds text. */
interface Sample {
  readonly valid: Value;
  /** The value in the response, unless it is `valid`. */
  readonly shown?: unknown;
  /** Of another type than the schema's. */
  readonly mistyped: Value;
  /** The same for a source that holds text, if text can be of another type. */
  readonly mistypedText?: Value;
  /** Of the type, but not allowed. */
  readonly unfit?: Value;
}

const INTEGER: Sample = { valid: 5, mistyped: "5", mistypedText: "five", unfit: 12 };

export const SAMPLES: Readonly<Record<Combination["schema"], Sample>> = {
  none: { valid: "plain", mistyped: 5 },
  integer: INTEGER,
  format: { valid: "a@b.example", mistyped: 5, unfit: "nobody" },
  enum: { valid: "red", mistyped: 5, unfit: "blue" },
  optional: INTEGER,
  default: INTEGER,
  nullable: INTEGER,
  object: {
    valid: { count: 5 },
    shown: { count: 5, note: "-" },
    mistyped: { count: "5" },
    mistypedText: { count: "five" },
    unfit: { count: 12 },
  },
  union: { valid: { kind: "cat", lives: 9 }, mistyped: { kind: "cat", lives: "9" }, unfit: { kind: "fish" } },
  date: {
    valid: "2024-05-06T07:08:09Z",
    shown: { date: "2024-05-06T07:08:09.000Z" },
    mistyped: 5,
    mistypedText: "yesterday",
  },
  standard: INTEGER,
};

/** The default of the schema `default`. */
export const DEFAULT = 7;

/** A file to send, as the handler shows it. */
export const FILE = { filename: "a.txt", size: 4, text: "file" };

/** A file to respond with. */
export const FILE_PATH = path.join(import.meta.dirname, "../../core/test/platforms/node/fixtures/localhost.cert.pem");
export const FILE_TEXT = readFileSync(FILE_PATH, "utf8");

/** The origin of the page that sends a request. */
export const ORIGIN = "https://example.com";

/** The secret that every security scheme carries. */
export const SECRET = "secret";

/** The limit of a body, and of the files in one. */
export const LIMIT_BYTES = 500;

/** A value as JSON shows it: a date is not a string, and `undefined` not absence. */
export function show(value: unknown): unknown {
  if (value === undefined) return "undefined";
  if (value instanceof Date) return { date: value.toISOString() };
  return Array.isArray(value) ? value.map(show) : value;
}
