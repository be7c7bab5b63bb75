/**
 * The process of the fuzzer that tries inputs, for `_fuzz.ts` to watch. Its arguments are the target, the minutes and the
 * first seed.
 *
 * @module
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { FuzzTarget } from "./_fuzz-target.js";
import { targets } from "./_fuzz-targets.js";

/** A message of this process, before the inputs of a seed and after a failure. */
export interface FuzzReport {
  readonly seed: number;
  readonly failure: string | null;
  /** Lines to print. */
  readonly lines: readonly string[];
}

/** Inputs of one seed. */
const BATCH = 1000;
const REPORT_MS = 10_000;
/** Seeds before memory is measured: until then code is compiled. */
const WARM_UP = 20;
const MAX_GROWTH_BYTES = 64 << 20;
const MEBIBYTE = 1 << 20;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes of the objects and buffers that are in use. */
function usedBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function report(seed: number, failure: string | null, lines: readonly string[] = []): void {
  process.send?.({ seed, failure, lines } satisfies FuzzReport);
}

/** Tries the inputs of one seed after another, and reports at intervals. */
async function fuzz(target: FuzzTarget, minutes: number, first: number): Promise<void> {
  const deadline = performance.now() + minutes * 60_000;
  let reportAt = performance.now() + REPORT_MS;
  let usedAtFirst = Infinity;
  let seed = first;
  do {
    report(seed, null);
    const failure = await target.tryInputs(seed, BATCH);
    if (failure !== null) return report(seed, failure);
    seed++;
    if (seed - first === WARM_UP) usedAtFirst = usedBytes();
    if (performance.now() < reportAt) continue;
    reportAt = performance.now() + REPORT_MS;
    const used = usedBytes();
    report(seed, null, [`${(seed - first) * BATCH} inputs, ${Math.round(used / MEBIBYTE)} MiB in use`]);
    if (used - usedAtFirst > MAX_GROWTH_BYTES) return report(seed, `${used - usedAtFirst} more bytes are in use.`);
  } while (performance.now() < deadline);
  report(seed, null, [`${(seed - first) * BATCH} inputs without a finding`, ...target.summary()]);
}

const [name = "", minutes, first] = process.argv.slice(2);
const target = await targets.get(name)?.();
if (target === undefined) throw new RangeError(`There is no target ${name}.`);
await fuzz(target, Number(minutes), Number(first));
await target[Symbol.asyncDispose]();
