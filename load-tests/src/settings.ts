/** The settings of a run, from the environment. @module */
import type { RealtimeAmounts } from "./realtime/load.js";

/** The parts of a run, in their order. */
export const SECTIONS = [
  "direct",
  "routing",
  "http",
  "database",
  "middleware",
  "payloads",
  "realtime",
  "runtimes",
  "latency",
  "footprint",
  "sample",
  "startup",
  "bundle",
  "types",
] as const;

/** One part of a run. */
export type Section = (typeof SECTIONS)[number];

/** The load of a server over HTTP. */
export interface HTTPSettings {
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first answer has come; one run for each. */
  readonly pipelining: readonly number[];
  /** Untimed requests before each measurement, the same for slow servers: V8 compiles for the first 5,000 to 10,000. */
  readonly warmUp: number;
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** The same for a server that answers less than 20,000 requests a second. */
  readonly slowRequests: number;
}

/** The settings of a run. */
export interface Settings {
  /** Smaller counts, to try something out. The figures are then not those of the reference protocol. */
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
  /** Fresh processes for each contender of direct calls, routing, and registration. */
  readonly rounds: number;
  /** The loads of each server over HTTP. */
  readonly http: HTTPSettings;
  /** The time of each measurement of latencies, and the least number of requests in it. */
  readonly latency: { readonly rounds: number; readonly seconds: number; readonly samples: number };
  /** Fresh server processes for each contender whose start and memory are measured. */
  readonly footprintRounds: number;
  /** The load of the sample application. */
  readonly sample: { readonly rounds: number; readonly logins: number; readonly listings: number };
  /** Fresh server processes for each contender over HTTP. One keeps a run under a minute, at the price of rough figures. */
  readonly httpRounds: number;
  /** The load of each server with a database, with middleware, and with payloads. */
  readonly suites: { readonly rounds: number; readonly requests: number };
  /** The connections that stay open, and the load over them. */
  readonly realtime: RealtimeAmounts & { readonly rounds: number };
  /** Starts of a process for each row of the start-up table. */
  readonly starts: number;
  /** The application whose types are checked, and fresh compilers for each row. */
  readonly types: { readonly routes: number; readonly rounds: number };
  /** The file for the figures, relative to the folder of the call; `null` for `.cache/bench/latest.json`. */
  readonly output: string | null;
}

/**
 * Reads `QUICK`, `PEERS` (`1` switches on), `ONLY` (sections, parted by commas) and `OUT` (a file for the figures).
 *
 * @throws TypeError when a value is none of these; the message names the variable and what it takes.
 */
export function readSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const quick = readSwitch(environment, "QUICK");
  const peers = readSwitch(environment, "PEERS");
  const counts = quick ? QUICK : FULL;
  const rounds = quick || !peers ? SINGLE : REPEATED;
  return {
    quick,
    peers,
    sections: readSections(environment["ONLY"]),
    ...counts,
    warmUp: 500,
    http: { connections: 64, pipelining: rounds.pipelining, ...counts.http },
    latency: { rounds: rounds.latency, ...counts.latency },
    footprintRounds: 3,
    sample: { rounds: rounds.sample, ...counts.sample },
    httpRounds: rounds.http,
    suites: { rounds: quick ? 1 : 3, ...counts.suites },
    types: { rounds: 1, ...counts.types }, // a round beside the peers takes 5 minutes; instantiations do not vary
    realtime: { rounds: rounds.realtime, ...REALTIME, ...counts.realtime },
    output: environment["OUT"] || null,
  };
}

const REALTIME = { echoing: 50, receivers: 200, streams: 1_000 };

const FULL = {
  requests: 50_000,
  lookups: 500_000,
  rounds: 5,
  starts: 11,
  http: { warmUp: 10_000, requests: 50_000, slowRequests: 10_000 },
  suites: { requests: 20_000 },
  realtime: { messages: 40_000, broadcasts: 400, events: 50, idle: 1_000, windowMs: 1_000 },
  latency: { seconds: 0.8, samples: 10_000 },
  sample: { logins: 100, listings: 10_000 },
  types: { routes: 500 },
};

const QUICK = {
  requests: 10_000,
  lookups: 100_000,
  rounds: 3,
  starts: 5,
  http: { warmUp: 500, requests: 5_000, slowRequests: 5_000 },
  suites: { requests: 2_500 },
  realtime: { messages: 10_000, broadcasts: 100, events: 20, idle: 200, windowMs: 500 },
  latency: { seconds: 0.2, samples: 1_000 },
  sample: { logins: 20, listings: 1_000 },
  types: { routes: 100 },
};

const SINGLE = { pipelining: [1], latency: 1, sample: 1, http: 1, realtime: 1 };

/** Rounds beside peers. */
const REPEATED = { pipelining: [1, 10], latency: 3, sample: 3, http: 5, realtime: 3 };

function readSwitch(environment: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const value = environment[name] ?? "";
  if (value !== "" && value !== "0" && value !== "1") {
    throw new TypeError(`Expected ${name} to be 1 or 0, not ${JSON.stringify(value)}.`);
  }
  return value === "1";
}

function readSections(value: string | undefined): readonly Section[] {
  if (value === undefined || value === "") {
    return SECTIONS;
  }
  return value.split(",").map((name) => {
    const section = SECTIONS.find((candidate) => candidate === name.trim());
    if (section === undefined) {
      throw new TypeError(`Expected ONLY to name ${SECTIONS.join(", ")}, not ${JSON.stringify(name)}.`);
    }
    return section;
  });
}
