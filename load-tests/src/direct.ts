/** Direct calls: the reference protocol, compared with a hand-written function. @module */
import { type Contenders, contenderModule } from "./contenders.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const WORKER = new URL("direct/worker.js", import.meta.url);

/** The contenders of every run. The first one is ours. */
const CONTENDERS: Contenders = {
  tsgi: new URL("direct/contenders/tsgi.js", import.meta.url),
  "hand-written ASGI": new URL("direct/contenders/hand-written.js", import.meta.url),
};

/**
 * Measures direct calls. Each contender has a fresh process in each round: what V8 learns from one framework's calls
 * would slow the next one down, by an amount that depends on the order.
 */
export async function measureDirect(settings: Settings, progress: Progress): Promise<Result[]> {
  return takeTurns(Object.keys(CONTENDERS), settings.rounds, async (name, round) => {
    progress.step(`direct calls, round ${round + 1} of ${settings.rounds}: ${name}`);
    return runWorker(WORKER, [
      contenderModule(name, CONTENDERS).href,
      String(settings.requests),
      String(settings.warmUp),
    ]);
  });
}
