/** Larger answers, an upload, and HTTPS. @module */
import type { Contenders } from "./contenders.js";
import { PEERS } from "./paths.js";
import { createCertificate } from "./payloads/certificate.js";
import type { Progress } from "./progress.js";
import type { Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import { measureSuites, type Suite } from "./suite/measure.js";

const SERVERS: Contenders = {
  "tsgi serve": new URL("payloads/tsgi.js", PEERS),
  "bare node:http": new URL("payloads/node-http.js", PEERS),
  Fastify: new URL("payloads/fastify.js", PEERS),
  Hono: new URL("payloads/hono.js", PEERS),
  Express: new URL("payloads/express.js", PEERS),
};

/** Measures each server over HTTP, and over HTTPS where openssl makes a certificate. Without peers there is nothing. */
export async function measurePayloads(settings: Settings, progress: Progress): Promise<Result[]> {
  if (!settings.peers) return [];
  await using certificate = await createCertificate();
  const plain: Suite = { name: "payloads", servers: SERVERS };
  const secure: readonly Suite[] =
    certificate === null ? [] : [{ name: "https", servers: SERVERS, environment: { ...certificate.environment } }];
  return await measureSuites("with payloads", [plain, ...secure], settings, progress);
}
