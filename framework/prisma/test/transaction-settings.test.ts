import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, type ConfigurationError, Depends, HTTPException, Request, t, withParams } from "tsgi";
import { nextTurn } from "tsgi/internals";
import { TestClient } from "tsgi/testing";
import { idempotent, transactionOf } from "../src/index.js";
import { call } from "../../test/support/call.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { startPgBouncer, WITHOUT_PGBOUNCER } from "../../test/support/pgbouncer.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { openTables, queryPostgreSQL } from "./_clients.js";
import { as, LEFT, locals, openNotes, raw } from "./_tenants.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const ifInstalled = WITHOUT_PGBOUNCER === null ? it : it.skip;
const slowly = IS_SLOW ? it : it.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster({ max_connections: 50 });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const SETTINGS = `SELECT current_setting('app.tenant') AS "tenant", current_user::text AS "role",
  current_setting('transaction_isolation') AS "isolation"`;
const NONE = [{ tenant: null, isUser: true }];
const sorted = (statuses: Set<number>) => [...statuses].toSorted((left, right) => left - right);

/** Requests of tenants, which read and write without a `where`. @returns The rows of other tenants that any of them saw. */
async function interleave(server: string, requests: number): Promise<{ statuses: Set<number>; foreign: unknown[] }> {
  await using notes = await openNotes(server, { poolSize: 5, waitMs: 60_000 });
  const tenants = Array.from({ length: 50 }, (_, index) => `tenant ${index}`);
  for (const tenant of tenants) {
    await raw(notes.db).$executeRawUnsafe(
      `INSERT INTO "${notes.schema}"."note" ("text", "tenant") SELECT 'note', $1 FROM generate_series(1, 4)`,
      tenant,
    );
  }
  const params = { tx: Depends(notes.transaction), request: Request };
  notes.app.post("/{n}", { params: { ...params, n: t.Integer() } }, async ({ tx, n }) => {
    if (n % 3 === 0) await raw(tx).$executeRawUnsafe(`INSERT INTO "note" ("text") VALUES ('new')`);
    await nextTurn();
    const seen = await raw(tx).$queryRawUnsafe(`SELECT DISTINCT "tenant" FROM "note"`);
    if (n % 5 === 0) throw new HTTPException(409, JSON.stringify(seen));
    if (n % 7 === 0)
      await raw(tx)
        .$queryRawUnsafe("SELECT 1 / 0")
        .catch(() => null); // the commit becomes a rollback
    return seen;
  });
  const statuses = new Set<number>();
  const foreign: unknown[] = [];
  let next = 0;
  const client = async () => {
    while (next < requests) {
      const n = next++;
      const tenant = tenants[(n * 7) % tenants.length] ?? "";
      const { status, json } = await call(notes.app, "POST", `/${n}`, as(tenant));
      statuses.add(status);
      const seen = status === 409 ? JSON.parse((json as { detail: string }).detail) : json;
      if (status !== 500 && JSON.stringify(seen) !== JSON.stringify([{ tenant }])) foreign.push(seen);
    }
  };
  await Promise.all(Array.from({ length: 20 }, client));
  return { statuses, foreign };
}

describeWithCluster(`locals and role${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  let shared: Awaited<ReturnType<typeof openNotes>>;
  beforeAll(async () => {
    shared = await openNotes(cluster.url);
  });
  afterAll(async () => {
    await shared[Symbol.asyncDispose]();
  });

  it("apply from the first statement on, with the isolation", async () => {
    await using notes = await openNotes(cluster.url);
    const transaction = notes.take({ locals, role: notes.role, isolation: "Serializable" });
    notes.app.get("/", { params: { tx: Depends(transaction) } }, async ({ tx }) => raw(tx).$queryRawUnsafe(SETTINGS));
    const { json } = await call(notes.app, "GET", "/", as("acme"));
    expect(json).toEqual([{ tenant: "acme", role: notes.role, isolation: "serializable" }]);
  });

  it("show a tenant only its own rows, and give new rows its name, even if the handler forgets the tenant", async () => {
    await using notes = await openNotes(cluster.url);
    const params = { tx: Depends(notes.transaction) };
    notes.app.post("/", { params }, async ({ tx }) =>
      raw(tx).$executeRawUnsafe(`INSERT INTO "note" ("text") VALUES ('new')`),
    );
    notes.app.get("/", { params }, async ({ tx }) => raw(tx).$queryRawUnsafe(`SELECT "tenant" FROM "note"`));
    notes.app.delete("/", { params }, async ({ tx }) => raw(tx).$executeRawUnsafe(`DELETE FROM "note"`));
    notes.app.put("/", { params }, async ({ tx }) =>
      raw(tx).$executeRawUnsafe(`INSERT INTO "note" ("text", "tenant") VALUES ('stolen', 'acme')`),
    );
    for (const tenant of ["acme", "initech"]) await call(notes.app, "POST", "/", as(tenant));
    expect((await call(notes.app, "GET", "/", as("acme"))).json).toEqual([{ tenant: "acme" }]);
    expect((await call(notes.app, "GET", "/", as("' OR '1' = '1"))).json).toEqual([]);
    expect((await call(notes.app, "PUT", "/", as("initech"))).status).toBe(500);
    expect((await call(notes.app, "DELETE", "/", as("initech"))).json).toBe(1);
    expect((await call(notes.app, "GET", "/", as("acme"))).json).toHaveLength(1);
  });

  it("accept a role from the request", async () => {
    await using notes = await openNotes(cluster.url);
    const role = Depends(withParams({ request: Request }, async ({ request }) => request.headers["x-role"] ?? ""));
    notes.app.get("/", { params: { tx: Depends(notes.take({ role })) } }, async ({ tx }) =>
      raw(tx).$queryRawUnsafe("SELECT current_user::text AS role"),
    );
    const statusAs = async (name: string) => call(notes.app, "GET", "/", { headers: [["x-role", name]] });
    expect((await statusAs(notes.role)).json).toEqual([{ role: notes.role }]);
    for (const name of ["none", "NONE", ""]) {
      expect((await statusAs(name)).status).toBe(500);
      expect(notes.log.lines.at(-1)).toContain("the name of a role that PostgreSQL does not reserve");
    }
    expect((await statusAs("absent")).status).toBe(500);
  });

  it.each<[what: string, value: unknown, message: string]>([
    ["a number", { "app.tenant": 7 }, '"app.tenant" should be a string without NUL and lone surrogates, not a number'],
    ["undefined", { "app.tenant": undefined }, "not undefined"],
    ["null", { "app.tenant": null }, "not null"],
    ["NUL", { "app.tenant": "a\0b" }, "without NUL"],
    ["half of a surrogate pair", { "app.tenant": "\ud800" }, "lone surrogates"],
    ["a name without a prefix", { tenant: "acme" }, '"tenant" cannot be the name of a setting'],
    ["a setting of PostgreSQL", { role: "postgres" }, '"role" cannot be the name of a setting'],
    ["a name in upper case", { "app.Tenant": "acme" }, "cannot be the name"],
    ["a name that is SQL", { "app.x', 'y', false); --": "acme" }, "cannot be the name"],
    ["no value", undefined, "not undefined"],
    ["a list", ["acme"], "not a list"],
    ["a Map", new Map([["app.tenant", "acme"]]), "not an object"],
  ])("reject %s before the handler runs", async (_, value, message) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const given = Depends(async () => value as { "app.tenant": string });
    let isCalled = false;
    const transaction = transactionOf(
      Depends(async () => shared.db),
      { locals: given },
    );
    app.get("/", { params: { tx: Depends(transaction) } }, async () => (isCalled = true));
    expect([(await call(app, "GET", "/")).status, isCalled]).toEqual([500, false]);
    expect(log.lines.join()).toContain(message);
  });

  it("are not seen on the connection after a commit, a rollback, a timeout and a swallowed error", async () => {
    await using notes = await openNotes(cluster.url, { poolSize: 1, waitMs: 5_000 });
    const { role } = notes;
    const late = { tx: Depends(notes.take({ locals, role, timeoutMs: 50 })) };
    notes.app.post("/timeout", { params: late }, async ({ tx }) =>
      raw(tx).$queryRawUnsafe("SELECT 1 FROM pg_sleep(0.5)"),
    );
    notes.app.post("/{kind}", { params: { tx: Depends(notes.transaction) } }, async ({ tx, kind }) => {
      await raw(tx).$executeRawUnsafe(`INSERT INTO "note" ("text") VALUES ('new')`);
      if (kind === "rollback") throw new HTTPException(409);
      if (kind === "swallow")
        await raw(tx)
          .$queryRawUnsafe("SELECT 1 / 0")
          .catch(() => null);
      return 1;
    });
    const pid = () => raw(notes.db).$queryRawUnsafe("SELECT pg_backend_pid() AS pid");
    const before = await pid();
    for (const [kind, status] of [
      ["commit", 200],
      ["rollback", 409],
      ["timeout", 503],
      ["swallow", 500],
    ] as const) {
      expect([kind, (await call(notes.app, "POST", `/${kind}`, as("acme"))).status]).toEqual([kind, status]);
      expect([kind, await notes.left()]).toEqual([kind, NONE]);
    }
    expect(await pid()).toEqual(before);
  });

  it("are not seen after a lost connection", async () => {
    await using notes = await openNotes(cluster.url, { poolSize: 1 });
    notes.app.post("/", { params: { tx: Depends(notes.transaction) } }, async ({ tx }) => {
      const [row] = await raw(tx).$queryRawUnsafe("SELECT pg_backend_pid() AS pid");
      await queryPostgreSQL(cluster.url, `SELECT pg_terminate_backend(${Number(row?.["pid"])})`);
      return raw(tx).$queryRawUnsafe("SELECT 1");
    });
    expect((await call(notes.app, "POST", "/", as("acme"))).status).toBe(503);
    expect(await notes.left()).toEqual(NONE);
  });

  it("are not seen after a client that disconnects", async () => {
    await using notes = await openNotes(cluster.url, { poolSize: 1 });
    const left: unknown[] = [];
    notes.app.post("/", { params: { tx: Depends(notes.transaction) } }, async ({ tx }) => {
      left.push(await raw(tx).$queryRawUnsafe(LEFT));
      leave();
      await nextTurn();
      return 1;
    });
    let leave = (): void => {};
    const gone = new Promise<void>((resolve) => (leave = resolve));
    const headers = [[Buffer.from("x-tenant"), Buffer.from("acme")]] as const;
    await notes.app(
      { type: "http", method: "POST", path: "/", headers: headers.map(([...pair]) => pair) },
      async () => gone.then(() => ({ type: "http.disconnect" as const })),
      async () => {},
    );
    expect([left, await notes.left()]).toEqual([[[{ tenant: "acme", isUser: false }]], NONE]);
  });

  it("apply to a request with an idempotency key, whose role needs grants for its table", async () => {
    await using notes = await openNotes(cluster.url);
    notes.app.post("/", { params: { tx: Depends(idempotent(notes.transaction)) } }, async ({ tx }) => {
      await raw(tx).$executeRawUnsafe(`INSERT INTO "note" ("text") VALUES ('new')`);
      return raw(tx).$queryRawUnsafe(`SELECT "tenant" FROM "note"`);
    });
    const send = () => {
      const { headers } = as("acme");
      return call(notes.app, "POST", "/", { headers: [...headers, ["idempotency-key", "k"], ["authorization", "a"]] });
    };
    expect((await send()).status).toBe(500); // the table is made, and the role may not read it
    await raw(notes.db).$executeRawUnsafe(
      `GRANT SELECT, INSERT, UPDATE ON "${notes.schema}"."tsgi_idempotency" TO "${notes.role}"`,
    );
    const [first, second] = [await send(), await send()];
    expect([first.json, second.json]).toEqual([[{ tenant: "acme" }], [{ tenant: "acme" }]]);
    expect(second.headers).toMatchObject({ "idempotency-replayed": "true" });
  });

  it("keep the rows of 50 tenants apart in 200 interleaved requests over five connections", async () => {
    const { statuses, foreign } = await interleave(cluster.url, 200);
    expect([foreign, sorted(statuses)]).toEqual([[], [200, 409, 500]]);
  });

  ifInstalled("keep them apart through PgBouncer in transaction mode", async () => {
    await using pooler = await startPgBouncer(cluster.url, { default_pool_size: 5 });
    const { statuses, foreign } = await interleave(pooler.url, 200);
    expect([foreign, sorted(statuses)]).toEqual([[], [200, 409, 500]]);
  });

  slowly(
    "keep them apart in 10,000 requests, directly and through PgBouncer (TSGI_SLOW)",
    async () => {
      await using pooler =
        WITHOUT_PGBOUNCER === null ? await startPgBouncer(cluster.url, { default_pool_size: 5 }) : null;
      for (const { url } of [cluster, ...(pooler === null ? [] : [pooler])]) {
        expect((await interleave(url, 10_000)).foreign).toEqual([]);
      }
    },
    300_000,
  );
});

describe("locals and role", () => {
  const codeOf = (use: () => unknown) => {
    try {
      use();
      return null;
    } catch (error) {
      return (error as ConfigurationError).code;
    }
  };
  const database = Depends(async () => null as never, { scope: "app" });

  it.each<[what: string, options: object]>([
    ["locals that are no dependency", { locals: { "app.tenant": "acme" } }],
    ["the role none", { role: "none" }],
    ["the role NONE", { role: "NONE" }],
    ["an empty role", { role: "" }],
    ["a role that is no text", { role: 7 }],
  ])("reject %s", (_, options) => {
    expect(codeOf(() => transactionOf(database, options as never))).toBe("TSGI_INVALID_OPTION");
  });

  it.each(["locals", "role"])("are a ConfigurationError on SQLite when the application starts: %s", async (option) => {
    await using tables = await openTables();
    const app = new App({ logger: new KeptLog() });
    const options = option === "role" ? { role: "tenant" } : { locals };
    const transaction = transactionOf(
      Depends(async () => tables.db, { scope: "app" }),
      options,
    );
    app.get("/", { params: { tx: Depends(transaction) } }, async () => 1);
    await expect(TestClient.open(app)).rejects.toThrow(
      /ConfigurationError: transactionOf\(\): locals and role are settings of a transaction on PostgreSQL/,
    );
  });

  it("carry the parameters of their dependencies to the route", async () => {
    await using tables = await openTables();
    const getTenant = withParams({ tenant: t.String({ minLength: 3 }) }, async ({ tenant }) => ({
      "app.tenant": tenant,
    }));
    const transaction = transactionOf(
      Depends(async () => tables.db),
      { locals: Depends(getTenant) },
    );
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/{tenant}", { params: { tx: Depends(transaction) } }, async () => 1);
    expect(app.openapi().paths["/{tenant}"]?.get?.parameters).toMatchObject([{ name: "tenant", in: "path" }]);
    expect((await call(app, "GET", "/x")).status).toBe(422);
    expect((await call(app, "GET", "/acme")).status).toBe(500); // a database of each request, which is SQLite
    expect(log.lines.join()).toContain("locals and role are settings of a transaction on PostgreSQL");
  });
});
