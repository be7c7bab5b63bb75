/** The tool library over every driver, from one table. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { KeptLog } from "../support/kept-log.js";
import { backroomRows } from "./_backroom-calls.js";
import { bulletinRows, bulletinStories } from "./_bulletin-calls.js";
import { rows as otherRows } from "./_calls.js";
import { conversations, refusals } from "./_conversations.js";
import { driversOfRun, type Served } from "./_drivers.js";
import { stories } from "./_stories.js";
import { seenOf, wantedOf } from "./_observe.js";
import { createApp } from "./app/app.js";
import { createBulletins } from "./app/routes/bulletins.js";

const rows = [...otherRows, ...backroomRows, ...bulletinRows];
const create = () => createApp({ logger: new KeptLog(), more: [createBulletins()] });

it("has a separate title for each row", () => {
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
});

/** Routes that stories call, or that tests use to look on. */
const ELSEWHERE =
  /^\/(?:admin\/(?:region|reset|journal)|v1\/(?:feeds\/(?:endless|failing)|basket|bulletins\/logs|locker|reports\/where))/;

it("calls each route of the application, over HTTP or as a WebSocket", () => {
  const { app } = create();
  const targets = [
    ...rows.map(({ method, target }) => `${method} ${target}`),
    ...[...conversations, ...refusals].map(({ path }) => `WEBSOCKET ${path}`),
  ].map((request) => request.replace(/\?.*/, ""));
  const uncalled = app.routes.filter(({ method, path }) => {
    const pattern = new RegExp(`^${method} ${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return !ELSEWHERE.test(path) && !targets.some((target) => pattern.test(target));
  });
  expect(uncalled.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
});

describe.each(driversOfRun("app.fetch"))("the library by $name", ({ start, lacks }) => {
  let served: Served;
  beforeAll(async () => {
    served = await start(create().app);
  });
  beforeEach(() => served.reset());
  afterAll(() => served.close());

  it.each(rows.filter(({ needs }) => !needs.some((need) => lacks.includes(need))))(
    "$title",
    async ({ method, target, sent, expected }) => {
      expect(seenOf(await served.send(method, target, sent), expected)).toEqual(wantedOf(expected));
    },
  );

  it.each([...stories, ...bulletinStories])("$title", async ({ tell, expected }) => {
    expect(await tell(served)).toEqual(expected);
  });
});
