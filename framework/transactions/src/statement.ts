/** The statements of a client. @module */

/** A statement of a client, which may have values. */
export interface Statement {
  readonly sql: string;
}

/** A connection, or a transaction of it. */
export interface Queryable {
  queryRaw(statement: Statement): Promise<unknown>;
  executeRaw(statement: Statement): Promise<unknown>;
}
