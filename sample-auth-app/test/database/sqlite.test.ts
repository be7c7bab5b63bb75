import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { describe, expect, it, jest } from "@jest/globals";

import { openDatabase } from "../../src/database.js";
import { openSQLite } from "../../src/database/sqlite-client.js";
import { UnavailableError } from "../../src/unavailable.js";
import { openApp, PASSWORD, temporaryDatabase } from "../support.js";

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
});

/** What another process does that holds the lock for three seconds, and tells when it has it. */
const LOCK_FOR_THREE_SECONDS = `
  import SQLite from "libsql";
  const connection = new SQLite(process.argv[1]);
  connection.exec("BEGIN IMMEDIATE");
  console.log("locked");
  setTimeout(() => connection.exec("COMMIT"), 3_000);
`;

describe("a database that another process has locked", () => {
  it("is waited for, three seconds if need be: registrations meanwhile all succeed, and reads do not wait", async () => {
    await using app = await openApp({ waitMs: 6_000 });
    await app.register();
    const { token } = await app.login();
    const file = fileURLToPath(app.config.database.url);
    const other = spawn(process.execPath, ["--input-type=module", "--eval", LOCK_FOR_THREE_SECONDS, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(other, "exit");
    await once(other.stdout, "data");
    const writes = Array.from({ length: 10 }, (_, index) => app.register(`user-${index}`));
    await app.request.get("/items").auth(token, { type: "bearer" }).expect(200);
    expect(other.exitCode).toBeNull(); // it still holds the lock
    await Promise.all(writes);
    expect(await ended).toEqual([0, null]);
  });

  it("is written to as soon as it is free: fifty writes at once all succeed", async () => {
    await using database = await temporaryDatabase();
    const { db, config } = database;
    await db.user.create({ data: alice });
    const locked = lock(config.url);
    const writes = Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0
        ? db.item.create({ data: { name: `pen ${index}`, ownerId: 1 } })
        : db.transaction((tx) => tx.item.create({ data: { name: `pen ${index}`, ownerId: 1 } })),
    );
    await db.user.count(); // a read goes on meanwhile
    locked.release();
    await Promise.all(writes);
    const other = await openDatabase(config); // only what is committed is seen from here
    expect(await other.item.count()).toBe(50);
    await other.$disconnect();
  });

  it("is given up after the time that was set, also by a transaction, which has no effect then", async () => {
    await using database = await temporaryDatabase();
    const impatient = await openDatabase({ ...database.config, waitMs: 30 });
    const locked = lock(database.config.url);
    const work = jest.fn(async () => {});
    await expect(impatient.user.create({ data: alice })).rejects.toThrow(UnavailableError);
    await expect(impatient.transaction(work)).rejects.toThrow(UnavailableError);
    locked.release();
    expect(work).not.toHaveBeenCalled();
    expect(await impatient.user.count()).toBe(0);
    await impatient.$disconnect();
  });

  it("answers 503 with Retry-After while another process keeps the database locked, and goes on afterwards", async () => {
    await using app = await openApp({ waitMs: 20 });
    const other = openSQLite(app.config.database.url);
    other.exec("BEGIN IMMEDIATE");
    const user = { username: "alice", email: "alice@example.com", password: PASSWORD };
    const response = await app.request.post("/users").send(user).expect(503, { detail: "Service Unavailable" });
    expect(response.get("Retry-After")).toBe("1");
    other.exec("COMMIT");
    other.close();
    await app.request.post("/users").send(user).expect(201);
  });
});
