import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { afterAll, expect, it } from "@jest/globals";

import fetchApp, { config } from "../netlify/functions/app.js";

afterAll(() => fetchApp.close());

it("serves a request of Netlify on every path", async () => {
  const response = await fetchApp(new Request("https://my-app.netlify.app/openapi.json"), {
    client: ["192.0.2.1", null],
  });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
  expect(config.path).toBe("/*");
});

it("has the folders of netlify.toml", async () => {
  const text = await readFile("netlify.toml", "utf8");
  const folders = [...text.matchAll(/^ *(?:publish|directory) = "(.*)"$/gm)].map(([, folder = ""]) => folder);
  expect(folders).toHaveLength(2);
  expect(folders.filter((folder) => !existsSync(folder))).toEqual([]);
});
