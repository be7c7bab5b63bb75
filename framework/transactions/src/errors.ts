/**
 * Transactions: `@tsgi/transactions`.
 *
 * These errors are thrown when you create a transaction per request, or when it begins. See
 * [row-level-security.md](row-level-security.md).
 * @module
 */
import { describe, errorsOf, show } from "tsgi/internals";

const MESSAGES = {
  /**
   * The function of `createTransactionOf()` needs the dependency of a pool of connections, not of the client that uses the pool.
   *
   * For example, write `transactionOf(Depends(openPool, { scope: "app" }))`, and let `openPool` return `new pg.Pool()`.
   */
  TSGI_NO_TRANSACTION_POOL: (given: unknown) =>
    `transactionOf() takes the dependency of a pool with the method connect(), not ${describe(given)}. Write ` +
    'transactionOf(Depends(openPool, { scope: "app" })).',
  /**
   * The dependency `locals` of `transactionOf()` returned a value that cannot become settings of the transaction.
   *
   * It must return an object. Its names have a prefix, and lower-case letters and underscores only. Its values are strings:
   * a missing tenant is an error, because a policy would compare with an empty value.
   *
   * For example, return `{ "app.tenant": String(user.tenantId) }` instead of `{ tenant: user.tenantId }`.
   */
  "TSGI_TRANSACTION_LOCALS.value": (given: string) =>
    `transactionOf(): locals should return an object of names and strings, such as { "app.tenant": "7" }, not ${given}.`,
  "TSGI_TRANSACTION_LOCALS.name": (name: string) =>
    `transactionOf(): ${show(name)} cannot be the name of a setting. Write lower-case letters and underscores, with a ` +
    'prefix, such as "app.tenant".',
  "TSGI_TRANSACTION_LOCALS.text": (name: string, given: unknown) =>
    `transactionOf(): the setting ${show(name)} should be a string without NUL and lone surrogates, not ${describe(given)}. ` +
    "If the request has no tenant, throw an HTTPException.",
  /**
   * The dependency `role` of `transactionOf()` returned a value that is not the name of a role.
   *
   * `"none"` is not possible, because PostgreSQL reads it as the user of the connection, who often owns the tables and can
   * see all rows.
   */
  TSGI_TRANSACTION_ROLE: (given: unknown) =>
    `transactionOf(): role should be the name of a role that PostgreSQL does not reserve, not ${show(given)}.`,
};

/** Makes an error of this package. */
export const transactionError = errorsOf(MESSAGES);
