/** The tool library over every driver, from one table. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { KeptLog } from "../support/kept-log.js";
import { backroomRows } from "./_backroom-calls.js";
import { rows as otherRows } from "./_calls.js";
import { drivers, type Served } from "./_drivers.js";
import { stories } from "./_stories.js";
import { seenOf, wantedOf } from "./_observe.js";
import { createApp } from "./app/app.js";

const rows = [...otherRows, ...backroomRows];

it("has a title of its own for each row", () => {
  expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
});

describe.each(drivers)("the library by $name", ({ start, lacks }) => {
  let served: Served;
  beforeAll(async () => {
    served = await start(createApp({ logger: new KeptLog() }).app);
  });
  beforeEach(() => served.reset());
  afterAll(() => served.close());

  it.each(rows.filter(({ needs }) => !needs.some((need) => lacks.includes(need))))(
    "$title",
    async ({ method, target, sent, expected }) => {
      expect(seenOf(await served.send(method, target, sent), expected)).toEqual(wantedOf(expected));
    },
  );

  it.each(stories)("$title", async ({ tell, expected }) => {
    expect(await tell(served)).toEqual(expected);
  });
});
