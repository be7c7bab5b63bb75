import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, type ConfigurationError, Depends, HTTPException, t } from "tsgi";
import { Deferred, nextTurn } from "tsgi/internals";
import { createTransactionOf } from "../src/index.js";
import { call } from "../../test/support/call.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { as, CLIENTS, type Client, LEFT, locals, openNotes } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const insert = (text: string) => `INSERT INTO note (text) VALUES ('${text}')`;
const NONE = [{ tenant: null, isUser: true }];

/** Requests of tenants, which read and write without a `where`. @returns The rows of other tenants that any of them saw. */
async function interleave({ take, rows }: Client, requests: number) {
  await using notes = await openNotes(cluster.url);
  const tenants = Array.from({ length: 50 }, (_, index) => `tenant ${index}`);
  await notes.pool.query(
    "INSERT INTO note (text, tenant) SELECT tenant, tenant FROM unnest($1::text[]) AS x (tenant)",
    [tenants],
  );
  const tx = take(notes.database, { locals, role: notes.role, timeoutMs: 60_000 });
  notes.app.post("/{n}", { params: { tx, n: t.Integer() } }, async (args) => {
    if (args.n % 3 === 0) await rows(args.tx, insert(`new ${args.n}`));
    await nextTurn();
    const seen = await rows(args.tx, "SELECT DISTINCT tenant FROM note");
    if (args.n % 5 === 0) throw new HTTPException(409, JSON.stringify(seen));
    if (args.n % 7 === 0) await rows(args.tx, "SELECT 1 / 0").catch(() => null); // the commit becomes a rollback
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
      const seen: unknown = status === 409 ? JSON.parse((json as { detail: string }).detail) : json;
      if (status !== 500 && JSON.stringify(seen) !== JSON.stringify([{ tenant }])) foreign.push(seen);
    }
  };
  await Promise.all(Array.from({ length: 20 }, client));
  return { statuses: [...statuses].toSorted((left, right) => left - right), foreign };
}

describeWithCluster.each(CLIENTS)(
  `transactionOf of $name${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`,
  (client) => {
    const { take, rows, nest } = client;

    it("commits a request that succeeds, and rolls back one that fails", async () => {
      await using notes = await openNotes(cluster.url);
      const tx = take(notes.database);
      notes.app.post("/{text}", { params: { tx } }, async (args) => {
        await rows(args.tx, `INSERT INTO note (text, tenant) VALUES ('${args.text}', 'acme')`);
        if (args.text === "bad") throw new HTTPException(409);
        return notes.texts();
      });
      expect(await call(notes.app, "POST", "/good")).toMatchObject({ status: 200, json: [] });
      expect(await call(notes.app, "POST", "/bad")).toMatchObject({ status: 409 });
      expect(await notes.texts()).toEqual(["good"]);
      expect([notes.pool.totalCount, notes.pool.idleCount]).toEqual([2, 2]);
    });

    it("applies the tenant, the role and the isolation from the first statement on", async () => {
      await using notes = await openNotes(cluster.url);
      const tx = take(notes.database, { locals, role: notes.role, isolation: "Serializable" });
      const SETTINGS = `SELECT current_setting('app.tenant') AS tenant, current_user::text AS role,
      current_setting('transaction_isolation') AS isolation`;
      notes.app.get("/", { params: { tx } }, async (args) => rows(args.tx, SETTINGS));
      const { json } = await call(notes.app, "GET", "/", as("acme"));
      expect(json).toEqual([{ tenant: "acme", role: notes.role, isolation: "serializable" }]);
    });

    it("leaves no setting on the connection after a commit, a rollback, a timeout and a swallowed error", async () => {
      await using notes = await openNotes(cluster.url, { max: 1 });
      const { role } = notes;
      const late = take(notes.database, { locals, role, timeoutMs: 50 });
      notes.app.post("/timeout", { params: { tx: late } }, async ({ tx }) => rows(tx, "SELECT 1 FROM pg_sleep(0.3)"));
      notes.app.post("/{kind}", { params: { tx: take(notes.database, { locals, role }) } }, async ({ tx, kind }) => {
        await rows(tx, insert("new"));
        if (kind === "rollback") throw new HTTPException(409);
        if (kind === "swallow") await rows(tx, "SELECT 1 / 0").catch(() => null);
        if (kind === "savepoint")
          await nest(tx, async (inner) => void (await rows(inner, "SELECT 1 / 0"))).catch(() => null);
        if (kind === "twice") await rows(tx, insert("new"));
        return 1;
      });
      const pid = async () => (await notes.pool.query("SELECT pg_backend_pid() AS pid")).rows;
      const before = await pid();
      for (const [kind, status] of [
        ["timeout", 503],
        ["rollback", 409],
        ["swallow", 500],
        ["savepoint", 200],
        ["twice", 500], // the constraint is checked at the commit
      ] as const) {
        expect([kind, (await call(notes.app, "POST", `/${kind}`, as("acme"))).status]).toEqual([kind, status]);
        expect([kind, (await notes.pool.query(LEFT)).rows]).toEqual([kind, NONE]);
      }
      expect([await pid(), await notes.texts()]).toEqual([before, ["new"]]);
    });

    it("rejects a statement after the end, whose connection may be in the transaction of another tenant", async () => {
      await using notes = await openNotes(cluster.url, { max: 1 });
      const request = new Deferred<void>();
      const begun = new Deferred<void>();
      let late: Promise<unknown>[] = [];
      let work: Promise<unknown> = Promise.resolve();
      notes.app.post("/", { params: { tx: take(notes.database) } }, async ({ tx }) => {
        work = nest(tx, async (inner) => {
          begun.resolve();
          await request.promise;
          const statement = "INSERT INTO note (text, tenant) VALUES ('late', 'acme')";
          late = [tx, inner].map((one) => rows(one, statement));
          await Promise.allSettled(late);
        });
        await begun.promise;
        throw new HTTPException(409);
      });
      expect((await call(notes.app, "POST", "/")).status).toBe(409);
      request.resolve();
      await Promise.allSettled([work]);
      expect(late).toHaveLength(2);
      for (const one of late) await expect(one).rejects.toThrow(/./);
      expect(await notes.texts()).toEqual([]);
    });

    it("responds with 503 to a lost connection and to a conflict, and keeps running", async () => {
      await using notes = await openNotes(cluster.url, { max: 2 });
      await notes.pool.query("INSERT INTO note (text, tenant) VALUES ('a', 'x')");
      const tx = take(notes.database, { isolation: "RepeatableRead" });
      notes.app.post("/lost", { params: { tx } }, async (args) => {
        const [row] = await rows(args.tx, "SELECT pg_backend_pid() AS pid");
        await notes.admin.query("SELECT pg_terminate_backend($1)", [row?.["pid"]]);
        return rows(args.tx, "SELECT 1");
      });
      notes.app.post("/conflict", { params: { tx } }, async (args) => {
        await rows(args.tx, "SELECT * FROM note");
        await notes.pool.query("UPDATE note SET text = text || '!'");
        return rows(args.tx, "UPDATE note SET text = 'b'");
      });
      expect((await call(notes.app, "POST", "/lost")).status).toBe(503);
      expect((await call(notes.app, "POST", "/conflict")).status).toBe(503);
      expect(await notes.texts()).toEqual(["a!"]);
    });

    it("keeps the rows of 50 tenants apart in interleaved requests over five connections", async () => {
      const { statuses, foreign } = await interleave(client, IS_SLOW ? 1_000 : 100);
      expect([foreign, statuses]).toEqual([[], [200, 409, 500]]);
    });
  },
);

describe("transactionOf", () => {
  const transactionOf = createTransactionOf(async () => {});
  const codeOf = (use: () => unknown) => {
    try {
      return use();
    } catch (error) {
      return (error as ConfigurationError).code;
    }
  };

  it("needs the dependency of a pool", async () => {
    expect(codeOf(() => transactionOf((async () => {}) as never))).toBe("TSGI_NO_TRANSACTION_POOL");
    const app = new App({
      logger: { debug() {}, info() {}, warn() {}, error: (_: object, text: string) => void said.push(text) },
    });
    const said: string[] = [];
    app.get("/", { params: { tx: Depends(transactionOf(Depends(async () => ({}) as never))) } }, async () => 1);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(said.join()).toContain("takes the dependency of a pool with the method connect(), not an object");
  });

  it.each([{ role: "none" }, { locals: {} }, { isolation: "Chaos" }, { timeoutMs: 0 }])("rejects %j", (options) => {
    expect(
      codeOf(() =>
        transactionOf(
          Depends(async () => null as never),
          options as never,
        ),
      ),
    ).toBe("TSGI_INVALID_OPTION");
  });

  it("responds with 503 if the pool has no connection", async () => {
    const app = new App({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
    const connect = async () => {
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    };
    app.get("/", { params: { tx: Depends(transactionOf(Depends(async () => ({ connect })))) } }, async () => 1);
    expect((await call(app, "GET", "/")).status).toBe(503);
  });
});
