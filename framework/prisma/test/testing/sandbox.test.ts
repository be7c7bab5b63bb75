import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { Jobs } from "@tsgi/jobs";
import { App, Depends, HTTPException, t, withParams } from "tsgi";
import { TestClient } from "tsgi/testing";
import { idempotent, type RequestTransactionOptions, transactionOf, uniqueViolation } from "../../src/index.js";
import { closeSandboxes, openSandbox } from "../../src/testing/index.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../../test/support/postgres-cluster.js";
import { createFile, openClient, queryPostgreSQL } from "../_clients.js";
import { raw } from "../_tenants.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

type Database = Awaited<ReturnType<typeof openClient>>;
type Shop = ReturnType<typeof createShop>;

/** An application of a database. */
function createShop(url: string) {
  const database = Depends(
    async function* () {
      const db = await openClient(url);
      yield db;
      await db.$disconnect();
    },
    { scope: "app" },
  );
  const log = new KeptLog();
  const app = new App({ logger: log });
  const take = (options: RequestTransactionOptions = {}) => transactionOf(database, options);
  return { url, database, app, log, take, tx: Depends(take()) };
}

const user = (name: string) => ({ data: { name } });
const namesOf = async (db: Database) => {
  const rows = await raw(db).$queryRawUnsafe(`SELECT "name" FROM "User" ORDER BY "name"`);
  return rows.map(({ name }) => name);
};

describe.each([
  ["SQLite", describe],
  [`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, describeWithCluster],
])("a sandbox on %s", (name, describeHere) => {
  describeHere("", () => {
    let url: string;
    let shop: Shop;
    let sandbox: Awaited<ReturnType<typeof openSandbox<Database>>>;
    let dispose = async (): Promise<void> => {};

    beforeAll(async () => {
      const file = name === "SQLite" ? await createFile() : null;
      dispose = async () => file?.[Symbol.asyncDispose]();
      url = file?.url ?? cluster.url;
      shop = createShop(url);
      addRoutes(shop);
      sandbox = await openSandbox(shop.database, { app: shop.app });
    }, 30_000);
    afterEach(async () => sandbox.rollback());
    afterAll(async () => {
      await closeSandboxes();
      await dispose();
    });

    const send = (method: string, path: string, json?: unknown) =>
      call(shop.app, method, path, json === undefined ? {} : { json });

    it("shows the changes of a request, until they are rolled back", async () => {
      expect((await send("POST", "/users/ada")).status).toBe(200);
      expect(await namesOf(sandbox.db)).toEqual(["ada"]);
      expect((await send("GET", "/users")).json).toEqual(["ada"]);
      await sandbox.rollback();
      expect(await namesOf(sandbox.db)).toEqual([]);
    });

    it("shows rows that the test has written, and undoes a request that fails", async () => {
      await sandbox.db.user.create(user("eve"));
      expect((await send("POST", "/users/bob?fails=true")).status).toBe(409);
      expect((await send("GET", "/users")).json).toEqual(["eve"]);
    });

    it("nests statements, transactions and requests that a request begins after its transaction", async () => {
      const { status, json } = await send("POST", "/nested");
      expect([status, json]).toEqual([
        200,
        { seen: ["ada"], inner: ["ada", "bob"], dependency: 1, called: ["ada", "bob", "cy"] },
      ]);
      expect(await namesOf(sandbox.db)).toEqual(["ada", "bob", "cy"]);
    });

    it("undoes everything in a request whose transaction fails, and inner work that fails separately", async () => {
      expect((await send("POST", "/nested?fails=outer")).status).toBe(409);
      expect(await namesOf(sandbox.db)).toEqual([]);
      expect((await send("POST", "/nested?fails=inner")).json).toMatchObject({ inner: ["ada"] });
      expect(await namesOf(sandbox.db)).toEqual(["ada", "cy"]);
    });

    it("runs the transactions of concurrent requests one after the other", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) => send("POST", `/users/u${n}?fails=${n % 2 === 0}`)),
      );
      expect(answers.map(({ status }) => status)).toEqual(answers.map((_, n) => (n % 2 === 0 ? 409 : 200)));
      expect(await sandbox.db.user.count()).toBe(10);
    });

    it("serves findUnique of two requests at the same time, of which one is in a transaction", async () => {
      await sandbox.db.user.create(user("ada"));
      const answers = await Promise.all(["tx", "db", "tx", "db"].map((client) => send("GET", `/find/${client}`)));
      expect(answers.map(({ json }) => json)).toEqual(["ada", "ada", "ada", "ada"]);
    });

    it("supports arrays, callbacks, nested callbacks and nested writes of Prisma", async () => {
      const { db } = sandbox;
      const prisma = db as unknown as Prisma;
      await prisma.$transaction([db.user.create(user("ada")), db.user.create(user("bob"))]);
      await expect(prisma.$transaction([db.user.create(user("cy")), db.user.create(user("ada"))])).rejects.toThrow(
        "Unique",
      );
      await prisma.$transaction(async (tx) => {
        await tx.user.create(user("dan"));
        await tx
          .$transaction(async (inner) => {
            await inner.user.create(user("eve"));
            throw new Error("no");
          })
          .catch(() => null);
        await tx.user.create({ data: { name: "fay", pens: { create: { name: "quill" } } } });
      });
      await expect(prisma.$transaction(async (tx) => tx.user.create(user("ada")))).rejects.toThrow("Unique");
      expect([await namesOf(db), await db.pen.count()]).toEqual([["ada", "bob", "dan", "fay"], 1]);
    });

    it("continues after a statement that fails, outside of transactions and in a separate transaction", async () => {
      const { db } = sandbox;
      await db.user.create(user("ada"));
      const error = await db.user.create(user("ada")).catch((thrown: unknown) => thrown);
      expect(uniqueViolation(error)).toEqual({ fields: ["name"] });
      await db.user.create(user("bob"));
      expect((await send("POST", "/users/ada")).status).toBe(500);
      expect(await namesOf(db)).toEqual(["ada", "bob"]);
    });

    it("ends a transaction at its time limit with 503, and rejects its later statements", async () => {
      expect((await send("POST", "/slow")).status).toBe(503);
      await sandbox.db.user.create(user("bob"));
      expect(await namesOf(sandbox.db)).toEqual(["bob"]);
    });

    it("checks deferred constraints at the end of each transaction, and defers them again", async () => {
      const reference = `REFERENCES "User" ("id") DEFERRABLE INITIALLY DEFERRED`;
      const column = name === "SQLite" ? `"user" INT ${reference}` : `"user" INT, FOREIGN KEY ("user") ${reference}`;
      await raw(sandbox.db).$executeRawUnsafe(`CREATE TABLE "note" (${column})`);
      let id = 100;
      for (const isWhole of [false, true, false]) {
        expect((await send("POST", `/deferred?whole=${isWhole}&id=${id++}`)).status).toBe(isWhole ? 200 : 500);
      }
      await expect(raw(sandbox.db).$executeRawUnsafe(`INSERT INTO "note" VALUES (77)`)).rejects.toThrow(/foreign key/i);
      expect(await raw(sandbox.db).$queryRawUnsafe(`SELECT * FROM "note"`)).toHaveLength(1);
    });

    it("rolls back all deferred foreign keys, and what is left after SQLite has rolled back by itself", async () => {
      if (name !== "SQLite") return;
      const { db } = sandbox;
      const pen = `INSERT INTO "Pen" ("name", "ownerId") VALUES ('quill', 77)`;
      await db
        .transaction(async (tx) => {
          await raw(tx).$executeRawUnsafe("PRAGMA defer_foreign_keys = ON");
          await raw(tx).$executeRawUnsafe(pen);
          throw new Error("no");
        })
        .catch(() => null);
      await sandbox.rollback();
      await expect(raw(db).$executeRawUnsafe(pen)).rejects.toThrow(/foreign key/i);
      await db.user.create(user("ada"));
      await raw(db)
        .$executeRawUnsafe(`INSERT OR ROLLBACK INTO "User" ("name", "email") VALUES ('ada', '')`)
        .catch(() => null);
      await sandbox.rollback();
      await db.user.create(user("bob"));
      expect(await namesOf(db)).toEqual(["bob"]);
    });

    it("stores responses by their idempotency keys, until it is rolled back", async () => {
      const keyed = () =>
        call(shop.app, "POST", "/once", {
          headers: [
            ["idempotency-key", "k"],
            ["authorization", "a"],
          ],
        });
      const [first, again] = [await keyed(), await keyed()];
      expect([first.status, again.status, again.headers["idempotency-replayed"]]).toEqual([200, 200, "true"]);
      await sandbox.rollback();
      const other = await keyed();
      expect([other.status, other.headers["idempotency-replayed"]]).toEqual([200, undefined]);
      expect(await sandbox.db.user.count()).toBe(1);
    });

    it("has the jobs, enqueued with a transaction or without, and runs them with those that they enqueue", async () => {
      const jobs = new Jobs({ inline: true, logger: shop.log });
      sandbox.use(jobs);
      const ran: unknown[] = [];
      const second = jobs.define("second", { payload: t.String() }, async ({ payload }) => void ran.push(payload));
      const params = { db: shop.database };
      const first = jobs.define("first", { payload: t.String(), params }, async ({ payload, db }) => {
        if (payload === "bad") throw new Error("no");
        ran.push([payload, await db.user.count()]);
        await second.enqueue(`after ${payload}`);
      });
      const { tx } = shop;
      const own = new App({ logger: shop.log, lifespan: jobs.lifespan });
      own.post("/{name}", { params: { tx, name: t.String() } }, async (args) => {
        await args.tx.user.create(user(args.name));
        await first.enqueue(args.name, { tx: args.tx, key: "one" });
        if (args.name === "bad") throw new HTTPException(409);
      });
      sandbox.use(own);
      await using client = await TestClient.open(own);
      expect(client.url).toBeDefined();
      await call(own, "POST", "/bad");
      await call(own, "POST", "/ada");
      expect(await first.enqueue("twice", { key: "one" })).toBeNull();
      expect(await sandbox.jobs()).toEqual([{ id: expect.any(String), name: "first", payload: "ada" }]);
      await sandbox.runJobs();
      expect([ran, await sandbox.jobs()]).toEqual([[["ada", 1], "after ada"], []]);
      await first.enqueue("bad");
      await expect(sandbox.runJobs()).rejects.toThrow("no");
      expect(await sandbox.jobs()).toHaveLength(1);
      await sandbox.rollback();
      expect(await sandbox.jobs()).toEqual([]);
    });

    it("follows the requests of Apps that are mounted, and of routes that are added, after it is used", async () => {
      const [outer, inner] = [new App({ logger: shop.log }), new App({ logger: shop.log })];
      sandbox.use(outer);
      outer.mount("/inner", inner);
      inner.get("/", { params: { tx: shop.tx, db: shop.database } }, async (args) => {
        await args.tx.user.create(user("ada"));
        return args.db.user.count();
      });
      expect(await call(outer, "GET", "/inner/")).toMatchObject({ status: 200, json: 1 });
    });

    it("is one for each process", async () => {
      await expect(openSandbox(shop.database)).rejects.toMatchObject({ code: "TSGI_SANDBOX_OPEN" });
    });

    it("does not change the database of the URL", async () => {
      await send("POST", "/users/ada");
      const found =
        name === "SQLite"
          ? (await import("node:fs")).existsSync(new URL(url))
          : (await queryPostgreSQL(url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'")).length > 0;
      expect(found).toBe(false);
    });
  });
});

interface Prisma {
  $transaction(work: readonly unknown[] | ((tx: Database & Prisma) => Promise<unknown>)): Promise<unknown>;
}

/** Routes that use a transaction, the database or both. */
function addRoutes({ app, database, tx, take }: Shop): void {
  app.post("/users/{name}", { params: { tx, fails: t.Boolean({ default: false }) } }, async (args) => {
    await args.tx.user.create(user(args.name));
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (args.fails) throw new HTTPException(409);
    return args.name;
  });
  app.get("/users", { params: { db: database } }, async ({ db }) => namesOf(db));
  const count = withParams({ tx, db: database }, async (args) => {
    await args.tx.user.create(user("ada"));
    return args.db.user.count();
  });
  app.post(
    "/nested",
    { params: { tx, db: database, dependency: Depends(count), fails: t.String({ default: "" }) } },
    nested(app),
  );
  app.get("/find/tx", { params: { tx } }, async (args) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    return (await findUnique(args.tx))?.name;
  });
  app.get("/find/db", { params: { db: database } }, async ({ db }) => (await findUnique(db))?.name);
  app.post("/slow", { params: { tx: Depends(take({ timeoutMs: 50 })) } }, async (args) => {
    await args.tx.user.create(user("ada"));
    await new Promise((resolve) => setTimeout(resolve, 100));
    await args.tx.user.create(user("late"));
  });
  app.post("/deferred", { params: { tx, whole: t.Boolean(), id: t.Integer() } }, async (args) => {
    await raw(args.tx).$executeRawUnsafe(`INSERT INTO "note" VALUES (${args.id})`);
    if (args.whole)
      await raw(args.tx).$executeRawUnsafe(`INSERT INTO "User" ("id", "name", "email") VALUES (${args.id}, 'x', '')`);
  });
  app.post("/once", { params: { tx: Depends(idempotent(take())) } }, async (args) => args.tx.user.create(user("ada")));
}

const findUnique = (db: object) =>
  (db as { user: { findUnique(query: object): Promise<{ name: string } | null> } }).user.findUnique({
    where: { name: "ada" },
  });

const nested = (app: App) => async (args: { db: Database; dependency: number; fails: string }) => {
  const seen = await namesOf(args.db);
  await args.db
    .transaction(async (inner) => {
      await inner.user.create(user("bob"));
      if (args.fails === "inner") throw new Error("no");
    })
    .catch(() => null);
  const inner = await namesOf(args.db);
  await call(app, "POST", "/users/cy");
  const called = await namesOf(args.db);
  if (args.fails === "outer") throw new HTTPException(409);
  return { seen, inner, dependency: args.dependency, called };
};
