/** SQLite's driver under Prisma's adapter. @module */
import { fileURLToPath, pathToFileURL } from "node:url";

import type { Client, InStatement, InValue, ResultSet, Row, Transaction, Value } from "@libsql/client";
import { PrismaLibSql } from "@prisma/adapter-libsql";
import SQLite from "libsql";
import { RolledBackError, UnavailableError } from "@tsgi/transactions/internals";

/** Statements that need SQLite's one lock for writing. */
const WRITES = /^\s*(INSERT|UPDATE|DELETE|REPLACE|WITH|CREATE|ALTER|DROP)\b/i;

/** Prisma's adapter for libSQL, on a client that can share its file with other processes. */
export class SQLiteAdapter extends PrismaLibSql {
  override createClient({ url }: { url: string }): Client {
    const connection = openSQLite(url);
    // With the write-ahead log this is safe except for the last moments before a power failure, and a commit does not
    // wait for the disk, which it would do on the event loop (https://www.sqlite.org/pragma.html#pragma_synchronous).
    connection.exec("PRAGMA synchronous = NORMAL");
    return new SQLiteClient(connection);
  }
}

/** Opens a database file, and creates it if it is missing. */
export function openSQLite(url: string): SQLite.Database {
  return new SQLite(fileURLToPath(new URL(url, pathToFileURL("./"))));
}

/** Tells if a statement failed because another process holds the lock. */
export function isLocked(error: unknown): boolean {
  const SQLITE_BUSY = 5; // in the low byte; the higher ones specify the circumstances
  return error instanceof SQLite.SqliteError && ((error.rawCode ?? 0) & 0xff) === SQLITE_BUSY;
}

/** The error of a commit that leaves a row without the row that it refers to. */
export function foreignKeyViolation(): Error {
  return new SQLite.SqliteError("FOREIGN KEY constraint failed", "SQLITE_CONSTRAINT_FOREIGNKEY", 787);
}

/**
 * A client with one connection, which takes SQLite's lock before it writes.
 *
 * The package's own client opens a connection for each transaction and leaves the old one to the garbage collector:
 * 1,000 transactions held 1,000 files open. And a statement that finds the file locked stays half-run in it: until that
 * is collected, no write of the connection is committed, although every call succeeds (libsql 0.5.29). Here no
 * statement finds the file locked, because `exec`, which keeps no statement, has taken the lock before.
 */
class SQLiteClient implements Client {
  readonly protocol = "file";
  readonly #connection: SQLite.Database;

  constructor(connection: SQLite.Database) {
    this.#connection = connection;
  }

  get closed(): boolean {
    return !this.#connection.open;
  }

  async execute(statement: InStatement): Promise<ResultSet> {
    if (!WRITES.test(typeof statement === "string" ? statement : statement.sql)) {
      return run(this.#connection, statement);
    }
    const transaction = await this.transaction();
    try {
      const result = await transaction.execute(statement);
      await transaction.commit();
      return result;
    } finally {
      transaction.close();
    }
  }

  /** Prisma's adapter keeps all other queries waiting while a transaction is open, so it may have the connection. */
  async transaction(): Promise<Transaction> {
    const connection = this.#connection;
    // IMMEDIATE: a transaction that reads first may find later that it can no longer write, and has to start again.
    connection.exec("BEGIN IMMEDIATE");
    let hasEnded = false;
    const close = (): void => {
      hasEnded = true;
      if (connection.inTransaction) {
        connection.exec("ROLLBACK");
      }
    };
    // Prisma rolls a late transaction back between the statements of a nested write, and sends the rest of them afterwards.
    // SQLite itself ends a transaction at some errors, such as a full disk, and by `ON CONFLICT ROLLBACK`.
    const assertOpen = (): void => {
      if (hasEnded) throw new UnavailableError(new Error("The transaction has ended."));
      if (!connection.inTransaction) throw new RolledBackError(undefined);
    };
    return {
      get closed() {
        return hasEnded;
      },
      execute: async (statement) => {
        assertOpen();
        return run(connection, statement);
      },
      executeMultiple: async (script) => {
        assertOpen();
        connection.exec(script);
      },
      batch: unsupported,
      commit: async () => {
        assertOpen();
        try {
          connection.exec("COMMIT");
        } finally {
          close(); // after a COMMIT that failed, such as by a deferred foreign key, the transaction is still open
        }
      },
      rollback: async () => close(),
      close,
    };
  }

  async executeMultiple(script: string): Promise<void> {
    this.#connection.exec(script);
  }

  close(): void {
    this.#connection.close();
  }

  readonly batch = unsupported;
  readonly migrate = unsupported;
  readonly sync = unsupported;
  readonly reconnect = unsupported;
}

/** Stands for methods that Prisma's adapter never calls. */
function unsupported(): never {
  throw new TypeError("This client runs statements and transactions only.");
}

function run(connection: SQLite.Database, source: InStatement): ResultSet {
  const { sql, args = [] } = typeof source === "string" ? { sql: source } : source;
  const values = Object.values(args).map(toSQLite); // given as one list: a lone `null` would be taken for named values
  const statement = connection.prepare(sql);
  if (!statement.reader) {
    return createResult([], [], statement.run(values).changes);
  }
  const columns = statement.columns();
  const rows = statement.safeIntegers(true).raw(true).all(values) as (Value | Uint8Array)[][]; // `raw`: each row is a list of values
  return createResult(
    columns,
    rows.map((row) => row.map((value, index) => fromSQLite(value, columns[index]?.type ?? ""))),
    0,
  );
}

function createResult(columns: SQLite.ColumnDefinition[], rows: Value[][], rowsAffected: number): ResultSet {
  return {
    columns: columns.map(({ name }) => name),
    columnTypes: columns.map(({ type }) => type ?? ""),
    rows: rows as object[] as Row[], // a list has a row's length and indexes; Prisma asks for no names
    rowsAffected,
    lastInsertRowid: undefined,
    toJSON: () => rows,
  };
}

function toSQLite(value: InValue): Exclude<InValue, boolean> {
  return typeof value === "boolean" ? Number(value) : value;
}

/** The declared types that Prisma's adapter reads as a time. */
const TIME_TYPE = /^(?:DATETIME|TIMESTAMP)$/i;
/** A time of `CURRENT_TIMESTAMP` and other functions of SQLite: in UTC, but Prisma would read it as a local time. */
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?)$/;

/**
 * Integers arrive as `bigint`, so that they keep all digits; most are small enough for a number. Bytes arrive as a `Buffer`,
 * but Prisma's adapter recognizes only an `ArrayBuffer`, if an expression has no declared type.
 */
function fromSQLite(value: Value | Uint8Array, type: string): Value {
  if (value instanceof Uint8Array) return Uint8Array.from(value).buffer;
  if (typeof value === "string") return TIME_TYPE.test(type) ? value.replace(TIME, "$1T$2+00:00") : value;
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? Number(value) : value;
}
