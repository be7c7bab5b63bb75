import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends } from "tsgi";
import { closeSandboxes, openSandbox } from "../../src/testing/index.js";
import { IS_SLOW } from "../../../test/support/on-demand.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../../test/support/postgres-cluster.js";
import { clientFileOf, createFile, MIGRATIONS, openClient, queryPostgreSQL, temporaryFolder } from "../_clients.js";
import { raw } from "../_tenants.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const slowly = IS_SLOW ? it : it.skip;
const FIXTURE = path.join(import.meta.dirname, "../fixtures/sandboxed.mjs");

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** The URL of a new database, which another user may own. */
async function createDatabase(name: string): Promise<string> {
  await queryPostgreSQL(cluster.url, `CREATE DATABASE "${name}"`);
  return cluster.url.replace("/postgres?", `/${name}?`);
}

async function databases(prefix: string): Promise<string[]> {
  const rows = await queryPostgreSQL(
    cluster.url,
    `SELECT datname FROM pg_database WHERE starts_with(datname, '${prefix}_')`,
  );
  return rows.map((row) => (row as { datname: string }).datname).toSorted();
}

/** Waits until a condition is met: another process has to do something. */
async function eventually<T>(read: () => Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    const value = await read();
    if (isMet(value) || tries === 200) return value;
    await delay(50);
  }
}

const databaseOf = (url: string, options: Parameters<typeof openClient>[1] = {}) =>
  Depends(
    async function* () {
      const db = await openClient(url, options);
      yield db;
      await db.$disconnect();
    },
    { scope: "app" },
  );

/** Starts a process with a sandbox. */
async function start(url: string, end: string, count: number): Promise<{ child: ChildProcess; line: Promise<string> }> {
  const provider = url.startsWith("file:") ? "sqlite" : "postgresql";
  const variables = { TEST_URL: url, TEST_CLIENT: await clientFileOf(provider), TEST_MIGRATIONS: MIGRATIONS };
  const env = { ...process.env, ...variables, TEST_COUNT: String(count), TEST_END: end, NODE_OPTIONS: "" };
  const child = spawn(process.execPath, [FIXTURE], { env, stdio: ["ignore", "pipe", "inherit"] });
  return { child, line: once(child.stdout, "data").then(([data]) => String(data)) };
}

describeWithCluster(`a copy of a database${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  it("is made from a template next to the database, and dropped by closeSandboxes", async () => {
    const url = await createDatabase("closed");
    await openSandbox(databaseOf(url));
    expect(await databases("closed")).toEqual([
      expect.stringMatching(/^closed_sandbox_[\da-f]{8}$/),
      "closed_template",
    ]);
    await closeSandboxes();
    expect(await databases("closed")).toEqual(["closed_template"]);
  });

  it("is dropped after a process that ends by itself, without closeSandboxes", async () => {
    const url = await createDatabase("ended");
    const { child, line } = await start(url, "end", 1);
    expect(JSON.parse(await line)).toEqual({ found: 0, left: 0 });
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(
      await eventually(
        () => databases("ended"),
        ({ length }) => length === 1,
      ),
    ).toEqual(["ended_template"]);
  });

  slowly("is dropped by the next process after a kill -9, while other copies stay (TSGI_SLOW)", async () => {
    const url = await createDatabase("killed");
    const [victim, other] = await Promise.all([start(url, "wait", 1), start(url, "wait", 1)]);
    await Promise.all([victim.line, other.line]);
    const before = await databases("killed");
    expect(before).toHaveLength(3);
    victim.child.kill("SIGKILL");
    await once(victim.child, "exit");
    const left = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE starts_with(datname, 'killed_sandbox')`;
    const connected = async () => (await queryPostgreSQL(cluster.url, left))[0] as { n: number };
    await eventually(connected, ({ n }) => n <= 2);
    await openSandbox(databaseOf(url));
    const after = await databases("killed");
    expect([after.length, after.filter((name) => before.includes(name)).length]).toEqual([3, 2]);
    await closeSandboxes();
    other.child.kill("SIGKILL");
    await once(other.child, "exit");
  });

  it("has the migrations as they are now", async () => {
    const url = await createDatabase("changed");
    await using folder = await temporaryFolder();
    cpSync(MIGRATIONS, folder.path, { recursive: true });
    const tables = async () => {
      const { db } = await openSandbox(databaseOf(url, { migrations: folder.path }));
      const rows = await raw(db).$queryRawUnsafe(
        "SELECT tablename AS name FROM pg_tables WHERE tablename IN ('a', 'b')",
      );
      await closeSandboxes();
      return rows;
    };
    const migrate = (sql: string) => {
      mkdirSync(path.join(folder.path, "postgresql/20260102_more"), { recursive: true });
      writeFileSync(path.join(folder.path, "postgresql/20260102_more/migration.sql"), sql);
    };
    expect(await tables()).toEqual([]);
    migrate("CREATE TABLE a (id INT)");
    expect(await tables()).toEqual([{ name: "a" }]);
    migrate("CREATE TABLE b (id INT)"); // `openPrisma` would reject it
    expect(await tables()).toEqual([{ name: "b" }]);
  });

  it("needs a user that can create databases", async () => {
    await queryPostgreSQL(cluster.url, "CREATE ROLE poor LOGIN");
    const url = new URL(await createDatabase("forbidden"));
    url.username = "poor";
    await expect(openSandbox(databaseOf(url.href))).rejects.toMatchObject({
      code: "TSGI_SANDBOX_CREATEDB",
      message: expect.stringContaining('ALTER ROLE "poor" CREATEDB'),
    });
  });

  it("does not replace a database that has the name of the template", async () => {
    const url = await createDatabase("taken");
    await createDatabase("taken_template");
    await expect(openSandbox(databaseOf(url))).rejects.toMatchObject({ code: "TSGI_SANDBOX_TEMPLATE" });
    expect(await databases("taken")).toEqual(["taken_template"]);
  });

  it("is used until closeSandboxes, which restores the overrides of the App", async () => {
    const url = await createDatabase("restored");
    const database = databaseOf(url);
    const own = async () => 7;
    const [first, second] = [new App(), new App()];
    const callable = Reflect.get(database, "callable") as () => unknown;
    second.dependencyOverrides.set(callable, own);
    const sandbox = await openSandbox(database, { app: first });
    sandbox.use(second);
    const replacement = second.dependencyOverrides.get(callable) as (() => Promise<unknown>) | undefined;
    expect(await replacement?.()).toBe(sandbox.db);
    await closeSandboxes();
    const after = [first, second].map((app) => app.dependencyOverrides.get(callable));
    expect(after).toEqual([undefined, own]);
  });

  it("can have a long name", async () => {
    const name = "é".repeat(30);
    const url = await createDatabase(name);
    await openSandbox(databaseOf(url));
    expect(await databases(name.slice(0, 20))).toEqual([]);
    await closeSandboxes();
  });

  it("keeps the changes that the application makes when it opens the database", async () => {
    const url = await createDatabase("seeded");
    const database = Depends(
      async function* () {
        const db = await openClient(url);
        await db.user.create({ data: { name: "admin" } });
        yield db;
        await db.$disconnect();
      },
      { scope: "app" },
    );
    const sandbox = await openSandbox(database);
    await sandbox.db.user.deleteMany();
    await sandbox.rollback();
    expect(await sandbox.db.user.count()).toBe(1);
    await closeSandboxes();
  });
});

describe("a copy of a file", () => {
  it("is made from a template next to the file, and removed by closeSandboxes", async () => {
    await using file = await createFile();
    const folder = path.dirname(new URL(file.url).pathname);
    const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith(`tsgi-sandbox-${process.pid}-`));
    const before = copies().length;
    await openSandbox(databaseOf(file.url));
    expect([copies().length, readdirSync(folder)]).toEqual([before + 1, ["test_template.db"]]);
    await closeSandboxes();
    expect([copies().length, existsSync(path.join(folder, "test_template.db"))]).toEqual([before, true]);
  });

  slowly("is removed at the end of its process, and after a kill -9 by the next one (TSGI_SLOW)", async () => {
    await using file = await createFile();
    const ended = await start(file.url, "end", 2);
    expect(JSON.parse(await ended.line)).toEqual({ found: 0, left: 0 });
    await once(ended.child, "exit");
    const victim = await start(file.url, "wait", 1);
    await victim.line;
    victim.child.kill("SIGKILL");
    await once(victim.child, "exit");
    const left = ({ child }: { child: ChildProcess }) =>
      readdirSync(tmpdir()).filter((name) => name.startsWith(`tsgi-sandbox-${child.pid}-`)).length;
    expect([left(ended), left(victim)]).toEqual([0, 1]);
    await openSandbox(databaseOf(file.url));
    expect(left(victim)).toBe(0);
    await closeSandboxes();
  });
});

describe("openSandbox", () => {
  it("rejects a dependency of another scope, another value, and a database without migrations", async () => {
    await using file = await createFile();
    const codeOf = (database: unknown) =>
      openSandbox(database as never).catch((error: unknown) => (error as { code?: unknown }).code);
    expect(await codeOf(Depends(async () => openClient(file.url)))).toBe("TSGI_SANDBOX_DATABASE");
    expect(await codeOf(Depends(async () => 7, { scope: "app" }))).toBe("TSGI_SANDBOX_DATABASE");
    expect(await codeOf(7)).toBe("TSGI_SANDBOX_DATABASE");
    const without = Depends(async () => openClient(file.url, {}, { isMigrated: false }), { scope: "app" });
    expect(await codeOf(without)).toBe("TSGI_SANDBOX_WITHOUT_MIGRATIONS");
  });
});

describe("four processes at the same time", () => {
  /** Runs 500 tests of four processes. @returns The processes that saw other rows, or failed. */
  async function runAll(url: string): Promise<unknown[]> {
    const processes = await Promise.all(Array.from({ length: 4 }, () => start(url, "close", 125)));
    const exits = Promise.all(processes.map(({ child }) => once(child, "exit")));
    const lines = await Promise.all(processes.map(({ line }) => line));
    const codes = (await exits).map(([code]) => Number(code));
    return lines.filter((line, index) => line !== '{"found":0,"left":0}\n' || codes[index] !== 0);
  }

  slowly("run 500 tests in a random order on SQLite, without leaving rows behind (TSGI_SLOW)", async () => {
    await using file = await createFile();
    expect(await runAll(file.url)).toEqual([]);
  });

  slowly(
    "run 500 tests in a random order on PostgreSQL, without leaving rows or databases behind (TSGI_SLOW)",
    async () => {
      expect(await runAll(await createDatabase("parallel"))).toEqual([]);
      expect(await databases("parallel")).toEqual(["parallel_template"]);
    },
  );
});
