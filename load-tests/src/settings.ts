/** The settings of a run, from the environment. @module */

/** The parts of a run, in their order. */
export const SECTIONS = ["direct", "routing", "http", "database", "runtimes", "footprint"] as const;

/** One part of a run. */
export type Section = (typeof SECTIONS)[number];

/** The load of a server over HTTP. */
export interface HTTPSettings {
  /** Fresh server processes for each contender. One keeps a run under a minute, at the price of rough figures. */
  readonly rounds: number;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first response has arrived; one run for each. */
  readonly pipelining: readonly number[];
  /** Untimed requests before each measurement, the same for slow servers: V8 compiles for the first 5,000 to 10,000. */
  readonly warmUp: number;
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** The same for a server that handles less than 20,000 requests per second. */
  readonly slowRequests: number;
}

/** The settings of a run. */
export interface Settings {
  /** Smaller counts, to try something out. The results are then not comparable with the reference protocol. */
  readonly quick: boolean;
  /** Installs the peers into `.cache/peers` and measures them as well. */
  readonly peers: boolean;
  readonly sections: readonly Section[];
  /** Untimed direct calls and look-ups before the measured ones. The reference protocol has 500. */
  readonly warmUp: number;
  /** Measured requests for each route. The reference protocol has 50,000. */
  readonly requests: number;
  /** Measured look-ups for each path. The reference protocol has 500,000. */
  readonly lookups: number;
  /** Fresh processes for each contender of direct calls and routing. */
  readonly rounds: number;
  readonly http: HTTPSettings;
  /** The load of each server with a database. */
  readonly database: { readonly rounds: number; readonly requests: number };
  /** Fresh server processes for each contender whose start and memory are measured. */
  readonly footprintRounds: number;
  /** The file for the figures, relative to the folder of the call; `null` for `.cache/bench/latest.json`. */
  readonly output: string | null;
}

/**
 * Reads `QUICK`, `PEERS` (`1` switches on), `ONLY` (sections, separated by commas) and `OUT` (a file for the figures).
 *
 * @throws TypeError for an invalid value; the message contains the variable and its allowed values.
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const quick = readSwitch(environment, "QUICK");
  const peers = readSwitch(environment, "PEERS");
  const { http, database, ...counts } = quick ? QUICK : FULL;
  const isRepeated = peers && !quick;
  return {
    quick,
    peers,
    sections: readSections(environment["ONLY"]),
    ...counts,
    warmUp: 500,
    http: { rounds: isRepeated ? 5 : 1, connections: 64, pipelining: isRepeated ? [1, 10] : [1], ...http },
    database: { rounds: quick ? 1 : 3, ...database },
    footprintRounds: 3,
    output: environment["OUT"] || null,
  };
}

const FULL = {
  requests: 50_000,
  lookups: 500_000,
  rounds: 5,
  http: { warmUp: 10_000, requests: 50_000, slowRequests: 10_000 },
  database: { requests: 20_000 },
};

const QUICK = {
  requests: 10_000,
  lookups: 100_000,
  rounds: 3,
  http: { warmUp: 500, requests: 5_000, slowRequests: 5_000 },
  database: { requests: 2_500 },
};

function readSwitch(environment: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const value = environment[name] ?? "";
  if (value !== "" && value !== "0" && value !== "1") {
    throw new TypeError(`Expected ${name} to be 1 or 0, not ${JSON.stringify(value)}.`);
  }
  return value === "1";
}

function readSections(value: string | undefined): readonly Section[] {
  if (value === undefined || value === "") return SECTIONS;
  return value.split(",").map((name) => {
    const section = SECTIONS.find((candidate) => candidate === name.trim());
    if (section === undefined) {
      throw new TypeError(`Expected ONLY to name ${SECTIONS.join(", ")}, not ${JSON.stringify(name)}.`);
    }
    return section;
  });
}
