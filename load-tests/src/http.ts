/** The same routes over HTTP, with autocannon. @module */
import { createRequire } from "node:module";
import { type Contenders, contenderModule } from "./contenders.js";
import { measureServer } from "./http/measure.js";
import { PEERS } from "./paths.js";
import type { Progress } from "./progress.js";
import { BARE_NODE, BARE_UWS, TSGI_ON_UWS } from "./ratios.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";

/** Each server by its name in tables. The first one is ours. */
const OWN_SERVERS: Contenders = {
  "tsgi serve": new URL("http/servers/tsgi.js", import.meta.url),
  "hand-written ASGI on serve": new URL("http/servers/hand-written.js", import.meta.url),
  [BARE_NODE]: new URL("http/servers/node-http.js", import.meta.url),
};

const PEER_SERVERS: Contenders = {
  Fastify: new URL("http/fastify.js", PEERS),
  Hono: new URL("http/hono.js", PEERS),
  h3: new URL("http/h3.js", PEERS),
  Elysia: new URL("http/elysia.js", PEERS),
  Express: new URL("http/express.js", PEERS),
};

/** On another I/O loop, whose package may have no binary for this Node or C library. */
const UWS_SERVERS: Contenders = {
  [TSGI_ON_UWS]: new URL("http/tsgi-uwebsockets.js", PEERS),
  [BARE_UWS]: new URL("http/uwebsockets.js", PEERS),
};

/** A server that is slower in its first round has fewer requests in the others, so that the run ends in time. */
const SLOW_PER_SECOND = 20_000;

/** The servers of a run by their names. */
export function serversOf({ peers }: Settings): Contenders {
  return peers ? { ...OWN_SERVERS, ...PEER_SERVERS, ...(hasUws() ? UWS_SERVERS : {}) } : OWN_SERVERS;
}

function hasUws(): boolean {
  try {
    createRequire(PEERS)("uWebSockets.js");
    return true;
  } catch {
    return false;
  }
}

/** Measures each server in a fresh process in each round. */
export function measureHTTP(settings: Settings, progress: Progress): Promise<Result[]> {
  const servers = serversOf(settings);
  const { rounds, slowRequests, ...load } = settings.http;
  const slow = new Set<string>();
  return takeTurns(Object.keys(servers), rounds, async (name, round) => {
    progress.step(`over HTTP, round ${round + 1} of ${rounds}: ${name}`);
    const requests = slow.has(name) ? slowRequests : load.requests;
    const report = await measureServer(contenderModule(name, servers), { ...load, suite: "routes", requests });
    if (report.rows.some(({ figures }) => (figures["perSecond"] ?? Infinity) < SLOW_PER_SECOND)) slow.add(name);
    return report;
  });
}
