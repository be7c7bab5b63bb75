import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, Depends, HTTPException } from "tsgi";
import { TestClient } from "tsgi/testing";
import { createFile, createSchema, openClient, queryPostgreSQL } from "../../prisma/test/_clients.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { ApiKeys, type ApiKeyRecord, memoryKeys, prismaKeys, type RawClient } from "../src/index.js";
import { bearer, call, INVALID } from "./_app.js";

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

type Database = Awaited<ReturnType<typeof openClient>> & RawClient;

/** A database without tables; on PostgreSQL even without its schema. */
async function openDatabase(name: string) {
  const file = name === "SQLite" ? await createFile() : null;
  const url = file?.url ?? createSchema(cluster.url);
  const open = async () => (await openClient(url, {}, { isMigrated: false })) as Database;
  const db = await open();
  const dispose = async () => {
    await db.$disconnect();
    await file?.[Symbol.asyncDispose]();
  };
  return { db, url, open, [Symbol.asyncDispose]: dispose };
}

const RECORD: ApiKeyRecord = {
  id: "0123456789abcdefg",
  owner: "ada 'O\" \u{1f511}",
  name: "",
  scopes: ["items:read", "items:write"],
  hash: "f".repeat(64),
  hint: "abcd",
  createdAt: new Date("2026-01-02T03:04:05.678Z"),
  expiresAt: new Date("9999-12-31T23:59:59.999Z"),
  lastUsedAt: null,
  revokedAt: null,
};

const DATABASES = ["SQLite", "PostgreSQL"] as const;
const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;

/** Each kind of store, empty. */
const STORES = {
  memoryKeys: async () => ({ store: memoryKeys(), [Symbol.asyncDispose]: async () => {} }),
  "prismaKeys on SQLite": () => openStore("SQLite"),
  "prismaKeys on PostgreSQL": () => openStore("PostgreSQL"),
};

async function openStore(name: string) {
  const database = await openDatabase(name);
  return { store: prismaKeys(database.db), [Symbol.asyncDispose]: database[Symbol.asyncDispose] };
}

for (const [name, open] of Object.entries(STORES)) {
  const describeHere = name.endsWith("PostgreSQL") ? describeWithCluster : describe;
  describeHere(name, () => {
    it("returns a record as it was added", async () => {
      await using opened = await open();
      const { store } = opened;
      expect(await store.find(RECORD.id)).toBeNull();
      await store.add(RECORD);
      expect(await store.find(RECORD.id)).toEqual(RECORD);
      expect(await store.find("another")).toBeNull();
    });

    it("lists the records of an owner", async () => {
      await using opened = await open();
      const { store } = opened;
      const second = { ...RECORD, id: "2", createdAt: new Date(RECORD.createdAt.getTime() + 1) };
      for (const record of [second, RECORD, { ...RECORD, id: "3", owner: "eve" }]) await store.add(record);
      expect(await store.list(RECORD.owner)).toEqual(expect.arrayContaining([RECORD, second]));
      expect(await store.list(RECORD.owner)).toHaveLength(2);
      expect(await store.list("' OR 1=1 --")).toEqual([]);
    });

    it("changes only the properties that are passed", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.add(RECORD);
      const [revokedAt, lastUsedAt] = [new Date(1), new Date(2)];
      await Promise.all([store.update(RECORD.id, { revokedAt }), store.update(RECORD.id, { lastUsedAt })]);
      await store.update(RECORD.id, { expiresAt: null });
      expect(await store.find(RECORD.id)).toEqual({ ...RECORD, revokedAt, lastUsedAt, expiresAt: null });
      await store.update("another", { revokedAt });
      await store.update(RECORD.id, {});
    });

    it("is not changed by its callers", async () => {
      await using opened = await open();
      const { store } = opened;
      const scopes = ["a"];
      await store.add({ ...RECORD, scopes });
      scopes.push("admin");
      const found = await store.find(RECORD.id);
      expect((found?.scopes as string[] | undefined)?.push("admin")).toBe(2);
      expect((await store.find(RECORD.id))?.scopes).toEqual(["a"]);
    });
  });
}

for (const name of DATABASES) {
  const describeHere = name === "PostgreSQL" ? describeWithCluster : describe;
  describeHere(`a table on ${name}`, () => {
    it("works with several processes that create the table at the same time", async () => {
      await using database = await openDatabase(name);
      const clients = await Promise.all(Array.from({ length: 3 }, () => database.open()));
      const stores = clients.map((client) => prismaKeys(client));
      await Promise.all(stores.map((store, index) => store.add({ ...RECORD, id: String(index) })));
      expect(await stores[0]?.list(RECORD.owner)).toHaveLength(3);
      await Promise.all(clients.map((client) => client.$disconnect()));
    });

    it("applies a revocation to the next request in another process", async () => {
      await using database = await openDatabase(name);
      const other = await database.open();
      const [here, there] = [database.db, other].map((client) => new ApiKeys({ store: prismaKeys(client) }));
      const app = new App();
      app.get("/me", { params: { key: Depends((there as ApiKeys).scheme) } }, async ({ key: { owner } }) => owner);
      const { id, key } = await (here as ApiKeys).create({ owner: "ada" });
      expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
      expect(await here?.revoke(id, "ada")).toBe(true);
      expect(await call(app, "/me", bearer(key))).toEqual(INVALID);
      await other.$disconnect();
    });

    it("works from the start of the application, with the database that it opens", async () => {
      await using database = await openDatabase(name);
      let opened = 0;
      const open = async function* () {
        opened++;
        const client = await database.open();
        yield client as RawClient;
        await client.$disconnect();
      };
      const db = Depends(open, { scope: "app" });
      const keys = new ApiKeys({ store: prismaKeys(db) });
      const app = new App();
      keys.attach(app);
      let key = "";
      app.onStartup(async () => {
        ({ key } = await keys.create({ owner: "ada" }));
      });
      app.get("/me", { params: { key: Depends(keys.scheme), db } }, async ({ key: { owner } }) => owner);
      await expect(keys.create({ owner: "ada" })).rejects.toMatchObject({ code: "TSGI_API_KEYS_NOT_STARTED" });
      for (const start of [1, 2]) {
        await using client = await TestClient.open(app);
        await client.get("/me").set(bearer(key)).expect(200, '"ada"');
        expect(opened).toBe(start);
      }
      await expect(keys.list("ada")).rejects.toBeInstanceOf(ConfigurationError);
    });

    it("uses a table that the migration of the guide has made", async () => {
      await using database = await openDatabase(name);
      const guide = readFileSync(path.resolve(import.meta.dirname, "../../docs/api-keys.md"), "utf8");
      const blocks = [...guide.matchAll(/```sql\n(.*?)```/gs)].map(([, sql = ""]) => sql);
      const sql = blocks[DATABASES.indexOf(name)] ?? "";
      if (name === "PostgreSQL") {
        const schema = new URL(database.url).searchParams.get("schema") ?? "";
        await queryPostgreSQL(cluster.url, `CREATE SCHEMA ${schema}; SET search_path TO ${schema}; ${sql}`);
      } else
        for (const statement of sql.split(";").filter((one) => one.trim() !== ""))
          await database.db.$executeRawUnsafe(statement);
      const store = prismaKeys(database.db);
      await store.add(RECORD);
      expect(await store.find(RECORD.id)).toEqual(RECORD);
    });
  });
}

describe("prismaKeys", () => {
  it("uses the override of the database", async () => {
    await using database = await openDatabase("SQLite");
    const open = async (): Promise<RawClient> => {
      throw new Error("not in tests");
    };
    const keys = new ApiKeys({ store: prismaKeys(Depends(open, { scope: "app" })) });
    const app = new App();
    app.dependencyOverrides.set(open, async () => database.db);
    keys.attach(app);
    app.get("/keys", async () => (await keys.list("ada")).length);
    await keys.create({ owner: "ada" }).catch(() => {}); // not before the start
    await using client = await TestClient.open(app);
    await keys.create({ owner: "ada" });
    await client.get("/keys").expect(200, "1");
  });

  it("does not let the application start if its database does not open", async () => {
    const open = async (): Promise<RawClient> => {
      throw new Error("no database");
    };
    const app = new App();
    new ApiKeys({ store: prismaKeys(Depends(open, { scope: "app" })) }).attach(app);
    await expect(TestClient.open(app)).rejects.toThrow("no database");
  });

  it("rejects a dependency that each request makes", () => {
    const code = "TSGI_API_KEYS_DATABASE";
    const open = async (): Promise<RawClient> => ({}) as RawClient;
    expect(() => prismaKeys(Depends(open))).toThrow(expect.objectContaining({ code }));
  });

  it("tries again after the database was unavailable, and passes its 503 on", async () => {
    await using database = await openDatabase("SQLite");
    let isAway = true;
    const client: RawClient = {
      $executeRawUnsafe: (...args) => database.db.$executeRawUnsafe(...args),
      $queryRawUnsafe: async (...args) => {
        if (isAway) throw new HTTPException(503);
        return database.db.$queryRawUnsafe(...args);
      },
    };
    const keys = new ApiKeys({ store: prismaKeys(client) });
    await expect(keys.create({ owner: "ada" })).rejects.toMatchObject({ statusCode: 503 });
    isAway = false;
    const app = new App();
    app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key: { owner } }) => owner);
    const { id, key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", bearer(key))).toMatchObject({ body: "ada" });
    isAway = true;
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 503 });
    isAway = false;
    await keys.revoke(id, "ada");
    expect(await call(app, "/me", bearer(key))).toEqual(INVALID);
  });
});

describeWithCluster("a role that may not create tables", () => {
  it("can use a table that exists", async () => {
    await using database = await openDatabase("PostgreSQL");
    await prismaKeys(database.db).add(RECORD);
    const schema = new URL(database.url).searchParams.get("schema") ?? "";
    const role = `reader_${schema}`;
    await queryPostgreSQL(
      cluster.url,
      `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${role};
       GRANT SELECT, INSERT, UPDATE ON ${schema}.tsgi_api_keys TO ${role}`,
    );
    const url = new URL(database.url);
    url.username = role;
    const client = (await openClient(url.href, {}, { isMigrated: false })) as Database;
    expect(await prismaKeys(client).find(RECORD.id)).toEqual(RECORD);
    await client.$disconnect();
  });
});
