/**
 * Serves slices of direct calls to its parent: `node dist/compare/slice-worker.js MODULE`, with a channel. It first sends a
 * {@link Ready}, then a {@link Slice} for each {@link SliceRequest}.
 *
 * @module
 */
import { createCaller } from "../direct/caller.js";
import { type Caller, loadContender } from "../direct/contender.js";
import { proofFaults, warmUp } from "../direct/measure.js";
import { type Answer, ASGI_EXAMPLES } from "../examples.js";

/** The rows of a worker, and its wrong answers in one line each. */
export interface Ready {
  readonly names: readonly string[];
  readonly faults: readonly string[];
}

/** Asks for requests of a row. */
export interface SliceRequest {
  readonly row: number;
  readonly requests: number;
}

/** The processor time of a slice, and the number of wrong answers in it. */
export interface Slice {
  readonly usedUs: number;
  readonly wrong: number;
}

/** Untimed requests, each answer checked whole. */
const WARM_UP = 500;

const contender = await loadContender(process.argv[2] ?? "");
const rows: { readonly caller: Caller; readonly right: Answer }[] = [];
const faults = await proofFaults(contender);
for (const example of ASGI_EXAMPLES) {
  const caller = createCaller(contender, example);
  const right = await warmUp(caller, example, WARM_UP);
  if (typeof right === "string") faults.push(right);
  else rows.push({ caller, right });
}

async function serve({ row, requests }: SliceRequest): Promise<Slice> {
  const { caller, right } = rows[row] as (typeof rows)[number];
  const before = process.cpuUsage();
  const wrong = await caller.repeat(requests, right);
  const { user, system } = process.cpuUsage(before);
  return { usedUs: user + system, wrong };
}

process.on("message", (request: SliceRequest) => void serve(request).then((slice) => process.send?.(slice)));
process.send?.({ names: ASGI_EXAMPLES.map(({ name }) => name), faults } satisfies Ready);
