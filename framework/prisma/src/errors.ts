/**
 * Prisma: `@tsgi/prisma`.
 *
 * Thrown when a database is opened. See [prisma.md](prisma.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * `openPrisma()` got the URL of a database for which it was given no client.
   *
   * Prisma generates a client for one kind of database.
   */
  TSGI_NO_PRISMA_CLIENT: (name: string) =>
    `openPrisma(): the URL is one of ${name}, which has no client here. Write ` +
    `${name}: () => import('./generated/client.js').`,
  /** `openPrisma()` of `@tsgi/prisma` is used, and the adapter of its database is not installed. */
  TSGI_MISSING_PRISMA_DRIVER: (name: string, packages: string) =>
    `openPrisma() needs packages for ${name} that cannot be loaded. Run: npm install ${packages}`,
};

/** Makes an error of this package. */
export const prismaError = errorsOf(MESSAGES);
