import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Field } from "./model-fields.js";

/** The databases of the template `auth`. Each has a folder of migrations. */
export const migratedDatabases = ["sqlite", "postgresql"] as const;

/** A new model with its references. */
export interface NewModel {
  name: string;
  table: string;
  fields: readonly Field[];
  /** The tables that it refers to, with that of the users. */
  tableOf: (model: string) => string;
}

/** A foreign key. */
interface Key {
  column: string;
  table: string;
  onDelete: "CASCADE" | "SET NULL";
}

/** The SQL of a model's table, in the form of Prisma's migrations. */
export function createTable(database: (typeof migratedDatabases)[number], model: NewModel): string {
  const { table, fields } = model;
  const keys = keysOf(model);
  const references = keys.map(
    ({ column, table: other, onDelete }) =>
      `CONSTRAINT "${table}_${column}_fkey" FOREIGN KEY ("${column}") REFERENCES "${other}"` +
      `${database === "sqlite" ? " " : ""}("id") ON DELETE ${onDelete} ON UPDATE CASCADE`,
  );
  const columns = ['"owner_id" INTEGER NOT NULL', ...fields.map((field) => field.columnIn(database))];
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
    .map(
      ({ column }) =>
        `-- CreateIndex\nCREATE UNIQUE INDEX "${table}_owner_id_${column}_key" ON "${table}"("owner_id", "${column}");`,
    );
  const foreign =
    database === "sqlite" ? [] : references.map((text) => `-- AddForeignKey\nALTER TABLE "${table}" ADD ${text};`);
  const head = `-- CreateTable\nCREATE TABLE "${table}" (\n    ${lines.join(",\n    ")}${primary}\n);`;
  return `${[head, ...indexes, ...unique, ...foreign].join("\n\n")}\n`;
}

function keysOf({ fields, tableOf }: NewModel): Key[] {
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
  return [{ column: "owner_id", table: tableOf("User"), onDelete: "CASCADE" }, ...others];
}

/** The model in Prisma's schema, its columns aligned as Prisma's formatter does. */
export function renderModel({ name, table, fields }: NewModel): string {
  const rows = [
    ["id", "Int", "@id @default(autoincrement())"],
    ["ownerId", "Int", '@map("owner_id")'],
    ["owner", "User", "@relation(fields: [ownerId], references: [id], onDelete: Cascade)"],
    ...fields.flatMap(rowsOf),
  ] as const;
  const widest = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const lines = rows.map(([field, type, attributes]) =>
    `  ${field.padEnd(widest(0))} ${type.padEnd(widest(1))} ${attributes}`.trimEnd(),
  );
  const keys = ["ownerId", ...fields.flatMap((field) => (field.relation === null ? [] : [field.name]))];
  const attributes = [
    ...fields.flatMap((field) => (field.isUnique ? [`  @@unique([ownerId, ${field.name}])`] : [])),
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
 * @param folder the project's migrations
 */
export function nextMigration(folder: string, name: string, now = new Date()): string {
  const stamps = migratedDatabases.flatMap((database) =>
    readdirSync(join(folder, database)).flatMap((entry) => /^\d{14}(?=_)/.exec(entry)?.[0] ?? []),
  );
  const clock = now.toISOString().replaceAll(/[-:T]|\..*/g, "");
  const last = stamps.toSorted().at(-1) ?? "";
  // After 59 seconds the number is not a time of day, but still sorts last.
  return `${clock > last ? clock : String(BigInt(last) + 1n)}_${name}`;
}
