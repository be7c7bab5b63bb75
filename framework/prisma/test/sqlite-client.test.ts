import { describe, expect, it } from "@jest/globals";
import { UnavailableError } from "../src/index.js";
import { isLocked, openSQLite, SQLiteAdapter } from "../src/sqlite-client.js";
import { temporaryFolder } from "./_clients.js";

/** A table, the adapter's connection to it, and another process's. */
async function openTable() {
  const folder = await temporaryFolder();
  const url = `file:${folder.path}/with space.db`;
  const other = openSQLite(url);
  other.exec("PRAGMA journal_mode = WAL; CREATE TABLE t (value)");
  const adapter = await new SQLiteAdapter({ url }).connect();
  const insert = (value: unknown) =>
    adapter.executeRaw({
      sql: "INSERT INTO t VALUES (?)",
      args: [value],
      argTypes: [{ scalarType: "unknown", arity: "scalar" }],
    });
  return {
    url,
    adapter,
    other,
    insert,
    select: async () => (await adapter.queryRaw({ sql: "SELECT value FROM t", args: [], argTypes: [] })).rows.flat(),
    seenByOther: () => (other.prepare("SELECT value FROM t").raw(true).all() as unknown[][]).flat(),
    [Symbol.asyncDispose]: async () => {
      await adapter.dispose();
      other.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe("a connection to SQLite", () => {
  it("commits its writes after it has found the file locked", async () => {
    await using table = await openTable();
    table.other.exec("BEGIN IMMEDIATE");
    await expect(table.insert(1)).rejects.toMatchObject({ cause: { kind: "SocketTimeout" } });
    table.other.exec("COMMIT");
    expect(await table.insert(2)).toBe(1);
    const transaction = await table.adapter.startTransaction();
    await transaction.executeRaw({ sql: "INSERT INTO t VALUES (3)", args: [], argTypes: [] });
    await transaction.commit();
    expect(table.seenByOther()).toEqual([2, 3]);
  });

  it("does not wait for the disk at each commit, which would block the event loop", async () => {
    await using table = await openTable();
    const { rows } = await table.adapter.queryRaw({ sql: "PRAGMA synchronous", args: [], argTypes: [] });
    expect(rows).toEqual([[1]]); // NORMAL
  });

  it("holds no lock after a statement or a transaction that failed", async () => {
    await using table = await openTable();
    const wrong = { sql: "INSERT INTO t VALUES (1, 2)", args: [], argTypes: [] };
    await expect(table.adapter.executeRaw(wrong)).rejects.toMatchObject({ cause: { kind: "sqlite" } });
    const transaction = await table.adapter.startTransaction();
    await expect(transaction.executeRaw(wrong)).rejects.toMatchObject({ cause: { kind: "sqlite" } });
    await transaction.rollback();
    table.other.exec("INSERT INTO t VALUES (9)");
    expect(await table.select()).toEqual([9]);
  });

  it("runs no statement of a transaction after its end", async () => {
    await using table = await openTable();
    const insert = { sql: "INSERT INTO t VALUES (3)", args: [], argTypes: [] };
    for (const end of ["commit", "rollback"] as const) {
      const transaction = await table.adapter.startTransaction();
      await transaction[end]();
      await expect(transaction.executeRaw(insert)).rejects.toThrow(UnavailableError);
    }
    expect(await table.select()).toEqual([]);
  });

  it("returns values unchanged, including all digits of a large integer", async () => {
    await using table = await openTable();
    for (const value of [1, -1.5, "text", null, true, 9_007_199_254_740_993n]) {
      await table.insert(value);
    }
    expect(await table.select()).toEqual([1, -1.5, "text", null, 1, "9007199254740993"]);
  });

  it("returns the bytes of a column, and of an expression without a declared type", async () => {
    await using table = await openTable();
    table.other.exec("CREATE TABLE files (bytes BLOB); INSERT INTO files VALUES (X'00ff')");
    const sql = "SELECT bytes, X'00ff' AS same, zeroblob(0) AS none FROM files";
    const { rows } = await table.adapter.queryRaw({ sql, args: [], argTypes: [] });
    expect(rows).toEqual([[Uint8Array.of(0, 255), Uint8Array.of(0, 255), new Uint8Array()]]);
  });

  it("returns a time without an offset as a time in UTC, as SQLite writes it, and text unchanged", async () => {
    await using table = await openTable();
    table.other.exec(`
      CREATE TABLE moments (at DATETIME DEFAULT CURRENT_TIMESTAMP, exact TIMESTAMP, known DATETIME, note TEXT);
      INSERT INTO moments (exact, known, note) VALUES
        ('2026-01-01 12:00:00.123', '2026-01-01T12:00:00.000+00:00', '2026-01-01 12:00:00')`);
    const [now] = table.other.prepare("SELECT at FROM moments").raw(true).get() as [string];
    const { rows } = await table.adapter.queryRaw({ sql: "SELECT * FROM moments", args: [], argTypes: [] });
    expect(rows).toEqual([
      [
        `${now.replace(" ", "T")}+00:00`,
        "2026-01-01T12:00:00.123+00:00",
        "2026-01-01T12:00:00.000+00:00",
        "2026-01-01 12:00:00",
      ],
    ]);
  });

  it("distinguishes the lock from other errors", async () => {
    await using table = await openTable();
    const second = openSQLite(table.url);
    const attempt = (sql: string): unknown => {
      try {
        return second.exec(sql);
      } catch (error) {
        return error;
      }
    };
    table.other.exec("BEGIN IMMEDIATE");
    expect(isLocked(attempt("BEGIN IMMEDIATE"))).toBe(true);
    table.other.exec("COMMIT");
    expect(isLocked(attempt("nonsense"))).toBe(false);
    expect(isLocked(new Error("SQLITE_BUSY"))).toBe(false);
    second.close();
  });
});
