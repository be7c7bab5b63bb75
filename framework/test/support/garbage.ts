import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage between turns of the event loop, so that objects with only weak references are removed. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  for (let round = 0; round < 2; round++) {
    await new Promise((resolve) => void setImmediate(resolve));
    collect();
  }
}

/** Bytes in buffers that are still in use. The memory of the process also contains garbage until it is collected. */
export async function aliveBytes(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
