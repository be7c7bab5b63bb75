import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { MigrationError } from "../src/index.js";
import { openSQLite } from "../src/sqlite-client.js";
import { openClient, openTables, temporaryFolder } from "./_clients.js";

/** A folder of migrations, each with its SQL, and a database next to it. */
async function createMigrations(scripts: Record<string, string>) {
  const folder = await temporaryFolder();
  const migrations = path.join(folder.path, "migrations");
  const write = async (name: string, sql: string | Buffer) => {
    await mkdir(path.join(migrations, name), { recursive: true });
    await writeFile(path.join(migrations, name, "migration.sql"), sql);
  };
  for (const [name, sql] of Object.entries(scripts)) await write(name, sql);
  const url = `file:${folder.path}/test.db`;
  return {
    path: migrations,
    write,
    url,
    run: async () => {
      const db = await openClient(url, { migrations: pathToFileURL(migrations) });
      await db.$disconnect();
    },
    applied: () => query(url, `SELECT migration_name FROM "_prisma_migrations"`).flatMap(Object.values),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

function query(url: string, sql: string): object[] {
  const connection = openSQLite(url);
  const statement = connection.prepare(sql);
  const rows = statement.reader ? statement.all() : [statement.run()];
  connection.close();
  return rows as object[];
}

describe("migrating", () => {
  it("creates the file, applies all migrations in order, and does not repeat them", async () => {
    await using migrations = await createMigrations({
      "20260102_two": "ALTER TABLE a ADD COLUMN two TEXT; -- no newline at the end",
      "20260101_one": "CREATE TABLE a (one TEXT);\n-- a comment; with a semicolon\n",
    });
    await migrations.run();
    await migrations.run();
    expect(migrations.applied()).toEqual(["20260101_one", "20260102_two"]);
    expect(query(migrations.url, "SELECT name FROM pragma_table_info('a')")).toEqual([
      { name: "one" },
      { name: "two" },
    ]);
  });

  it("keeps Prisma's journal: names, checksums of the files, times, steps", async () => {
    await using tables = await openTables();
    const name = "20260101_tables";
    const file = path.join(import.meta.dirname, "fixtures/migrations/sqlite", name, "migration.sql");
    expect(query(tables.url, `SELECT * FROM "_prisma_migrations"`)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        checksum: createHash("sha256")
          .update(await readFile(file))
          .digest("hex"),
        finished_at: expect.any(Number),
        migration_name: name,
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Number),
        applied_steps_count: 1,
      },
    ]);
  });

  it("keeps the migrations before one that fails, rolls that one back, and names it", async () => {
    await using migrations = await createMigrations({
      "20260101_one": "CREATE TABLE a (one TEXT);",
      "20260102_two": "CREATE TABLE b (two TEXT); CREATE TABLE nonsense (",
    });
    await expect(migrations.run()).rejects.toThrow(
      /^The migration 20260102_two failed: .*(?:incomplete input|syntax error)/,
    );
    expect(migrations.applied()).toEqual(["20260101_one"]);
    expect(query(migrations.url, "SELECT name FROM sqlite_master WHERE name IN ('a', 'b')")).toEqual([{ name: "a" }]);
    await migrations.write("20260102_two", "CREATE TABLE b (two TEXT);");
    await migrations.run();
    expect(migrations.applied()).toEqual(["20260101_one", "20260102_two"]);
  });

  it("accepts a name with a quote", async () => {
    await using migrations = await createMigrations({ "20260101_o'brien": "CREATE TABLE a (one TEXT);" });
    await migrations.run();
    expect(migrations.applied()).toEqual(["20260101_o'brien"]);
  });

  it("is safe if several processes do it concurrently: each migration is applied once", async () => {
    await using migrations = await createMigrations({
      "20260101_one": "CREATE TABLE a (one TEXT); INSERT INTO a VALUES ('x');",
    });
    await Promise.all(Array.from({ length: 5 }, migrations.run));
    expect(migrations.applied()).toEqual(["20260101_one"]);
    expect(query(migrations.url, "SELECT one FROM a")).toEqual([{ one: "x" }]);
  });

  it("keeps the rows that refer to a table which is rebuilt", async () => {
    await using migrations = await createMigrations({
      "20260101_one": `CREATE TABLE a (id INTEGER PRIMARY KEY);
        CREATE TABLE b (a_id INTEGER REFERENCES a (id) ON DELETE CASCADE);
        INSERT INTO a VALUES (1); INSERT INTO b VALUES (1);`,
    });
    await migrations.run();
    await migrations.write(
      "20260102_rebuild",
      `PRAGMA defer_foreign_keys=ON; PRAGMA foreign_keys=OFF;
       CREATE TABLE new_a (id INTEGER PRIMARY KEY, extra TEXT); INSERT INTO new_a (id) SELECT id FROM a;
       DROP TABLE a; ALTER TABLE new_a RENAME TO a; PRAGMA foreign_keys=ON; PRAGMA defer_foreign_keys=OFF;`,
    );
    await migrations.run();
    expect(query(migrations.url, "SELECT a_id FROM b")).toEqual([{ a_id: 1 }]);
  });

  it("rejects a migration that was changed after it had been applied", async () => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    await migrations.run();
    await migrations.write("20260101_one", "CREATE TABLE a (another TEXT);");
    await expect(migrations.run()).rejects.toThrow(
      new MigrationError("The migration 20260101_one was changed after it had been applied."),
    );
  });

  it.each([
    ["\n", "\r\n"],
    ["\r\n", "\n"],
  ])("accepts a migration from a checkout with other line ends: %j, then %j", async (before, after) => {
    await using migrations = await createMigrations({ "20260101_one": `CREATE TABLE a (${before}one TEXT);${before}` });
    await migrations.run();
    await migrations.write("20260101_one", `CREATE TABLE a (${after}one TEXT);${after}`);
    await migrations.run();
    expect(migrations.applied()).toEqual(["20260101_one"]);
  });

  it("rejects to continue after a failure of Prisma's own command", async () => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    await migrations.run();
    query(migrations.url, `UPDATE "_prisma_migrations" SET finished_at = NULL`);
    await expect(migrations.run()).rejects.toThrow(/^The migration 20260101_one has failed before/);
    query(migrations.url, `UPDATE "_prisma_migrations" SET rolled_back_at = 1`);
    query(migrations.url, `DROP TABLE a`);
    await migrations.run();
    expect(migrations.applied()).toEqual(["20260101_one", "20260101_one"]);
  });

  it("has the checksum of the whole file if it starts with a byte order mark, as in Prisma", async () => {
    const sql = "\uFEFFCREATE TABLE a (one TEXT);";
    await using migrations = await createMigrations({ "20260101_one": sql });
    await migrations.run();
    const checksum = createHash("sha256").update(sql).digest("hex");
    expect(query(migrations.url, `SELECT checksum FROM "_prisma_migrations"`)).toEqual([{ checksum }]);
  });

  it.each(["latin1", "utf16le"] as const)("rejects a file in another encoding, and names it: %s", async (encoding) => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    const mark = encoding === "latin1" ? "" : "\uFEFF";
    await migrations.write("20260102_two", Buffer.from(`${mark}INSERT INTO a VALUES ('café');`, encoding));
    const file = path.join(migrations.path, "20260102_two/migration.sql");
    await expect(migrations.run()).rejects.toThrow(`The migration 20260102_two is not UTF-8: save ${file} in UTF-8.`);
  });

  it("rejects a folder without a file, and names it", async () => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    await mkdir(path.join(migrations.path, "20260102_two"));
    const file = path.join(migrations.path, "20260102_two/migration.sql");
    await expect(migrations.run()).rejects.toThrow(
      new MigrationError(`The migration 20260102_two has no file: restore ${file}, or delete its folder.`),
    );
  });

  it("reports a missing folder, and a file that is not a database", async () => {
    await using folder = await temporaryFolder();
    const url = `file:${folder.path}/letter.db`;
    await expect(openClient(url, { migrations: path.join(folder.path, "missing") })).rejects.toThrow("ENOENT");
    await writeFile(path.join(folder.path, "letter.db"), "a letter to my aunt, not a database\n".repeat(100));
    await expect(openClient(url)).rejects.toThrow("not a database");
  });
});
