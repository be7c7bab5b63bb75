import { describe, expect, it } from "@jest/globals";
import { applicationStatements, checkApplication, checkServer, echo } from "../src/index.js";
import { applications, middlewares } from "./_applications.js";
import { DIVERGENCES } from "./_divergences.js";
import { servers } from "./_servers.js";

/** The titles of violated statements. */
const failed = (results: Awaited<ReturnType<typeof checkApplication | typeof checkServer>>) =>
  results
    .filter(({ passed, statement }) => !passed && !(statement.id in DIVERGENCES))
    .map(({ statement, error }) => `${statement.title} ${String(error)}`);

describe.each([["echo", echo, { echo: "/", websocket: "/" }] as const])("%s", (_name, app, paths) => {
  it.each(applicationStatements)("keeps $title", async ({ check }) => {
    await expect(check({ app, ...paths })).resolves.toBeUndefined();
  });
});

describe("an application", () => {
  it.each(applications)("keeps the statements about applications: $name", async ({ app, paths }) => {
    expect(failed(await checkApplication(app, paths))).toEqual([]);
  });
});

describe("a middleware", () => {
  it.each(middlewares)(
    "keeps the statements about applications around one that does: %s",
    async (_name, middleware) => {
      expect(failed(await checkApplication(middleware(echo), { echo: "/", websocket: "/" }))).toEqual([]);
    },
  );

  it.each(middlewares)("acts as a server for the application inside it: %s", async (_name, middleware) => {
    const [server] = servers;
    expect(failed(await checkServer((app) => (server as typeof server & object).start(middleware(app))))).toEqual([]);
  });
});
