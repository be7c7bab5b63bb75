import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { program, spawnTsgi, temporaryFolder, type Surroundings } from "./support.js";
import { hasTerminal, keys, runAtTerminal, type Step } from "./terminal.js";

/** Flags for all that is not the matter of a test: name, Git and installation are left to ask. */
const noQuestions = [
  "--template=minimal",
  "--runtime=node",
  "--deploy=none",
  "--with=none",
  "--no-docker",
  "--no-load-tests",
  "--no-ci",
  "--package-manager=npm",
];

/** `app-generator.test.ts` has the same prompts without a terminal. */
const slowly = process.env["TSGI_SLOW"] ? it : it.skip;

const atTerminal = hasTerminal ? describe : describe.skip;

function createTsgiAtTerminal(parameters: readonly string[], steps: readonly Step[], surroundings: Surroundings) {
  return runAtTerminal(process.execPath, [program, ...parameters], steps, surroundings);
}

atTerminal("in a terminal (skipped if util-linux's script is missing)", () => {
  it("prompts for everything, and uses the input", async () => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await createTsgiAtTerminal(
      [],
      [
        [/Name of the project/, `typed-app${keys.enter}`],
        [/Template/, keys.enter],
        [/Database/, `${keys.down}${keys.enter}`],
        [/Deploy to/, keys.enter],
        [/Optional parts/, ` ${keys.enter}`],
        [/Write a Dockerfile/, `n${keys.enter}`],
        [/Write a load test/, keys.enter],
        [/Write a workflow/, `n${keys.enter}`],
        [/Package manager/, `${keys.down}${keys.enter}`],
        [/Make it a Git repository/, `n${keys.enter}`],
        [/Install the dependencies now/, `n${keys.enter}`],
      ],
      { cwd: folder.path },
    );
    expect(status).toBe(0);
    expect(stdout).toContain("cd typed-app");
    expect(existsSync(join(folder.path, "typed-app/package.json"))).toBe(true);
    expect(existsSync(join(folder.path, "typed-app/.git"))).toBe(false);
    const manifest = JSON.parse(await readFile(join(folder.path, "typed-app/package.json"), "utf8"));
    expect(manifest["create-tsgi"]).toMatchObject({
      template: "auth",
      database: "postgresql",
      extras: "jobs",
      docker: false,
      loadTests: true,
      ci: false,
      packageManager: "pnpm",
    });
  });

  slowly("prompts for the runtime first, and then only for available options", async () => {
    await using folder = await temporaryFolder();
    const { status } = await createTsgiAtTerminal(
      ["typed-app", "--no-git", "--no-install"],
      [
        [/api: routers/, `${keys.down}${keys.enter}`],
        [/none: no database/, keys.enter],
        [/Runtime/, `${keys.down}${keys.down}${keys.enter}`],
        [/Deploy to/, keys.enter],
        [/Write a Dockerfile/, keys.enter],
        [/Write a workflow/, keys.enter],
      ],
      { cwd: folder.path },
    );
    expect(status).toBe(0);
    expect(readdirSync(join(folder.path, "typed-app"))).toEqual(expect.arrayContaining(["Dockerfile", "deno.json"]));
  });

  slowly("prompts for a database of the template api, and then not for the runtime", async () => {
    await using folder = await temporaryFolder();
    const { status } = await createTsgiAtTerminal(
      ["typed-app", "--no-git", "--no-install", "--no-load-tests", "--no-ci", "--package-manager=npm"],
      [
        [/Template/, `${keys.down}${keys.enter}`],
        [/postgresql: a server, for several replicas/, `${keys.down}${keys.enter}`],
        [/Deploy to/, keys.enter],
        [/Optional parts/, ` ${keys.enter}`],
        [/Write a Dockerfile/, keys.enter],
      ],
      { cwd: folder.path },
    );
    expect(status).toBe(0);
    const schema = await readFile(join(folder.path, "typed-app/prisma/schema.prisma"), "utf8");
    expect(schema).toContain('provider = "sqlite"');
    expect(existsSync(join(folder.path, "typed-app/src/jobs.ts"))).toBe(true);
  });

  it("prompts again for an invalid name, with the reason", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "taken"));
    await writeFile(join(folder.path, "taken/notes.txt"), "mine");
    const erase = "\u007F".repeat(12);
    const { status } = await createTsgiAtTerminal(
      [...noQuestions, "--no-git", "--no-install"],
      [
        [/Name of the project/, `My App${keys.enter}`],
        [/capital letters/, `${erase}taken${keys.enter}`],
        [/is not empty/, `${erase}free${keys.enter}`],
      ],
      { cwd: folder.path },
    );
    expect(status).toBe(0);
    expect(readdirSync(folder.path).toSorted()).toEqual(["free", "taken"]);
  });

  describe.each([
    ["Ctrl-C", keys.controlC, it],
    ["Ctrl-D", keys.controlD, slowly],
  ] as const)("after %s in a prompt", (_name, key, check) => {
    check("exits with 130 and without files", async () => {
      await using folder = await temporaryFolder();
      const { status, stdout } = await createTsgiAtTerminal(
        [...noQuestions, "my-app"],
        [[/Make it a Git repository/, key]],
        {
          cwd: folder.path,
        },
      );
      expect(status).toBe(130);
      expect(stdout).toContain("create-tsgi: cancelled, no files were written");
      expect(readdirSync(folder.path)).toEqual([]);
    });
  });

  it.each([
    ["--yes", ["--yes"], {}],
    ["CI", [], { CI: "true" }],
  ])("does not prompt with %s", async (_name, parameters, env) => {
    await using folder = await temporaryFolder();
    const { status, stdout } = await createTsgiAtTerminal(["--no-install", "--no-git", ...parameters], [], {
      cwd: folder.path,
      env,
    });
    expect(status).toBe(0);
    expect(stdout).toContain("Using these defaults: name my-app, template auth, ");
    expect(existsSync(join(folder.path, "my-app/package.json"))).toBe(true);
  });

  it("stops an installation on Ctrl-C, ends with 130 and reports the state of the project", async () => {
    await using folder = await temporaryFolder();
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    // Stands for an npm that is busy until it is interrupted.
    const busy = `process.on("SIGINT", () => process.exit(130)); setInterval(() => {}, 60_000); console.log("busy");`;
    await writeFile(join(bin, "npm"), `#!/usr/bin/env node\n${busy}\n`, { mode: 0o755 });
    const { status, stdout } = await createTsgiAtTerminal(
      [...noQuestions, "my-app", "--no-git", "--install"],
      [[/busy/, keys.controlC]],
      { cwd: folder.path, env: { PATH: `${bin}:${process.env["PATH"]}` } },
    );
    expect(status).toBe(130);
    expect(stdout).toMatch(/cancelled.*npm install/s);
    expect(existsSync(join(folder.path, "my-app/package.json"))).toBe(true);
  });
});

describe("npm that is interrupted before this process hears of it", () => {
  it("counts as Ctrl-C: status 130 and the state of the project", async () => {
    await using folder = await temporaryFolder();
    const bin = join(folder.path, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "npm"), "#!/bin/sh\nexit 130\n", { mode: 0o755 });
    const result = await spawnTsgi(["my-app", "--yes", "--no-git", "--install"], {
      cwd: folder.path,
      env: { PATH: `${bin}:${process.env["PATH"]}` },
    });
    expect(result.status).toBe(130);
    expect(result.stderr).toContain("cancelled, the project is written");
  });
});
