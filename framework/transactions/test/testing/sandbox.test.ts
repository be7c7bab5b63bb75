import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { Jobs } from "@tsgi/jobs";
import { Client as Connection, Pool } from "pg";
import { App, type ConfigurationError, Depends, HTTPException, t } from "tsgi";
import { closeSandboxes, openSandbox, type Sandbox } from "../../src/testing/index.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../../test/support/postgres-cluster.js";
import { as, CLIENTS, type Client, locals } from "../_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const migrations = path.join(import.meta.dirname, "../fixtures/migrations");
const migrate = async (pool: Pool) => pool.query(readFileSync(path.join(migrations, "notes.sql"), "utf8"));

const SEEN = `SELECT nullif(current_setting('app.tenant', true), '') AS tenant, current_user::text AS role`;
const NONE = [{ tenant: null, role: "test" }];
const insert = (text: string, tenant = "acme") => `INSERT INTO note (text, tenant) VALUES ('${text}', '${tenant}')`;

/** An application whose requests are transactions of a client. */
function createShop({ take, rows, nest }: Client) {
  const pool = Depends(
    async function* () {
      const opened = new Pool({ connectionString: cluster.url });
      yield opened;
      await opened.end();
    },
    { scope: "app" },
  );
  const log = new KeptLog();
  const app = new App({ logger: log });
  const jobs = new Jobs({ inline: true });
  const job = jobs.define("remind", { payload: t.Object({ text: t.String() }) }, async () => {});
  const tx = take(pool, { locals, role: "sandbox_tenant" });
  app.post("/notes/{text}", { params: { tx, pool } }, async (args) => {
    await rows(args.tx, insert(args.text));
    await job.enqueue({ text: args.text });
    if (args.text.startsWith("bad")) throw new HTTPException(409);
    if (args.text === "swallowed") return rows(args.tx, "SELECT 1 / 0").catch(() => []);
    if (args.text === "twice") await rows(args.tx, insert("twice"));
    await nest(args.tx, async (inner) => void (await rows(inner, "SELECT 1 / 0"))).catch(() => null);
    return rows(args.tx, "SELECT text FROM note ORDER BY id");
  });
  app.get("/settings", { params: { tx, pool } }, async (args) => [
    await rows(args.tx, SEEN),
    (await args.pool.query<object>(SEEN)).rows,
  ]);
  const own = take(pool);
  app.post("/nested", { params: { tx: own, pool, fails: t.Boolean({ default: false }) } }, async (args) => {
    await rows(args.tx, insert("outer"));
    const client = await args.pool.connect();
    await client.query("BEGIN");
    await client.query(insert("inner"));
    await client.query(args.fails ? "ROLLBACK" : "COMMIT");
    client.release();
    await args.pool.query(insert("alone"));
    return rows(args.tx, "SELECT text FROM note ORDER BY id");
  });
  app.post("/siblings", { params: { tx: own, pool } }, async (args) => {
    const write = async (text: string) => {
      const client = await args.pool.connect();
      try {
        await client.query("BEGIN");
        await client.query(insert(text));
        await client.query("COMMIT");
      } finally {
        client.release();
      }
    };
    await Promise.all(["a", "b", "c"].map(write));
    return rows(args.tx, "SELECT text FROM note ORDER BY text");
  });
  app.get("/isolation", { params: { tx: take(pool, { isolation: "Serializable" }) } }, async (args) =>
    rows(args.tx, SEEN),
  );
  return { app, log, pool, jobs };
}

describeWithCluster.each(CLIENTS)(
  `a sandbox for $name${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`,
  (client) => {
    let shop: ReturnType<typeof createShop>;
    let sandbox: Sandbox<Pool>;
    beforeAll(async () => {
      shop = createShop(client);
      sandbox = await openSandbox(shop.pool, { app: shop.app, migrations, migrate });
      sandbox.use(shop.jobs);
    }, 30_000);
    afterEach(async () => sandbox.rollback());
    afterAll(async () => {
      await closeSandboxes();
    });

    const post = (url: string) => call(shop.app, "POST", url, as("acme"));
    const texts = async () => {
      const { rows } = await sandbox.db.query<{ text: string }>("SELECT text FROM note ORDER BY id");
      return rows.map(({ text }) => text);
    };

    it("shows the changes of a request until they are rolled back, and undoes a request that fails", async () => {
      await sandbox.db.query(insert("before"));
      expect((await post("/notes/ada")).json).toEqual([{ text: "before" }, { text: "ada" }]);
      expect((await post("/notes/bad")).status).toBe(409);
      expect(await texts()).toEqual(["before", "ada"]);
      expect((await sandbox.jobs()).map(({ name, payload }) => [name, payload])).toEqual([["remind", { text: "ada" }]]);
      await sandbox.runJobs();
      expect(await sandbox.jobs()).toEqual([]);
      await sandbox.rollback();
      expect(await texts()).toEqual([]);
    });

    it("ends the settings and the role with their transaction", async () => {
      const { json } = await call(shop.app, "GET", "/settings", as("acme"));
      expect(json).toEqual([[{ tenant: "acme", role: "sandbox_tenant" }], NONE]);
      expect((await sandbox.db.query<object>(SEEN)).rows).toEqual(NONE);
    });

    it("checks deferred constraints at the commit, and fails after a swallowed error, as PostgreSQL does", async () => {
      expect((await post("/notes/twice")).status).toBe(500);
      expect(shop.log.lines.at(-1)).toMatch(/duplicate key|Failed query: commit/); // of Drizzle
      expect((await post("/notes/swallowed")).status).toBe(500);
      expect(shop.log.lines.at(-1)).toMatch(/rolled the transaction back|Failed query: commit/);
      expect(await texts()).toEqual([]);
    });

    it("is not spoiled by a statement that fails", async () => {
      await sandbox.db.query(insert("ada"));
      await expect(sandbox.db.query("SELECT 1 / 0")).rejects.toThrow("division by zero");
      await expect(sandbox.db.query(insert("ada"))).rejects.toThrow("duplicate key");
      expect(await texts()).toEqual(["ada"]);
    });

    it("runs the transactions of concurrent requests one after the other", async () => {
      const names = Array.from({ length: 10 }, (_, n) => `${n % 2 === 0 ? "bad" : "good"}${n}`);
      const answers = await Promise.all(names.map((name) => post(`/notes/${name}`)));
      expect(answers.map(({ status }) => status)).toEqual(names.map((name) => (name.startsWith("bad") ? 409 : 200)));
      expect((await texts()).toSorted()).toEqual(names.filter((name) => name.startsWith("good")));
    });

    it("nests transactions that a request begins after its own, even if several begin at the same time", async () => {
      const written = ["outer", "inner", "alone"].map((text) => ({ text }));
      expect((await post("/nested")).json).toEqual(written);
      await sandbox.rollback();
      expect((await post("/nested?fails=true")).json).toEqual([written[0], written[2]]);
      await sandbox.rollback();
      expect((await post("/siblings")).json).toEqual(["a", "b", "c"].map((text) => ({ text })));
    });

    it("nests transactions of a test, and rolls back one that is left open", async () => {
      const outer = await sandbox.db.connect();
      await outer.query("BEGIN");
      await outer.query(insert("outer"));
      await sandbox.db.query(insert("inner"));
      expect(await texts()).toEqual(["outer", "inner"]);
      outer.release();
      expect(await texts()).toEqual([]);
      await expect(outer.query("SELECT 1; COMMIT")).rejects.toThrow("in a message of several statements");
    });

    it("ignores isolation levels, with one line of the log", async () => {
      const warned = jest.spyOn(console, "error").mockImplementation(() => {});
      try {
        for (let n = 0; n < 2; n++) expect((await call(shop.app, "GET", "/isolation")).status).toBe(200);
        const lines = warned.mock.calls.map(([line]) => String(line));
        expect(lines.filter((line) => line.includes("ignores the isolation level"))).toHaveLength(1);
      } finally {
        warned.mockRestore();
      }
    });
  },
);

describeWithCluster("a sandbox of a pool", () => {
  const query = async (sql: string) => {
    const connection = new Connection({ connectionString: cluster.url });
    await connection.connect();
    try {
      return (await connection.query<{ name: string }>(sql)).rows.map(({ name }) => name);
    } finally {
      await connection.end();
    }
  };

  it("leaves the database unchanged, and its copy is dropped", async () => {
    const open = Depends(async () => new Pool({ connectionString: cluster.url }), { scope: "app" });
    const sandbox = await openSandbox(open, { migrations, migrate });
    await sandbox.db.query(insert("ada"));
    const databases = "SELECT datname AS name FROM pg_database WHERE datname LIKE 'postgres\\_%' ORDER BY 1";
    expect(await query(databases)).toEqual([expect.stringMatching(/^postgres_sandbox_/), "postgres_template"]);
    await closeSandboxes();
    expect(await query(databases)).toEqual(["postgres_template"]);
    expect(await query("SELECT relname AS name FROM pg_class WHERE relname = 'note'")).toEqual([]);
  });

  it.each<[what: string, pool: unknown, code: string]>([
    ["a dependency of requests", Depends(async () => new Pool()), "TSGI_SANDBOX_POOL"],
    ["another value", Depends(async () => ({}), { scope: "app" }), "TSGI_SANDBOX_POOL"],
  ])("rejects %s", async (_, pool, code) => {
    const opening = openSandbox(pool as never, { migrations, migrate });
    expect(await opening.catch((error: ConfigurationError) => error.code)).toBe(code);
  });
});
