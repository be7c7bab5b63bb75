/** `@tsgi/transactions/testing/internals`: the parts that `@tsgi/prisma/testing` shares. @module */
export { CREATE_JOBS } from "./jobs.js";
export { copyPostgreSQL, urlOf } from "./postgresql-copies.js";
export { CHANGES_TABLES, PostgreSQLDialect } from "./postgresql-dialect.js";
export { isApplicationScoped, openOnly, type SandboxConnection } from "./sandbox.js";
export { type AdapterTransaction, type Dialect, type RunText, Session } from "./session.js";
export { type Frame, Turns } from "./turns.js";
export type { Statement } from "../statement.js";
