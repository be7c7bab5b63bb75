import { execFile } from "node:child_process";
import { cp, readdir } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

import { describe, expect, it } from "@jest/globals";
import { openPrisma } from "@tsgi/prisma";

import { connect } from "../../../src/database.js";
import { USERNAME } from "../../../src/models.js";
import { openSessions, startSession } from "../../../src/security/refresh-tokens.js";
import { cases } from "../support/cases.js";
import { temporaryFolder } from "../support/folder.js";
import { createFile, createSchema, type TestDatabase } from "../support/databases.js";
import { findPostgreSQL } from "../support/find-postgresql.js";

const MIGRATIONS = path.join(import.meta.dirname, "../../../prisma/migrations");

/** A place for one test's tables in either database; `null` if it is not available. */
const DATABASES = [
  ["SQLite", async () => createFile()],
  [
    "PostgreSQL",
    async () => {
      const server = await findPostgreSQL();
      return server === null ? null : createSchema(server);
    },
  ],
] as const satisfies [string, () => Promise<TestDatabase | null>][];

/** Applies the first migration, runs SQL, applies the others, and returns the client. */
async function upgrade(database: string, target: TestDatabase, sql: readonly string[]) {
  await using folder = await temporaryFolder();
  const committed = path.join(MIGRATIONS, database.toLowerCase());
  const [first] = (await readdir(committed)).toSorted();
  await cp(path.join(committed, first!), path.join(folder.path, first!), { recursive: true });
  const before = await openPrisma({
    url: target.url,
    sqlite: () => import("../../../src/generated/sqlite/client.js"),
    postgresql: () => import("../../../src/generated/postgresql/client.js"),
    migrations: folder.path,
  });
  for (const statement of sql) {
    await before.$executeRawUnsafe(statement);
  }
  await before.$disconnect();
  const db = await connect(target.url);
  return {
    db,
    [Symbol.asyncDispose]: async () => {
      await db.$disconnect();
      await target[Symbol.asyncDispose]();
    },
  };
}

const addUser = (id: number, name: string) =>
  `INSERT INTO users (id, username, email, hashed_password) VALUES (${id}, '${name}', '', '!')`;

describe("the contents of a database", () => {
  cases(DATABASES)(
    "has its names in lower case afterwards, each once: first who has it so, else the oldest",
    async (database, create) => {
      const target = await create();
      if (target === null) return;
      const names = ["Demo", "demo", "DEMO", "Bob", "bOB", "carol", "__proto__", "..", "-rf", "Constructor", "0k@x+y"];
      const sql = names.map((name, index) => addUser(index + 1, name));
      await using upgraded = await upgrade(database, target, sql);
      const rows = await upgraded.db.user.findMany({ orderBy: { id: "asc" } });
      const renamed = (id: number) => expect.stringMatching(new RegExp(`^user-${id}-[\\da-f]{8}$`));
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
    },
  );

  cases(DATABASES)("has no session afterwards: its users log in again", async (database, create) => {
    const target = await create();
    if (target === null) return;
    const later = database === "SQLite" ? "1900000000000" : "'2030-01-01'";
    await using upgraded = await upgrade(database, target, [
      addUser(1, "alice"),
      `INSERT INTO sessions VALUES ('live', 1, ${later})`,
      `INSERT INTO refresh_tokens VALUES ('hash', 'live', ${later}, NULL)`,
    ]);
    expect(await upgraded.db.session.count()).toBe(0);
    const user = await upgraded.db.user.findUniqueOrThrow({ where: { username: "alice" } });
    expect(await startSession(upgraded.db, openSessions(upgraded.db), user)).toMatchObject({
      token: expect.any(String),
    });
  });
});

const slow = process.env["TSGI_SLOW"] === undefined ? it.skip : it;

describe("the migrations and the schema of Prisma (only with TSGI_SLOW=1)", () => {
  const PROGRAM = path.join(import.meta.dirname, "../../../scripts/check-migrations.js");

  /** Asks Prisma's engine for the difference; returns the SQL that would fix it. */
  const differenceOf = async (url: string): Promise<string> =>
    promisify(execFile)(process.execPath, [PROGRAM], { env: { ...process.env, DATABASE_URL: url } }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );

  slow("agree, and a column too many is noticed", async () => {
    for (const [name, create] of DATABASES) {
      const target = await create();
      if (target === null) continue;
      expect(await differenceOf(target.url)).toBe("The migrations and the schema agree.\n");
      const db = await connect(target.url);
      await db.$executeRawUnsafe("ALTER TABLE items ADD COLUMN surplus TEXT");
      await db.$disconnect();
      expect(await differenceOf(target.url)).toMatch(name === "SQLite" ? /new_items/ : /DROP COLUMN "surplus"/);
      await target[Symbol.asyncDispose]();
    }
  });
});
