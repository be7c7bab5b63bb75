import { describe, expect, it } from "@jest/globals";

import { isUniqueViolation, openDatabase } from "../src/database.js";
import { temporaryDatabase } from "./support.js";

const alice = { username: "alice", email: "alice@example.com", hashed_password: "!" };

describe("a transaction", () => {
  it("takes effect as a whole, or not at all", async () => {
    await using database = await temporaryDatabase();
    const { db } = database;
    await db.transaction(async (tx) => {
      await tx.user.create({ data: alice });
      await tx.item.create({ data: { name: "pen", owner: { connect: { username: "alice" } } } });
    });
    const failing = db.transaction(async (tx) => {
      await tx.item.deleteMany();
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await db.item.count()).toBe(1);
  });

  it("is not seen from outside before its end", async () => {
    await using database = await temporaryDatabase();
    const other = await openDatabase(database.config);
    await database.db.transaction(async (tx) => {
      await tx.user.create({ data: alice });
      expect(await other.user.count()).toBe(0);
    });
    expect(await other.user.count()).toBe(1);
    await other.$disconnect();
  });

  it("keeps foreign keys", async () => {
    await using database = await temporaryDatabase();
    await expect(database.db.item.create({ data: { name: "pen", ownerId: 99 } })).rejects.toThrow(/[Ff]oreign key/);
  });
});

describe("a unique value", () => {
  it("is told from other faults", async () => {
    await using database = await temporaryDatabase();
    const { db } = database;
    await db.user.create({ data: alice });
    const again = await db.user.create({ data: alice }).catch((error: unknown) => error);
    const orphan = await db.item.create({ data: { name: "pen", ownerId: 99 } }).catch((error: unknown) => error);
    expect([again, orphan].map(isUniqueViolation)).toEqual([true, false]);
  });
});

describe("many writes at once", () => {
  it("all succeed, alone and in transactions, whatever the number of connections", async () => {
    await using database = await temporaryDatabase();
    const { db } = database;
    const { id: ownerId } = await db.user.create({ data: alice });
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        index % 2 === 0
          ? db.item.create({ data: { name: `pen ${index}`, ownerId } })
          : db.transaction((tx) => tx.item.create({ data: { name: `pen ${index}`, ownerId } })),
      ),
    );
    expect(await db.item.count()).toBe(50);
  });
});

describe("a migrated database", () => {
  it("has every column that the client asks for", async () => {
    await using database = await temporaryDatabase();
    const { db } = database;
    await db.user.create({
      data: {
        username: "alice",
        email: "alice@example.com",
        hashed_password: "!",
        items: { create: { name: "pen" } },
        sessions: {
          create: { expiresAt: new Date(), currentHash: "x", tokens: { create: { hash: "x", expiresAt: new Date() } } },
        },
      },
    });
    const include = { items: true, sessions: { include: { tokens: true } } };
    expect(await db.user.findMany({ include })).toMatchObject([
      { items: [{ name: "pen" }], sessions: [{ tokens: [{ hash: "x" }] }] },
    ]);
  });
});
