import type { PrismaClient } from "../generated/sqlite/client.js";

/** Where the database is, and how patient to be with it. */
export interface DatabaseConfig {
  /** `file:` and a path for SQLite, `postgresql://…` for PostgreSQL. */
  url: string;
  /** How long a query waits for the database: for its lock, for a free connection, for an answer. */
  waitMs: number;
  /** How many connections one process holds at most. SQLite has one. */
  poolSize: number;
}

/** What an error says of the database: `busy` is worth another try now, `unavailable` one later, `fault` none. */
export type Verdict = "busy" | "unavailable" | "fault";

/** One line of Prisma's journal of migrations. */
export interface JournalEntry {
  name: string;
  /** SHA-256 of the file, in hexadecimal. */
  checksum: string;
  isFinished: boolean;
}

/** A transaction that changes tables, in which nobody else does. */
export interface MigrationSession {
  readJournal(): Promise<JournalEntry[]>;
  run(sql: string): Promise<void>;
  record(migration: { name: string; checksum: string; startedAt: Date }): Promise<void>;
}

/** All that differs between the databases. */
export interface Driver {
  /** The folder of its migrations, under `prisma/migrations`. */
  readonly name: "sqlite" | "postgresql";
  /** Makes the client. It connects when the first query comes. */
  createClient(config: DatabaseConfig): PrismaClient;
  judge(error: unknown): Verdict;
  /** Makes what is missing for the journal, and gives `work` a session: all that it does takes effect, or nothing. */
  migrate<T>(config: DatabaseConfig, work: (session: MigrationSession) => Promise<T>): Promise<T>;
}
