/**
 * The table of a model, in SQL and in Prisma's schema. Prisma's own writer of SQL, `prisma migrate diff`, is the schema engine: a
 * program that no npm package has, and that Prisma downloads when a command needs it first.
 */
import { readdirSync } from "node:fs";
import type { Field } from "./model-fields.js";

/** The databases that a project can have. */
export const migratedDatabases = ["sqlite", "postgresql"] as const;

export type MigratedDatabase = (typeof migratedDatabases)[number];

/** The facts from which the table is written. */
export interface NewModel {
  name: string;
  table: string;
  fields: readonly Field[];
  /** The table of the users if each row belongs to one, or `null`. */
  users: string | null;
}

/** The SQL of a model's table, in the form of Prisma's migrations. */
export function createTable(database: MigratedDatabase, { table, fields, users }: NewModel): string {
  const isSQLite = database === "sqlite";
  const owner =
    `CONSTRAINT "${table}_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "${users}"` +
    `${isSQLite ? " " : ""}("id") ON DELETE CASCADE ON UPDATE CASCADE`;
  const columns = [
    isSQLite ? '"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT' : '"id" SERIAL NOT NULL',
    ...(users === null ? [] : ['"owner_id" INTEGER NOT NULL']),
    ...fields.map(({ column, facts, isOptional }) => `"${column}" ${facts[database]}${isOptional ? "" : " NOT NULL"}`),
    ...(users !== null && isSQLite ? [owner] : []),
  ];
  const primary = isSQLite ? "" : `,\n\n    CONSTRAINT "${table}_pkey" PRIMARY KEY ("id")`;
  const unique = fields
    .filter(({ isUnique }) => isUnique)
    .map(({ column }) => (users === null ? [column] : ["owner_id", column]))
    .map(
      (indexed) =>
        `-- CreateIndex\nCREATE UNIQUE INDEX "${table}_${indexed.join("_")}_key" ON "${table}"("${indexed.join('", "')}");`,
    );
  const statements = [
    `-- CreateTable\nCREATE TABLE "${table}" (\n    ${columns.join(",\n    ")}${primary}\n);`,
    ...(users === null ? [] : [`-- CreateIndex\nCREATE INDEX "${table}_owner_id_idx" ON "${table}"("owner_id");`]),
    ...unique,
    ...(users === null || isSQLite ? [] : [`-- AddForeignKey\nALTER TABLE "${table}" ADD ${owner};`]),
  ];
  return `${statements.join("\n\n")}\n`;
}

/** The model in Prisma's schema, its columns aligned as Prisma's formatter does. */
export function renderModel({ name, table, fields, users }: NewModel): string {
  const owner = [
    ["ownerId", "Int", '@map("owner_id")'],
    ["owner", "User", "@relation(fields: [ownerId], references: [id], onDelete: Cascade)"],
  ] as const;
  const rows = [
    ["id", "Int", "@id @default(autoincrement())"],
    ...(users === null ? [] : owner),
    ...fields.map(
      (field) =>
        [
          field.name,
          `${field.type}${field.isOptional ? "?" : ""}`,
          field.column === field.name ? "" : `@map("${field.column}")`,
        ] as const,
    ),
  ] as const;
  const widest = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length));
  const lines = rows.map(([field, type, attributes]) =>
    `  ${field.padEnd(widest(0))} ${type.padEnd(widest(1))} ${attributes}`.trimEnd(),
  );
  const unique = fields.filter(({ isUnique }) => isUnique);
  const attributes = [
    ...unique.map((field) => `  @@unique([${users === null ? "" : "ownerId, "}${field.name}])`),
    ...(users === null ? [] : ["  @@index([ownerId])"]),
    `  @@map("${table}")`,
  ];
  return `model ${name} {\n${lines.join("\n")}\n\n${attributes.join("\n")}\n}\n`;
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
