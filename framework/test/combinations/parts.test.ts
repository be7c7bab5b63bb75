/** The parts that differ between programs and tests: overrides, settings, databases, counts, the platform's context. */
import { once } from "node:events";
import { Redis } from "ioredis";
import { describe, expect, it } from "@jest/globals";
import { HTTPException } from "tsgi";
import type { Store } from "tsgi/middleware";
import { TestClient } from "tsgi/testing";
import { closeSandboxes, openSandbox } from "@tsgi/prisma/testing";
import { loadClient, MIGRATIONS, temporaryFolder } from "../../prisma/test/_clients.js";
import { KeptLog } from "../support/kept-log.js";
import { LOOPBACK, openReceiver, SECRET } from "../../webhooks/test/_receiver.js";
import { startCluster, WITHOUT_CLUSTER } from "../support/postgres-cluster.js";
import { HAS_REDIS, startRedis } from "../support/redis-server.js";
import { createApp, DEVELOPMENT } from "./app/app.js";
import { getClerk, getMember, getVisitor } from "./app/auth.js";
import { countsOf, createLedger, explainLedger, ledgerOf, openCounts } from "./app/ledger.js";
import { Library, openLibrary } from "./app/library.js";
import { addNotices } from "./app/notices.js";
import { createHandler, inRegion } from "./app/platform.js";
import { explainSettings, readSettings } from "./app/settings.js";

const create = (parts: Parameters<typeof createApp>[0] = {}) => createApp({ logger: new KeptLog(), ...parts }).app;

describe("an override", () => {
  it("replaces the caller on routes, guards, mounted Apps and WebSockets, with any credentials", async () => {
    const app = create();
    app.dependencyOverrides.set(getMember, async () => ({ name: "eve", scopes: ["tools", "desk"] }));
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    await client.get("/v1/who/oauth2").expect(200, { name: "eve", scopes: ["tools", "desk"] });
    await client.post("/v1/tools").send({ name: "Plane", kind: "hand" }).expect(201);
    expect((await client.get("/partner/tools")).body).toHaveLength(4);
    await using socket = await client.websocket("/v1/rooms/north/members");
    expect(await socket.receiveText()).toBe("eve");
  });

  it("of an optional dependency is called without credentials, and may reject", async () => {
    const app = create();
    app.dependencyOverrides.set(getVisitor, async () => ({ name: "zoe", scopes: [] }));
    app.dependencyOverrides.set(getClerk, async () => {
      throw new HTTPException(403, "The desk is closed");
    });
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    expect((await client.get("/v1/tools/1")).headers["x-visitor"]).toBe("zoe");
    await client.get("/v1/who/any").expect(403, { detail: "The desk is closed" });
    await client.get("/v1/loans/inner/desks/a/state").expect(403, { desk: "The desk is closed" });
  });

  it("of an application-scoped dependency is started in its place, for mounted Apps and readiness too", async () => {
    const app = create();
    const stocked = new Library();
    stocked.tools.clear();
    app.dependencyOverrides.set(openLibrary, async () => stocked);
    app.dependencyOverrides.set(getMember, async () => ({ name: "eve", scopes: [] }));
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    await client.get("/partner/tools").expect(200, []);
    await client.get("/health/ready").expect(200);
    stocked.isOpen = false;
    expect((await client.get("/health/ready")).body).toMatchObject({ status: "unavailable" });
    expect(client.unusedOverrides()).toEqual([]);
  });

  it("is listed if it is unused", async () => {
    const app = create();
    const unused = async () => new Library();
    app.dependencyOverrides.set(unused, unused);
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    await client.get("/v1/tools").expect(200);
    expect(client.unusedOverrides()).toEqual([unused]);
  });
});

describe("the life of the application", () => {
  it("begins with the outermost and ends with it, once for each start", async () => {
    const app = create();
    for (let start = 0; start < 2; start++) {
      const client = await TestClient.open(app, { logger: new KeptLog() });
      expect(app.state).toMatchObject({ opened: "by the lifespan", locked: false });
      await client.get("/partner/missing").set("authorization", "Bearer token-of-ada").expect(404);
      await client.close();
      expect(app.state).toEqual({ opened: "closed", locked: true, stopped: true });
    }
  });

  it("passes the state of the App, of its router and of the mount to each request, and no state of other requests", async () => {
    const app = create();
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    const login = { authorization: `Basic ${btoa("ada:password-of-ada")}` };
    const ask = () => client.get("/v1/loans/inner/desks/a/state").set(login);
    const [first, second] = await Promise.all([ask(), ask()]);
    expect([first.body, second.body]).toEqual([
      { desk: "a", state: "open" },
      { desk: "a", state: "open" },
    ]);
    await client.get("/partner/tools").set("authorization", "Bearer token-of-ada").expect(200);
  });
});

describe("the settings", () => {
  it("are rejected with the names of all variables, and without secrets", () => {
    const env = {
      ...DEVELOPMENT,
      TOOLS_SESSION_SECRET: "too short",
      TOOLS_POOL_KIND: "fiber",
      TOOLS_OPENAPI_VERSION: "4",
    };
    const open = () => readSettings(env);
    expect(open).toThrow("TOOLS_SESSION_SECRET");
    let explained = "";
    try {
      open();
    } catch (error) {
      explained = explainSettings(error);
    }
    const variables = explained.split("\n").map((line) => line.split(":")[0]);
    expect(variables).toEqual(["TOOLS_OPENAPI_VERSION", "TOOLS_POOL_KIND", "TOOLS_SESSION_SECRET"]);
    expect(explained).not.toContain("too short");
  });
});

describe("a ledger in SQLite", () => {
  it("stores all members of a request or rolls back, reports the duplicate column, and takes part in readiness", async () => {
    await using folder = await temporaryFolder();
    const app = create();
    const load = () => loadClient("sqlite");
    app.includeRouter(createLedger({ url: `file:${folder.path}/ledger.db`, migrations: MIGRATIONS, load }), {
      prefix: "/v1",
    });
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    const enter = (...names: string[]) => client.post("/v1/ledger").send(names.map((name) => ({ name })));
    await enter("ada", "bob").expect(201, "2");
    await enter("eve", "ada").expect(409, { detail: { taken: ["name"] } });
    await client.get("/v1/ledger").expect(200, "2");
    const put = (name: string) => client.put(`/v1/ledger/${name}`).set("idempotency-key", name);
    const { text } = await put("eve").expect(201);
    await put("eve").expect(201, text).expect("idempotency-replayed", "true");
    await put("a-long-name").expect(400);
    await client.get("/v1/ledger").expect(200, "3");
    await client.get("/health/ready").expect(200, {
      status: "ok",
      checks: { locks: "ok", openLibrary: "ok", opened: "ok", openLedger: "ok" },
    });
  });

  it("aborts the start of the application if it cannot be opened, with its address", async () => {
    const app = create();
    const load = () => loadClient("sqlite");
    app.includeRouter(createLedger({ url: "file:/nowhere/ledger.db", migrations: MIGRATIONS, load }));
    const error: unknown = await TestClient.open(app, { logger: new KeptLog() }).catch((refusal: unknown) => refusal);
    expect(error).toBeInstanceOf(Error);
    expect(explainLedger((error as Error).cause ?? error)).toContain("/nowhere/ledger.db");
  });
});

/** Statements of the owner: each member has only the rows whose email is its own. */
const POLICIES = [
  `CREATE ROLE "clerk"`,
  `GRANT SELECT, INSERT ON "User" TO "clerk"`,
  `GRANT USAGE ON SEQUENCE "User_id_seq" TO "clerk"`,
  `ALTER TABLE "User" ENABLE ROW LEVEL SECURITY`,
  `CREATE POLICY "member" ON "User" USING ("email" = nullif(current_setting('app.member', true), ''))`,
];

(WITHOUT_CLUSTER === null ? describe : describe.skip)("a ledger in a sandbox on PostgreSQL", () => {
  it("shows each member only its own rows, until the test is rolled back", async () => {
    await using cluster = await startCluster();
    const load = () => loadClient("postgresql");
    const parts = { url: cluster.url, migrations: MIGRATIONS, load, role: "clerk" };
    const app = create();
    const ledger = ledgerOf(parts);
    app.includeRouter(createLedger(parts, ledger), { prefix: "/v1" });
    const sandbox = await openSandbox(ledger, { app });
    const { $executeRawUnsafe: run } = sandbox.db as unknown as Record<string, (sql: string) => Promise<number>>;
    for (const sql of POLICIES) await run?.call(sandbox.db, sql);
    const client = await TestClient.open(app, { logger: new KeptLog() });
    const enter = (member: string, name: string) => client.post(`/v1/ledger/own?name=${name}`).set("x-member", member);
    await enter("ada", "plane").expect(200, "1");
    await enter("bob", "saw").expect(200, "1");
    await enter("ada", "drill").expect(200, "2");
    await client.get("/v1/ledger").expect(200, "3");
    await sandbox.rollback();
    await client.get("/v1/ledger").expect(200, "0");
    await client.close();
    await closeSandboxes();
  });
});

/** The status of a login, to an application that counts in a store. */
async function logIn(counts: Store): Promise<number> {
  const app = create({ counts });
  const body = new URLSearchParams({ username: "ada", password: "password-of-ada" });
  const request = new Request("http://localhost/v1/login", {
    method: "POST",
    body,
    headers: { "x-account": "shared" },
  });
  const { status } = await app.fetch(request);
  await app.fetch.close();
  return status;
}

(HAS_REDIS ? describe : describe.skip)("counts in Redis", () => {
  it("are shared by all machines, with either client, and stay in memory while Redis is unavailable", async () => {
    await using redis = await startRedis();
    const log = new KeptLog();
    const patiently = 10_000; // for a machine that is busy with other tests
    const [first, client] = [await openCounts(redis.path, log, patiently), new Redis(redis.path)];
    await once(client, "ready");
    try {
      const second = countsOf(client);
      expect([await logIn(first), await logIn(second), await logIn(first)]).toEqual([200, 200, 200]);
      expect([await logIn(second), await logIn(first)]).toEqual([429, 429]);
      await redis.stop();
      expect(await logIn(first)).toBe(200);
      expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
    } finally {
      client.disconnect();
      first.close();
    }
  });
});

describe("notices", () => {
  it("of a loan reach the journal, and a partner who verifies them", async () => {
    await using receiver = await openReceiver();
    const partner = { id: "north", url: receiver.url, secrets: [SECRET], events: ["loan.begun"] };
    const logger = new KeptLog();
    const app = create({ logger, env: { ...DEVELOPMENT, TOOLS_OPENAPI_VERSION: "3.2" } });
    const jobs = addNotices(app, { partner, secret: SECRET, allow: LOOPBACK, logger });
    await using client = await TestClient.open(app, { logger });
    const loan = { tool: "plane", member: "ada" };
    await client.post("/v1/notices").send(loan).expect(202);
    await client.post("/v1/notices").send({ tool: "plane" }).expect(422);
    await client.post("/v1/notices").send({ tool: "lost", member: "bob" }).expect(202);
    await jobs.drain();
    const { body } = await client.get("/v1/notices").expect(200);
    expect(body).toMatchObject({
      journal: ["ada borrowed plane"],
      deliveries: [
        { endpoint: "north", state: "delivered" },
        { endpoint: "north", state: "delivered" },
      ],
    });
    const sent = receiver.received.find(({ body: text }) => text.includes("plane"));
    const forward = (text = "") =>
      client
        .post("/v1/notices/received")
        .set(sent?.headers ?? {})
        .send(text);
    expect((await forward(sent?.body).expect(200)).body).toMatchObject({ payload: { type: "loan.begun", data: loan } });
    await forward(sent?.body.replace("ada", "eve")).expect(401);
    expect(app.openapi().webhooks).toHaveProperty(["loan.begun"]);
    expect((await client.get("/v1/notices/jobs").expect(200)).text).toContain("inline");
  });
});

describe("a platform", () => {
  it("passes its context through the middleware of the application, and waits for its background tasks", async () => {
    const pending: Promise<unknown>[] = [];
    const handler = createHandler(new KeptLog());
    const fetch = inRegion(handler, "eu", pending);
    const region = await fetch(new Request("http://localhost/admin/region"));
    expect(await region.json()).toMatchObject({ env: { region: "eu" } });
    const lent = await fetch(
      new Request("http://localhost/v1/loans/1", { method: "POST", headers: { authorization: "Bearer token-of-bob" } }),
    );
    expect(lent.status).toBe(201);
    await Promise.all(pending);
    const journal = await fetch(new Request("http://localhost/admin/journal/tasks?count=2"));
    expect(await journal.json()).toEqual(["bob borrowed Drill", "the next task runs"]);
    expect(pending.length).toBeGreaterThanOrEqual(2);
    await handler.close();
  });
});
