/** The load of a client. @module */

/** The load on one server. */
export interface Load {
  /** The requests: the routes of the reference protocol, or those on a database by its driver. */
  readonly suite: "routes" | "pg" | "prisma";
  readonly url: string;
  /** The server's process, whose processor time is read; 0 if that is unknown. */
  readonly serverPid: number;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first response has arrived; one run for each. */
  readonly pipelining: readonly number[];
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** Untimed requests before each measurement. */
  readonly warmUp: number;
  /** The database of the server, where the suite has one. */
  readonly databaseUrl?: string;
}
