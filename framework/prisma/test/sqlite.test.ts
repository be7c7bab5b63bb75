import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it, jest } from "@jest/globals";
import { UnavailableError } from "../src/index.js";
import { openSQLite } from "../src/sqlite-client.js";
import { openClient, openTables } from "./_clients.js";

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
  it("leaves no file open, nor do those that fail", async () => {
    await using tables = await openTables();
    const { db } = tables;
    await db.user.create({ data: { name: "ada" } });
    const before = countOpenFiles();
    for (let round = 0; round < 50; round += 1) {
      await db.transaction((tx) => tx.user.updateMany({ data: { email: `${round}@example.com` } }));
      await db.user.update({ where: { name: "ada" }, data: { pens: { create: { name: "pen" } } } });
      await db.transaction(() => Promise.reject(new Error("no"))).catch(() => {});
    }
    expect(countOpenFiles()).toBe(before);
    expect(await db.pen.count()).toBe(50);
  });
});

/** The program of another process: takes the lock, reports that, and holds it until three seconds after the reply. */
const LOCK_FOR_THREE_SECONDS = `
  import SQLite from "libsql";
  const connection = new SQLite(process.argv[1]);
  connection.exec("BEGIN IMMEDIATE");
  console.log("locked");
  process.stdin.once("data", () => setTimeout(() => connection.exec("COMMIT"), 3_000));
`;

describe("a database that another process has locked", () => {
  it("is waited for, three seconds if need be, and reads do not wait", async () => {
    await using tables = await openTables();
    const db = await openClient(tables.url, { waitMs: 20_000 });
    const file = fileURLToPath(tables.url);
    const other = spawn(process.execPath, ["--input-type=module", "--eval", LOCK_FOR_THREE_SECONDS, file], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(other, "exit");
    await once(other.stdout, "data");
    const writes = Array.from({ length: 10 }, (_, index) => db.user.create({ data: { name: `user-${index}` } }));
    expect(await tables.db.user.count()).toBe(0);
    other.stdin.end("I have read");
    await Promise.all(writes);
    expect(await ended).toEqual([0, null]);
    await db.$disconnect();
  });

  it("is written to as soon as it is free: fifty concurrent writes all succeed", async () => {
    await using tables = await openTables();
    const { db, url } = tables;
    await db.user.create({ data: { name: "ada" } });
    const locked = lock(url);
    const writes = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? db.pen.create({ data: { name: `pen ${index}`, ownerId: 1 } })
        : db.transaction((tx) => tx.pen.create({ data: { name: `pen ${index}`, ownerId: 1 } })),
    );
    await db.user.count(); // a read continues meanwhile
    locked.release();
    await Promise.all(writes);
    const other = await openClient(url); // only committed rows are visible from here
    expect(await other.pen.count()).toBe(50);
    await other.$disconnect();
  });

  it("is abandoned after the configured time, even by a transaction, which then has no effect", async () => {
    await using tables = await openTables();
    const impatient = await openClient(tables.url, { waitMs: 30 });
    const locked = lock(tables.url);
    const work = jest.fn(async () => {});
    const refused = await impatient.user.create({ data: { name: "ada" } }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(UnavailableError);
    expect(refused).toMatchObject({ statusCode: 503, headers: { "Retry-After": "1" }, cause: expect.any(Error) });
    const raw = impatient as unknown as { $executeRawUnsafe(sql: string): Promise<number> };
    await expect(raw.$executeRawUnsafe('DELETE FROM "User"')).rejects.toThrow(UnavailableError);
    await expect(impatient.transaction(work)).rejects.toThrow(UnavailableError);
    locked.release();
    expect(work).not.toHaveBeenCalled();
    expect(await impatient.user.count()).toBe(0);
    await impatient.$disconnect();
  });
});
