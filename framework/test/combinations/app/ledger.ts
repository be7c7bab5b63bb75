/** The ledger of members in a database, and counts in Redis. Needs Node. @module */
import { Depends, HTTPException, type Logger, Request, Router, t, withParams } from "tsgi";
import {
  ConnectError,
  idempotent,
  type IdempotentOptions,
  type IsolationLevel,
  isUniqueViolation,
  type Locals,
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
  /** The role of members, on PostgreSQL: then each member has only its own rows. */
  readonly role?: string;
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

/** The database of the ledger, which is opened with the application. */
export function ledgerOf({ url, migrations, load }: LedgerParts) {
  const options: PrismaOptions<LedgerClient, LedgerClient> = { url, migrations, sqlite: load, postgresql: load };
  async function* openLedger() {
    const db: Patient<LedgerClient> = await openPrisma<LedgerClient, LedgerClient>(options);
    yield db;
    await db.$disconnect();
  }
  return Depends(openLedger, { scope: "app", check: (db) => db.ping() });
}

/** The rows of the member that a header identifies. */
const getMember = withParams({ request: Request }, async ({ request }) => {
  const member = request.headers["x-member"];
  if (member === undefined) throw new HTTPException(401);
  return member;
});
const getLocals = withParams({ member: Depends(getMember) }, async ({ member }): Promise<Locals> => {
  return { "app.member": member };
});

/** Routes of the ledger. */
export function createLedger(parts: LedgerParts, ledger = ledgerOf(parts)): Router {
  const { role } = parts;
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
  if (role !== undefined) {
    const tx = Depends(transactionOf(ledger, { locals: Depends(getLocals), role }));
    router.post("/own", { params: { tx, email: Depends(getMember), name: t.String() } }, async (args) => {
      await args.tx.user.create({ data: { name: args.name, email: args.email } });
      return args.tx.user.count();
    });
  }
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
