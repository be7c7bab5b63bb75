import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { afterAll, expect, it } from "@jest/globals";

import vercel from "../api/index.js";

afterAll(() => vercel.fetch.close());

it("serves a request of Vercel", async () => {
  const response = await vercel.fetch(new Request("https://my-app.vercel.app/openapi.json"));
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
});

it("is the function of vercel.json", async () => {
  const { functions, rewrites } = JSON.parse(await readFile("vercel.json", "utf8"));
  expect(Object.keys(functions).filter((path) => !existsSync(path))).toEqual([]);
  expect(rewrites).toEqual([{ source: "/(.*)", destination: "/api" }]);
});
