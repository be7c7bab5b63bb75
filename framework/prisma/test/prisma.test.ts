import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { health } from "tsgi/health";
import { App, Depends } from "tsgi";
import { openPrisma, type Patient, type PrismaModule, UnavailableError } from "../src/index.js";
import { TestClient } from "tsgi/testing";
import { type Client, openClient, openTables, temporaryFolder } from "./_clients.js";

const load = async (): Promise<never> => {
  throw new Error("never loaded");
};

describe("openPrisma", () => {
  it.each([
    ["mysql://localhost/test", 'a URL that begins with "file:" or "postgresql:"'],
    ["file:", 'a URL that begins with "file:" or "postgresql:"'],
    [undefined, 'a URL that begins with "file:" or "postgresql:"'],
  ])("rejects the URL %s", async (url, message) => {
    await expect(openPrisma({ url: url as string, sqlite: load })).rejects.toThrow(message);
  });

  it("rejects the URL of a database for which it has no client, and a misspelled option", async () => {
    await expect(openPrisma({ url: "postgresql://localhost/shop", sqlite: load })).rejects.toThrow(
      "Write postgresql: () => import('./generated/client.js')",
    );
    await expect(openPrisma({ url: "file:x.db", pool: 5 } as { url: string })).rejects.toThrow("pool");
  });

  it("has the type of the client for PostgreSQL if it is the only one", async () => {
    const open = async (): Promise<Patient<Client>> =>
      openPrisma({ url: "file:x.db", postgresql: async (): Promise<PrismaModule<Client>> => load() });
    await expect(open()).rejects.toThrow("Write sqlite: ");
  });

  it("is a dependency of the application: one client, and readiness queries the database", async () => {
    await using folder = await temporaryFolder();
    async function* openDatabase() {
      const db = await openClient(`file:${folder.path}/app.db`);
      yield db;
      await db.$disconnect();
    }
    const database = Depends(openDatabase, { scope: "app", check: (db) => db.ping() });
    const app = new App();
    app.get("/users", { params: { db: database } }, async ({ db }) => ({ count: await db.user.count() }));
    app.includeRouter(health());
    await using client = await TestClient.open(app);
    await client.get("/users").expect(200, { count: 0 });
    await client.get("/ready").expect(200, { status: "ok", checks: { openDatabase: "ok" } });
  });
});

describe("a transaction", () => {
  it("takes effect as a whole, or not at all", async () => {
    await using tables = await openTables();
    const { db } = tables;
    await db.transaction(async (tx) => {
      const { id: ownerId } = await tx.user.create({ data: { name: "ada" } });
      await tx.pen.create({ data: { name: "pen", ownerId } });
    });
    const failing = db.transaction(async (tx) => {
      await tx.pen.deleteMany();
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await db.pen.count()).toBe(1);
  });

  it("is not seen from outside before its end", async () => {
    await using tables = await openTables();
    const other = await openClient(tables.url);
    await tables.db.transaction(async (tx) => {
      await tx.user.create({ data: { name: "ada" } });
      expect(await other.user.count()).toBe(0);
    });
    expect(await other.user.count()).toBe(1);
    await other.$disconnect();
  });

  it("is rolled back after its time limit, and does not run again", async () => {
    await using tables = await openTables();
    const { db } = tables;
    let runs = 0;
    const work = db.transaction(
      async (tx) => {
        runs += 1;
        await tx.user.create({ data: { name: "ada" } });
        await delay(200);
        await tx.user.create({ data: { name: "bob" } });
      },
      { timeoutMs: 50 },
    );
    await expect(work).rejects.toThrow(UnavailableError);
    expect([await db.user.count(), runs]).toEqual([0, 1]);
    const misspelt = { timeout: 50 } as object;
    await expect(db.transaction(async () => {}, misspelt)).rejects.toThrow("timeout");
  });

  it("keeps foreign keys", async () => {
    await using tables = await openTables();
    await expect(tables.db.pen.create({ data: { name: "pen", ownerId: 99 } })).rejects.toThrow(/[Ff]oreign key/);
  });
});

describe("many writes at once", () => {
  it("all succeed, with and without transactions, for any number of connections", async () => {
    await using tables = await openTables();
    const { db } = tables;
    const { id: ownerId } = await db.user.create({ data: { name: "ada" } });
    const add = (client: Pick<Client, "pen">, name: string) => client.pen.create({ data: { name, ownerId } });
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0 ? add(db, `pen ${index}`) : db.transaction((tx) => add(tx, `pen ${index}`)),
      ),
    );
    expect(await db.pen.count()).toBe(50);
  });
});
