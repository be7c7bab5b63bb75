/**
 * Shows where a contender of the direct calls spends its time.
 *
 * `npm run profile -w load-tests -- [CONTENDER] [EXAMPLE] [REQUESTS]`, by default `tsgi "POST /users" 500000`.
 *
 * @module
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { selfTimes, type CpuProfile } from "./cpu-profile.js";
import { contenderModule } from "./contenders.js";
import { OWN_CONTENDERS } from "./direct.js";
import { runWorker } from "./processes.js";
import { formatTable } from "./table.js";

/** Finer than the default of 1,000 µs: one request takes about one. */
const SAMPLING_US = 100;
const ROWS = 30;

const [contender = "tsgi", example = "POST /users", requests = "500000"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "tsgi-profile-"));
try {
  const report = await runWorker(
    new URL("direct/worker.js", import.meta.url),
    [contenderModule(contender, OWN_CONTENDERS), requests, "500", example],
    ["--cpu-prof", `--cpu-prof-interval=${SAMPLING_US}`, `--cpu-prof-dir=${folder}`],
  );
  const [file = ""] = await readdir(folder);
  // The file was written by the Node process above, in the form that its documentation gives.
  const profile = JSON.parse(await readFile(join(folder, file), "utf8")) as CpuProfile;
  const rows = selfTimes(profile, Number(requests)).slice(0, ROWS);
  process.stdout.write(`${contender}, ${example}: ${JSON.stringify(report)}\n\n`);
  process.stdout.write(
    `${formatTable(
      ["self time of", "ns a request", "share"],
      rows.map(({ name, ns, share }) => [name, ns.toFixed(0), `${(share * 100).toFixed(1)} %`]),
    )}\n`,
  );
} finally {
  await rm(folder, { recursive: true });
}
