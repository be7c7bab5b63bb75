import { demand } from "./lib/outcome.js";
import { Shop } from "./lib/jobs.js";
import { sleep } from "./lib/wire.js";

/** Minutes to watch: `TICKS=200` takes more than three hours. */
const TICKS = Number(process.env.TICKS ?? 2);

export const fault = `jobs: a schedule over three workers whose clocks are 5 s apart, ${TICKS} minutes`;
export const pass = "the job is enqueued once in each minute";
export const limitMs = (TICKS + 3) * 60_000;

/** A module that is loaded before the program, and moves its clock. */
const clock = (seconds) =>
  `data:text/javascript,const now=Date.now;Date.now=()=>now()+${seconds * 1_000};` +
  `const D=Date;globalThis.Date=class extends D{constructor(...a){a.length?super(...a):super(D.now())}}`;

export async function run() {
  const shop = await Shop.open();
  try {
    for (const seconds of [-5, 0, 5]) {
      await shop.start("worker", { args: ["--import", clock(seconds)], env: { SCHEDULE: "1" } });
    }
    const startedAt = new Date(Math.ceil(Date.now() / 60_000) * 60_000);
    await sleep(startedAt.getTime() - Date.now() + TICKS * 60_000);
    const { rows } = await shop.pool.query(
      "SELECT date_trunc('minute', at) AS minute, count(*)::int AS count," +
        " max(extract(epoch FROM at - date_trunc('minute', at)))::float AS late" +
        " FROM ticks WHERE at >= $1 AND at < $1 + $2 * interval '1 minute' GROUP BY 1 ORDER BY 1",
      [startedAt, TICKS],
    );
    const late = Math.max(...rows.map((row) => row.late));
    const figure = `${rows.length} of ${TICKS} minutes, at most ${Math.max(...rows.map(({ count }) => count))} in one, at most ${Math.round(late)} s late`;
    demand(rows.length === TICKS && rows.every(({ count }) => count === 1), figure);
    return figure;
  } finally {
    await shop.close();
  }
}
