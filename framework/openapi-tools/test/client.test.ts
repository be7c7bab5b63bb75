import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { App } from "tsgi";
import { writeClient } from "../src/client.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tsgi-client-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("writeClient", () => {
  it("writes a module of the types and a function that makes the client, in folders that it makes", async () => {
    const app = new App({ title: "Shop", version: "2.0.0" });
    app.get("/items/{item_id}", async ({ item_id }) => item_id);
    const out = path.join(folder, "src/deep/api.ts");
    const text = await writeClient(app.openapi(), { out });
    expect(await readFile(out, "utf8")).toBe(text);
    expect(text).toMatch(/^\/\/ Written by `tsgi client` from the document of "Shop", version "2.0.0"\./);
    expect(text).toContain("export function createClient(options: ClientOptions): Client<paths> {");
    expect(text).toContain('"/items/{item_id}": {');
  });

  it("keeps a title in its comment, for any text", async () => {
    const title = "Shop\n\u2028\u2029*/ process.exit();";
    const text = await writeClient(new App({ title }).openapi(), { out: path.join(folder, "api.ts") });
    expect(text.split(/[\n\r\u2028\u2029]/).filter((line) => line.includes("process.exit"))).toEqual([
      expect.stringMatching(/^\/\/ /),
    ]);
  });
});
