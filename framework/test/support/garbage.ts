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
