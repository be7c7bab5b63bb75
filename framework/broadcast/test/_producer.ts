/** A process whose producer never ends: the test kills it. */
import { StreamLog } from "@tsgi/broadcast";

const log = new StreamLog({ redis: process.argv[2] ?? "" });
await log.start("a", async function* () {
  yield 1;
  await new Promise(() => {});
});
process.send?.("started");
