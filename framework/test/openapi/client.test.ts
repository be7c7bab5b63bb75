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
  addPackage(path.join(project, packages), "openapi-typescript", "7.13.0", code);
  return project;
}

function addPackage(packages: string, name: string, version: string, code = ""): void {
  const home = path.join(packages, name);
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), JSON.stringify({ name, version, main: "index.cjs" }));
  writeFileSync(path.join(home, "index.cjs"), code);
}

/** A project without openapi-typescript, and with these packages. */
function projectWithout(versions: Readonly<Record<string, string>>): string {
  const project = path.join(folder, `without-${Object.entries(versions).flat().join("-")}`);
  mkdirSync(project, { recursive: true });
  for (const [name, version] of Object.entries(versions)) addPackage(path.join(project, "node_modules"), name, version);
  return project;
}

const APART = "npm install --prefix node_modules/.cache/tsgi-client openapi-typescript@7 typescript@5";

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
    [
      "is missing beside TypeScript 5",
      () => projectWithout({ typescript: "5.9.3" }),
      /has no openapi-typescript, .* Run: npm install --save-dev openapi-typescript openapi-fetch$/,
    ],
    [
      "is missing beside TypeScript 7, which npm does not let it into",
      () => projectWithout({ typescript: "7.0.2" }),
      new RegExp(` Run: npm install openapi-fetch && ${APART}$`),
    ],
    [
      "is missing beside TypeScript 7 and openapi-fetch",
      () => projectWithout({ typescript: "7.0.2", "openapi-fetch": "0.17.0" }),
      new RegExp(` Run: ${APART}$`),
    ],
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
