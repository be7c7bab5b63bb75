/** How busy others keep this machine: what is timed then says nothing of the server. */
import { cpus } from "node:os";
import { Skipped } from "./outcome.js";
import { sleep } from "./wire.js";

const MOST = 0.25;

/** Looks for a second, while nothing of the fault runs. @throws Skipped where others take more than a quarter */
export async function demandIdle() {
  const before = total();
  await sleep(1000);
  const after = total();
  const share = 1 - (after.idle - before.idle) / (after.all - before.all);
  if (share > MOST) throw new Skipped(`others take ${Math.round(share * 100)} % of this machine`);
}

function total() {
  const times = cpus().map((cpu) => cpu.times);
  const sum = (values) => values.reduce((left, right) => left + right, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((time) => Object.values(time))) };
}
