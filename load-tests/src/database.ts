/** The same routes on PostgreSQL, each framework with the same drivers, pools and statements. @module */
import { openDatabase } from "./database/cluster.js";
import { generateClient } from "./database/prisma.js";
import type { Contenders } from "./contenders.js";
import { PEERS } from "./paths.js";
import { runScript } from "./processes.js";
import type { Progress } from "./progress.js";
import type { Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import { measureSuites, type Suite } from "./suite/measure.js";

const SEED = new URL("database/seed.js", PEERS);

const SERVERS: Contenders = {
  "tsgi serve": new URL("database/tsgi.js", PEERS),
  Fastify: new URL("database/fastify.js", PEERS),
  Hono: new URL("database/hono.js", PEERS),
  Elysia: new URL("database/elysia.js", PEERS),
  Express: new URL("database/express.js", PEERS),
  "NestJS on Fastify": new URL("database/nest.js", PEERS),
};

/** Measures each server. Without peers, and without a PostgreSQL, there is nothing to measure. */
export async function measureDatabase(settings: Settings, progress: Progress): Promise<Result[]> {
  if (!settings.peers) return [];
  progress.step("starting PostgreSQL");
  await using database = await openDatabase();
  if (database === null) return [];
  const { url } = database;
  await runScript(SEED, [url]);
  await generateClient();
  const suiteOf = (name: Suite["name"], driver: string): Suite => ({
    name,
    servers: SERVERS,
    environment: { DATABASE_URL: url, DATABASE_DRIVER: driver },
    databaseUrl: url,
  });
  const suites = [suiteOf("database", "pg"), suiteOf("prisma", "prisma")] as const;
  try {
    return await measureSuites("with a database", suites, settings, progress);
  } finally {
    await runScript(SEED, [url, "drop"]);
  }
}
