/** Two builds measured in short slices, one build after the other. @module */
import { SERVER_CORE } from "../cores.js";
import type { Row } from "../report.js";
import type { Builds } from "./builds.js";
import type { PairOfReports, Side } from "./pairs.js";
import { SliceProcess } from "./slice-process.js";

/** Requests of the first slice. */
const FIRST_SLICE = 5_000;
/** Slices of each row and build that optimize its code, and say how many requests fill one. */
const WARM_UP_SLICES = 4;
/** Slices of each row and build that count. */
const SLICES = 40;
/** Processor time of a slice: short compared with disturbances of a host, and long compared with a young collection. */
const SLICE_US = 10_000;

/**
 * Measures a section of both builds at the same time, each in a fresh process, in alternating slices, so that
 * disturbances of the host affect both. On a virtual machine two processes one after the other differed by 20 %
 * (standard deviation), and two in slices by 2 to 5 %.
 *
 * The two processes of a pair hash strings with the same seed. V8 draws one at random for each process, and with it the
 * collisions in a `Map`: look-ups of a static path differed by 17 %, with one seed by 3 %; direct calls by 3 to 6 %, and 2 to
 * 3 %.
 */
export async function measureInSlices({ base, head }: Builds, section: string, pair: number): Promise<PairOfReports> {
  const start = (workload: URL): SliceProcess =>
    new SliceProcess(new URL("compare/slice-worker.js", workload), section, SERVER_CORE, [`--hash-seed=${pair + 1}`]);
  const workers = { base: start(base.workload), head: start(head.workload) };
  const [first, second] = pair % 2 === 0 ? (["base", "head"] as const) : (["head", "base"] as const);
  try {
    const [onBase, onHead] = await Promise.all([workers.base.ready(), workers.head.ready()]);
    const rows: Record<Side, Row[]> = { base: [], head: [] };
    const isRight = onBase.faults.length + onHead.faults.length === 0; // a row requires a right response
    for (const [row, name] of isRight ? onBase.names.entries() : []) {
      const speeds = await measureRow(workers[first], workers[second], row);
      rows[first].push({ name, figures: { perCPUSecond: speeds[0] } });
      rows[second].push({ name, figures: { perCPUSecond: speeds[1] } });
    }
    return { base: { rows: rows.base, faults: onBase.faults }, head: { rows: rows.head, faults: onHead.faults } };
  } finally {
    workers.base.stop();
    workers.head.stop();
  }
}

/** Requests for each second of processor time, of both processes. */
async function measureRow(
  first: SliceProcess,
  second: SliceProcess,
  row: number,
): Promise<[first: number, second: number]> {
  let requests = FIRST_SLICE;
  for (let slice = 0; slice < WARM_UP_SLICES; slice++) {
    const usedUs = (await first.slice(row, requests)) + (await second.slice(row, requests));
    requests = Math.max(1, Math.round((SLICE_US * 2 * requests) / usedUs));
  }
  const used: [number, number] = [0, 0];
  for (let slice = 0; slice < SLICES; slice++) {
    if (slice % 2 === 0) used[0] += await first.slice(row, requests);
    used[1] += await second.slice(row, requests);
    if (slice % 2 === 1) used[0] += await first.slice(row, requests);
  }
  const speedOf = (usedUs: number): number => (requests * SLICES * 1e6) / usedUs;
  return [speedOf(used[0]), speedOf(used[1])];
}
