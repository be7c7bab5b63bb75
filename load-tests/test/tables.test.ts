import { describe, expect, it } from "@jest/globals";
import type { Result } from "../src/rounds.js";
import { readSettings } from "../src/settings.js";
import { BARE, IMPORT, REGISTER } from "../src/startup.js";
import { UNTYPED } from "../src/types.js";
import { MAIN_ENTRY } from "../src/web-bundle.js";
import { summarize } from "../src/statistics.js";
import {
  databaseTable,
  directTable,
  footprintTable,
  httpTable,
  latencyTable,
  realtimeTable,
  routingTable,
  sampleTable,
  startupTable,
  bundleTable,
  typesTable,
} from "../src/tables.js";

const settings = readSettings({});

function result(contender: string, row: string, figures: Record<string, number>, faults: string[] = []): Result {
  const summaries = Object.entries(figures).map(([name, figure]) => [name, summarize([figure, figure, figure])]);
  return { contender, rows: faults.length === 0 ? { [row]: Object.fromEntries(summaries) } : {}, faults };
}

describe("directTable", () => {
  it("shows rates, ratios, the worst and the best, and which rows miss what is wanted", () => {
    const table = directTable(
      [
        result("tsgi", "GET /health", { perSecond: 1_000_000 }),
        result("hand-written ASGI", "GET /health", { perSecond: 2_000_000 }),
        result("Hono fetch", "GET /health", { perSecond: 100_000 }),
      ],
      settings,
    );
    expect(table).toContain("500 untimed, 50,000 measured");
    expect(table).toMatch(/^hand-written ASGI +2,000,000 +±0 % +0\.50×$/m);
    expect(table).toContain(
      "Worst: 0.50× of hand-written ASGI in GET /health. Best: 10× of Hono fetch in GET /health.",
    );
    expect(table).toContain("missed in 1 of 2 rows:\n  0.50× of hand-written ASGI in GET /health, wanted 0.75×");
  });

  it("judges nothing after a quick run", () => {
    const [ours, theirs] = [2, 1].map((perSecond) => ({ perSecond }));
    const results = [result("tsgi", "GET /health", ours ?? {}), result("Hono fetch", "GET /health", theirs ?? {})];
    expect(directTable(results, readSettings({ QUICK: "1" }))).toContain("judges nothing");
    expect(directTable(results, readSettings({ QUICK: "1" }))).not.toContain("Worst");
  });

  it("marks a contender with a wrong answer and shows no number of it", () => {
    const table = directTable(
      [
        result("tsgi", "GET /health", { perSecond: 1 }),
        result("Hono fetch", "GET /health", { perSecond: 5 }, ["GET /health: wrong"]),
      ],
      settings,
    );
    expect(table).toMatch(/^Hono fetch \(wrong\) +–$/m);
  });
});

describe("routingTable", () => {
  it("says how to measure peers when there are none", () => {
    expect(routingTable([result("tsgi", "static", { perSecond: 1 })], settings)).toContain("make bench PEERS=1");
  });
});

describe("httpTable", () => {
  it("shows rates, rates a processor second with the slowest hundredth, and says when the client may be the limit", () => {
    const table = httpTable(
      [
        result("tsgi serve", "GET /health", {
          perSecond: 20_000,
          perCPUSecond: 40_000,
          p99Ms: 2,
          clientLoad: 0.5,
          serverLoad: 1,
        }),
        result("bare node:http", "GET /health", {
          perSecond: 40_000,
          perCPUSecond: 50_000,
          p99Ms: 1,
          clientLoad: 0.97,
          serverLoad: 0.8,
        }),
      ],
      settings,
    );
    expect(table).toMatch(/^tsgi serve +20,000 +±0 %$/m);
    expect(table).toMatch(/^tsgi serve +40,000 +p99 2 ms$/m);
    expect(table).toContain("0.80× of bare node:http in GET /health, wanted 1.20×");
    expect(table).toMatch(/^bare node:http +40,000\* /m);
    expect(table).toContain("Of a core the client used 50 to 97 %, the server 80 to 100 %.");
    expect(table).toContain("* The client used its core whole and the server did not: the client is the limit.");
  });
});

describe("startupTable", () => {
  it("wants 1.3 times bare Node and 60 ms at most, and 150 ms for 1,000 routes", () => {
    const table = startupTable(
      [
        result(BARE, "process", { ms: 40 }),
        result(IMPORT, "process", { ms: 112 }),
        result(REGISTER, "registered", { ms: 151 }),
        result("Fastify, 1,000 routes", "registered", { ms: 152 }),
      ],
      settings,
    );
    expect(table).toMatch(/112\.0 ms +±0 % +≤ 112\.0 ms +met$/m);
    expect(table).toMatch(/151\.0 ms +±0 % +≤ 150\.0 ms +missed$/m);
    expect(table).toMatch(/152\.0 ms +±0 %$/m);
    expect(table).toMatch(/first answer +–$/m);
  });
});

describe("databaseTable", () => {
  it("shows the rows on pg and those on Prisma in tables of their own", () => {
    const row = { perSecond: summarize([10, 10]) };
    const results = [{ contender: "tsgi serve", rows: { "GET /db": row, "GET /db, Prisma": row }, faults: [] }];
    const [pg = "", prisma = ""] = databaseTable(results, settings).split("\n\nWith a database by Prisma");
    expect(pg).toMatch(/^With a database by pg[^\n]*\n +GET \/db +tsgi is\n/);
    expect(prisma).toMatch(/\n +GET \/db, Prisma +tsgi is\n/);
    expect(prisma).not.toContain("GET /db  ");
  });

  it("says why there is none without PostgreSQL", () => {
    expect(databaseTable([], readSettings({ PEERS: "1" }))).toContain("skipped, there is no PostgreSQL");
  });
});

describe("latencyTable", () => {
  it("shows the percentiles and the rate of each server, and names a row whose client was late", () => {
    const figures = { ratePerSecond: 12_345, p50Ms: 1, p99Ms: 3, p99_9Ms: 4, maxMs: 20, lateP99Ms: 0 };
    const at80 = (contender: string, lateP99_9Ms: number) =>
      result(contender, "GET /health at 80 %", { ...figures, lateP99_9Ms });
    const table = latencyTable([at80("tsgi serve", 0.5), at80("Hono", 2.5)], settings);
    expect(table).toContain("at least 10,000 requests");
    expect(table).toMatch(
      /^tsgi serve +GET \/health at 80 % +12,300\/s +1\.00 ms +3\.00 ms +4\.00 ms +20\.0 ms +0\.50 ms$/m,
    );
    expect(table).toMatch(/^Hono .* 2\.50 ms +the client was late$/m);
  });
});

describe("footprintTable", () => {
  it("shows start, memory and packages, and nothing where nothing was found", () => {
    const figures = { startMs: 120, idleMiB: 60, loadedMiB: 70, installedMiB: 0 };
    const table = footprintTable([result("tsgi serve", "footprint", figures)], settings);
    expect(table).toMatch(/^tsgi serve +120 ms +60 MiB +70 MiB +–$/m);
  });
});

describe("sampleTable", () => {
  it("shows the rate of each route", () => {
    const table = sampleTable([result("sample-auth-app", "GET /items", { perSecond: 1234, p99Ms: 7 })], settings);
    expect(table).toMatch(/^GET \/items +1,230 +±0 % +p99 7 ms$/m);
  });
});

describe("bundleTable", () => {
  it("shows the sizes, and how many modules of Node are left outside", () => {
    const table = bundleTable([
      result("tsgi", MAIN_ENTRY, { minifiedKiB: 270.46, gzipKiB: 91.5, nodeModules: 8 }),
      { contender: "Hono", rows: {}, faults: ["Could not resolve"] },
    ]);
    expect(table).toMatch(/^tsgi +270\.5 KiB +91\.5 KiB +8$/m);
    expect(table).toMatch(/^Hono +– +– +–$/m);
  });
});

describe("typesTable", () => {
  it("wants to be ahead of each framework with types, and says where it is not", () => {
    const row = "500 routes, TypeScript 5.9.3";
    const table = typesTable(
      [
        result("tsgi", row, { perCPUSecond: 250, cpuMs: 2_000, memoryMiB: 200, instantiations: 97 }),
        result("Fastify", row, { perCPUSecond: 500, cpuMs: 1_000, memoryMiB: 150, instantiations: 50 }),
        result(UNTYPED, row, { perCPUSecond: 1_000, cpuMs: 500, memoryMiB: 100, instantiations: 1 }),
      ],
      settings,
    );
    expect(table).toContain("Type checking of 500 routes");
    expect(table).toMatch(/TypeScript 5\.9\.3 +Fastify +1\.00 s +±0 % +0\.50× +150 MiB +50$/m);
    expect(table).toContain("missed in 1 of 2 rows:\n  0.50× of Fastify in 500 routes");
  });
});

describe("realtimeTable", () => {
  const moving = (perCPUSecond: number, serverLoad: number) => ({
    perCPUSecond,
    perSecond: 10_000,
    clientLoad: 0.96,
    serverLoad,
  });

  it("shows messages by processor time, and marks a rate that is the client's", () => {
    const table = realtimeTable(
      [
        result("tsgi serve", "echo, 64 B", moving(30_000, 1)),
        result("bare node:http", "echo, 64 B", moving(37_500, 0.7)),
        result("Fastify", "echo, 64 B", moving(20_000, 1)),
      ],
      settings,
    );
    expect(table).toMatch(/^Fastify +20,000 +±0 % +1\.50×$/m);
    expect(table.match(/^.*10,000\*.*$/gm)?.map((line) => line.slice(0, 14))).toEqual(["bare node:http"]);
    expect(table).toContain("Of a core the client used 96 to 96 %, the server 70 to 100 %.");
    expect(table).toContain("Wanted: met in every row.");
  });

  it("shows the memory of a connection and the processor time of idle ones apart", () => {
    const table = realtimeTable(
      [result("tsgi serve", "idle WebSocket", { connectionKiB: 8.04, idleMs: 0.5 })],
      settings,
    );
    expect(table).toContain("1,000 idle ones");
    expect(table).toMatch(/^tsgi serve +8\.0 KiB +0\.50 ms$/m);
    expect(table).not.toContain("the client used");
  });
});
