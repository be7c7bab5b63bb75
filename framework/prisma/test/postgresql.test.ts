import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Client } from "pg";
import { UnavailableError } from "../src/index.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { createSchema, NOON, openClient, queryPostgreSQL, TIMES } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const MAX_CONNECTIONS = 12;

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER !== null) return;
  cluster = await startCluster({
    max_connections: MAX_CONNECTIONS,
    superuser_reserved_connections: 0,
    deadlock_timeout: "100ms",
    timezone: "America/New_York",
  });
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

/** A client with a separate schema. */
async function openShop(options: Parameters<typeof openClient>[1] = {}) {
  const url = createSchema(cluster.url);
  const db = await openClient(url, { waitMs: 2_000, poolSize: 4, ...options });
  await db.user.create({ data: { name: "ada" } });
  return { db, url, [Symbol.asyncDispose]: () => db.$disconnect() };
}

const OURS = "FROM pg_stat_activity WHERE application_name = 'tsgi'";

/** Other connections, until the server's limit is reached. */
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
    "is unavailable while it is %s, for ten concurrent calls, and is used again when it is available",
    async (_, breakIt, mendIt) => {
      await using shop = await openShop();
      await breakIt();
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (__, index) => (index % 2 === 0 ? shop.db.user.count() : shop.db.ping())),
      );
      await mendIt();
      const reasons = results.map((result) => (result.status === "rejected" ? (result.reason as unknown) : null));
      expect(reasons.filter((reason) => !(reason instanceof UnavailableError))).toEqual([]);
      let count: number | null = null;
      while (count === null) count = await shop.db.user.count().catch(() => null);
      expect(count).toBe(1);
    },
  );

  it.each(["", "-c work_mem=8MB"])(
    "reads and writes times unchanged, in any time zone of the server, with the options %j in the URL",
    async (options) => {
      const url = new URL(createSchema(cluster.url));
      if (options !== "") url.searchParams.set("options", options);
      const db = await openClient(url.href);
      const raw = db as unknown as { $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<object[]> };
      expect(await raw.$queryRawUnsafe(TIMES, NOON)).toEqual([{ read: NOON, isWritten: true }]);
      await db.$disconnect();
    },
  );

  it("is abandoned if it hangs in the middle of a transaction, and the pool drops the connection", async () => {
    await using shop = await openShop({ poolSize: 1 });
    const work = shop.db.transaction(async (tx) => {
      await tx.user.count();
      cluster.freeze();
      await tx.user.count();
    });
    await expect(work).rejects.toThrow(UnavailableError);
    cluster.thaw();
    expect(await shop.db.user.count()).toBe(1);
  });

  it("lets a transaction last longer than a query may wait, busy or idle", async () => {
    await using shop = await openShop({ waitMs: 1_000, poolSize: 1 });
    await shop.db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "bob" } });
      await queryPostgreSQL(cluster.url, "SELECT pg_sleep(2.6)"); // twice `waitMs`, and the 500 ms of a silent server
      await tx.user.create({ data: { name: "eve" } });
    });
    expect(await shop.db.user.count()).toBe(3);
  });

  it("runs the statements of a transaction that start together, each within its own time", async () => {
    await using shop = await openShop({ waitMs: 2_000, poolSize: 1 });
    const sleep = "SELECT pg_sleep(0.6)"; // four of them take longer than `waitMs`
    const work = shop.db.transaction(async (tx) => {
      const raw = tx as unknown as { $executeRawUnsafe(sql: string): Promise<number> };
      return Promise.all(Array.from({ length: 4 }, () => raw.$executeRawUnsafe(sleep)));
    });
    expect(await work).toEqual([1, 1, 1, 1]);
  });

  it("rolls a transaction back after its own time limit, and keeps the connection", async () => {
    await using shop = await openShop({ poolSize: 1 });
    const before = await queryPostgreSQL(cluster.url, `SELECT pid ${OURS}`);
    const work = shop.db.transaction(
      async (tx) => {
        await tx.user.create({ data: { name: "bob" } });
        await queryPostgreSQL(cluster.url, "SELECT pg_sleep(0.4)");
        await tx.user.count();
      },
      { timeoutMs: 100 },
    );
    await expect(work).rejects.toThrow(UnavailableError);
    expect(await shop.db.user.count()).toBe(1);
    expect(await queryPostgreSQL(cluster.url, `SELECT pid ${OURS}`)).toEqual(before);
  });

  it("runs no part of a nested write after the rollback of its transaction, even if it is slow", async () => {
    await using shop = await openShop({ waitMs: 10_000, poolSize: 1 });
    const wait = `CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NEW; END'`;
    const trigger = `CREATE TRIGGER slow BEFORE UPDATE ON "User" FOR EACH ROW EXECUTE FUNCTION wait()`;
    const schema = new URL(shop.url).searchParams.get("schema");
    await queryPostgreSQL(shop.url, `SET search_path TO "${schema}"; ${wait}; ${trigger}`);
    const lock = new Client(cluster.url);
    await lock.connect();
    await lock.query("SELECT pg_advisory_lock(7)");
    // The update waits for the lock. The pen, which does not depend on the update, would be inserted after the
    // rollback.
    const data = { email: "a@b.c", pens: { create: { name: "quill" } } };
    const work = shop.db.transaction((tx) => tx.user.update({ where: { name: "ada" }, data }), { timeoutMs: 200 });
    const outcome = work.catch((error: unknown) => error);
    await lock.query("SELECT pg_sleep(0.6)");
    await lock.end();
    expect(await outcome).toBeInstanceOf(UnavailableError);
    expect([await shop.db.user.count(), await shop.db.pen.count()]).toEqual([1, 0]);
  });

  it("is unavailable if it has no free connections, and is used again when it has some", async () => {
    await using shop = await openShop();
    await queryPostgreSQL(cluster.url, `SELECT pg_terminate_backend(pid) ${OURS}`);
    const others = await takeAllConnections();
    const refused = await shop.db.user.count().catch((error: unknown) => error);
    await Promise.all(others.map((client) => client.end()));
    expect(refused).toBeInstanceOf(UnavailableError);
    expect(await shop.db.user.count()).toBe(1);
  });

  it("is connected before the first query if it has migrations, so that no request waits for it", async () => {
    const pids = `SELECT pid ${OURS}`;
    const before = await queryPostgreSQL(cluster.url, pids);
    const db = await openClient(createSchema(cluster.url));
    const after = await queryPostgreSQL(cluster.url, pids);
    await db.$disconnect();
    expect(after.filter((row) => !before.some((other) => isDeepStrictEqual(row, other)))).toHaveLength(1);
  });

  it("has no more connections of a process than its pool may have", async () => {
    await using shop = await openShop();
    await Promise.all(Array.from({ length: 40 }, () => shop.db.user.count()));
    expect(await queryPostgreSQL(cluster.url, `SELECT count(*)::int AS count ${OURS}`)).toEqual([{ count: 4 }]);
  });

  it("repeats a transaction that a deadlock has ended", async () => {
    await using shop = await openShop();
    await shop.db.user.create({ data: { name: "bob" } });
    let arrived = 0;
    let meet = (): void => {};
    const met = new Promise<void>((resolve) => (meet = resolve));
    const update = (first: string, second: string) =>
      shop.db.transaction(async (tx) => {
        await tx.user.update({ where: { name: first }, data: { email: `${first} first` } });
        arrived += 1;
        if (arrived === 2) meet();
        await met;
        await tx.user.update({ where: { name: second }, data: { email: `${first} first` } });
      });
    await Promise.all([update("ada", "bob"), update("bob", "ada")]);
    // One of them was called twice, or more often if it got its released row before the other one had woken up.
    expect(arrived).toBeGreaterThan(2);
  });

  it("is migrated once by five concurrent processes, in a schema that they create, with Prisma's journal", async () => {
    const url = createSchema(cluster.url);
    const clients = await Promise.all(Array.from({ length: 5 }, () => openClient(url, { poolSize: 1 })));
    await Promise.all(clients.map((db) => db.$disconnect()));
    const schema = new URL(url).searchParams.get("schema");
    expect(await queryPostgreSQL(cluster.url, `SELECT * FROM ${schema}._prisma_migrations`)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        checksum: expect.stringMatching(/^[\da-f]{64}$/),
        finished_at: expect.any(Date),
        migration_name: "20260101_tables",
        logs: null,
        rolled_back_at: null,
        started_at: expect.any(Date),
        applied_steps_count: 1,
      },
    ]);
  });

  it("is awaited at startup if configured", async () => {
    const url = createSchema(cluster.url);
    await cluster.stop();
    await expect(openClient(url)).rejects.toThrow(/^PostgreSQL, host .* port 5432: /);
    const opening = openClient(url, { startMs: 60_000 });
    await cluster.start();
    const db = await opening;
    expect(await db.user.count()).toBe(0);
    await db.$disconnect();
  });
});

describe("a server that cannot be reached", () => {
  it.each([
    ["a port where nobody listens", "postgresql://test@127.0.0.1:1/test"],
    ["a name with several addresses", "postgresql://test@localhost:1/test"],
    ["a name that does not exist", "postgresql://test@nowhere.invalid/test"],
    ["a socket that is not there", "postgresql://test@localhost/test?host=/nowhere"],
  ])("is unavailable, which is not an error of the application: %s", async (_, url) => {
    const db = await openClient(url, { waitMs: 500, poolSize: 1 }, { isMigrated: false });
    await expect(db.user.count()).rejects.toThrow(UnavailableError);
    await expect(db.transaction(async (tx) => tx.user.count())).rejects.toThrow(UnavailableError);
    await db.$disconnect();
  });
});
