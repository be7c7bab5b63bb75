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
  /**
   * `openSandbox()` was called twice in one process.
   *
   * A sandbox is one connection with one transaction. Call `closeSandboxes()` first, or use `sandbox.use()` for a second App.
   */
  TSGI_SANDBOX_OPEN:
    "openSandbox(): this process has a sandbox already. Use sandbox.use() for another App, or call closeSandboxes() first.",
  /** The user of the database cannot create databases, so `openSandbox()` cannot make a copy for the tests. */
  TSGI_SANDBOX_CREATEDB: (user: string | undefined) =>
    `openSandbox() makes a copy of the database, for which the user needs a privilege: ALTER ROLE "${user ?? ""}" CREATEDB.`,
  /**
   * `openSandbox()` needs the name of the database with `_template` for its template, and a database of this name exists.
   *
   * If you do not need that database, drop it. If you need it, use another database for the tests.
   */
  TSGI_SANDBOX_TEMPLATE: (name: string) =>
    `openSandbox(): the database "${name}" is not a template of a sandbox, so it is not replaced. Drop it, or use another ` +
    "name for the database of the tests.",
  /**
   * `openSandbox()` of `@tsgi/transactions/testing` needs the dependency of a pool of `pg`, with scope `"app"`.
   *
   * For example, write `openSandbox(Depends(openPool, { scope: "app" }), { app, migrations, migrate })`.
   */
  TSGI_SANDBOX_POOL:
    'openSandbox() takes the dependency of a pool of pg. Write openSandbox(Depends(openPool, { scope: "app" }), { app, … }).',
};

/** Makes an error of this package. */
export const transactionError = errorsOf(MESSAGES);
