/** Work outside of the event loop, by pools of the application's own. Needs Node. @module */
import { Depends, HTTPException, Request, Router, t, withParams } from "tsgi";
import {
  type Caller,
  EntryError,
  installLoop,
  Limiter,
  type LimiterOptions,
  LoopError,
  loopName,
  type LoopName,
  PoolClosedError,
  PoolFullError,
  type PoolOptions,
  type PoolStats,
  PoolTimeoutError,
  PoolUnavailableError,
  ProcessPool,
  runInProcess,
  runInThread,
  ThreadPool,
  WorkerDiedError,
} from "tsgi/concurrency";
import { codeOf } from "./errors.js";

/** The module that workers import. */
const work = () => new URL("./work.js", import.meta.url);
const options: PoolOptions = { size: 1, maxQueue: 10, timeoutMs: 60_000 };

async function* openPools() {
  await using processes = new ProcessPool(options);
  await using threads = new ThreadPool(options);
  yield { processes, threads };
}

/** The pools: one of each kind for the application. */
const pools = Depends(openPools, { scope: "app" });

const turns: LimiterOptions = { maxRunning: 1, maxWaiting: 1 };
const limiter = new Limiter(turns);

/** Waits for its turn, in the line of its client. */
const inTurn = withParams({ request: Request }, async ({ request: { client, signal } }) => {
  const caller: Caller = { line: client?.host ?? "", signal };
  return limiter.run(async () => "done", caller);
});

/** Names an error of a pool. */
export function kindOf(error: unknown): string {
  const kinds = [
    PoolFullError,
    PoolTimeoutError,
    PoolUnavailableError,
    PoolClosedError,
    WorkerDiedError,
    EntryError,
    LoopError,
  ];
  return kinds.find((kind) => error instanceof kind)?.name ?? codeOf(error) ?? String(error);
}

/** Chooses a loop for those who know which they want. */
export const chooseLoop = (name: LoopName): LoopName => installLoop(name);

export const router = new Router({ prefix: "/workshop", tags: ["workshop"] });

const names = t.Array(t.String(), { minItems: 1 });

router.get(
  "/sorted",
  { params: { names, pools }, returns: t.Record(t.String(), names) },
  async ({ names: given, pools: { processes, threads } }) => {
    const ways = {
      processes: processes.run(work(), "sortNames", given, "de"),
      threads: threads.run(work(), "sortNames", given, "de"),
      process: runInProcess(work(), "sortNames", given, "de"),
      thread: runInThread(work(), "sortNames", given, "de"),
    };
    const entries = Object.entries(ways).map(async ([way, sorted]) => [way, await sorted] as const);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, string[]>;
  },
);

router.get("/failed", { params: { pools } }, async ({ pools: { threads } }) => {
  const closed = new ThreadPool(options);
  await closed.close();
  const failures = [threads.run(work(), "fail"), closed.run(work(), "sortNames", [], "de")];
  return Promise.all(failures.map((failure) => failure.then(() => "none", kindOf)));
});

router.get("/turn", { params: { done: Depends(inTurn) } }, async ({ done }) => done);

router.get("/loop", { params: { pools } }, async ({ pools: { processes } }) => {
  const stats: PoolStats | null = processes.stats;
  return { loop: loopName(), size: stats?.size ?? 0 };
});

/** An error of a pool has a custom response: a full queue asks the client to try again. */
router.get("/full", async () => {
  const held = limiter.run(() => new Promise<void>((resolve) => setImmediate(resolve)));
  const waiting = limiter.run(async () => {});
  try {
    await limiter.run(async () => {});
    throw new HTTPException(500, "There was room");
  } finally {
    await Promise.all([held, waiting]);
  }
});
