/** The client of a sandbox: one connection, whose transactions are savepoints. @module */
import {
  type Dialect,
  type Frame,
  PostgreSQLDialect,
  type SandboxConnection,
  Session,
  type Statement,
  Turns,
} from "@tsgi/transactions/testing/internals";
import { consoleLogger } from "tsgi/internals";
import { type AdapterFactory, codesOf } from "../driver.js";
import type { RawClient } from "../idempotency-store.js";
import { type Opening, redirecting, type Redirection } from "../redirection.js";
import { openedOf, type OpenedClient } from "../transaction.js";
import { prismaError } from "../errors.js";
import type { Copy, Original } from "./copies.js";

/** The transaction of a client of Prisma. Registered by Prisma, for extensions that open transactions. */
const SCOPE: unique symbol = Symbol.for("prisma.client.transaction.scope_context");

/** An operation of a client, as Prisma passes it to an extension. */
interface Operation {
  readonly args: unknown;
  readonly query: (args: unknown) => Promise<unknown>;
  readonly __internalParams?: { readonly transaction?: { readonly kind: "itx" | "batch"; readonly id: unknown } };
}

type Transact = (this: object, work: unknown, options?: object) => Promise<unknown>;
type Work = (tx: object) => Promise<unknown>;

/** The parts of a client of Prisma that are used here. */
interface ExtensibleClient {
  $extends(extension: object): object;
  $transaction: Transact;
}

/** Takes the place of a connection while a database is opened, and keeps its copy. */
export class PrismaConnection<Client> implements Redirection, SandboxConnection<Client> {
  readonly #turns = new Turns({ hasCallbacks: true });
  /** By the ids of Prisma. */
  readonly #frames = new Map<unknown, Frame>();
  #copy: Copy | null = null;
  #dialect: Dialect | null = null;
  #client: RawClient | null = null;
  #session: Session | null = null;
  /** `false` while the application opens the database: these changes stay. */
  #hasBegun = false;
  /** The transaction that Prisma begins next, or `null`. */
  #next: Frame | null = null;
  #hasToldIsolation = false;

  async prepare(opening: Opening): Promise<Opening> {
    const { migrations } = opening;
    if (migrations === null) throw prismaError("TSGI_SANDBOX_WITHOUT_MIGRATIONS");
    [this.#copy, this.#dialect] = await copyOf({ ...opening, migrations });
    return { ...opening, config: this.#copy.config, migrations: null };
  }

  adapt(factory: AdapterFactory): AdapterFactory {
    const connect = factory.connect.bind(factory);
    factory.connect = async () => {
      const adapter = await connect();
      const direct = {
        queryRaw: adapter.queryRaw.bind(adapter),
        executeRaw: adapter.executeRaw.bind(adapter),
        startTransaction: adapter.startTransaction.bind(adapter),
      };
      const session = new Session(() => direct.startTransaction(), this.#dialect as Dialect);
      this.#session = session;
      const run = (how: "queryRaw" | "executeRaw") => (statement: Statement) =>
        this.#hasBegun ? session.alone(how, statement) : direct[how](statement);
      return Object.assign(adapter, {
        queryRaw: run("queryRaw"),
        executeRaw: run("executeRaw"),
        startTransaction: async (isolation?: string) => {
          if (!this.#hasBegun) return direct.startTransaction(isolation);
          if (isolation !== undefined) this.#tellIsolation(isolation);
          const frame = this.#next;
          this.#next = null;
          return session.begin(() => frame?.end());
        },
      });
    };
    return factory;
  }

  #tellIsolation(isolation: string): void {
    if (this.#hasToldIsolation) return;
    this.#hasToldIsolation = true;
    consoleLogger.warn({}, `The sandbox has one transaction, so it ignores the isolation level ${isolation}.`);
  }

  /** An adapter cannot take turns: Prisma merges `findUnique` of two requests into one statement. */
  extend<Extended extends object>(client: Extended): Extended {
    const base = client as unknown as ExtensibleClient;
    const transact = base.$transaction;
    const nest = (on: object, work: unknown, options?: object) => this.#transact(transact, on, work, options);
    return base.$extends({
      query: { $allOperations: (operation: Operation) => this.#operate(operation) },
      client: {
        $transaction(this: object, work: unknown, options?: object) {
          return nest(this, work, options);
        },
      },
    }) as Extended;
  }

  #operate({ args, query, __internalParams }: Operation): Promise<unknown> {
    const { kind, id } = __internalParams?.transaction ?? {};
    const owner = kind === "itx" ? this.#frames.get(id) : null;
    // The operations of an array have the turn of their transaction. After its end, Prisma rejects operations of a transaction.
    if (kind === "batch" || owner === undefined) return query(args);
    return this.#turns.run(owner, async () => query(args));
  }

  #transact(transact: Transact, on: object, work: unknown, options?: object): Promise<unknown> {
    const owner = this.#frames.get(transactionOf(on)) ?? null;
    if (typeof work !== "function") return this.#turns.run(owner, async () => transact.call(on, work, options));
    return this.#turns.nest(owner, async (frame) => {
      if (transactionOf(on) === undefined) this.#next = frame; // inside a transaction, Prisma begins a savepoint instead
      const begun = async (tx: object) => {
        const id = transactionOf(tx);
        const isOutermost = !this.#frames.has(id);
        if (isOutermost) this.#frames.set(id, frame);
        try {
          return await (work as Work)(tx);
        } finally {
          // Prisma commits now, and rejects later operations of the transaction.
          if (isOutermost) this.#frames.delete(id);
        }
      };
      return transact.call(on, begun, options);
    });
  }

  async open(open: () => Promise<Client>): Promise<Client> {
    const client = await redirecting(this, open);
    if (openedOf(client) === null) throw prismaError("TSGI_SANDBOX_DATABASE");
    this.#client = client as RawClient;
    this.#hasBegun = true;
    return client;
  }

  query(sql: string, values: readonly unknown[], tx?: object): Promise<readonly unknown[]> {
    return this.#raw(tx).$queryRawUnsafe(sql, ...values);
  }

  execute(sql: string, values: readonly unknown[], tx?: object): Promise<unknown> {
    return this.#raw(tx).$executeRawUnsafe(sql, ...values);
  }

  #raw(tx: object | undefined): RawClient {
    return tx !== undefined && "$executeRawUnsafe" in tx ? (tx as RawClient) : (this.#client as RawClient);
  }

  replace(opened: OpenedClient): OpenedClient {
    return {
      ...opened,
      begin: async (options) => {
        const transaction = await opened.begin(options);
        this.#session?.setSettings(options.settings);
        const frame = this.#frames.get(transactionOf(transaction.client as object));
        if (frame !== undefined) this.#turns.stayIn(frame);
        return transaction;
      },
    };
  }

  enter<T>(work: () => T): T {
    return this.#turns.enter(work);
  }

  async rollBack(): Promise<void> {
    this.#turns.restart();
    await this.#session?.rollBack();
  }

  async end(): Promise<void> {
    this.#turns.restart();
    await this.#session?.close();
  }

  async close(): Promise<void> {
    this.#hasBegun = false;
    await this.#copy?.drop();
    this.#copy = null;
  }
}

/** The id of a transaction; `undefined` for the client of a database. */
function transactionOf(client: object): unknown {
  return (Reflect.get(client, SCOPE) as { readonly txId?: unknown } | undefined)?.txId;
}

/** Loads the packages of one database only. */
async function copyOf(opening: Original): Promise<[Copy, Dialect]> {
  if (opening.driver.name === "postgresql") {
    const { copyPostgreSQL } = await import("./postgresql-copies.js");
    return [await copyPostgreSQL(opening), new PostgreSQLDialect((error) => codesOf(error).state)];
  }
  const { copySQLite } = await import("./sqlite-copies.js");
  const { SQLiteDialect } = await import("./sqlite-dialect.js");
  const { foreignKeyViolation } = await import("../sqlite-client.js");
  return [await copySQLite(opening), new SQLiteDialect(foreignKeyViolation)];
}
