import { UsageError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** A type of Prisma in SQL and TypeBox, with values for a test. */
interface FieldType {
  sqlite: string;
  postgresql: string;
  /** Source text of TypeBox, for requests and responses. */
  input: string;
  output: string;
  /** Source text of two values that a test sends. */
  examples: readonly [string, string];
}

// PostgreSQL refuses integers beyond 32 bits and texts with NUL, so the schemas do.
const types: ReadonlyMap<string, FieldType> = new Map([
  [
    "String",
    {
      sqlite: "TEXT",
      postgresql: "TEXT",
      input: String.raw`t.String({ maxLength: 10_000, pattern: "^\\s*[^\\s\\u0000][^\\u0000]*$" })`,
      output: "t.String()",
      examples: ['"first"', '"second"'],
    },
  ],
  [
    "Int",
    {
      sqlite: "INTEGER",
      postgresql: "INTEGER",
      input: "t.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })",
      output: "t.Integer()",
      examples: ["1", "2"],
    },
  ],
  [
    "Float",
    {
      sqlite: "REAL",
      postgresql: "DOUBLE PRECISION",
      input: "t.Number()",
      output: "t.Number()",
      examples: ["1.5", "2.5"],
    },
  ],
  [
    "Boolean",
    {
      sqlite: "BOOLEAN",
      postgresql: "BOOLEAN",
      input: "t.Boolean()",
      output: "t.Boolean()",
      examples: ["true", "false"],
    },
  ],
  [
    "DateTime",
    {
      sqlite: "DATETIME",
      postgresql: "TIMESTAMP(3)",
      input: "t.Date()",
      output: "t.Date()",
      examples: ['"2026-01-01T00:00:00.000Z"', '"2027-01-02T03:04:05.000Z"'],
    },
  ],
]);

/** An optional text may be empty. */
const optionalText = String.raw`t.String({ maxLength: 10_000, pattern: "^[^\\u0000]*$" })`;

/** One field of a model. */
export interface Field {
  /** Its name in requests and in Prisma's client: `dueAt`. */
  name: string;
  column: string;
  /** Prisma's type. */
  type: string;
  facts: FieldType;
  isOptional: boolean;
  /** True if the values of one user's rows must differ. */
  isUnique: boolean;
}

/** Source text of TypeBox: for a new row, a change and a response. */
export function schemaOf({ type, facts, isOptional }: Field, use: "new" | "changes" | "response"): string {
  const input = isOptional && type === "String" ? optionalText : facts.input;
  const value = use === "response" ? facts.output : input;
  if (use === "new") {
    return isOptional ? `t.Union([${value}, t.Null()], { default: null })` : value;
  }
  const schema = isOptional ? `t.Union([${value}, t.Null()])` : value;
  return use === "changes" ? `t.Optional(${schema})` : schema;
}

/**
 * Parses fields: `name:Type`, with `?` for optional and `@unique` for unique for each user.
 *
 * @throws UsageError for an invalid field, and for two with one column
 */
export function parseFields(words: readonly string[]): Field[] {
  const fields = words.map(parseField);
  const taken = new Set(["id", "owner_id"]);
  for (const { name, column } of fields) {
    if (taken.has(column)) {
      throw new UsageError(`the field ${name} is given twice`);
    }
    taken.add(column);
  }
  return fields;
}

function parseField(text: string): Field {
  const [, name = "", type = "", optional, unique] = /^([a-z][A-Za-z0-9]{0,40}):(\w+)(\?)?(@unique)?$/.exec(text) ?? [];
  const facts = types.get(type);
  if (!facts || ["id", "owner", "ownerId"].includes(name)) {
    throw new UsageError(
      `${quoteName(text)} is not a field: write it as title:String, due:DateTime? or slug:String@unique, with ` +
        `${[...types.keys()].join(", ")}; id and owner are added automatically`,
    );
  }
  const column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { name, column, type, facts, isOptional: optional !== undefined, isUnique: unique !== undefined };
}
