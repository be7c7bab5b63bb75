/** The load of a client. @module */

/** The load on one server. */
export interface Load {
  readonly url: string;
  /** The server's process, whose processor time is read; 0 where that is unknown. */
  readonly serverPid: number;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first answer has come; one run for each. */
  readonly pipelining: readonly number[];
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** Untimed requests before each measurement. */
  readonly warmUp: number;
}
