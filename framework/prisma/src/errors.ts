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
  /** You use `openPrisma()` of `@tsgi/prisma`, but the adapter for your database is not installed. */
  TSGI_MISSING_PRISMA_DRIVER: (name: string, packages: string) =>
    `openPrisma() needs packages for ${name} that cannot be loaded. Run: npm install ${packages}`,
};

/** Makes an error of this package. */
export const prismaError = errorsOf(MESSAGES);
