/** The programs that are measured in pairs. @module */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openDatabase } from "./database/cluster.js";
import { generateClient } from "./database/prisma.js";
import { starts } from "./footprint.js";
import { calls, requests, type Served } from "./pairs/launches.js";
import type { Contest } from "./pairs/measure.js";
import type { Sides } from "./pairs/slices.js";
import { PEERS, REPOSITORY } from "./paths.js";
import { runScript } from "./processes.js";
import type { Progress } from "./progress.js";
import type { PairedSection, Settings } from "./settings.js";

/** Programs by their names in tables. */
type Named<T> = Readonly<Record<string, T>>;

const own = (path: string): URL => new URL(path, import.meta.url);
const peer = (path: string): URL => new URL(path, PEERS);

/** Programs without a framework. */
const BARE = new Set([
  "hand-written ASGI",
  "hand-written fetch",
  "hand-written ASGI on serve",
  "bare node:http",
  "uWebSockets.js",
]);

/** True for a program without a framework. */
export function isBare(name: string): boolean {
  return BARE.has(name);
}

const CLIENT = { connections: 64, databaseUrl: null };
/** Prisma is saturated by fewer connections. */
const PRISMA_CONNECTIONS = 8;

const SERVE = own("http/servers/tsgi.js");

const BARE_SERVERS: Named<URL> = {
  "hand-written ASGI on serve": own("http/servers/hand-written.js"),
  "bare node:http": own("http/servers/node-http.js"),
};

const PEER_SERVERS: Named<URL> = {
  Fastify: peer("http/fastify.js"),
  Hono: peer("http/hono.js"),
  h3: peer("http/h3.js"),
  Elysia: peer("http/elysia.js"),
  Express: peer("http/express.js"),
};

const DIRECT: Named<URL> = {
  "hand-written ASGI": own("direct/contenders/hand-written.js"),
  "hand-written fetch": own("direct/contenders/hand-written-fetch.js"),
  "Fastify inject": peer("direct/fastify.js"),
  "Hono fetch": peer("direct/hono.js"),
  "Elysia handle": peer("direct/elysia.js"),
  "h3 fetch": peer("direct/h3.js"),
};

const ROUTERS: Named<URL> = {
  "rou3, compiled": peer("routing/rou3.js"),
  rou3: peer("routing/rou3-plain.js"),
  "find-my-way": peer("routing/find-my-way.js"),
  memoirist: peer("routing/memoirist.js"),
  "Hono RegExpRouter": peer("routing/hono.js"),
};

const DATABASE: Named<URL> = {
  Fastify: peer("database/fastify.js"),
  Hono: peer("database/hono.js"),
  Elysia: peer("database/elysia.js"),
  Express: peer("database/express.js"),
  "NestJS on Fastify": peer("database/nest.js"),
};

/** On the server of the runtime. */
const BY_FETCH: Named<URL> = { Hono: peer("runtimes/hono.js"), Elysia: peer("runtimes/elysia.js") };

const RUNTIMES = {
  bun: { args: ["run"], ours: { "tsgi serve": SERVE, "tsgi app.fetch": peer("runtimes/tsgi.js") }, theirs: BY_FETCH },
  deno: {
    args: ["run", "--allow-all"],
    ours: { "tsgi serve": SERVE, "tsgi app.fetch": peer("runtimes/tsgi.js") },
    theirs: BY_FETCH,
  },
  node26: {
    args: [],
    ours: { "tsgi serve": SERVE },
    theirs: { Hono: peer("http/hono.js"), Elysia: peer("http/elysia.js"), Fastify: peer("http/fastify.js") },
  },
};

/** Each of ours with each of theirs. */
function contestsOf<T>(
  section: PairedSection,
  ours: Named<T>,
  theirs: Named<T>,
  measured: (pair: Sides<T>) => Pick<Contest, "launch" | "seconds">,
): Contest[] {
  return Object.entries(ours).flatMap(([our, left]) =>
    Object.entries(theirs).map(([their, right]) => ({
      section,
      ours: our,
      theirs: their,
      ...measured({ ours: left, theirs: right }),
    })),
  );
}

const servedAs = (servers: Named<URL>, options?: Served["options"]): Named<Served> =>
  Object.fromEntries(Object.entries(servers).map(([name, script]) => [name, { script, ...(options && { options }) }]));

/** The contests of some sections, and a database of the run's own until they are disposed. */
export interface Prepared extends AsyncDisposable {
  readonly contests: readonly Contest[];
}

/** Prepares the contests. Without peers, they are those with programs without a framework over HTTP. */
export async function prepareContests(
  { peers, sections }: Pick<Settings, "peers" | "sections">,
  progress: Progress,
): Promise<Prepared> {
  const has = (...names: PairedSection[]): boolean => names.some((name) => sections.includes(name));
  const servers = { ...servedAs(BARE_SERVERS), ...(peers ? servedAs(PEER_SERVERS, { stderr: "ignore" }) : {}) };
  const serve: Named<Served> = { "tsgi serve": { script: SERVE } };
  const contests = [
    ...contestsOf("http", serve, servers, (pair) => requests(pair, CLIENT)),
    ...(process.platform === "linux" ? contestsOf("start", serve, servers, starts) : []),
  ];
  if (!peers) return { contests: wanted(contests, sections), [Symbol.asyncDispose]: async () => {} };
  contests.push(
    ...contestsOf("direct", { tsgi: own("direct/contenders/tsgi.js") }, DIRECT, (pair) => calls("direct", pair)),
    ...contestsOf("routing", { tsgi: own("routing/contenders/tsgi.js") }, ROUTERS, (pair) => calls("routing", pair)),
    ...(hasUws() ? uwsContests(serve) : []),
    ...(has("bun", "deno", "node26") ? await runtimeContests(progress) : []),
  );
  const database = has("pg", "prisma") ? await databaseContests(progress) : null;
  return {
    contests: wanted([...contests, ...(database?.contests ?? [])], sections),
    [Symbol.asyncDispose]: async () => database?.[Symbol.asyncDispose](),
  };
}

/** In the order of the sections. */
function wanted(contests: readonly Contest[], sections: readonly string[]): Contest[] {
  return sections.flatMap((section) => contests.filter((contest) => contest.section === section));
}

/** On another I/O loop, whose package may have no binary for this Node or C library. */
function hasUws(): boolean {
  try {
    createRequire(PEERS)("uWebSockets.js");
    return true;
  } catch {
    return false;
  }
}

function uwsContests(serve: Named<Served>): Contest[] {
  const ours = servedAs({ "tsgi on uWebSockets.js": peer("http/tsgi-uwebsockets.js") });
  const theirs = servedAs({ "uWebSockets.js": peer("http/uwebsockets.js") });
  const measured = (pair: Sides<Served>) => requests(pair, CLIENT);
  return [...contestsOf("http", serve, ours, measured), ...contestsOf("http", ours, theirs, measured)];
}

/** Bun, Deno and Node 26, on Linux on x64; those that are missing are fetched from npm, 60 to 150 MB each. */
async function runtimeContests(progress: Progress): Promise<Contest[]> {
  if (process.platform !== "linux" || process.arch !== "x64") return [];
  progress.step("installing the runtimes into .cache/runtimes");
  const installer = fileURLToPath(new URL("framework/scripts/runtimes.js", REPOSITORY));
  const { stdout } = await promisify(execFile)(process.execPath, [installer, ...Object.keys(RUNTIMES)]);
  const binaries = new Map(
    stdout
      .trim()
      .split("\n")
      .map((line) => line.split(" ") as [string, string]),
  );
  return (Object.keys(RUNTIMES) as (keyof typeof RUNTIMES)[]).flatMap((name) => {
    const { args, ours, theirs } = RUNTIMES[name];
    const options = { command: [binaries.get(name) ?? name, ...args], stderr: "ignore" } as const;
    return contestsOf(name, servedAs(ours, options), servedAs(theirs, options), (pair) => requests(pair, CLIENT));
  });
}

/** The same routes on PostgreSQL, each framework with the same drivers, pools and statements; `null` without one. */
async function databaseContests(progress: Progress): Promise<Prepared | null> {
  progress.step("starting PostgreSQL");
  const database = await openDatabase();
  if (database === null) return null;
  const { url } = database;
  await runScript(peer("database/seed.js"), [url]);
  await generateClient();
  const contests = (["pg", "prisma"] as const).flatMap((driver) => {
    const options = { environment: { DATABASE_URL: url, DATABASE_DRIVER: driver } };
    const connections = driver === "prisma" ? PRISMA_CONNECTIONS : CLIENT.connections;
    return contestsOf(
      driver,
      servedAs({ "tsgi serve": peer("database/tsgi.js") }, options),
      servedAs(DATABASE, options),
      (pair) => requests(pair, { ...CLIENT, connections, databaseUrl: url }),
    );
  });
  return {
    contests,
    async [Symbol.asyncDispose]() {
      await runScript(peer("database/seed.js"), [url, "drop"]);
      await database[Symbol.asyncDispose]();
    },
  };
}
