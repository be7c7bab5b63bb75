import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { blocksOf, fileOf, stepsOf } from "../../test/docs/_blocks.js";
import { AppServer, isAsShown, typeIn } from "../../test/docs/_console.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { temporaryFolder } from "./_clients.js";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../../..");
const PAGE = readFileSync(path.join(ROOT, "framework/docs/prisma.md"), "utf8");
const blocks = blocksOf("prisma.md", PAGE);
const MINUTES_MS = 180_000;
const slowly = IS_SLOW ? it : it.skip;

/** The compiler options of the package's README, to which the page refers. */
const [tsconfig] = blocksOf("README.md", readFileSync(path.join(ROOT, "framework/core/README.md"), "utf8")).filter(
  ({ language, code }) => language === "json" && code.includes("compilerOptions"),
);

/** A program of the installed packages. */
const tool = (name: string) => path.join(ROOT, "node_modules", name);

describe("the page on Prisma, followed from an empty folder", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  // `generate` needs no engine, but every command of Prisma looks for one on the network.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  const node = (...parameters: string[]) => run(process.execPath, parameters, { cwd: folder.path, env });

  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const block of blocks) {
      const file = fileOf(block);
      if (file === null || file === "scripts") continue;
      const target = path.join(folder.path, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, block.code);
    }
    writeFileSync(path.join(folder.path, "tsconfig.json"), tsconfig?.code ?? "");
    writeFileSync(path.join(folder.path, "package.json"), '{ "type": "module" }');
    symlinkSync(path.join(ROOT, "node_modules"), path.join(folder.path, "node_modules"));
    await node(tool("prisma/build/index.js"), "generate");
  }, MINUTES_MS);
  afterAll(async () => folder?.[Symbol.asyncDispose]());

  it("has the blocks that it is followed by", () => {
    expect(blocks.map(fileOf).filter((file) => file !== null)).toEqual([
      "prisma/schema.prisma",
      "prisma.config.ts",
      ".gitignore",
      "prisma/migrations/20260101000000_init/migration.sql",
      "scripts",
      "src/database.ts",
      "src/app.ts",
      "test/users.test.ts",
    ]);
  });

  it(
    "compiles under strict, and responds as it shows",
    async () => {
      await node(tool("typescript/bin/tsc"));
      const terminal = blocks.find(({ language }) => language === "console");
      const steps = terminal === undefined ? [] : stepsOf(terminal);
      await using apps = new AppServer({ DATABASE_URL: `file:${folder.path}/shown.db` });
      const responses = await typeIn(apps, path.join(folder.path, "dist/app.js"), steps);
      const unlike = steps.filter(({ output }, index) => !isAsShown(responses[index] ?? "", output));
      expect({ unlike, responses }).toMatchObject({ unlike: [] });
      expect(steps.length).toBeGreaterThan(3);
    },
    MINUTES_MS,
  );

  slowly(
    "has a test that passes, and so has the page on sandboxes (TSGI_SLOW)",
    async () => {
      const sandbox = blocksOf("sandbox.md", readFileSync(path.join(ROOT, "framework/docs/sandbox.md"), "utf8"));
      const [test] = sandbox.filter((block) => fileOf(block) === "test/sandbox.test.ts");
      writeFileSync(path.join(folder.path, "test/sandbox.test.ts"), test?.code ?? "");
      for (const [file, count] of [
        ["users", 1],
        ["sandbox", 2],
      ] as const) {
        const { stdout } = await node("--import", "tsx", "--test", `test/${file}.test.ts`);
        expect(stdout).toMatch(new RegExp(`pass ${count}$`, "m"));
      }
      await node(tool("typescript/bin/tsc"));
    },
    MINUTES_MS,
  );

  slowly(
    "installs one @libsql/client, and the versions of this repository (TSGI_SLOW)",
    async () => {
      await using project = await temporaryFolder();
      writeFileSync(path.join(project.path, "package.json"), '{ "type": "module" }');
      const shell = (command: string) => run("sh", ["-c", command], { cwd: project.path, env });
      const commands = [...PAGE.matchAll(/^npm install [^\n]*(?:libsql|prisma)@[^\n]*$/gm)].map(([command]) => command);
      expect(commands).toHaveLength(2);
      for (const command of commands) await shell(`${command} --ignore-scripts --no-audit --no-fund`);
      const { stdout } = await shell("find node_modules -path '*@libsql/client/package.json'");
      expect(stdout.trim().split("\n")).toEqual(["node_modules/@libsql/client/package.json"]);
    },
    MINUTES_MS,
  );

  it("contains the versions that this repository uses", () => {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(path.join(ROOT, "sample-auth-app/package.json"), "utf8"),
    ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
    const used: Record<string, string> = { ...dependencies, ...devDependencies };
    const named = [...PAGE.matchAll(/(@?[\w/-]+)@(\d[\d.]*\d)/g)].map(([, name = "", version]) => [name, version]);
    expect(named.length).toBeGreaterThan(5);
    expect(named).toEqual(named.map(([name = ""]) => [name, used[name]]));
  });
});
