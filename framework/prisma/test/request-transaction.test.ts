import { once } from "node:events";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, type ConfigurationError, Depends, HTTPException, JSONResponse, t, withParams } from "tsgi";
import { serve } from "tsgi/node";
import { TestClient } from "tsgi/testing";
import { type RequestTransactionOptions, transactionOf, UnavailableError } from "../src/index.js";
import { openSQLite } from "../src/sqlite-client.js";
import { call } from "../../test/support/call.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { describeMatrix } from "../../test/support/matrix.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { createFile, createSchema, openClient, queryPostgreSQL } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

interface Raw {
  $executeRawUnsafe(sql: string): Promise<number>;
  $queryRawUnsafe(sql: string): Promise<Record<string, unknown>[]>;
}
type Database = Awaited<ReturnType<typeof openClient>>;
const raw = (client: unknown) => client as Raw;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** The names of the committed rows, which a separate connection reads. */
async function namesIn(url: string): Promise<unknown[]> {
  const sql = (table: string) => `SELECT "name" FROM ${table} ORDER BY "name"`;
  if (url.startsWith("file:")) {
    const connection = openSQLite(url);
    const rows = connection.prepare(sql(`"User"`)).all() as { name: unknown }[];
    connection.close();
    return rows.map((row) => row.name);
  }
  const rows = await queryPostgreSQL(url, sql(`"${new URL(url).searchParams.get("schema")}"."User"`));
  return rows.map((row) => (row as { name: unknown }).name);
}

/** A database and its application. */
async function openShop(name: string, options: Parameters<typeof openClient>[1] = {}) {
  const file = name === "SQLite" ? await createFile() : null;
  const url = file?.url ?? createSchema(cluster.url);
  const db = await openClient(url, options);
  const log = new KeptLog();
  const app = new App({ logger: log });
  const names = () => namesIn(url);
  const database = Depends(async () => db, { scope: "app" });
  const take = (limits: RequestTransactionOptions = {}) => transactionOf(database, limits);
  const dispose = async () => {
    await db.$disconnect();
    await file?.[Symbol.asyncDispose]();
  };
  return { url, db, app, log, names, database, take, [Symbol.asyncDispose]: dispose };
}

const ada = { data: { name: "ada" } };
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

describeMatrix("transactionOf", ({ call: send }) => {
  it("commits a request that succeeds, and rolls back one that fails", async () => {
    await using shop = await openShop("SQLite");
    const params = { tx: Depends(shop.take()), user: t.Object({ name: t.String(), fails: t.Boolean() }) };
    shop.app.post("/", { params, returns: t.Object({ name: t.String() }) }, async ({ tx, user: { name, fails } }) => {
      const created = await tx.user.create({ data: { name } });
      if (fails) throw new HTTPException(409, "no");
      return created;
    });
    const post = (name: string, fails: boolean) => send(shop.app, "POST", "/", { json: { name, fails } });
    expect(await post("ada", false)).toMatchObject({ status: 200, json: { name: "ada" } });
    expect(await post("bob", true)).toMatchObject({ status: 409 });
    expect(await post("eve", false)).toMatchObject({ status: 200 });
    expect(await shop.names()).toEqual(["ada", "eve"]);
  });
});

describe.each([
  ["SQLite", describe],
  [`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, describeWithCluster],
])("transactionOf on %s", (name, describeHere) => {
  describeHere("", () => {
    it("commits after `returns` has written the result, and before the head is sent", async () => {
      await using shop = await openShop(name);
      const seen: unknown[] = [];
      class Named {
        toJSON() {
          seen.push("written");
          return { name: "ada" };
        }
      }
      shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
        await tx.user.create(ada);
        seen.push(await shop.names());
        return new Named();
      });
      const scope = { type: "http" as const, method: "POST", path: "/", headers: [] };
      await shop.app(
        scope,
        () => new Promise(() => {}),
        async (message) => {
          if (message.type === "http.response.start") seen.push(message.status, await shop.names());
        },
      );
      expect(seen).toEqual([[], "written", 200, ["ada"]]);
    });

    it("is one for the request: a dependency and the handler see each other's rows", async () => {
      await using shop = await openShop(name);
      const transaction = shop.take();
      const findOwner = withParams({ tx: Depends(transaction) }, async ({ tx }) => ({
        tx,
        owner: await tx.user.create(ada),
      }));
      const params = { found: Depends(findOwner), tx: Depends(transaction) };
      shop.app.post("/", { params }, async ({ found, tx }) => {
        const pen = await tx.pen.create({ data: { name: "quill", ownerId: found.owner.id } });
        return [found.tx === tx, pen.ownerId === found.owner.id, await shop.names()];
      });
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 200, json: [true, true, []] });
      expect(await shop.names()).toEqual(["ada"]);
    });

    it("does not begin for a request that is rejected before", async () => {
      await using shop = await openShop(name);
      await using client = await TestClient.open(shop.app);
      const getUser = async () => {
        throw new HTTPException(401);
      };
      let begun = 0;
      const count = withParams({ tx: Depends(shop.take()) }, async () => (begun += 1));
      const params = { count: Depends(count), tx: Depends(shop.take()) };
      shop.app.post("/unknown", { params, dependencies: [Depends(getUser)] }, async () => 1);
      shop.app.post("/invalid", { params: { ...params, id: t.Integer() } }, async () => 1);
      await client.post("/unknown").expect(401);
      await client.post("/invalid?id=x").expect(422);
      expect(begun).toBe(0);
    });

    it.each([
      ["an HTTPException", 409, () => Promise.reject(new HTTPException(409))],
      ["an error", 500, () => Promise.reject(new Error("broken"))],
      ["a result that `returns` refuses", 500, async () => ({ name: 1 })],
    ])("rolls back on %s", async (_, status, work) => {
      await using shop = await openShop(name);
      const returns = t.Object({ name: t.String() });
      shop.app.post("/", { params: { tx: Depends(shop.take()) }, returns }, async ({ tx }) => {
        await tx.user.create(ada);
        return work() as never;
      });
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status });
      expect(await shop.names()).toEqual([]);
    });

    it("commits a Response that the handler returns, with any status", async () => {
      await using shop = await openShop(name);
      shop.app.post("/{status}", { params: { tx: Depends(shop.take()), status: t.Integer() } }, async (args) => {
        await args.tx.user.create({ data: { name: `user ${args.status}` } });
        return new JSONResponse(null, { statusCode: args.status });
      });
      for (const status of [409, 500]) expect(await call(shop.app, "POST", `/${status}`)).toMatchObject({ status });
      expect(await shop.names()).toEqual(["user 409", "user 500"]);
    });

    it("rolls back after timeoutMs with 503 and Retry-After, and later work has no effect", async () => {
      await using shop = await openShop(name, { poolSize: 1 });
      let late: Promise<unknown> = Promise.resolve();
      let goOn = (): void => {};
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      shop.app.post("/", { params: { tx: Depends(shop.take({ timeoutMs: 100 })) } }, async ({ tx }) => {
        late = gate.then(() => tx.user.create({ data: { name: "late" } }));
        await tx.user.create(ada);
        return late;
      });
      const answer = await call(shop.app, "POST", "/");
      expect(answer).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      goOn();
      await expect(late).rejects.toThrow(/rolled back|has ended/);
      await shop.db.user.create({ data: { name: "eve" } });
      expect(await shop.names()).toEqual(["eve"]);
    });

    it("rolls back when a dependency has used the time, before the handler is called", async () => {
      await using shop = await openShop(name);
      const transaction = shop.take({ timeoutMs: 50 });
      const slow = withParams({ tx: Depends(transaction) }, async ({ tx }) => {
        await tx.user.create(ada);
        await new Promise((resolve) => setTimeout(resolve, 100));
      });
      let isCalled = false;
      shop.app.post("/", { params: { slow: Depends(slow) } }, async () => void (isCalled = true));
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 503 });
      expect([isCalled, await shop.names()]).toEqual([false, []]);
    });

    it("rolls back at limits.handlerMs with 504", async () => {
      await using shop = await openShop(name, { poolSize: 1 });
      let late: Promise<unknown> = Promise.resolve();
      let goOn = (): void => {};
      const gate = new Promise<void>((resolve) => (goOn = resolve));
      const route = { params: { tx: Depends(shop.take()) }, limits: { handlerMs: 100 } };
      shop.app.post("/", route, async ({ tx }) => {
        late = gate.then(() => tx.user.create({ data: { name: "late" } }));
        await tx.user.create(ada);
        return late;
      });
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 504 });
      goOn();
      await expect(late).rejects.toThrow(/rolled back|has ended/);
      expect([await shop.names(), await shop.db.user.count()]).toEqual([[], 0]);
    });

    it("rolls back if the client disconnects before the handler returns", async () => {
      await using shop = await openShop(name);
      let arrive = (): void => {};
      const arrived = new Promise<void>((resolve) => (arrive = resolve));
      const settled: Promise<unknown>[] = [];
      shop.app.post("/", { params: { tx: Depends(shop.take()), body: t.Object({}) } }, async ({ tx }) => {
        await tx.user.create(ada);
        settled.push(tx.user.count());
        arrive();
        await disconnected;
        await turn();
        return 1;
      });
      let leave = (): void => {};
      const disconnected = new Promise<void>((resolve) => (leave = resolve));
      const closed = new Promise<void>((resolve) => {
        shop.app.addMiddleware((inner) => async (scope, receive, send) => {
          const watching: typeof receive = async () => {
            const message = await receive();
            if (message.type === "http.disconnect") leave();
            return message;
          };
          await inner(scope, watching, send);
          if (scope.type === "http") resolve();
        });
      });
      await using server = await serve(shop.app, { port: 0, logger: shop.log });
      const sending = request(server.url, { method: "POST", headers: { "content-type": "application/json" } });
      sending.on("error", () => {});
      sending.end("{}");
      await arrived;
      sending.destroy();
      await closed;
      expect([await shop.names(), await shop.db.user.count()]).toEqual([[], 0]);
    });

    it("commits if the client disconnects after the handler has returned", async () => {
      await using shop = await openShop(name);
      shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => tx.user.create(ada));
      await using server = await serve(shop.app, { port: 0, logger: shop.log });
      const sending = request(server.url, { method: "POST" });
      sending.end();
      const [response] = (await once(sending, "response")) as [{ destroy(): void; statusCode: number }];
      response.destroy();
      expect([response.statusCode, await shop.names()]).toEqual([200, ["ada"]]);
    });

    it("responds with 500 if a commit fails, and the connection is used again", async () => {
      await using shop = await openShop(name, { poolSize: 1 });
      const reference =
        name === "SQLite"
          ? `CREATE TABLE "note" ("user" INT REFERENCES "User" ("id") DEFERRABLE INITIALLY DEFERRED)`
          : `CREATE TABLE "note" ("user" INT, FOREIGN KEY ("user") REFERENCES "User" ("id") DEFERRABLE INITIALLY DEFERRED)`;
      await raw(shop.db).$executeRawUnsafe(reference);
      shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
        await tx.user.create(ada);
        await raw(tx).$executeRawUnsafe(`INSERT INTO "note" VALUES (999)`);
        return 1;
      });
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 500 });
      expect(await shop.names()).toEqual([]);
      await shop.db.user.create({ data: { name: "eve" } });
      expect(await shop.names()).toEqual(["eve"]);
    });

    it("lets a transaction last longer than waitMs, busy or idle", async () => {
      await using shop = await openShop(name, { waitMs: 1_000, poolSize: 1 });
      shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
        await tx.user.create(ada);
        for (const isBusy of [false, false, true, true]) {
          await new Promise((resolve) => setTimeout(resolve, 600));
          if (isBusy) await tx.user.count();
        }
        return tx.user.create({ data: { name: "bob" } });
      });
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 200 });
      expect(await shop.names()).toEqual(["ada", "bob"]);
    });

    it("has the requested isolation", async () => {
      await using shop = await openShop(name);
      const levels = ["ReadCommitted", "RepeatableRead", "Serializable"] as const;
      for (const isolation of levels) {
        shop.app.get(`/${isolation}`, { params: { tx: Depends(shop.take({ isolation })) } }, async ({ tx }) =>
          name === "SQLite" ? tx.user.count() : raw(tx).$queryRawUnsafe("SHOW transaction_isolation"),
        );
      }
      const answers = await Promise.all(levels.map((level) => call(shop.app, "GET", `/${level}`)));
      const shown = ["read committed", "repeatable read", "serializable"].map((transaction_isolation) =>
        name === "SQLite" ? 0 : [{ transaction_isolation }],
      );
      expect(answers.map(({ json }) => json)).toEqual(shown);
    });

    it("serves twenty concurrent requests", async () => {
      await using shop = await openShop(name, { poolSize: 2, waitMs: 6_000 });
      shop.app.post("/{name}", { params: { tx: Depends(shop.take()) } }, async (args) => {
        const before = await args.tx.user.count();
        await args.tx.user.create({ data: { name: args.name } });
        return before;
      });
      const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => call(shop.app, "POST", `/u${index}`)));
      expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
      expect(await shop.db.user.count()).toBe(20);
    });

    it("accepts a client that is extended", async () => {
      await using shop = await openShop(name);
      const extended = (shop.db as unknown as { $extends(extension: object): Database }).$extends({ model: {} });
      const transaction = transactionOf(Depends(async () => extended, { scope: "app" }));
      shop.app.post("/", { params: { tx: Depends(transaction) } }, async ({ tx }) => tx.user.create(ada));
      expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 200 });
      expect(await shop.names()).toEqual(["ada"]);
    });
  });
});

describe("transactionOf on SQLite", () => {
  it("rejects further statements after SQLite has rolled the transaction back by itself", async () => {
    await using shop = await openShop("SQLite");
    await shop.db.user.create(ada);
    shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
      await tx.user.create({ data: { name: "bob" } });
      await raw(tx)
        .$executeRawUnsafe(`INSERT OR ROLLBACK INTO "User" ("name") VALUES ('ada')`)
        .catch(() => 0);
      await tx.user.create({ data: { name: "eve" } }).catch(() => null);
      return 1;
    });
    expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 500 });
    expect(await shop.names()).toEqual(["ada"]);
    await shop.db.user.create({ data: { name: "zoe" } });
    expect(await shop.names()).toEqual(["ada", "zoe"]);
  });
});

describeWithCluster("transactionOf on PostgreSQL", () => {
  /** A transaction in which a statement has failed, and whose error was swallowed. */
  const swallow = (db: Database) =>
    db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "bob" } });
      await tx.user.create(ada).catch(() => null);
    });

  it("responds with 500 if the commit becomes a rollback, because the error of a statement was swallowed", async () => {
    await using shop = await openShop("PostgreSQL", { poolSize: 1 });
    await shop.db.user.create(ada);
    shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
      await tx.user.create({ data: { name: "bob" } });
      await tx.user.create(ada).catch(() => null);
      return "done";
    });
    expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 500 });
    expect(shop.log.lines.join()).toContain("rolled the transaction back");
    await expect(swallow(shop.db)).rejects.toThrow("rolled the transaction back");
    await shop.db.user.create({ data: { name: "eve" } });
    expect(await shop.names()).toEqual(["ada", "eve"]);
  });

  it("commits the work of a savepoint", async () => {
    await using shop = await openShop("PostgreSQL");
    await shop.db.user.create(ada);
    shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async ({ tx }) => {
      await raw(tx).$executeRawUnsafe("SAVEPOINT before");
      await tx.user.create(ada).catch(() => raw(tx).$executeRawUnsafe("ROLLBACK TO SAVEPOINT before"));
      return tx.user.create({ data: { name: "bob" } });
    });
    expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 200 });
    expect(await shop.names()).toEqual(["ada", "bob"]);
  });

  it.each(["a statement", "the commit", "a statement whose error is swallowed"])(
    "responds with 503 if the database rejects %s because of a conflict",
    async (where) => {
      await using shop = await openShop("PostgreSQL");
      await shop.db.user.create(ada);
      await shop.db.user.create({ data: { name: "bob" } });
      let arrived = 0;
      let meet = (): void => {};
      const met = new Promise<void>((resolve) => (meet = resolve));
      const both = async () => {
        arrived += 1;
        if (arrived === 2) meet();
        await met;
      };
      const isolation = "Serializable";
      shop.app.post("/{mine}/{other}", { params: { tx: Depends(shop.take({ isolation })) } }, async (args) => {
        const { tx, mine, other } = args;
        const read = await raw(tx).$queryRawUnsafe(`SELECT "email" FROM "User" WHERE "name" = '${other}'`);
        await both();
        // Both write a row that the other one has read (write skew), or the same row.
        const target = where === "the commit" ? mine : "ada";
        const update = tx.user.update({ where: { name: target }, data: { email: `${read.length} ${mine}` } });
        await (where.endsWith("swallowed") ? update.catch(() => null) : update);
        return "done";
      });
      const paths = ["/ada/bob", "/bob/ada"];
      const answers = await Promise.all(paths.map((path) => call(shop.app, "POST", path)));
      expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 503]);
      expect(answers.find(({ status }) => status === 503)?.headers).toMatchObject({ "retry-after": "1" });
    },
  );

  it("responds with 503 if the database is unavailable at the beginning, at a statement or at the commit", async () => {
    await using shop = await openShop("PostgreSQL", { waitMs: 5_000, poolSize: 1 });
    shop.app.post("/{moment}", { params: { tx: Depends(shop.take()) } }, async ({ tx, moment }) => {
      await tx.user.create(ada);
      await cluster.stop();
      if (moment === "statement") await tx.user.count();
      return 1;
    });
    const statuses: number[] = [];
    for (const moment of ["commit", "beginning", "statement"]) {
      if (moment === "statement") await cluster.start();
      statuses.push((await call(shop.app, "POST", `/${moment}`)).status);
    }
    await cluster.start();
    expect(statuses).toEqual([503, 503, 503]);
    expect(await shop.names()).toEqual([]);
  });

  it("does not change errors of other services", async () => {
    await using shop = await openShop("PostgreSQL");
    shop.app.post("/", { params: { tx: Depends(shop.take()) } }, async () => {
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    });
    expect(await call(shop.app, "POST", "/")).toMatchObject({ status: 500 });
  });

  it("keeps the connections of its pool, even after rollbacks of every kind", async () => {
    await using shop = await openShop("PostgreSQL", { poolSize: 2, waitMs: 5_000 });
    const pids = () =>
      queryPostgreSQL(cluster.url, "SELECT pid FROM pg_stat_activity WHERE application_name = 'tsgi' ORDER BY pid");
    shop.app.post("/{kind}", { params: { tx: Depends(shop.take({ timeoutMs: 2_000 })) } }, async ({ tx, kind }) => {
      await tx.user.count();
      if (kind === "error") throw new HTTPException(409);
      if (kind === "timeout") await new Promise((resolve) => setTimeout(resolve, 2_100));
      if (kind === "slow") await raw(tx).$executeRawUnsafe("SELECT pg_sleep(2.1)");
      return 1;
    });
    const kinds = ["ok", "error", "timeout", "slow", "ok"];
    const first = [await call(shop.app, "POST", "/ok"), await pids()];
    const statuses: number[] = [];
    for (const kind of kinds) statuses.push((await call(shop.app, "POST", `/${kind}`)).status);
    expect(statuses).toEqual([200, 409, 503, 503, 200]);
    await turn();
    expect(await pids()).toEqual(first[1]);
  });
});

describe("transactionOf", () => {
  const codeOf = (use: () => unknown) => {
    try {
      use();
      return null;
    } catch (error) {
      return (error as ConfigurationError).code;
    }
  };
  const transaction = transactionOf(Depends(async () => null as unknown as Database, { scope: "app" }));

  it.each<[string, string, () => unknown]>([
    ["no dependency", "TSGI_NO_PRISMA_DATABASE", () => transactionOf((async () => null) as never)],
    [
      "a misspelt option",
      "TSGI_UNKNOWN_OPTION",
      () => transactionOf(Depends(async () => null) as never, { timeout: 1 } as never),
    ],
    [
      "an unknown level",
      "TSGI_INVALID_OPTION",
      () => transactionOf(Depends(async () => null) as never, { isolation: "Snapshot" as never }),
    ],
    ["no time", "TSGI_INVALID_OPTION", () => transactionOf(Depends(async () => null) as never, { timeoutMs: 0 })],
    ["scope function", "TSGI_TRANSACTIONAL_DEPENDENCY", () => Depends(transaction, { scope: "function" })],
    ["scope app", "TSGI_TRANSACTIONAL_DEPENDENCY", () => Depends(transaction, { scope: "app" })],
    ["a result of its own", "TSGI_TRANSACTIONAL_DEPENDENCY", () => Depends(transaction, { useCache: false })],
    [
      "a stream",
      "TSGI_TRANSACTIONAL_DEPENDENCY",
      () => new App().get("/", { params: { tx: Depends(transaction) } }, async function* () {}),
    ],
    [
      "a WebSocket",
      "TSGI_TRANSACTIONAL_DEPENDENCY",
      () => new App().websocket("/", { params: { tx: Depends(transaction) } }, async ({ ws }) => ws.accept()),
    ],
    [
      "a worker",
      "TSGI_PLAIN_HANDLER_PARAMETER",
      () => new App().get("/", { params: { tx: Depends(transaction) } }, () => 1),
    ],
  ])("is rejected with %s (%s)", (_, code, use) => {
    expect(codeOf(use)).toBe(code);
  });

  it("is a clear error for a client that openPrisma has not opened", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const other = transactionOf(Depends(async () => ({ transaction: async () => 1 }) as never, { scope: "app" }));
    app.get("/", { params: { tx: Depends(other) } }, async () => 1);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500 });
    expect(log.lines.join()).toContain("takes the dependency of a client of openPrisma()");
  });

  it("is replaced in tests as any other dependency", async () => {
    const app = new App();
    app.get("/", { params: { tx: Depends(transaction) } }, async ({ tx }) => tx.user.count());
    app.dependencyOverrides.set(transaction, async () => ({ user: { count: async () => 7 } }));
    expect(await call(app, "GET", "/")).toMatchObject({ json: 7 });
  });

  it("throws an error that other code knows", () => {
    expect(new UnavailableError()).toBeInstanceOf(HTTPException);
  });
});
