/** The routing benchmark, by the reference protocol. @module */
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const WORKER = new URL("routing/worker.js", import.meta.url);

const ROUTER = new URL("routing/contenders/tsgi.js", import.meta.url);

/** Measures look-ups, each time in a fresh process. */
export async function measureRouting(settings: Settings, progress: Progress): Promise<Result[]> {
  return takeTurns(["tsgi"], settings.rounds, async (_name, round) => {
    progress.step(`routing, round ${round + 1} of ${settings.rounds}`);
    return runWorker(WORKER, [ROUTER.href, String(settings.lookups), String(settings.warmUp)]);
  });
}
