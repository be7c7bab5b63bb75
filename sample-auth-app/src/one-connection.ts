import type { Client, Config, InStatement, ResultSet, Transaction } from "@libsql/client";
import { PrismaLibSql } from "@prisma/adapter-libsql";

/**
 * Prisma's libSQL adapter, with transactions on the connection that all other queries use.
 *
 * The driver opens a new connection after each transaction and leaves the old one to the garbage collector: 1,000
 * refreshes held 1,000 files open. The adapter lets nothing else run while a transaction is open, so one connection is
 * enough.
 */
export class OneConnectionLibSql extends PrismaLibSql {
  override createClient(config: Config): Client {
    const client = super.createClient(config);
    client.transaction = async () => {
      // IMMEDIATE takes the lock at once: a transaction that read first could find itself unable to write, and have to
      // start again (SQLITE_BUSY_SNAPSHOT).
      await client.execute("BEGIN IMMEDIATE");
      return new ClientTransaction(client);
    };
    return client;
  }
}

/** A transaction that is nothing but statements of the client itself. */
class ClientTransaction implements Transaction {
  readonly #client: Client;
  closed = false;

  constructor(client: Client) {
    this.#client = client;
  }

  async execute(statement: InStatement): Promise<ResultSet> {
    return await this.#client.execute(statement);
  }

  async batch(statements: InStatement[]): Promise<ResultSet[]> {
    const results: ResultSet[] = [];
    for (const statement of statements) {
      results.push(await this.execute(statement));
    }
    return results;
  }

  async executeMultiple(): Promise<void> {
    throw new Error("a script has no place in a transaction: the client would end it");
  }

  async commit(): Promise<void> {
    try {
      await this.execute("COMMIT");
      this.closed = true;
    } catch (error) {
      await this.rollback();
      throw error;
    }
  }

  async rollback(): Promise<void> {
    this.closed = true;
    await this.execute("ROLLBACK");
  }

  close(): void {
    if (!this.closed) {
      void this.rollback();
    }
  }
}
