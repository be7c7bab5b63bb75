import { expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";

import { app } from "../src/app.js";
import { jobs, openDelivery } from "../src/jobs.js";
import type * as routes from "../src/routes/reports.js";
// {{#prisma}}
import { openApp } from "./support.js";
// {{/prisma}}

const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });

it("delivers a report after the response, and rejects a month that does not exist", async () => {
  // {{#prisma}}
  await using _opened = await openApp();
  // {{/prisma}}
  const delivered: string[] = [];
  jobs.dependencyOverrides.set(openDelivery, async () => ({
    deliver: async (text: string) => void delivered.push(text),
  }));
  const { response, data } = await client.POST("/reports", { body: { month: "2026-01" } });
  expect([response.status, typeof data?.job]).toEqual([202, "string"]);
  await jobs.drain();
  expect(delivered).toEqual(["The report of 2026-01 is ready."]);
  expect(await client.POST("/reports", { body: { month: "2026-13" } })).toMatchObject({ response: { status: 422 } });
  // {{^prisma}}
  await app.fetch.close();
  // {{/prisma}}
});
