/** The same routes on PostgreSQL, each framework with the same drivers, pools and statements. @module */
import { type Contenders, contenderModule } from "./contenders.js";
import { openDatabase } from "./database/cluster.js";
import { generateClient } from "./database/prisma.js";
import { joinReports, measureServer } from "./http/measure.js";
import { PEERS } from "./paths.js";
import { runScript } from "./processes.js";
import type { Progress } from "./progress.js";
import type { WorkerReport } from "./report.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

const SEED = new URL("database/seed.js", PEERS);

const SERVERS: Contenders = {
  "tsgi serve": new URL("database/tsgi.js", PEERS),
  Fastify: new URL("database/fastify.js", PEERS),
  Hono: new URL("database/hono.js", PEERS),
  Elysia: new URL("database/elysia.js", PEERS),
  Express: new URL("database/express.js", PEERS),
  "NestJS on Fastify": new URL("database/nest.js", PEERS),
};

/** Also the names of the modules with the queries. */
const DRIVERS = ["pg", "prisma"] as const;

/**
 * Untimed requests, as a share of the timed ones. After 25 requests of 20 queries, the next 250 took a server twice the
 * processor time of those after the first 500.
 */
const WARM_UP = 0.25;

/** Measures each server with each driver. Without peers, and without a PostgreSQL, the section is skipped. */
export async function measureDatabase(settings: Settings, progress: Progress): Promise<Result[]> {
  if (!settings.peers) return [];
  progress.step("starting PostgreSQL");
  await using database = await openDatabase();
  if (database === null) return [];
  const { url } = database;
  await runScript(SEED, [url]);
  await generateClient();
  const { rounds, requests } = settings.database;
  const { connections } = settings.http;
  const load = { connections, pipelining: [1], requests, warmUp: requests * WARM_UP, databaseUrl: url };
  try {
    return await takeTurns(Object.keys(SERVERS), rounds, async (name, round) => {
      progress.step(`with a database, round ${round + 1} of ${rounds}: ${name}`);
      const reports: WorkerReport[] = [];
      for (const suite of DRIVERS) {
        const environment = { DATABASE_URL: url, DATABASE_DRIVER: suite };
        reports.push(await measureServer(contenderModule(name, SERVERS), { ...load, suite }, { environment }));
      }
      return joinReports(reports);
    });
  } finally {
    await runScript(SEED, [url, "drop"]);
  }
}
