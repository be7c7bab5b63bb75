import { Live, EVENTS, publish } from "./lib/live.js";
import { demand } from "./lib/outcome.js";
import { sleep } from "./lib/wire.js";

export const fault = "broadcast: Redis killed, frozen, and back";
export const pass = "503 within a second, every subscriber learns of the gap, then messages arrive again";

/** Of the network and of a busy machine, in addition to the second that a publisher waits. */
const SLACK_MS = 500;

export async function run() {
  const live = await Live.open();
  const [here, there] = live.servers;
  try {
    const wires = live.servers.map((server) => live.connect(server, EVENTS));
    await Promise.all(live.servers.map((server) => live.subscribed(server, 1)));
    const figures = [];
    for (const [round, { name, breakIt, mendIt }] of [
      { name: "killed", breakIt: () => live.redis.stop(), mendIt: () => live.redis.start() },
      { name: "frozen", breakIt: () => live.redis.freeze(), mendIt: () => live.redis.thaw() },
    ].entries()) {
      await breakIt();
      const startedAt = performance.now();
      const status = await publish(here, -1);
      const ms = performance.now() - startedAt;
      demand(status === 503 && ms < 1_000 + SLACK_MS, `${name}: ${status} after ${Math.round(ms)} ms`);
      if (name === "frozen") await sleep(7_000); // a silent connection is dropped after 5 s
      await mendIt();
      const gaps = new RegExp(`(?:^gap$[^]*?){${round + 1}}`, "m");
      await Promise.all(live.servers.map((server) => server.said(gaps)));
      let tries = 1;
      while ((await publish(there, round)) !== 204) tries++;
      await Promise.all(wires.map((wire) => wire.until(new RegExp(`"number":${round}`))));
      figures.push(`${name}: ${status} after ${Math.round(ms)} ms, a gap on each, ${tries} tries`);
    }
    const lost = wires.filter((wire) => wire.received.includes('"number":-1')).length;
    demand(lost === 0, "a message that was refused has been sent later");
    return figures.join("; ");
  } finally {
    await live.close();
  }
}
