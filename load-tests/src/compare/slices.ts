/** Direct calls of two builds in short slices, one build after the other. @module */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onCore, SERVER_CORE } from "../cores.js";
import type { Row, WorkerReport } from "../report.js";
import type { Builds } from "./builds.js";
import type { Side } from "./pairs.js";
import type { Ready, Slice, SliceRequest } from "./slice-worker.js";

/** Requests of a row that optimize its code, and say how long one takes. */
const WARM_UP = 5_000;
const WARM_UP_SLICES = 4;
/** Slices of each row and build. */
const SLICES = 40;
/** Processor time of a slice: short beside what disturbs a host, and long beside a young collection. */
const SLICE_US = 10_000;

/** One build of the pair in a process of its own. */
class Worker {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(workload: URL) {
    const script = fileURLToPath(new URL("compare/slice-worker.js", workload));
    const contender = new URL("direct/contenders/tsgi.js", workload).href;
    const [command = "", ...args] = onCore(SERVER_CORE, [process.execPath, script, contender]);
    this.#child = spawn(command, args, {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...process.env, NODE_ENV: "production" },
    });
    this.#ended = once(this.#child, "exit").then(([code]: unknown[]) => {
      throw new Error(`A process of the comparison ended with ${String(code)}.`);
    });
    this.#ended.catch(() => {}); // it is heard of where a message is awaited
  }

  ready(): Promise<Ready> {
    return this.#next();
  }

  async slice(row: number, requests: number): Promise<number> {
    this.#child.send({ row, requests } satisfies SliceRequest);
    const { usedUs, wrong } = await this.#next<Slice>();
    if (wrong > 0) throw new Error(`${wrong} of ${requests} answers were wrong.`);
    return usedUs;
  }

  stop(): void {
    this.#child.kill();
  }

  async #next<Message>(): Promise<Message> {
    const [message] = (await Promise.race([once(this.#child, "message"), this.#ended])) as [Message];
    return message;
  }
}

/**
 * Measures both builds at the same time, each in a fresh process, in slices that alternate: what the host does to one, it does
 * to the other. On a virtual machine two processes one after the other differed by 20 % (standard deviation), and two in
 * slices by 3 to 5 %.
 */
export async function measureInSlices(
  { base, head }: Builds,
  order: readonly [Side, Side],
): Promise<Record<Side, WorkerReport>> {
  const workers = { base: new Worker(base.workload), head: new Worker(head.workload) };
  const [first, second] = order;
  try {
    const [onBase, onHead] = await Promise.all([workers.base.ready(), workers.head.ready()]);
    const rows: Record<Side, Row[]> = { base: [], head: [] };
    const isRight = onBase.faults.length + onHead.faults.length === 0; // without an answer that is right, no row
    for (const [row, name] of isRight ? onBase.names.entries() : []) {
      const speeds = await measureRow(workers[first], workers[second], row);
      rows[first].push({ name, figures: { perCPUSecond: speeds[0] } });
      rows[second].push({ name, figures: { perCPUSecond: speeds[1] } });
    }
    return { base: { rows: rows.base, faults: onBase.faults }, head: { rows: rows.head, faults: onHead.faults } };
  } finally {
    workers.base.stop();
    workers.head.stop();
  }
}

/** Requests for each second of processor time, of both workers. */
async function measureRow(first: Worker, second: Worker, row: number): Promise<[first: number, second: number]> {
  let warmUs = 0;
  for (let slice = 0; slice < WARM_UP_SLICES; slice++) {
    warmUs = (await first.slice(row, WARM_UP)) + (await second.slice(row, WARM_UP));
  }
  const requests = Math.max(1, Math.round((SLICE_US * 2 * WARM_UP) / warmUs));
  const used: [number, number] = [0, 0];
  for (let slice = 0; slice < SLICES; slice++) {
    if (slice % 2 === 0) used[0] += await first.slice(row, requests);
    used[1] += await second.slice(row, requests);
    if (slice % 2 === 1) used[0] += await first.slice(row, requests);
  }
  const speedOf = (usedUs: number): number => (requests * SLICES * 1e6) / usedUs;
  return [speedOf(used[0]), speedOf(used[1])];
}
