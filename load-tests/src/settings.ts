/** The settings of a run, from the environment. @module */

/** The parts of a run that measure programs in pairs, in their order. */
export const PAIRED_SECTIONS = ["direct", "routing", "http", "bun", "deno", "node26", "start", "pg", "prisma"] as const;

/** One part of a run. */
export type PairedSection = (typeof PAIRED_SECTIONS)[number];

/** Without peers, these follow the reference protocol. */
export type ProtocolSection = "direct" | "routing" | "http";

/** The parts of a run without peers. */
const OWN_SECTIONS: readonly PairedSection[] = ["direct", "routing", "http", "start"];

/** The settings of a run. */
export interface Settings {
  /** Smaller counts, to try something out. The results are then not comparable with the reference protocol. */
  readonly quick: boolean;
  /** Installs the peers into `.cache/peers` and measures tsgi and each of them in pairs. */
  readonly peers: boolean;
  readonly sections: readonly PairedSection[];
  /** Untimed requests and look-ups before the measured ones. The reference protocol has 500. */
  readonly warmUp: number;
  /** Measured requests for each route. The reference protocol has 50,000. */
  readonly requests: number;
  /** Measured look-ups for each path. The reference protocol has 500,000. */
  readonly lookups: number;
  /** Fresh processes for each program of the reference protocol. */
  readonly rounds: number;
  /** The longest time for all pairs. */
  readonly seconds: number;
  /** The file for the figures, relative to the folder of the call; `null` for `.cache/bench/latest.json`. */
  readonly output: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads `QUICK`, `PEERS` (`1` switches on), `ONLY` (sections, separated by commas), `TIME` (seconds for all pairs) and
 * `OUT` (a file for the figures).
 *
 * @throws TypeError for an invalid value; the message contains the variable and its allowed values.
 */
export function readSettings(environment: Environment): Settings {
  const quick = readSwitch(environment, "QUICK");
  const peers = readSwitch(environment, "PEERS");
  const sections = readNames(environment["ONLY"], peers ? PAIRED_SECTIONS : OWN_SECTIONS);
  const seconds = readSeconds(environment["TIME"], (peers ? 23 * 60 : 60) / (quick ? 4 : 1));
  return {
    quick,
    peers,
    sections,
    ...(quick ? QUICK : FULL),
    warmUp: 500,
    seconds,
    output: environment["OUT"] || null,
  };
}

const FULL = { requests: 50_000, lookups: 500_000, rounds: 5 };
const QUICK = { requests: 10_000, lookups: 100_000, rounds: 3 };

function readSwitch(environment: Environment, name: string): boolean {
  const value = environment[name] ?? "";
  if (value !== "" && value !== "0" && value !== "1") {
    throw new TypeError(`Expected ${name} to be 1 or 0, not ${JSON.stringify(value)}.`);
  }
  return value === "1";
}

/** Reads `ONLY`. @throws TypeError for an unknown name. */
export function readNames<Name extends string>(value: string | undefined, known: readonly Name[]): readonly Name[] {
  if (!value) return known;
  return value.split(",").map((name) => {
    const found = known.find((candidate) => candidate === name.trim());
    if (found === undefined)
      throw new TypeError(`Expected ONLY to name ${known.join(", ")}, not ${JSON.stringify(name)}.`);
    return found;
  });
}

/** Reads `TIME`. @throws TypeError if it is not a number of seconds. */
export function readSeconds(value: string | undefined, otherwise: number): number {
  const seconds = Number(value || otherwise);
  if (seconds > 0 && seconds <= 86_400) return seconds;
  throw new TypeError(`Expected TIME to be seconds from 1 to 86400, not ${JSON.stringify(value)}.`);
}
