/** The load of the client that measures latencies. @module */

/** The load on one server. */
export interface LatencyLoad {
  readonly url: string;
  /** The server's process, whose processor time is read; 0 where that is unknown. */
  readonly serverPid: number;
  readonly connections: number;
  /** The names of the examples. */
  readonly routes: readonly string[];
  /** The rates, as shares of the server's own saturation. */
  readonly shares: readonly number[];
  /** The time at full load before its saturation is measured. */
  readonly warmUpSeconds: number;
  /** The time of each measurement. */
  readonly seconds: number;
  /** The least number of requests at each rate. */
  readonly samples: number;
}
