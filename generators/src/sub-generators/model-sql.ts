import { readdirSync } from "node:fs";
import type { Field } from "./model-fields.js";

/** The databases that a project can have. */
export const migratedDatabases = ["sqlite", "postgresql"] as const;

export type MigratedDatabase = (typeof migratedDatabases)[number];

/** A new model with its references. */
export interface NewModel {
  name: string;
  table: string;
  fields: readonly Field[];
  /** True if each row belongs to a user. */
  belongsToUser: boolean;
  /** The tables that it refers to, and the table of the users. */
  tableOf: (model: string) => string;
}

/** A foreign key. */
interface Key {
  column: string;
  table: string;
  onDelete: "CASCADE" | "SET NULL";
}

/** The SQL of a model's table, in the form of Prisma's migrations. */
export function createTable(database: MigratedDatabase, model: NewModel): string {
  const { table, fields, belongsToUser } = model;
  const keys = keysOf(model);
  const references = keys.map(
    ({ column, table: other, onDelete }) =>
      `CONSTRAINT "${table}_${column}_fkey" FOREIGN KEY ("${column}") REFERENCES "${other}"` +
      `${database === "sqlite" ? " " : ""}("id") ON DELETE ${onDelete} ON UPDATE CASCADE`,
  );
  const columns = [
    ...(belongsToUser ? ['"owner_id" INTEGER NOT NULL'] : []),
    ...fields.map((field) => field.columnIn(database)),
  ];
  const lines =
    database === "sqlite"
      ? ['"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT', ...columns, ...references]
      : ['"id" SERIAL NOT NULL', ...columns];
  const primary = database === "sqlite" ? "" : `,\n\n    CONSTRAINT "${table}_pkey" PRIMARY KEY ("id")`;
  const indexes = keys.map(
    ({ column }) => `-- CreateIndex\nCREATE INDEX "${table}_${column}_idx" ON "${table}"("${column}");`,
  );
  const unique = fields
    .filter(({ isUnique }) => isUnique)
    .map(({ column }) => (belongsToUser ? ["owner_id", column] : [column]))
    .map(
      (indexed) =>
        `-- CreateIndex\nCREATE UNIQUE INDEX "${table}_${indexed.join("_")}_key" ON "${table}"("${indexed.join('", "')}");`,
    );
  const foreign =
    database === "sqlite" ? [] : references.map((text) => `-- AddForeignKey\nALTER TABLE "${table}" ADD ${text};`);
  const head = `-- CreateTable\nCREATE TABLE "${table}" (\n    ${lines.join(",\n    ")}${primary}\n);`;
  return `${[head, ...indexes, ...unique, ...foreign].join("\n\n")}\n`;
}

function keysOf({ fields, belongsToUser, tableOf }: NewModel): Key[] {
  const others = fields.flatMap(({ column, relation, isOptional }) =>
    relation === null
      ? []
      : [
          {
            column,
            table: tableOf(relation.model),
            onDelete: isOptional ? ("SET NULL" as const) : ("CASCADE" as const),
          },
        ],
  );
  return belongsToUser ? [{ column: "owner_id", table: tableOf("User"), onDelete: "CASCADE" }, ...others] : others;
}

/** The model in Prisma's schema, its columns aligned as Prisma's formatter does. */
export function renderModel({ name, table, fields, belongsToUser }: NewModel): string {
  const owner = [
    ["ownerId", "Int", '@map("owner_id")'],
    ["owner", "User", "@relation(fields: [ownerId], references: [id], onDelete: Cascade)"],
  ] as const;
  const rows = [
    ["id", "Int", "@id @default(autoincrement())"],
    ...(belongsToUser ? owner : []),
    ...fields.flatMap(rowsOf),
  ] as const;
  const widest = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const lines = rows.map(([field, type, attributes]) =>
    `  ${field.padEnd(widest(0))} ${type.padEnd(widest(1))} ${attributes}`.trimEnd(),
  );
  const keys = [
    ...(belongsToUser ? ["ownerId"] : []),
    ...fields.flatMap((field) => (field.relation === null ? [] : [field.name])),
  ];
  const attributes = [
    ...fields.flatMap((field) =>
      field.isUnique ? [`  @@unique([${belongsToUser ? "ownerId, " : ""}${field.name}])`] : [],
    ),
    ...keys.map((key) => `  @@index([${key}])`),
    `  @@map("${table}")`,
  ];
  return `model ${name} {\n${lines.join("\n")}\n\n${attributes.join("\n")}\n}\n`;
}

function rowsOf({ name, column, type, isOptional, relation }: Field): (readonly [string, string, string])[] {
  const mark = isOptional ? "?" : "";
  const value = [name, `${type}${mark}`, column === name ? "" : `@map("${column}")`] as const;
  if (relation === null) {
    return [value];
  }
  const onDelete = isOptional ? "SetNull" : "Cascade";
  const attributes = `@relation(fields: [${name}], references: [id], onDelete: ${onDelete})`;
  return [value, [relation.field, `${relation.model}${mark}`, attributes]];
}

/**
 * The name of a migration that sorts after all existing ones, independent of the clock.
 *
 * @param folders the folders of the project's migrations
 */
export function nextMigration(folders: readonly string[], name: string, now = new Date()): string {
  const stamps = folders.flatMap((folder) =>
    readdirSync(folder).flatMap((entry) => /^\d{14}(?=_)/.exec(entry)?.[0] ?? []),
  );
  const clock = now.toISOString().replaceAll(/[-:T]|\..*/g, "");
  const last = stamps.toSorted().at(-1) ?? "";
  // After 59 seconds the number is not a time of day, but still sorts last.
  return `${clock > last ? clock : String(BigInt(last) + 1n)}_${name}`;
}
