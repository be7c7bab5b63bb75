import { ask, Live } from "./lib/live.js";
import { demand } from "./lib/outcome.js";
import { percentile } from "./lib/wire.js";

export const fault = "20 streams that are stopped on another machine, and clients that do not own them";
export const pass = "each producer is aborted within 1 s, its readers end; 403 for the others";

const STREAMS = 20;

export async function run() {
  const live = await Live.open();
  const [here, there] = live.servers;
  try {
    const times = [];
    const refused = new Set();
    for (let number = 0; number < STREAMS; number++) {
      await ask(here, number, { method: "PUT" });
      for (const method of ["GET", "DELETE"]) {
        refused.add((await ask(there, number, { method, owner: "eve" })).status);
      }
      const reading = ask(there, number).then((response) => response.text());
      const askedAt = Date.now();
      const { status } = await ask(there, number, { method: "DELETE" });
      demand(status === 200, `the response to stop is ${status}`);
      const [, at] = await here.said(new RegExp(`^aborted ${number} at (\\d+)$`, "m"));
      times.push(Number(at) - askedAt);
      const text = await reading;
      demand(!text.includes("event: error"), "a reader of a stopped stream has got an error");
    }
    const figure = `aborted after ${percentile(times, 0.5)} ms, at most ${Math.max(...times)} ms; others ${[...refused].join()}`;
    demand(Math.max(...times) < 1_000 && [...refused].join() === "403", figure);
    return figure;
  } finally {
    await live.close();
  }
}
