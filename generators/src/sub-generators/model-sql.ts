import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Field } from "./model-fields.js";

/** The databases that the template `auth` has migrations for: a folder each. */
export const migratedDatabases = ["sqlite", "postgresql"] as const;

/** The table of a model, as Prisma would write it in a migration. */
export function createTable(
  database: (typeof migratedDatabases)[number],
  table: string,
  fields: readonly Field[],
): string {
  const columns = fields.map((field) => field.columnIn(database));
  const lines =
    database === "sqlite"
      ? ['"id" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT', ...columns]
      : ['"id" SERIAL NOT NULL', ...columns];
  const constraint = database === "sqlite" ? "" : `,\n\n    CONSTRAINT "${table}_pkey" PRIMARY KEY ("id")`;
  return `-- CreateTable\nCREATE TABLE "${table}" (\n    ${lines.join(",\n    ")}${constraint}\n);\n`;
}

/** The model in Prisma's schema, its columns aligned as Prisma's formatter does. */
export function renderModel(name: string, table: string, fields: readonly Field[]): string {
  const rows = [
    { name: "id", type: "Int", attributes: "@id @default(autoincrement())" },
    ...fields.map((field) => ({
      name: field.name,
      type: `${field.type}${field.isOptional ? "?" : ""}`,
      attributes: field.column === field.name ? "" : `@map("${field.column}")`,
    })),
  ];
  const widest = (key: "name" | "type") => Math.max(...rows.map((row) => row[key].length));
  const lines = rows.map((row) =>
    `  ${row.name.padEnd(widest("name"))} ${row.type.padEnd(widest("type"))} ${row.attributes}`.trimEnd(),
  );
  return `model ${name} {\n${lines.join("\n")}\n\n  @@map("${table}")\n}\n`;
}

/** The models that a schema holds, and the tables that they are mapped to. */
export function readSchema(text: string): { models: string[]; tables: string[] } {
  const lines = text.split("\n").map((line) => line.replace(/\/\/.*/, ""));
  const find = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? []);
  return { models: find(/^\s*(?:model|enum|type|view)\s+(\w+)\s*\{/), tables: find(/@@map\("(\w+)"\)/) };
}

/**
 * The name of a migration that comes after all those that are there, whatever the clock says.
 *
 * @param folder that of the project's migrations
 */
export function nextMigration(folder: string, name: string, now = new Date()): string {
  const stamps = migratedDatabases.flatMap((database) =>
    readdirSync(join(folder, database)).flatMap((entry) => /^\d{14}(?=_)/.exec(entry)?.[0] ?? []),
  );
  const clock = now.toISOString().replaceAll(/[-:T]|\..*/g, "");
  const last = stamps.toSorted().at(-1) ?? "";
  // The next number is no time of day where seconds run over, and sorts behind all the same.
  return `${clock > last ? clock : String(BigInt(last) + 1n)}_${name}`;
}
