/** `@tsgi/transactions/internals`: the parts that `@tsgi/prisma` shares. It may change in a minor version. @module */
export { hold, type Judgement, type OpenTransaction } from "./held.js";
export { patiently, RolledBackError, UnavailableError, type Verdict } from "./patience.js";
export {
  type BeginOptions,
  createRequestTransaction,
  type IsolationLevel,
  type RequestTransaction,
  type RequestTransactionOptions,
} from "./request-transaction.js";
export type { Queryable, Statement } from "./statement.js";
export { type Locals, type Settings, statementOf } from "./settings.js";
