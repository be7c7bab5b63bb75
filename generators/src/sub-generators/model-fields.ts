import { UsageError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** How a type of Prisma's reads elsewhere, and values of it for a test. */
interface FieldType {
  sqlite: string;
  postgresql: string;
  /** TypeBox, as source text. */
  schema: string;
  /** As source text: what a test sends first, and then in its place. */
  examples: readonly [string, string];
}

// PostgreSQL's integers have 32 bits, and its texts no NUL: what it would refuse is refused before.
const types: ReadonlyMap<string, FieldType> = new Map([
  [
    "String",
    {
      sqlite: "TEXT",
      postgresql: "TEXT",
      schema: String.raw`t.String({ pattern: "^[^\\u0000]{0,10000}$" })`,
      examples: ['"first"', '"second"'],
    },
  ],
  [
    "Int",
    {
      sqlite: "INTEGER",
      postgresql: "INTEGER",
      schema: "t.Integer({ minimum: -2_147_483_648, maximum: 2_147_483_647 })",
      examples: ["1", "2"],
    },
  ],
  ["Float", { sqlite: "REAL", postgresql: "DOUBLE PRECISION", schema: "t.Number()", examples: ["1.5", "2.5"] }],
  ["Boolean", { sqlite: "BOOLEAN", postgresql: "BOOLEAN", schema: "t.Boolean()", examples: ["true", "false"] }],
  [
    "DateTime",
    {
      sqlite: "DATETIME",
      postgresql: "TIMESTAMP(3)",
      schema: "t.Date()",
      examples: ['"2026-01-02T03:04:05.000Z"', '"2027-01-02T03:04:05.000Z"'],
    },
  ],
]);

/** One field of a model. */
export class Field {
  readonly name: string;
  /** The name of its column. */
  readonly column: string;
  /** Prisma's type. */
  readonly type: string;
  readonly isOptional: boolean;
  readonly #facts: FieldType;

  private constructor(name: string, type: string, isOptional: boolean, facts: FieldType) {
    this.name = name;
    this.column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    this.type = type;
    this.isOptional = isOptional;
    this.#facts = facts;
  }

  /**
   * Reads `name:Type`, with a `?` behind where the value may be missing.
   *
   * @throws UsageError when it is none
   */
  static parse(text: string): Field {
    const [, name = "", type = "", mark] = /^([a-z][A-Za-z0-9]{0,40}):(\w+)(\?)?$/.exec(text) ?? [];
    const facts = types.get(type);
    if (!facts || name === "id") {
      const known = [...types.keys()].join(", ");
      throw new UsageError(`${quoteName(text)} is no field: write it as title:String or due:DateTime?, with ${known}`);
    }
    return new Field(name, type, mark !== undefined, facts);
  }

  /** The column in a `CREATE TABLE`, as Prisma writes it. */
  columnIn(database: "sqlite" | "postgresql"): string {
    return `"${this.column}" ${this.#facts[database]}${this.isOptional ? "" : " NOT NULL"}`;
  }

  /** TypeBox, as source text. */
  get schema(): string {
    const { schema } = this.#facts;
    return this.isOptional ? `t.Union([${schema}, t.Null()], { default: null })` : schema;
  }

  /** A value for a test, as source text. */
  example(which: 0 | 1): string {
    return this.#facts.examples[which];
  }
}

/** @throws UsageError for what is no field, and for two that share a name or a column */
export function parseFields(words: readonly string[]): Field[] {
  const fields = words.map((word) => Field.parse(word));
  const columns = new Set(["id"]);
  for (const { name, column } of fields) {
    if (columns.has(column)) {
      throw new UsageError(`the field ${name} is there twice`);
    }
    columns.add(column);
  }
  return fields;
}
