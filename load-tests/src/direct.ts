/** Direct calls: the reference protocol, compared with a hand-written function and the peers. @module */
import { type Contenders, contenderModule } from "./contenders.js";
import { PEERS } from "./paths.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const WORKER = new URL("direct/worker.js", import.meta.url);

/** The contenders of every run. The first one is ours. */
const OWN_CONTENDERS: Contenders = {
  tsgi: new URL("direct/contenders/tsgi.js", import.meta.url),
  "hand-written ASGI": new URL("direct/contenders/hand-written.js", import.meta.url),
};

const PEER_CONTENDERS: Contenders = {
  "hand-written fetch": new URL("direct/contenders/hand-written-fetch.js", import.meta.url),
  "Fastify inject": new URL("direct/fastify.js", PEERS),
  "Hono fetch": new URL("direct/hono.js", PEERS),
  "Elysia handle": new URL("direct/elysia.js", PEERS),
  "h3 fetch": new URL("direct/h3.js", PEERS),
};

/**
 * Measures direct calls. Each contender has a fresh process in each round: what V8 learns from one framework's calls
 * would slow the next one down, by an amount that depends on the order.
 */
export async function measureDirect(settings: Settings, progress: Progress): Promise<Result[]> {
  const contenders = settings.peers ? { ...OWN_CONTENDERS, ...PEER_CONTENDERS } : OWN_CONTENDERS;
  return takeTurns(Object.keys(contenders), settings.rounds, async (name, round) => {
    progress.step(`direct calls, round ${round + 1} of ${settings.rounds}: ${name}`);
    return runWorker(WORKER, [
      contenderModule(name, contenders).href,
      String(settings.requests),
      String(settings.warmUp),
    ]);
  });
}
