import { mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { App } from "../../src/app.js";
import { ConfigurationError } from "../../src/exceptions.js";
import { writeClient } from "../../src/openapi.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "tsgi-client-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A project with an openapi-typescript of this text. */
function projectWith(name: string, code: string, packages = "node_modules"): string {
  const project = path.join(folder, name);
  const home = path.join(project, packages, "openapi-typescript");
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name: "openapi-typescript", main: "index.cjs" }));
  writeFileSync(path.join(home, "index.cjs"), code);
  return project;
}

describe("writeClient", () => {
  it("writes a module of the types and a function that makes the client, in folders that it makes", async () => {
    const from = projectWith(
      "whole",
      "exports.default = async (document) => { document.changed = true; return document.info.title; };" +
        "exports.astToString = (ast) => `export interface paths {} // ${ast}`;",
    );
    const document = new App({ title: "Shop", version: "2.0.0" }).openapi();
    const out = path.join(folder, "src/deep/api.ts");
    const text = await writeClient(document, { out, from });
    expect(await readFile(out, "utf8")).toBe(text);
    expect(text).toMatch(/^\/\/ Written by `tsgi client` from the document of "Shop", version "2.0.0"\./);
    expect(text).toContain("export function createClient(options: ClientOptions): Client<paths> {");
    expect(text).toMatch(/export interface paths \{\} \/\/ Shop$/);
    expect(document).not.toHaveProperty("changed");
  });

  it("takes an openapi-typescript that stands apart with a TypeScript of its own", async () => {
    projectWith("apart", "throw new TypeError('no TypeScript 5');");
    const code = "exports.default = async () => 'apart'; exports.astToString = (ast) => ast;";
    const from = projectWith("apart", code, "node_modules/.cache/tsgi-client/node_modules");
    const text = await writeClient(new App().openapi(), { out: path.join(folder, "apart.ts"), from });
    expect(text).toMatch(/apart$/);
  });

  it("keeps a title in its comment, whatever stands in it", async () => {
    const from = projectWith("plain", "exports.default = async () => ''; exports.astToString = () => '';");
    const title = "Shop\n\u2028\u2029*/ process.exit();";
    const text = await writeClient(new App({ title }).openapi(), { out: path.join(folder, "api.ts"), from });
    expect(text.split(/[\n\r\u2028\u2029]/).filter((line) => line.includes("process.exit"))).toEqual([
      expect.stringMatching(/^\/\/ /),
    ]);
  });

  it.each<[string, () => string, RegExp]>([
    ["is missing", () => folder, /has no openapi-typescript.*npm install --save-dev openapi-typescript/],
    [
      "stands beside a TypeScript without an interface",
      () => projectWith("broken", "require('typescript').factory.createNull();"),
      /cannot be loaded\. It needs TypeScript 5 beside it/,
    ],
  ])("says what to install where openapi-typescript %s", async (_, project, message) => {
    const writing = writeClient(new App().openapi(), { out: path.join(folder, "api.ts"), from: project() });
    await expect(writing).rejects.toThrow(ConfigurationError);
    await expect(writing).rejects.toThrow(message);
  });
});
