import { execFile } from "node:child_process";
import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { createHash } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";

import { openDatabase } from "../../src/database.js";
import { migrate, MigrationError } from "../../src/database/migrations.js";
import { openSQLite } from "../../src/database/sqlite-client.js";
import { USERNAME } from "../../src/models.js";
import { temporaryDatabase, temporaryFolder } from "../support.js";
import { createFile, createSchema, queryPostgreSQL, type TestDatabase } from "../support/databases.js";
import { findPostgreSQL } from "../support/find-postgresql.js";

const MIGRATIONS = path.join(import.meta.dirname, "../../prisma/migrations");
const COMMITTED = path.join(MIGRATIONS, "sqlite");

/** A folder of migrations, each with its SQL, and a database beside it. */
async function createMigrations(scripts: Record<string, string>) {
  const folder = await temporaryFolder();
  const directory = path.join(folder.path, "migrations");
  const write = async (name: string, sql: string) => {
    await mkdir(path.join(directory, name), { recursive: true });
    await writeFile(path.join(directory, name, "migration.sql"), sql);
  };
  for (const [name, sql] of Object.entries(scripts)) {
    await write(name, sql);
  }
  const url = `file:${folder.path}/test.db`;
  return {
    write,
    url,
    run: () => migrate({ url, waitMs: 1_000, poolSize: 1 }, directory),
    [Symbol.asyncDispose]: folder[Symbol.asyncDispose],
  };
}

function query(url: string, sql: string): unknown[] {
  const connection = openSQLite(url);
  const statement = connection.prepare(sql);
  const rows = statement.reader ? statement.all() : [statement.run()];
  connection.close();
  return rows;
}

describe("migrating", () => {
  it("makes the file, applies everything in order, and does nothing the second time", async () => {
    await using migrations = await createMigrations({
      "20260102_two": "ALTER TABLE a ADD COLUMN two TEXT; -- no newline at the end",
      "20260101_one": "CREATE TABLE a (one TEXT);\n-- a comment; with a semicolon\n",
    });
    expect(await migrations.run()).toEqual(["20260101_one", "20260102_two"]);
    expect(await migrations.run()).toEqual([]);
    expect(query(migrations.url, "SELECT name FROM pragma_table_info('a')")).toEqual([
      { name: "one" },
      { name: "two" },
    ]);
  });

  it("keeps Prisma's journal: names, checksums of the files, times, steps", async () => {
    await using database = await temporaryDatabase();
    const rows = query(database.config.url, `SELECT * FROM "_prisma_migrations"`);
    const names = (await readdir(COMMITTED)).filter((name) => !name.endsWith(".toml")).toSorted();
    const checksums = await Promise.all(
      names.map(async (name) =>
        createHash("sha256")
          .update(await readFile(path.join(COMMITTED, name, "migration.sql")))
          .digest("hex"),
      ),
    );
    expect(rows).toEqual(
      names.map((name, index) => ({
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        checksum: checksums[index],
        finished_at: expect.any(Number),
        migration_name: name,
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Number),
        applied_steps_count: 1,
      })),
    );
  });

  it("applies all that is pending, or nothing", async () => {
    await using migrations = await createMigrations({
      "20260101_one": "CREATE TABLE a (one TEXT);",
      "20260102_two": "CREATE TABLE b (two TEXT); CREATE TABLE nonsense (",
    });
    await expect(migrations.run()).rejects.toThrow(/incomplete input|syntax error/);
    expect(query(migrations.url, "SELECT name FROM sqlite_master")).toEqual([]);
    await migrations.write("20260102_two", "CREATE TABLE b (two TEXT);");
    expect(await migrations.run()).toEqual(["20260101_one", "20260102_two"]);
  });

  it("lets several do it at once: each migration is applied once", async () => {
    await using migrations = await createMigrations({
      "20260101_one": "CREATE TABLE a (one TEXT); INSERT INTO a VALUES ('x');",
    });
    const applied = await Promise.all(Array.from({ length: 5 }, migrations.run));
    expect(applied.flat()).toEqual(["20260101_one"]);
    expect(query(migrations.url, "SELECT one FROM a")).toEqual([{ one: "x" }]);
  });

  it("keeps the rows that refer to a table which is built anew", async () => {
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

  it("refuses a migration that was changed after it had been applied", async () => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    await migrations.run();
    await migrations.write("20260101_one", "CREATE TABLE a (another TEXT);");
    await expect(migrations.run()).rejects.toThrow(
      new MigrationError("migration 20260101_one was changed after it had been applied"),
    );
  });

  it("refuses to go on where Prisma's own command has failed", async () => {
    await using migrations = await createMigrations({ "20260101_one": "CREATE TABLE a (one TEXT);" });
    await migrations.run();
    query(migrations.url, `UPDATE "_prisma_migrations" SET finished_at = NULL`);
    await expect(migrations.run()).rejects.toThrow(/^migration 20260101_one has failed before/);
    query(migrations.url, `UPDATE "_prisma_migrations" SET rolled_back_at = 1`);
    query(migrations.url, `DROP TABLE a`);
    expect(await migrations.run()).toEqual(["20260101_one"]);
  });
});

describe.each([
  { database: "SQLite", create: createFile },
  {
    database: "PostgreSQL",
    create: async () => {
      const server = await findPostgreSQL();
      return server === null ? null : createSchema(server);
    },
  },
])("what is in a database on $database", ({ database, create }) => {
  /** Applies the first migration, runs SQL, applies the others, and gives the client. */
  async function upgrade(sql: string) {
    const target = await create();
    if (target === null) {
      console.warn(`There is no ${database}, so its migrations were not applied to rows.`);
      return null;
    }
    await using folder = await temporaryFolder();
    const config = { url: target.url, waitMs: 1_000, poolSize: 1 };
    const committed = path.join(MIGRATIONS, database.toLowerCase());
    const [first] = (await readdir(committed)).toSorted();
    await cp(path.join(committed, first!), path.join(folder.path, first!), { recursive: true });
    await migrate(config, folder.path);
    const db = await openDatabase(config);
    for (const statement of sql.split(";\n")) {
      await db.$executeRawUnsafe(statement);
    }
    await migrate(config);
    return {
      db,
      [Symbol.asyncDispose]: async () => {
        await db.$disconnect();
        await target.drop();
      },
    };
  }

  const addUser = (id: number, name: string) =>
    `INSERT INTO users (id, username, email, hashed_password) VALUES (${id}, '${name}', '', '!')`;

  it("has its names in lower case afterwards, each once: first who has it so, else the oldest", async () => {
    const names = ["Demo", "demo", "DEMO", "Bob", "bOB", "carol", "__proto__", "..", "-rf", "Constructor", "0k@x+y"];
    await using upgraded = await upgrade(names.map((name, index) => addUser(index + 1, name)).join(";\n"));
    const rows = await upgraded?.db.user.findMany({ orderBy: { id: "asc" } });
    const renamed = (id: number) => expect.stringMatching(new RegExp(`^user-${id}-[\\da-f]{8}$`));
    if (rows !== undefined) {
      expect(rows.map(({ username }) => username)).toEqual([
        renamed(1),
        "demo",
        renamed(3),
        "bob",
        renamed(5),
        "carol",
        ...[7, 8, 9, 10].map(renamed),
        "0k@x+y",
      ]);
      expect(rows.filter(({ username }) => !USERNAME.test(username))).toEqual([]);
    }
  });

  it("has its sessions afterwards, each with the token that was not used", async () => {
    const later = database === "SQLite" ? "1900000000000" : "'2030-01-01'";
    const addToken = (hash: string, session: string, used: string) =>
      `INSERT INTO refresh_tokens VALUES ('${hash}', '${session}', ${later}, ${used})`;
    const addSession = (id: string) => `INSERT INTO sessions VALUES ('${id}', 1, ${later})`;
    const sql = [
      addUser(1, "alice"),
      addSession("live"),
      addToken("old", "live", later),
      addToken("new", "live", "NULL"),
      addSession("dead"),
      addToken("spent", "dead", later),
    ];
    await using upgraded = await upgrade(sql.join(";\n"));
    if (upgraded !== null) {
      expect(await upgraded.db.session.findMany({ include: { tokens: { orderBy: { hash: "asc" } } } })).toMatchObject([
        { id: "live", currentHash: "new", pendingHash: null, tokens: [{ hash: "new" }, { hash: "old" }] },
      ]);
      expect(await upgraded.db.refreshToken.count()).toBe(2);
    }
  });
});

const slowly = process.env["TSGI_SLOW"] === undefined ? describe.skip : describe;

slowly("the migrations and the schema of Prisma (only with TSGI_SLOW=1)", () => {
  const PROGRAM = path.join(import.meta.dirname, "../../scripts/check-migrations.js");

  /** Asks Prisma's engine what is different; gives the SQL that would mend it. */
  async function differenceOf({ url }: TestDatabase): Promise<string> {
    const env = { ...process.env, DATABASE_URL: url };
    const run = promisify(execFile)(process.execPath, [PROGRAM], { env });
    return run.then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );
  }

  it.each([
    ["SQLite", async () => createFile()],
    [
      "PostgreSQL",
      async () => {
        const server = await findPostgreSQL();
        return server === null ? null : createSchema(server);
      },
    ],
  ])("agree on %s, and a column too many is noticed", async (name, create) => {
    const database = await create();
    if (database === null) {
      console.warn(`There is no ${name}, so its migrations were not compared with the schema.`);
      return;
    }
    expect(await differenceOf(database)).toBe("The migrations and the schema agree.\n");
    const sql = "ALTER TABLE items ADD COLUMN surplus TEXT";
    if (name === "SQLite") {
      query(database.url, sql);
    } else {
      const schema = new URL(database.url).searchParams.get("schema");
      await queryPostgreSQL(database.url, sql.replace("items", `${schema}.items`));
    }
    expect(await differenceOf(database)).toMatch(name === "SQLite" ? /new_items/ : /DROP COLUMN "surplus"/);
    await database.drop();
  });
});
