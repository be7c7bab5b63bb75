/**
 * Prisma: `@tsgi/prisma`.
 *
 * These errors are thrown when you open a database. See [prisma.md](prisma.md).
 * @module
 */
import { describe, errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * You did not pass `openPrisma()` a client for the kind of database in the URL.
   *
   * Prisma generates a client for one kind of database.
   */
  TSGI_NO_PRISMA_CLIENT: (name: string) =>
    `openPrisma(): the URL is one of ${name}, which has no client here. Write ` +
    `${name}: () => import('./generated/client.js').`,
  /**
   * `transactionOf()` needs the dependency of a client that `openPrisma()` has opened.
   *
   * ```js
   * // Wrong
   * const transaction = transactionOf(openDatabase);
   *
   * // Right
   * const transaction = transactionOf(Depends(openDatabase, { scope: "app" }));
   * ```
   */
  TSGI_NO_PRISMA_DATABASE: (given: unknown) =>
    `transactionOf() takes the dependency of a client of openPrisma(), not ${describe(given)}. Write ` +
    'transactionOf(Depends(openDatabase, { scope: "app" })).',
  /**
   * `idempotent()` needs a transaction that `transactionOf()` has made.
   *
   * ```js
   * // Wrong
   * const once = idempotent(Depends(openDatabase, { scope: "app" }));
   *
   * // Right
   * const transaction = transactionOf(Depends(openDatabase, { scope: "app" }));
   * const once = idempotent(transaction, { ttlSeconds: 3600 });
   * ```
   */
  TSGI_NO_REQUEST_TRANSACTION: (given: unknown) =>
    `idempotent() takes a transaction of transactionOf(), not ${describe(given)}. Write ` +
    "idempotent(transactionOf(database)).",
  /**
   * You pass `locals` or `role` to `transactionOf()`, but the database is SQLite.
   *
   * SQLite has neither row-level security nor roles, so the settings would have no effect. Use PostgreSQL, or omit both
   * options and query by the tenant.
   */
  TSGI_TRANSACTION_SETTINGS_SQLITE:
    "transactionOf(): locals and role are settings of a transaction on PostgreSQL, and this database is SQLite, which has " +
    "no row-level security. Use PostgreSQL, or omit both options.",
  /**
   * `openSandbox()` needs the dependency of a client that `openPrisma()` has opened.
   *
   * ```js
   * // Wrong
   * const { openSandbox } = await import("@tsgi/prisma/testing");
   * await openSandbox(Depends(openDatabase));
   *
   * // Right
   * const database = Depends(openDatabase, { scope: "app" });
   * ```
   */
  TSGI_SANDBOX_DATABASE:
    "openSandbox() takes the dependency of a client of openPrisma(). Write " +
    'openSandbox(Depends(openDatabase, { scope: "app" }), { app }).',
  /**
   * The database in the URL has no migrations, so `openSandbox()` cannot make a copy of it.
   *
   * Pass the option `migrations` to `openPrisma()`.
   */
  TSGI_SANDBOX_WITHOUT_MIGRATIONS:
    "openSandbox() makes a database by your migrations. Pass the option migrations to openPrisma().",
  /** You use `openPrisma()` of `@tsgi/prisma`, but the adapter for your database is not installed. */
  TSGI_MISSING_PRISMA_DRIVER: (name: string, packages: string) =>
    `openPrisma() needs packages for ${name} that cannot be loaded. Run: npm install ${packages}`,
};

/** Makes an error of this package. */
export const prismaError = errorsOf(MESSAGES);
