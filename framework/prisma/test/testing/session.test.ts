import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { App, Depends, HTTPException, t } from "tsgi";
import { TestClient } from "tsgi/testing";
import { transactionOf } from "../../src/index.js";
import { closeSandboxes, openSandbox } from "../../src/testing/index.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../../test/support/postgres-cluster.js";
import { openClient } from "../_clients.js";
import { as, locals, raw } from "../_tenants.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const SEEN = `SELECT nullif(current_setting('app.tenant', true), '') AS tenant, current_user::text AS role`;

describeWithCluster(`the transaction of a sandbox${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  type Database = Awaited<ReturnType<typeof openClient>>;
  let sandbox: Awaited<ReturnType<typeof openSandbox<Database>>>;
  let app: App;
  let client: TestClient;
  beforeAll(async () => {
    const database = Depends(
      async function* () {
        const db = await openClient(cluster.url);
        yield db;
        await db.$disconnect();
      },
      { scope: "app" },
    );
    app = new App({ logger: new KeptLog() });
    const tx = Depends(transactionOf(database, { locals, role: "member" }));
    const params = { tx, db: database, fails: t.Boolean({ default: false }) };
    app.get("/", { params }, async (args) => {
      const seen = [await raw(args.tx).$queryRawUnsafe(SEEN), await raw(args.db).$queryRawUnsafe(SEEN)];
      await args.db.transaction(async (inner) => seen.push(await raw(inner).$queryRawUnsafe(SEEN)));
      await args.db.transaction(async () => Promise.reject(new Error("no"))).catch(() => null);
      if (args.fails) throw new HTTPException(409);
      return [...seen, await raw(args.tx).$queryRawUnsafe(SEEN)];
    });
    const serializable = Depends(transactionOf(database, { isolation: "Serializable" }));
    app.get("/isolation", { params: { tx: serializable } }, async (args) => args.tx.user.count());
    client = await TestClient.open(app); // before the sandbox: the App has the database itself
    sandbox = await openSandbox(database, { app });
    await raw(sandbox.db).$executeRawUnsafe(`CREATE ROLE "member"`);
  }, 30_000);
  afterAll(async () => {
    await closeSandboxes();
    await client?.close();
  });
  afterEach(async () => {
    await sandbox.rollback();
    await raw(sandbox.db).$executeRawUnsafe(`CREATE ROLE "member"`);
  });

  it("has the settings of a transaction in it, and neither in the database nor after it", async () => {
    const { json } = await call(app, "GET", "/", as("acme"));
    const own = [{ tenant: "acme", role: "member" }];
    const none = [{ tenant: null, role: "test" }];
    expect(json).toEqual([own, none, none, own]);
    expect(await raw(sandbox.db).$queryRawUnsafe(SEEN)).toEqual(none);
    expect((await call(app, "GET", "/?fails=true", as("initech"))).status).toBe(409);
    expect(await raw(sandbox.db).$queryRawUnsafe(SEEN)).toEqual(none);
  });

  it("ignores an isolation level, with one line in the log", async () => {
    const log = jest.spyOn(console, "error").mockImplementation(() => {});
    const warn = jest.spyOn(console, "warn").mockImplementation(() => {});
    for (const _ of [1, 2]) expect((await call(app, "GET", "/isolation")).json).toBe(0);
    const lines = [...log.mock.calls, ...warn.mock.calls].filter(([line]) => String(line).includes("isolation level"));
    log.mockRestore();
    warn.mockRestore();
    expect(lines).toHaveLength(1);
  });

  it("rejects statements of a test that has been rolled back", async () => {
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const late = sandbox.db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "late" } });
      await gate;
      return tx.user.create({ data: { name: "later" } });
    });
    const outcome = late.catch((error: unknown) => error);
    const waiting = sandbox.db.user.create({ data: { name: "waits" } }).catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await sandbox.rollback();
    goOn();
    expect(await outcome).toBeInstanceOf(Error);
    expect(await waiting).toMatchObject({
      message: expect.stringContaining("was rolled back while this statement waited"),
    });
    expect(await sandbox.db.user.count()).toBe(0);
    await sandbox.db.user.create({ data: { name: "late" } });
  });

  it("serves other work after the time limit of a transaction that continues", async () => {
    let goOn = (): void => {};
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    let begin = (): void => {};
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const work = async (tx: { user: Database["user"] }) => {
      await tx.user.create({ data: { name: "late" } });
      begin();
      await gate;
    };
    const late = sandbox.db.transaction(work, { timeoutMs: 50 }).catch((error: unknown) => error);
    await begun;
    expect(await sandbox.db.user.count()).toBe(0); // after the time limit
    await sandbox.db.user.create({ data: { name: "ada" } });
    goOn();
    expect(await late).toBeInstanceOf(Error);
    expect(await sandbox.db.user.count()).toBe(1);
  });

  it("reports a commit that becomes a rollback, because the error of a statement was swallowed", async () => {
    const work = sandbox.db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "ada" } });
      await raw(tx)
        .$queryRawUnsafe("SELECT 1 / 0")
        .catch(() => null);
    });
    await expect(work).rejects.toThrow("rolled the transaction back");
    expect(await sandbox.db.user.count()).toBe(0);
  });
});
