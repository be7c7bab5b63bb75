/** The ledger of members in a database, and counts in Redis. Needs Node. @module */
import { Depends, HTTPException, type Logger, Router, t, withParams } from "tsgi";
import {
  ConnectError,
  idempotent,
  type IdempotentOptions,
  type IsolationLevel,
  isUniqueViolation,
  MigrationError,
  openPrisma,
  type Patient,
  type PrismaModule,
  type PrismaOptions,
  type RequestTransaction,
  type RequestTransactionOptions,
  type Transactional,
  type TransactionOf,
  transactionOf,
  type TransactionOptions,
  UnavailableError,
  type UniqueViolation,
  uniqueViolation,
} from "@tsgi/prisma";
import {
  type OpenedRedisStore,
  openRedisStore,
  type OpenRedisStoreOptions,
  type RedisClient,
  redisStore,
  type RedisStoreOptions,
} from "@tsgi/redis";
import type { Store } from "tsgi/middleware";

/** The parts of the generated client that the ledger uses. */
export interface LedgerClient {
  readonly user: {
    create(query: { data: { name: string; email?: string } }): Promise<{ id: number; name: string }>;
    count(): Promise<number>;
  };
  $disconnect(): Promise<void>;
}

export interface LedgerParts {
  readonly url: string;
  readonly migrations: string;
  readonly load: () => Promise<PrismaModule<LedgerClient>>;
}

const short: TransactionOptions = { timeoutMs: 5000 };
const isolation: IsolationLevel = "Serializable";
const strict: RequestTransactionOptions = { isolation, timeoutMs: 5000 };
const forAnHour: IdempotentOptions = { ttlSeconds: 3600 };

/** Says what to do where the database cannot be opened. */
export function explainLedger(error: unknown): string {
  if (error instanceof ConnectError) return "Start the database.";
  if (error instanceof MigrationError) return "Look at the migration.";
  return error instanceof UnavailableError ? "Try again." : String(error);
}

/** Routes of the ledger, with a database that is opened with the application. */
export function createLedger({ url, migrations, load }: LedgerParts): Router {
  const options: PrismaOptions<LedgerClient> = { url, migrations, sqlite: load };
  async function* openLedger() {
    const db: Patient<LedgerClient> = await openPrisma<LedgerClient>(options);
    yield db;
    await db.$disconnect();
  }
  const ledger = Depends(openLedger, { scope: "app", check: (db) => db.ping() });
  const countMembers = withParams({ db: ledger }, async ({ db }) => db.user.count());
  const transaction: RequestTransaction<typeof ledger, TransactionOf<typeof ledger>> = transactionOf(ledger, strict);
  const router = new Router({ prefix: "/ledger", tags: ["ledger"] });
  const enter = (tx: Transactional<LedgerClient>, name: string) => tx.user.create({ data: { name } });

  router.get("", { params: { members: Depends(countMembers) }, returns: t.Integer() }, async ({ members }) => members);
  router.post(
    "",
    { params: { names: t.Array(t.Object({ name: t.String() })), db: ledger }, statusCode: 201 },
    async ({ names, db }) => {
      try {
        return await db.transaction(async (tx) => {
          const entered = [];
          for (const { name } of names) entered.push(await enter(tx, name));
          return entered.length;
        }, short);
      } catch (error) {
        const violation: UniqueViolation | null = uniqueViolation(error);
        if (isUniqueViolation(error)) throw new HTTPException(409, { taken: violation?.fields ?? [] });
        throw error;
      }
    },
  );
  router.put(
    "/{name}",
    { params: { tx: Depends(idempotent(transaction, forAnHour)) }, statusCode: 201 },
    async ({ tx, name }) => {
      const { id } = await enter(tx, name);
      if (name.length > 10) throw new HTTPException(400, "Too long");
      return id;
    },
  );
  return router;
}

/** A store of counts for all machines. It counts in memory while Redis is away. */
export function openCounts(url: string, logger: Logger, timeoutMs = 100): Promise<OpenedRedisStore> {
  const options: OpenRedisStoreOptions = { prefix: "tools:", logger, timeoutMs };
  return openRedisStore(url, options);
}

/** The same by a client that the program has opened itself. */
export function countsOf(client: RedisClient): Store {
  const options: RedisStoreOptions = { prefix: "tools:", timeoutMs: 10_000 };
  return redisStore(client, options);
}
