import { UsageError } from "../errors.js";
import { quoteName } from "../project-name.js";

/** A type of Prisma in TypeBox and SQL, with values for a test. */
interface FieldType {
  sqlite: string;
  postgresql: string;
  /** Source text of TypeBox, for requests and responses. */
  input: string;
  output: string;
  /** Source text: the values that a test sends, and the response where it differs. */
  examples: readonly [string, string];
  shown?: readonly [string, string];
}

/** The name of the schema for dates, declared with the structs. */
export const MOMENT = "Moment";

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
      input: MOMENT,
      output: "t.Date()",
      examples: ['"2026-01-01"', '"2027-01-02T03:04:05.000Z"'],
      shown: ['"2026-01-01T00:00:00.000Z"', '"2027-01-02T03:04:05.000Z"'],
    },
  ],
]);

/** A reference to a row of another model, by id. */
const reference: FieldType = {
  sqlite: "INTEGER",
  postgresql: "INTEGER",
  input: "t.Integer({ minimum: 1, maximum: 2_147_483_647 })",
  output: "t.Integer()",
  examples: ["", ""],
};

/** An optional text may be empty. */
const optionalText = String.raw`t.String({ maxLength: 10_000, pattern: "^[^\\u0000]*$" })`;

/** One field of a model. */
export class Field {
  /** Its name in requests and in Prisma's client: `dueAt`, or `projectId` for `project:Project`. */
  readonly name: string;
  /** The name of its column. */
  readonly column: string;
  /** Prisma's type. */
  readonly type: string;
  readonly isOptional: boolean;
  /** True if the values of one user's rows must differ. */
  readonly isUnique: boolean;
  /** The field and model of a reference, `null` for a value. */
  readonly relation: { field: string; model: string } | null;
  readonly #facts: FieldType;

  private constructor(text: string, isKnownModel: (name: string) => boolean) {
    const [, name = "", type = "", optional, unique] =
      /^([a-z][A-Za-z0-9]{0,40}):(\w+)(\?)?(@unique)?$/.exec(text) ?? [];
    const isReference = isKnownModel(type);
    const facts = isReference ? reference : types.get(type);
    if (!facts || name === "id" || name === "owner" || name === "ownerId") {
      const known = [...types.keys()].join(", ");
      throw new UsageError(
        `${quoteName(text)} is not a field: write it as title:String, due:DateTime? or slug:String@unique, with ${known} ` +
          "or another model; id and owner are added automatically",
      );
    }
    this.name = isReference ? `${name}Id` : name;
    this.column = this.name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    this.type = isReference ? "Int" : type;
    this.isOptional = optional !== undefined;
    this.isUnique = unique !== undefined;
    this.relation = isReference ? { field: name, model: type } : null;
    this.#facts = facts;
  }

  /**
   * Parses `name:Type`, with `?` for optional and `@unique` for unique for each user.
   *
   * @param isKnownModel returns true for models that a row can belong to
   * @throws UsageError when it is not a field
   */
  static parse(text: string, isKnownModel: (name: string) => boolean): Field {
    return new Field(text, isKnownModel);
  }

  /** The column in a `CREATE TABLE`, as Prisma writes it. */
  columnIn(database: "sqlite" | "postgresql"): string {
    return `"${this.column}" ${this.#facts[database]}${this.isOptional ? "" : " NOT NULL"}`;
  }

  get isMoment(): boolean {
    return this.#facts.input === MOMENT;
  }

  /** Source text of TypeBox: for a new row, an update and a response. */
  schemaOf(use: "new" | "changes" | "answer"): string {
    const { input, output } = this.#facts;
    const value = use === "answer" ? output : this.isOptional && this.type === "String" ? optionalText : input;
    if (use === "new") {
      return this.isOptional ? `t.Union([${value}, t.Null()], { default: null })` : value;
    }
    const schema = this.isOptional ? `t.Union([${value}, t.Null()])` : value;
    return use === "changes" ? `t.Optional(${schema})` : schema;
  }

  /** A value for a test, as source text. */
  example(which: 0 | 1): string {
    return this.#facts.examples[which];
  }

  /** The response to that value where it differs, else `null`. */
  shown(which: 0 | 1): string | null {
    return this.#facts.shown?.[which] ?? null;
  }
}

/** A value of one of Prisma's types as source text of TypeScript, `null` for an unknown type. */
export function exampleOf(type: string): string | null {
  const [example] = types.get(type)?.examples ?? [];
  return type === "DateTime" ? "new Date()" : (example ?? null);
}

/** @throws UsageError for an invalid field, and for two with one name or column */
export function parseFields(words: readonly string[], isKnownModel: (name: string) => boolean): Field[] {
  const fields = words.map((word) => Field.parse(word, isKnownModel));
  const taken = new Set(["id", "owner", "owner_id"]);
  for (const { name, column, relation } of fields) {
    for (const word of relation === null ? [column] : [column, relation.field]) {
      if (taken.has(word)) {
        throw new UsageError(`the field ${name} is given twice`);
      }
      taken.add(word);
    }
  }
  return fields;
}
