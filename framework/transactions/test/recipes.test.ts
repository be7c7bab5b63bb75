/** The recipes of the page on Drizzle and Kysely, in a folder and against PostgreSQL. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { blocksOf, fileOf } from "../../test/docs/_blocks.js";
import { CACHE, installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { DATABASE_PACKAGES } from "./_clients.js";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../../..");
const page = (name: string) => blocksOf(name, readFileSync(path.join(ROOT, "framework/docs", name), "utf8"));
const blocks = page("transactions.md");

/** The table and the policy of the page on row-level security. */
const MIGRATION = page("row-level-security.md").find(({ language }) => language === "sql")?.code ?? "";
const SUPPORTED = ["drizzle", "kysely"];
const filesOf = (name: string) => blocks.filter((block) => block.words.includes(name) && fileOf(block) !== null);

describe("the recipes of the page on Drizzle and Kysely", () => {
  it.each(SUPPORTED)("have at most 60 lines of code: %s", (name) => {
    const lines = filesOf(name).flatMap(({ code }) => code.split("\n").filter((line) => line.trim() !== ""));
    expect(lines.length).toBeGreaterThan(20);
    expect(lines.length).toBeLessThanOrEqual(60);
  });
});

// Drizzle is downloaded, so that its recipe runs with TSGI_SLOW.
const running = SUPPORTED.filter((name) => IS_SLOW || name !== "drizzle");
const describeWithCluster = WITHOUT_CLUSTER === null ? describe.each(running) : describe.skip.each(running);

describeWithCluster(`the recipe for %s${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, (name) => {
  let cluster: Cluster;
  let home: string;
  beforeAll(async () => {
    cluster = await startCluster();
    const parent = name === "drizzle" ? installOnDemand("databases", DATABASE_PACKAGES) : CACHE;
    home = path.join(parent, `recipe-${name}-${process.pid}`);
    for (const block of filesOf(name)) {
      const file = path.join(home, fileOf(block) ?? "");
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, block.code);
    }
    mkdirSync(path.join(home, "migrations"));
    writeFileSync(path.join(home, "migrations/notes.sql"), MIGRATION);
    writeFileSync(path.join(home, "package.json"), '{ "type": "module" }');
    const compilerOptions = { noEmit: true, strict: true, module: "nodenext", target: "es2023", types: ["node"] };
    const tsconfig = { compilerOptions: { ...compilerOptions, skipLibCheck: true }, include: ["src", "test"] };
    writeFileSync(path.join(home, "tsconfig.json"), JSON.stringify(tsconfig));
  });
  afterAll(async () => {
    await cluster?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });
  const node = (...args: string[]) =>
    run(process.execPath, args, { cwd: home, env: { ...process.env, NODE_OPTIONS: "", DATABASE_URL: cluster.url } });

  it("compiles under strict", async () => {
    expect(await node(path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", ".")).toEqual({
      stdout: "",
      stderr: "",
    });
  });

  it("passes its test, which fails without the role", async () => {
    const { stdout } = await node("--import", "tsx", "--test", "test/notes.test.ts");
    expect(stdout).toMatch(/pass 1$/m);
    if (!IS_SLOW) return;
    const file = path.join(home, "src/app.ts");
    writeFileSync(file, readFileSync(file, "utf8").replace(/,\s*role: "tenant"/, ""));
    await expect(node("--import", "tsx", "--test", "test/notes.test.ts")).rejects.toMatchObject({
      stdout: expect.stringContaining("secret"),
    });
  });
});
