/** The same routes with CORS, security headers, a request id, an access log and tracing. @module */
import type { Contenders } from "./contenders.js";
import { PEERS } from "./paths.js";
import type { Progress } from "./progress.js";
import type { Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import { measureSuites } from "./suite/measure.js";

const SERVERS: Contenders = {
  "tsgi serve": new URL("middleware/tsgi.js", PEERS),
  Fastify: new URL("middleware/fastify.js", PEERS),
  Hono: new URL("middleware/hono.js", PEERS),
  Elysia: new URL("middleware/elysia.js", PEERS),
  Express: new URL("middleware/express.js", PEERS),
};

/** Measures each server. Without peers there is nothing to measure. */
export async function measureMiddleware(settings: Settings, progress: Progress): Promise<Result[]> {
  if (!settings.peers) return [];
  return measureSuites("with middleware", [{ name: "middleware", servers: SERVERS }], settings, progress);
}
