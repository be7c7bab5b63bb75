import { readdirSync } from "node:fs";

import { describe, expect, it, jest } from "@jest/globals";

import { isUniqueViolation, openDatabase } from "../src/database.js";
import { BusyError } from "../src/limiter.js";
import { openSQLite } from "../src/sqlite.js";
import { temporaryDatabase } from "./support.js";

const alice = { username: "alice", email: "alice@example.com", hashed_password: "!" };

/** Locks a database as another process would. */
function lock(url: string) {
  const connection = openSQLite(url);
  connection.exec("BEGIN IMMEDIATE");
  return {
    release: () => {
      connection.exec("COMMIT");
      connection.close();
    },
  };
}

const countOpenFiles = () => readdirSync("/dev/fd").length;

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
    const other = openDatabase(database.url, 1_000);
    await database.db.transaction(async (tx) => {
      await tx.user.create({ data: alice });
      expect(await other.user.count()).toBe(0);
    });
    expect(await other.user.count()).toBe(1);
    await other.$disconnect();
  });

  it("leaves no file open, nor do those that fail", async () => {
    await using database = await temporaryDatabase();
    const { db } = database;
    await db.user.create({ data: alice });
    const before = countOpenFiles();
    for (let round = 0; round < 50; round += 1) {
      await db.transaction((tx) => tx.user.updateMany({ data: { email: `${round}@example.com` } }));
      await db.user.update({ where: { username: "alice" }, data: { items: { create: { name: "pen" } } } });
      await db.transaction(() => Promise.reject(new Error("no"))).catch(() => {});
    }
    expect(countOpenFiles()).toBe(before);
    expect(await db.item.count()).toBe(50);
  });

  it("keeps foreign keys", async () => {
    await using database = await temporaryDatabase();
    await expect(database.db.item.create({ data: { name: "pen", ownerId: 99 } })).rejects.toThrow(/[Ff]oreign key/);
  });
});

describe("a database that another process has locked", () => {
  it("is written to as soon as it is free: fifty writes at once all succeed", async () => {
    await using database = await temporaryDatabase();
    const { db, url } = database;
    await db.user.create({ data: alice });
    const locked = lock(url);
    const writes = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? db.item.create({ data: { name: `pen ${index}`, ownerId: 1 } })
        : db.transaction((tx) => tx.item.create({ data: { name: `pen ${index}`, ownerId: 1 } })),
    );
    await db.user.count(); // a read goes on meanwhile
    locked.release();
    await Promise.all(writes);
    const other = openDatabase(url, 1_000); // only what is committed is seen from here
    expect(await other.item.count()).toBe(50);
    await other.$disconnect();
  });

  it("is given up after the time that was set, also by a transaction, which has no effect then", async () => {
    await using database = await temporaryDatabase();
    const impatient = openDatabase(database.url, 30);
    const locked = lock(database.url);
    const work = jest.fn(async () => {});
    await expect(impatient.user.create({ data: alice })).rejects.toThrow(BusyError);
    await expect(impatient.transaction(work)).rejects.toThrow(BusyError);
    locked.release();
    expect(work).not.toHaveBeenCalled();
    expect(await impatient.user.count()).toBe(0);
    await impatient.$disconnect();
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
