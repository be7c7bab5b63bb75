/**
 * The routing benchmark: 100 routes (50 static, 30 with one parameter, 20 with several), 500,000 lookups for each of
 * three paths, `tsgi`'s router and others in one process, in turns, the median of five.
 *
 *     npm run build --prefix framework
 *     npm install --prefix .cache/peers rou3 find-my-way memoirist hono
 *     node framework/bench/routing.mjs [--lookups 500000] [--rounds 5] [--reverse]
 *
 * Limitation: the paths are constants, so their hashes are known and the engine may cache their parts (`String#split`
 * does). The section "fresh" uses a new string for each lookup, as a server does.
 */
import { createRequire } from "node:module";
import { parseArgs } from "node:util";
import { RadixRouter } from "../core/dist/index.js";

const { values: options } = parseArgs({
  options: {
    lookups: { type: "string", default: "500000" },
    rounds: { type: "string", default: "5" },
    reverse: { type: "boolean", default: false },
    set: { type: "string", default: "api" },
  },
});
const LOOKUPS = Number(options.lookups);
const ROUNDS = Number(options.rounds);
const WARM_UP = 500;

const NOUNS = [
  "users", "orgs", "repos", "teams", "issues", "pulls", "tags", "files", "events", "orders",
  "carts", "items", "invoices", "payments", "reviews", "comments", "posts", "pages", "images", "videos",
  "albums", "songs", "groups", "roles", "keys", "tokens", "hooks", "jobs", "queues", "tasks",
]; // prettier-ignore

/** The route sets: each 50 static, 30 with one parameter, 20 with several, and the three paths to look up. */
const SETS = {
  /** Nouns as first segments, as in most APIs. */
  api: () => ({
    fixed: [...NOUNS.map((noun) => `/${noun}`), ...NOUNS.slice(0, 20).map((noun) => `/admin/${noun}/search`)],
    one: NOUNS.map((noun) => `/${noun}/{id}`),
    several: [
      ...NOUNS.slice(0, 10).map((noun) => `/${noun}/{id}/members/{member}`),
      ...NOUNS.slice(0, 10).map((noun) => `/${noun}/{id}/members/{member}/notes/{note}`),
    ],
    paths: {
      static: "/comments",
      "one parameter": "/events/123",
      "three parameters": "/teams/7/members/alice/notes/99",
    },
  }),
  /** One prefix for all. */
  prefix: () => ({
    fixed: Array.from({ length: 50 }, (_, index) => `/api/v1/static${index}`),
    one: Array.from({ length: 30 }, (_, index) => `/api/v1/resource${index}/{id}`),
    several: Array.from({ length: 20 }, (_, index) => `/api/v1/org${index}/{org}/team/{team}/user/{user}`),
    paths: {
      static: "/api/v1/static25",
      "one parameter": "/api/v1/resource15/42",
      "three parameters": "/api/v1/org10/acme/team/core/user/bob",
    },
  }),
  /** Numbered first segments. */
  numbered: () => ({
    fixed: Array.from({ length: 50 }, (_, index) => `/static/route${index}`),
    one: Array.from({ length: 30 }, (_, index) => `/param${index}/{id}`),
    several: Array.from({ length: 20 }, (_, index) => `/multi${index}/{a}/{b}/{c}`),
    paths: { static: "/static/route25", "one parameter": "/param15/123", "three parameters": "/multi10/a/b/c" },
  }),
};

const colons = (path) => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** Each framework gets the patterns and returns a function that looks up a path, by `GET`. */
async function contenders(patterns) {
  const require = createRequire(new URL("../../.cache/peers/package.json", import.meta.url));
  const { createRouter, addRoute } = await import(require.resolve("rou3"));
  const { compileRouter } = await import(require.resolve("rou3/compiler"));
  const { default: findMyWay } = await import(require.resolve("find-my-way"));
  const { Memoirist } = await import(require.resolve("memoirist"));
  const { RegExpRouter } = await import(require.resolve("hono/router/reg-exp-router"));
  const handlers = patterns.map((path) => () => path);

  const ours = new RadixRouter();
  patterns.forEach((path, index) => ours.addRoute("GET", path, handlers[index]));
  const rou3 = createRouter();
  patterns.forEach((path, index) => addRoute(rou3, "GET", colons(path), handlers[index]));
  const compiled = compileRouter(rou3);
  const fmw = findMyWay();
  patterns.forEach((path, index) => fmw.on("GET", colons(path), handlers[index]));
  const memoirist = new Memoirist();
  patterns.forEach((path, index) => memoirist.add("GET", colons(path), handlers[index]));
  const hono = new RegExpRouter();
  patterns.forEach((path, index) => hono.add("GET", colons(path), handlers[index]));
  return {
    tsgi: (path) => ours.resolve("GET", path),
    "rou3 compiled": (path) => compiled("GET", path),
    "find-my-way": (path) => fmw.find("GET", path),
    memoirist: (path) => memoirist.find("GET", path),
    "hono RegExpRouter": (path) => hono.match("GET", path),
  };
}

/** A separate loop for each framework, so that its calls are not slowed down by earlier ones. */
function loopFor(find) {
  // oxlint-disable-next-line typescript/no-implied-eval -- a function of its own needs a text of its own.
  return new Function(
    "find",
    `return (path, count) => {
      let found;
      for (let index = 0; index < count; index++) found = find(path);
      return found;
    }`,
  )(find);
}

function loopOfFreshStrings(find) {
  // oxlint-disable-next-line typescript/no-implied-eval -- as above.
  return new Function(
    "find",
    `return (path, count) => {
      const bytes = Buffer.from(path);
      let found;
      for (let index = 0; index < count; index++) found = find(bytes.latin1Slice(0, bytes.length));
      return found;
    }`,
  )(find);
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

function run(title, finders, makeLoop, path) {
  const names = Object.keys(finders);
  const loops = Object.fromEntries(names.map((name) => [name, makeLoop(finders[name])]));
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (const name of names) {
    if (!loops[name](path, WARM_UP)) throw new Error(`${name} does not find ${path}`);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of options.reverse ? names.toReversed() : names) {
      const start = performance.now();
      loops[name](path, LOOKUPS);
      times[name].push(performance.now() - start);
    }
  }
  const rates = names.map((name) => `${name} ${(LOOKUPS / median(times[name]) / 1000).toFixed(1)}`);
  console.log(`${title.padEnd(24)} ${rates.join("   ")}`);
}

/** 24 routes of 24 segments, each static at another place and with a different last segment. */
const HOSTILE = Array.from({ length: 24 }, (_, index) => {
  const segments = Array.from({ length: 23 }, (_value, place) => (place === index ? `s${place}` : `{p${place}}`));
  return `/${segments.join("/")}/last${index}`;
});
/** As many routes of that length that part at their last segment only. */
const FRIENDLY = HOSTILE.map((path) => path.replaceAll(/\/s(\d+)/g, "/{p$1}"));

function routerOf(patterns) {
  const router = new RadixRouter();
  for (const path of patterns) router.addRoute("GET", path, path);
  router.prepare();
  return router;
}

function runHostile() {
  const started = performance.now();
  const hostile = routerOf(HOSTILE);
  const milliseconds = (performance.now() - started).toFixed(1);
  console.log(`# 24 routes of 24 segments, registered and prepared in ${milliseconds} ms; nanoseconds a lookup`);
  const friendly = routerOf(FRIENDLY);
  const loops = [hostile, friendly].map((router) => loopFor((path) => router.resolve("GET", path)));
  for (const last of ["last5", "nothing"]) {
    const path = `/${Array.from({ length: 23 }, (_, place) => `s${place}`).join("/")}/${last}`;
    const times = loops.map(() => []);
    for (let round = 0; round < ROUNDS * 5; round++) {
      loops.forEach((loop, index) => {
        const start = performance.now();
        loop(path, LOOKUPS / 50);
        times[index].push(((performance.now() - start) * 1e6) / (LOOKUPS / 50));
      });
    }
    const [first, second] = times.map((list) => median(list).toFixed(0));
    console.log(`${(last === "nothing" ? "no match" : "match").padEnd(24)} hostile ${first}   friendly ${second}`);
  }
}

for (const set of options.set === "all" ? Object.keys(SETS) : [options.set]) {
  const { fixed, one, several, paths } = SETS[set]();
  const finders = await contenders([...fixed, ...one, ...several]);
  console.log(`# ${set}, million lookups a second`);
  for (const [title, path] of Object.entries(paths)) run(title, finders, loopFor, path);
  for (const [title, path] of Object.entries(paths)) run(`${title}, fresh`, finders, loopOfFreshStrings, path);
}
runHostile();
