/** The columns of a unique violation: Prisma reports only the index on PostgreSQL, and only a message on SQLite. @module */
import { type AdapterFactory, causeOf, type DatabaseConfig, type Driver, type Queryable } from "./driver.js";

type Indexes = ReadonlyMap<string, readonly string[]>;

/** Adds the columns to each unique violation that a statement or a commit throws. */
export async function reportColumns(
  factory: AdapterFactory,
  driver: Driver,
  config: DatabaseConfig,
): Promise<AdapterFactory> {
  const read = () => readIndexes(driver, config).catch(() => null);
  let indexes = await read();
  const addColumns = async (error: unknown): Promise<void> => {
    const violation = causeOf(error);
    if (violation?.kind !== "UniqueConstraintViolation") return;
    // The database was unavailable when the client was opened. The statement may hold the only connection of the pool.
    indexes ??= await read();
    violation.constraint = { ...violation.constraint, fields: indexes?.get(driver.keyOf(violation)) ?? [] };
  };
  const connect = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = watch(await connect(), addColumns);
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => watch(await start(isolation), addColumns);
    return adapter;
  };
  return factory;
}

/** Calls `addColumns` before an error of a statement reaches Prisma, which copies parts of it. */
function watch<Target extends Queryable>(target: Target, addColumns: (error: unknown) => Promise<void>): Target {
  const watched = (run: Queryable["queryRaw"]): Queryable["queryRaw"] => {
    return (statement) =>
      run(statement).catch(async (error: unknown) => {
        await addColumns(error);
        throw error;
      });
  };
  target.queryRaw = watched(target.queryRaw.bind(target));
  target.executeRaw = watched(target.executeRaw.bind(target));
  return target;
}

async function readIndexes(driver: Driver, config: DatabaseConfig): Promise<Indexes> {
  const rows = await driver.readUniqueIndexes(config);
  return new Map(rows.map(({ key, columns }) => [key, columns]));
}
