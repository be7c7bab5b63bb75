/** Each statement on each subject of the page, and the page itself. The checks of a subject run once for all tests. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { useLoopPackage } from "../../core/src/platforms/concurrency/loop.js";
import { applicationStatements, checkServer, echo, serverStatements, whyNotApplicable } from "../src/index.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { fetchedUws } from "../../uwebsockets/test/_uws.js";
import { applications, middlewares } from "./_applications.js";
import { DIVERGENCES } from "./_divergences.js";
import { type AnyResult, PAGE, recordedColumns, renderPage, runOnce, toColumns, unpadded } from "./_matrix.js";
import { MEMORY_LACKS, startInMemory } from "./_memory-server.js";
import { startUws } from "./_runtimes.js";
import { servers, startHTTP1 } from "./_servers.js";

/** The error of a statement that is not kept; `null` if it is kept. */
function errorOf(results: readonly AnyResult[], id: string): unknown {
  const { passed, error } = results.find(({ statement }) => statement.id === id) as AnyResult;
  return passed ? null : error;
}

/** The violated statements, with their errors. */
const violated = (results: readonly AnyResult[]) =>
  results
    .filter(({ passed, statement }) => !passed && !(statement.id in DIVERGENCES))
    .map(({ statement, error }) => `${statement.id} ${String(error)}`);

const uws = fetchedUws();
const onUws = uws === null ? [] : [{ name: "serve, uWebSockets.js", start: startUws, lacks: {} }];

describe.each([...servers, ...onUws])("$name", (server) => {
  beforeAll(() => useLoopPackage(uws));
  afterAll(() => useLoopPackage(null));

  const applicable = serverStatements.filter((statement) => whyNotApplicable(statement, server.lacks) === null);
  const results = () => runOnce(server);

  it.each(applicable.filter(({ id }) => !(id in DIVERGENCES)))("keeps $title", async ({ id }) => {
    expect(errorOf(await results(), id)).toBeNull();
  });

  it("differs only in the statements that the page lists", async () => {
    const kept = new Map((await results()).map(({ statement, passed }) => [statement.id, passed]));
    const different = applicable.filter(({ id }) => id in DIVERGENCES);
    expect(different.map(({ id }) => kept.get(id))).toEqual(different.map(() => false));
  });
});

describe("echo", () => {
  it.each(applicationStatements)("keeps $title", async ({ check }) => {
    await expect(check({ app: echo, echo: "/", websocket: "/" })).resolves.toBeUndefined();
  });
});

describe("an application", () => {
  it.each(applications)("keeps the statements about applications: $name", async (application) => {
    expect(violated(await runOnce(application))).toEqual([]);
  });
});

describe("a middleware", () => {
  it.each(middlewares)("keeps the statements about applications around one that does: $name", async (middleware) => {
    expect(violated(await runOnce(middleware))).toEqual([]);
  });

  it.each(middlewares)("acts as a server for the application inside it: $name", async ({ middleware }) => {
    const results = await checkServer((app) => startInMemory(middleware(app)), MEMORY_LACKS);
    expect(violated(results)).toEqual([]);
  });

  (IS_SLOW ? describe : describe.skip)("on a server", () => {
    it.each(middlewares)("acts as a server for the application inside it: $name", async ({ middleware }) => {
      expect(violated(await checkServer((app) => startHTTP1(middleware(app))))).toEqual([]);
    });
  });
});

describe("the page", () => {
  it("matches the result of a run: update it with `npm run conformance --prefix framework`", async () => {
    const { onServers, onApplications } = await toColumns();
    const page = renderPage([...onServers, ...recordedColumns()], onApplications);
    expect(unpadded(readFileSync(PAGE, "utf8"))).toBe(unpadded(page));
    expect(page).not.toContain("**no**");
  });
});
