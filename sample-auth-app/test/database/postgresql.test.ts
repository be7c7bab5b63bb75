import { readdirSync } from "node:fs";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import supertest from "supertest";
import { TestClient } from "tsgi/testing";

import { createApp } from "../../src/app.js";
import { openDatabase } from "../../src/database.js";
import { migrate } from "../../src/database/migrations.js";
import { UnavailableError } from "../../src/unavailable.js";
import { configFor, openLog, PASSWORD } from "../support.js";
import { createSchema, queryPostgreSQL } from "../support/databases.js";
import { startCluster, WITHOUT_CLUSTER, type Cluster } from "../support/postgres-cluster.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const MAX_CONNECTIONS = 12;
/** What a request may take while the database is away. */
const PATIENCE_MS = 5_000;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) {
    cluster = await startCluster({
      max_connections: MAX_CONNECTIONS,
      superuser_reserved_connections: 0,
      deadlock_timeout: "100ms",
    });
  }
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** The application with a schema of its own and the pool and the time-outs that it has in earnest. */
async function openShop() {
  const { url, drop } = await createSchema(cluster.url);
  const config = configFor(url);
  const database = { ...config.database, waitMs: 2_000, poolSize: 4 };
  await migrate(database);
  const { log, lines } = openLog();
  const client = await TestClient.open(createApp({ ...config, database }, log));
  const request = supertest(client.url);
  await request.post("/users").send({ username: "alice", email: "alice@example.com", password: PASSWORD }).expect(201);
  const login = () => request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD });
  const { body } = await login().expect(200);
  const get = (route: string) => request.get(route).auth(body.access_token, { type: "bearer" }).timeout(PATIENCE_MS);
  await get("/items").expect(200);
  return {
    url,
    lines,
    get,
    login: () => login().timeout(PATIENCE_MS),
    /** Asks again and again, for as long as a client would wait. */
    recover: async () => {
      const deadline = Date.now() + PATIENCE_MS;
      let status = 0;
      while (status !== 200 && Date.now() < deadline) {
        ({ status } = await get("/items"));
      }
      expect(status).toBe(200);
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await drop();
    },
  };
}

/** Connections of somebody else's, until the server has no more. */
async function takeAllConnections(): Promise<Client[]> {
  const taken: Client[] = [];
  for (;;) {
    const client = new Client(cluster.url);
    client.on("error", () => {});
    try {
      await client.connect();
      taken.push(client);
    } catch {
      return taken;
    }
  }
}

describeWithCluster(`PostgreSQL${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  it.each([
    ["stopped", () => cluster.stop(), () => cluster.start()],
    ["hung", async () => cluster.freeze(), async () => cluster.thaw()],
  ])(
    "that is %s is 503 with Retry-After and without its text, for twenty at once, and is used again when it is back",
    async (_, breakIt, mendIt) => {
      await using shop = await openShop();
      await breakIt();
      const requests = Array.from({ length: 20 }, (__, index) =>
        index % 4 === 0 ? shop.login() : shop.get(index % 4 === 1 ? "/ready" : "/items"),
      );
      const answers = await Promise.all(requests);
      await mendIt();
      expect(answers.map(({ status, body }) => [status, body])).toEqual(
        answers.map(() => [503, { detail: "Service Unavailable" }]),
      );
      expect(answers.map((answer) => answer.get("Retry-After"))).toEqual(Array(20).fill("1"));
      expect(shop.lines.join()).toContain("the database is unavailable");
      await shop.recover();
    },
  );

  it("that is hung in the middle of a transaction is 503, and the pool does not keep the connection", async () => {
    const { url, drop } = await createSchema(cluster.url);
    const config = { url, waitMs: 500, poolSize: 1 };
    await migrate(config);
    const db = await openDatabase(config);
    const work = db.transaction(async (tx) => {
      await tx.user.count();
      cluster.freeze();
      await tx.user.count();
    });
    await expect(work).rejects.toThrow(UnavailableError);
    cluster.thaw();
    expect(await db.user.count()).toBe(0);
    await db.$disconnect();
    await drop();
  });

  it("that is out of connections is 503, and is used again when it has some", async () => {
    await using shop = await openShop();
    await queryPostgreSQL(
      cluster.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sample-auth-app'",
    );
    const others = await takeAllConnections();
    const answers = await Promise.all([shop.get("/items"), shop.login(), shop.get("/ready")]);
    await Promise.all(others.map((client) => client.end()));
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      answers.map(() => [503, { detail: "Service Unavailable" }]),
    );
    await shop.recover();
  });

  it("has no more connections of a process than its pool may have", async () => {
    await using shop = await openShop();
    await Promise.all(Array.from({ length: 40 }, () => shop.get("/items").expect(200)));
    const [row] = await queryPostgreSQL(
      cluster.url,
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'sample-auth-app'",
    );
    expect(row).toEqual({ count: 4 });
  });

  it("that has ended idle connections is asked on new ones, and nobody notices", async () => {
    await using shop = await openShop();
    await Promise.all(Array.from({ length: 8 }, () => shop.get("/items").expect(200)));
    await queryPostgreSQL(
      cluster.url,
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sample-auth-app'",
    );
    await shop.recover();
    await Promise.all(Array.from({ length: 8 }, () => shop.get("/items").expect(200)));
  });

  it("takes up again a transaction that a deadlock has ended", async () => {
    const { url, drop } = await createSchema(cluster.url);
    const config = { url, waitMs: 2_000, poolSize: 4 };
    await migrate(config);
    const db = await openDatabase(config);
    for (const username of ["alice", "bob"]) {
      await db.user.create({ data: { username, email: "", hashed_password: "!" } });
    }
    let arrived = 0;
    let meet = (): void => {};
    const met = new Promise<void>((resolve) => (meet = resolve));
    const update = (first: string, second: string) =>
      db.transaction(async (tx) => {
        await tx.user.update({ where: { username: first }, data: { email: `${first} first` } });
        arrived += 1;
        if (arrived === 2) {
          meet();
        }
        await met;
        await tx.user.update({ where: { username: second }, data: { email: `${first} first` } });
      });
    await Promise.all([update("alice", "bob"), update("bob", "alice")]);
    // One of them came twice; more often if it got the row that it had let go before the other one had woken up.
    expect(arrived).toBeGreaterThan(2);
    await db.$disconnect();
    await drop();
  });

  it("is migrated once by five that start at once, in a schema that they make, with Prisma's journal", async () => {
    const { url, drop } = await createSchema(cluster.url);
    const config = { url, waitMs: 2_000, poolSize: 1 };
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(config)));
    const names = readdirSync(path.join(import.meta.dirname, "../../prisma/migrations/postgresql")).toSorted();
    expect(applied.flat()).toEqual(names.filter((name) => /^\d/.test(name)));
    const schema = new URL(url).searchParams.get("schema");
    const journal = await queryPostgreSQL(
      cluster.url,
      `SELECT * FROM ${schema}._prisma_migrations ORDER BY migration_name`,
    );
    expect(journal).toEqual(
      applied.flat().map((name) => ({
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        checksum: expect.stringMatching(/^[\da-f]{64}$/),
        finished_at: expect.any(Date),
        migration_name: name,
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Date),
        applied_steps_count: 1,
      })),
    );
    await drop();
  });
});

describe("a server that cannot be reached", () => {
  it.each([
    ["a port where nobody listens", "postgresql://test@127.0.0.1:1/test"],
    ["a name with several addresses", "postgresql://test@localhost:1/test"],
    ["a name that does not exist", "postgresql://test@nowhere.invalid/test"],
    ["a socket that is not there", "postgresql://test@localhost/test?host=/nowhere"],
  ])("is unavailable, not a fault of the application: %s", async (_, url) => {
    const db = await openDatabase({ url, waitMs: 500, poolSize: 1 });
    await expect(db.user.count()).rejects.toThrow(UnavailableError);
    await expect(db.transaction(async (tx) => tx.user.count())).rejects.toThrow(UnavailableError);
    await db.$disconnect();
  });
});
