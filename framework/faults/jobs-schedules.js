import { demand } from "./lib/outcome.js";
import { Shop } from "./lib/jobs.js";
import { sleep } from "./lib/wire.js";

/** Schedules of one minute each. */
const SCHEDULES = 10;
/** Occurrences to watch. `TICKS=200` takes 20 minutes. */
const TICKS = Number(process.env.TICKS ?? 20);
const MINUTES = Math.ceil(TICKS / SCHEDULES);

export const fault = `jobs: ${SCHEDULES} schedules over three workers whose clocks are 5 s apart, ${MINUTES} minutes`;
export const pass = "each schedule runs its job once in each minute";
export const limitMs = (MINUTES + 3) * 60_000;

/** A module that is loaded before the program, and moves its clock. */
const clock = (seconds) =>
  `data:text/javascript,const now=Date.now;Date.now=()=>now()+${seconds * 1_000};` +
  `const D=Date;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(D.now())}}`;

export async function run() {
  const shop = await Shop.open();
  try {
    for (const seconds of [-5, 0, 5]) {
      await shop.start("worker", { args: ["--import", clock(seconds)], env: { SCHEDULES: String(SCHEDULES) } });
    }
    const startedAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    await sleep(startedAt.getTime() - Date.now() + MINUTES * 60_000);
    const { rows } = await shop.pool.query(
      "SELECT count(*)::int AS count, max(extract(epoch FROM at - date_trunc('minute', at)))::float AS late" +
        " FROM ticks WHERE at >= $1 AND at < $1 + $2 * interval '1 minute' GROUP BY schedule, date_trunc('minute', at)",
      [startedAt, MINUTES],
    );
    const late = Math.round(Math.max(...rows.map((row) => row.late)));
    const most = Math.max(...rows.map(({ count }) => count));
    const ticks = SCHEDULES * MINUTES;
    const figure = `${rows.length} of ${ticks} occurrences, at most ${most} jobs of one, at most ${late} s late`;
    demand(rows.length === ticks && most === 1, figure);
    return figure;
  } finally {
    await shop.close();
  }
}
