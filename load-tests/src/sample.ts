/** The sample application: its login, which hashes, and a listing behind a token. @module */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CLIENT_CORE } from "./cores.js";
import { startServer } from "./http/server-process.js";
import { REPOSITORY } from "./paths.js";
import { runWorker } from "./processes.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const CLIENT = new URL("http/sample-client.js", import.meta.url);
const SERVER = new URL("sample-auth-app/dist/server.js", REPOSITORY);

/** Measures the sample application on a new SQLite database. Not compared with anybody: the peers have no such sample. */
export function measureSample(settings: Settings, progress: Progress): Promise<Result[]> {
  const { rounds, logins, listings } = settings.sample;
  return takeTurns(["sample-auth-app"], rounds, async (_name, round) => {
    progress.step(`the sample application, round ${round + 1} of ${rounds}`);
    const folder = await mkdtemp(join(tmpdir(), "tsgi-bench-"));
    const environment = {
      DATABASE_URL: `file:${join(folder, "bench.db")}`,
      PORT: "0",
      NODE_ENV: "development", // in which there is a demo user
    };
    try {
      const server = await startServer(SERVER, { environment, stderr: "ignore" });
      try {
        return await runWorker(CLIENT, [server.url, String(logins), String(listings)], [], CLIENT_CORE);
      } finally {
        await server.stop();
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
}
