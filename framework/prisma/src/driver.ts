/** All that differs between the databases. @module */
import type { Queryable, Statement, Verdict } from "@tsgi/transactions/internals";

export type { Queryable, Statement };

/** The address of a database, and the time limits for it. */
export interface DatabaseConfig {
  readonly url: string;
  readonly waitMs: number;
  readonly poolSize: number;
  /** Lets the process end while connections are open. */
  readonly canExit?: boolean;
}

/** The schema of a PostgreSQL. As Prisma has it: `?schema=name` in the URL, else `public`. */
export function schemaOf(url: string): string {
  return new URL(url).searchParams.get("schema") ?? "public";
}

/** A connection that applies migrations. */
export interface MigrationSession {
  /** Begins a transaction, during which no other process migrates. */
  begin(): Promise<void>;
  query(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  run(script: string): Promise<void>;
  commit(): Promise<void>;
  /** Has no effect if the script has ended the transaction. */
  rollBack(): Promise<void>;
  /** Tells if the database refuses a statement because it is in a transaction. */
  isRefusedInTransaction(error: unknown): boolean;
  /** Runs scripts on another connection, without a transaction, while this one keeps the lock. */
  outside(work: (run: (script: string) => Promise<void>) => Promise<void>): Promise<void>;
  /** Ends the connection, and rolls back uncommitted changes. */
  close(): Promise<void>;
}

/** The columns that an error of the database does not report. */
export interface UniqueIndex {
  /** Identifies the index in an error; {@link Driver.keyOf} has the same for a violation. */
  readonly key: string;
  /** Its columns in the order of the index; empty if it is built on an expression. */
  readonly columns: readonly string[];
}

/** The part of Prisma's adapters that is used here. */
export interface AdapterFactory {
  connect(): Promise<Queryable & { startTransaction(isolation?: string): Promise<Queryable> }>;
}

export interface Driver {
  /** The folder of its migrations, if each database has one. */
  readonly name: "sqlite" | "postgresql";
  /** Prisma's own table (schema-engine, `sql_schema_connector`), so that its commands accept the entries from here. */
  readonly createJournal: string;
  /** A time as this database writes it in a statement. */
  readonly toTime: (date: Date) => string;
  /** The adapter of Prisma's client. It connects at the first query. */
  readonly createAdapter: (config: DatabaseConfig) => AdapterFactory;
  /** Reads the unique indexes from the catalogue, on a separate connection. */
  readonly readUniqueIndexes: (config: DatabaseConfig) => Promise<readonly UniqueIndex[]>;
  /** The key of the unique index that a statement violated. */
  readonly keyOf: (violation: DriverCause) => string;
  readonly judge: (error: unknown) => Verdict;
  /** Tells if an error is from the database, and not from another service that the application uses. */
  readonly isOwn: (error: unknown) => boolean;
  /** `false` if every transaction is serializable: then a weaker level is met by that. */
  readonly hasIsolation: boolean;
  readonly openMigration: (config: DatabaseConfig) => Promise<MigrationSession>;
}

/**
 * Prisma's code of an error of a query, such as `P2002`, and the database's own code. Each is empty if it does not
 * exist.
 */
export function codesOf(error: unknown): { code: string; state: string } {
  const { code } = Object(error) as { code?: unknown };
  const state = causeOf(error)?.originalCode;
  return { code: isKnown(error) ? String(code) : "", state: typeof state === "string" ? state : "" };
}

/** An error of the database as Prisma's adapters describe it (`@prisma/driver-adapter-utils`). */
export interface DriverCause {
  readonly kind?: unknown;
  readonly originalCode?: unknown;
  readonly originalMessage?: unknown;
  readonly table?: unknown;
  constraint?: { readonly fields?: readonly string[]; readonly index?: string };
}

/** The database's error: for a query it is in `meta`, for a commit it reaches the caller unwrapped. */
export function causeOf(error: unknown): DriverCause | undefined {
  if (isKnown(error)) {
    const { meta } = error as { meta?: { driverAdapterError?: unknown } };
    return causeOf(meta?.driverAdapterError);
  }
  const isOfDriver = error instanceof Error && error.name === "DriverAdapterError";
  return isOfDriver ? (error.cause as DriverCause | undefined) : undefined;
}

/** Tells if an error is Prisma's or its adapter's, and so about the database. By name: each client has its own classes. */
export function isOfPrisma(error: unknown): boolean {
  return error instanceof Error && /^(?:PrismaClient\w+Error|DriverAdapterError)$/.test(error.name);
}

/** By name: each generated client has a separate class. */
function isKnown(error: unknown): boolean {
  return error instanceof Error && error.name === "PrismaClientKnownRequestError";
}
