/** All that differs between the databases. @module */

/** The address of a database, and the time limits for it. */
export interface DatabaseConfig {
  readonly url: string;
  readonly waitMs: number;
  readonly poolSize: number;
}

/** The state of the database after an error: `busy` is worth another try now, `unavailable` one later, `fault` none. */
export type Verdict = "busy" | "unavailable" | "fault";

/** A transaction that changes tables, in which nobody else does. */
export interface MigrationSession {
  query(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  run(script: string): Promise<void>;
  commit(): Promise<void>;
  /** Ends the connection, and takes back what is not committed. */
  close(): Promise<void>;
}

export interface Driver {
  /** The folder of its migrations, where there is one for each database. */
  readonly name: "sqlite" | "postgresql";
  /** Prisma's own table (schema-engine, `sql_schema_connector`), so that its commands accept what is written here. */
  readonly createJournal: string;
  /** A time as this database writes it in a statement. */
  readonly toTime: (date: Date) => string;
  /** The adapter of Prisma's client. It connects when the first query comes. */
  readonly createAdapter: (config: DatabaseConfig) => object;
  readonly judge: (error: unknown) => Verdict;
  readonly openMigration: (config: DatabaseConfig) => Promise<MigrationSession>;
}

/** Prisma's code of an error of a query, such as `P2002`, and the code of the database's own; each empty without one. */
export function codesOf(error: unknown): { code: string; state: string } {
  // By name: the class is another one in each client that is generated.
  if (!(error instanceof Error) || error.name !== "PrismaClientKnownRequestError") return { code: "", state: "" };
  const { code, meta } = error as { code?: unknown; meta?: { driverAdapterError?: { cause?: object } } };
  const { originalCode } = (meta?.driverAdapterError?.cause ?? {}) as { originalCode?: unknown };
  return { code: String(code), state: typeof originalCode === "string" ? originalCode : "" };
}
