/** One launch of a contest: both programs in fresh processes. @module */
import { SERVER_CORE } from "../cores.js";
import type { ServerOptions } from "../http/server-process.js";
import type { Contest } from "./measure.js";
import type { ClientOptions } from "./slice-client.js";
import { SliceProcess } from "./slice-process.js";
import { SlicedServer } from "./sliced-server.js";
import { alternate, type Sliced, type Sides, type Slicing } from "./slices.js";

/** A module that is called in the process that runs the worker. */
const CALLS: Slicing = {
  sliceUs: 20_000,
  warmUp: { requests: 20_000, leastUs: 200_000, longestUs: 3_000_000 },
  slices: 20,
};

/** A server. */
const REQUESTS: Slicing = {
  sliceUs: 50_000,
  warmUp: { requests: 10_000, leastUs: 300_000, longestUs: 2_500_000 },
  slices: 8,
};

/** A contest without its names. */
type Measured = Pick<Contest, "launch" | "seconds">;

/** Starting two processes and their clients, and checking their responses. */
const START_SECONDS = 1.5;

/** Of a row, on average. */
const WARM_UP_SECONDS = 1;

function expect(launch: Contest["launch"], rows: number, { sliceUs, slices }: Slicing): Measured {
  return { launch, seconds: START_SECONDS + rows * (WARM_UP_SECONDS + (2.2 * slices * sliceUs) / 1e6) };
}

/** A section in which a module is called. */
export type CalledSection = "direct" | "routing";

/** Modules that are called directly. @param workload - The folder of the compiled load tests of each. */
export function calls(section: CalledSection, modules: Sides<URL>, workload?: Sides<URL>): Measured {
  const start = (side: keyof Sides<URL>, launch: number): SliceProcess => {
    const worker = new URL("pairs/slice-worker.js", workload?.[side] ?? new URL("..", import.meta.url));
    return new SliceProcess(worker, [section, modules[side].href], SERVER_CORE, [hashSeed(launch)]);
  };
  return expect((launch, wants) => measure(async (side) => start(side, launch), launch, wants, CALLS), 3, CALLS);
}

/** A server: its script, and how it is run. */
export interface Served {
  readonly script: URL;
  readonly options?: ServerOptions;
}

/** Servers with a client each. */
export function requests(servers: Sides<Served>, client: Omit<ClientOptions, "url">): Measured {
  const launchBoth: Contest["launch"] = (launch, wants) => {
    const start = (side: keyof Sides<Served>): Promise<SlicedServer> => {
      const { script, options } = servers[side];
      return SlicedServer.start(script, client, { command: [process.execPath, hashSeed(launch)], ...options });
    };
    return measure(start, launch, wants, REQUESTS);
  };
  return expect(launchBoth, 4, REQUESTS);
}

/**
 * Both processes of a launch hash strings with the same seed. V8 draws one at random for each process, and with it the
 * collisions in a `Map`: lookups of a static path differed by 17 %, with one seed by 3 %; direct calls by 3 to 6 %, and
 * 2 to 3 %.
 */
function hashSeed(launch: number): string {
  return `--hash-seed=${launch + 1}`;
}

async function measure(
  start: (side: keyof Sides<unknown>) => Promise<Sliced>,
  launch: number,
  wants: (row: string) => boolean,
  slicing: Slicing,
): ReturnType<Contest["launch"]> {
  const started: Sliced[] = [];
  try {
    const ours = await start("ours");
    started.push(ours);
    const theirs = await start("theirs");
    started.push(theirs);
    return await alternate({ ours, theirs }, launch, wants, slicing);
  } finally {
    await Promise.all(started.map((sliced) => sliced.stop()));
  }
}
