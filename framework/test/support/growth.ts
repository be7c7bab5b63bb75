/** Checks that processor time grows in proportion to the input. */

/** The larger input is 64 times the smaller one: linear work takes 64 times as long, quadratic work 4096 times. */
const FACTOR = 64;
/** The geometric mean of 64 and 4096: eight times away from both. */
const MOST = 512;
/** In microseconds. Work that takes less is compared with this: it is mostly overhead. */
const LEAST_MEASURED = 100;
const TRIES = 4;

/**
 * Tells if work is linear in the size of its input. It compares processor time, which does not depend on what else the
 * machine does, and the least of several tries, because noise only adds.
 *
 * @param prepare - Makes the input of a size. Returns the work on it.
 * @param size - The smaller size. Choose it so that quadratic work on 64 times as much takes far more than 50 ms.
 */
export async function isLinear(prepare: (size: number) => () => unknown, size: number): Promise<boolean> {
  const [short, long] = [prepare(size), prepare(FACTOR * size)];
  let [once, many] = [Infinity, Infinity];
  for (let attempt = 0; attempt < TRIES; attempt++) {
    for (let round = 0; round < TRIES; round++) once = Math.min(once, await processorTime(short));
    many = Math.min(many, await processorTime(long));
    if (many < MOST * Math.max(once, LEAST_MEASURED)) return true;
  }
  return false;
}

/** In microseconds. */
async function processorTime(work: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const end = process.cpuUsage();
  return end.user + end.system - start.user - start.system;
}
