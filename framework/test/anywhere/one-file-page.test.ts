/** Runs the commands of `docs/one-file.md`, each block in a new project, and its program in an empty folder. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { type Block, blocksOf, fileOf } from "../docs/_blocks.js";
import { binaryOf } from "../runtimes/_program.js";
import { LimitedProgram } from "../support/limited-program.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { FRAMEWORK, MODULES } from "../support/packages.js";
import { canCompileWithDeno, webpackCommand } from "./_one-file.js";

const PAGE = "framework/docs/one-file.md";
const blocks = blocksOf(PAGE, readFileSync(path.join(FRAMEWORK, "docs/one-file.md"), "utf8"));
const commands = blocks.filter(({ language }) => language === "sh");

/** The commands that a project installs: `npx` runs them from its packages. */
function commandsFor(needed: readonly string[]): Record<string, readonly string[]> {
  const all: Record<string, () => readonly string[]> = {
    bun: () => [binaryOf("bun")],
    deno: () => [binaryOf("deno")],
    executable: () => [],
    rolldown: () => [
      process.execPath,
      path.join(installOnDemand("rolldown", ["rolldown@1.3.2"]), "node_modules/rolldown/bin/cli.mjs"),
    ],
    webpack: webpackCommand,
  };
  const named = needed.map((name) => [name, all[name]?.() ?? []] as const);
  const isExecutable = needed.includes("executable");
  return Object.fromEntries([
    ["npx", []],
    ["node", [process.execPath]],
    ["esbuild", [path.join(MODULES, ".bin/esbuild")]],
    ["tsc", [path.join(MODULES, ".bin/tsc")]],
    ...named.filter(([, command]) => command.length > 0),
    ...(isExecutable ? [["postject", [process.execPath, binaryOf("postject")]] as const] : []),
  ]);
}

/** Makes a project with the files of the page, and runs all commands of a block but the last. Returns the last one. */
function build(project: string, { code, words }: Block): string {
  for (const block of blocks) {
    const name = fileOf(block);
    if (name === null) continue;
    mkdirSync(path.dirname(path.join(project, name)), { recursive: true });
    writeFileSync(path.join(project, name), block.code);
  }
  mkdirSync(path.join(project, "out"));
  mkdirSync(path.join(project, "bin"));
  symlinkSync(MODULES, path.join(project, "node_modules"));
  writeFileSync(path.join(project, "package.json"), '{ "type": "module" }');
  const compilerOptions = { module: "nodenext", target: "es2023", rootDir: "src", types: ["node"], skipLibCheck: true };
  writeFileSync(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["src"] }));
  for (const [name, command] of Object.entries(commandsFor(words))) {
    const file = path.join(project, "bin", name);
    writeFileSync(file, `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`);
    chmodSync(file, 0o755);
  }
  const lines = code.trim().split("\n");
  // `command -v node` must find the binary itself.
  const script = lines.slice(0, -1).join("\n").replace("$(command -v node)", realpathSync(process.execPath));
  const env = { ...process.env, PATH: `${path.join(project, "bin")}:${process.env["PATH"]}` };
  execFileSync("sh", ["-e", "-c", script], { cwd: project, env, stdio: ["ignore", "ignore", "pipe"] });
  return lines.at(-1) ?? "";
}

/** Tells if a block can run here: all except the bundles of esbuild need tools of 20 MB and more. */
function isSkipped({ words }: Block): boolean {
  if (words.length === 0) return false;
  if (!IS_SLOW || process.platform !== "linux" || process.arch !== "x64") return true;
  return words.includes("deno") && !canCompileWithDeno();
}

describe("the page about one file", () => {
  it("shows eight forms", () => {
    const forms = ["", "", "", "rolldown", "webpack", "executable", "bun", "deno"];
    expect(commands.map(({ words }) => words.join())).toEqual(forms);
  });

  it.each(commands.filter((block) => !isSkipped(block)))("builds a program that serves: $code", async (block) => {
    const folder = realpathSync(mkdtempSync(path.join(tmpdir(), "tsgi-one-file-page-")));
    const home = path.join(folder, "home");
    try {
      mkdirSync(path.join(folder, "project"));
      const command = build(path.join(folder, "project"), block);
      mkdirSync(home);
      renameSync(path.join(folder, "project/out"), path.join(home, "out"));
      for (const open of [folder, home]) chmodSync(open, 0o755); // the limited user reads them
      const words = command.split(" ").map((word) => (word.startsWith("out/") ? path.join(home, word) : word));
      const [first = "", ...rest] = words;
      const program = [first === "node" ? process.execPath : first, ...rest];
      await using server = LimitedProgram.start(program, home, { PORT: "0", HOME: home });
      const url = await server.said(/Listening on (http:\S+)/);
      const get = async (target: string) => (await fetch(url + target)).text();
      expect(await get("/items/7")).toBe('{"id":7}');
      expect(await get("/primes/100")).toBe('{"count":25}');
      expect(await get("/docs")).toContain("openapi.json");
      expect(server.output).toMatch(/runs in worker processes/);
      expect(server.peak).toBeGreaterThan(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
