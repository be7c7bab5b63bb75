import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { blocksOf, fileOf } from "../../test/docs/_blocks.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { type Cluster, startCluster, WITHOUT_CLUSTER } from "../../test/support/postgres-cluster.js";
import { examineRowSecurity } from "../src/row-security.js";
import { openedOf } from "../src/transaction.js";
import { openClient, queryPostgreSQL, temporaryFolder } from "./_clients.js";

const describeWithCluster = WITHOUT_CLUSTER === null ? describe : describe.skip;
const slowly = IS_SLOW ? it : it.skip;
const ROOT = path.resolve(import.meta.dirname, "../../..");
const NAME = "row-level-security.md";
const blocks = blocksOf(NAME, readFileSync(path.join(ROOT, "framework/docs", NAME), "utf8"));
const codeOf = (word: string) => blocks.find(({ words }) => words.some((one) => one.includes(word)))?.code ?? "";

let cluster: Cluster;
beforeAll(async () => {
  if (WITHOUT_CLUSTER === null) cluster = await startCluster();
});
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

async function createDatabase(name: string): Promise<string> {
  await queryPostgreSQL(cluster.url, `CREATE DATABASE "${name}"`);
  return cluster.url.replace("/postgres?", `/${name}?`);
}

describeWithCluster(`the page on row-level security${WITHOUT_CLUSTER === null ? "" : ` (${WITHOUT_CLUSTER})`}`, () => {
  it("has a migration and grants in which the doctor finds no mistake, with any user", async () => {
    const url = await createDatabase("shown");
    await queryPostgreSQL(url, codeOf("migration.sql"));
    await queryPostgreSQL(url, 'CREATE TABLE "tsgi_idempotency" ("key" TEXT); CREATE SCHEMA "pgboss"');
    await queryPostgreSQL(url, codeOf("grants"));
    const db = await openClient(url, {}, { isMigrated: false });
    const opened = openedOf(db);
    const findings = opened && (await examineRowSecurity(opened, db, "tenant"));
    await db.$disconnect();
    expect(findings?.map(({ text }) => text)).toEqual(['policies of "Note" apply to "tenant"']);
  });

  slowly(
    "has a test that passes, and fails without the policy or the role (TSGI_SLOW)",
    async () => {
      await using folder = await temporaryFolder();
      for (const block of blocks) {
        const file = fileOf(block);
        if (file === null) continue;
        mkdirSync(path.join(folder.path, path.dirname(file)), { recursive: true });
        writeFileSync(path.join(folder.path, file), block.code);
      }
      writeFileSync(path.join(folder.path, "package.json"), '{ "type": "module" }');
      symlinkSync(path.join(ROOT, "node_modules"), path.join(folder.path, "node_modules"));
      const run = (database: string, ...args: string[]) =>
        promisify(execFile)(process.execPath, args, {
          cwd: folder.path,
          env: {
            ...process.env,
            DATABASE_URL: database,
            PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
            CHECKPOINT_DISABLE: "1",
          },
        });
      const test = async (name: string) =>
        run(await createDatabase(name), "--import", "tsx", "--test", "test/notes.test.ts");
      await run("", path.join(ROOT, "node_modules/prisma/build/index.js"), "generate");
      expect((await test("whole")).stdout).toMatch(/pass 1$/m);
      const app = readFileSync(path.join(folder.path, "src/app.ts"), "utf8");
      writeFileSync(path.join(folder.path, "src/app.ts"), app.replace(/,?\s*role: "tenant",?/, ""));
      await expect(test("without_role")).rejects.toThrow("Command failed");
      writeFileSync(path.join(folder.path, "src/app.ts"), app);
      const migration = path.join(folder.path, "prisma/migrations/20260101000000_notes/migration.sql");
      writeFileSync(migration, codeOf("migration.sql").replace(/^ALTER TABLE .*$/m, ""));
      await expect(test("without_policy")).rejects.toThrow("Command failed");
    },
    120_000,
  );
});
