/** The routing benchmark, compared with the peers' routers. @module */
import { contenderModule, type Contenders } from "./contenders.js";
import { PEERS } from "./paths.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const WORKER = new URL("routing/worker.js", import.meta.url);

const OWN_ROUTERS: Contenders = { tsgi: new URL("routing/contenders/tsgi.js", import.meta.url) };

const PEER_ROUTERS: Contenders = {
  "rou3, compiled": new URL("routing/rou3.js", PEERS),
  rou3: new URL("routing/rou3-plain.js", PEERS),
  "find-my-way": new URL("routing/find-my-way.js", PEERS),
  memoirist: new URL("routing/memoirist.js", PEERS),
  "Hono RegExpRouter": new URL("routing/hono.js", PEERS),
};

/** Measures look-ups, each router in a fresh process in each round, for the reason given at direct calls. */
export async function measureRouting(settings: Settings, progress: Progress): Promise<Result[]> {
  const routers = settings.peers ? { ...OWN_ROUTERS, ...PEER_ROUTERS } : OWN_ROUTERS;
  return takeTurns(Object.keys(routers), settings.rounds, async (name, round) => {
    progress.step(`routing, round ${round + 1} of ${settings.rounds}: ${name}`);
    return runWorker(WORKER, [contenderModule(name, routers).href, String(settings.lookups), String(settings.warmUp)]);
  });
}
