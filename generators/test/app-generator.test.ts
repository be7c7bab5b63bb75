import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "@jest/globals";
import { createHelpers } from "yeoman-test";
import type { Answers } from "../src/answers.js";
import { AppGenerator } from "../src/app-generator.js";
import type { CommandOptions } from "../src/options.js";
import { packageRoot, temporaryFolder } from "./support.js";

// Yeoman imports node:process, of which jest reads every property for that, and so opens standard input.
afterAll(() => {
  const { stdin } = process;
  if ("unref" in stdin) {
    stdin.unref();
  }
});

const noFlags: CommandOptions = { yes: false, force: false, dryRun: false, json: false, help: false, version: false };

/** Input for every prompt except name and Git. */
const everyFlag: Partial<CommandOptions> = {
  template: "auth",
  database: "sqlite",
  deploy: "none",
  extras: [],
  docker: true,
  loadTests: true,
  ci: true,
  packageManager: "npm",
  install: false,
};

/** Runs the generator in Yeoman's own environment for tests, whose adapter replaces the person. */
async function generate(command: Partial<CommandOptions>, answers: Partial<Answers> | null) {
  const printed: string[] = [];
  const { askedQuestions } = await createHelpers({})
    .create<AppGenerator>(AppGenerator, {
      tmpdir: false,
      cwd: packageRoot,
      resolved: join(packageRoot, "package.json"),
    })
    .withOptions({
      packageRoot,
      command: { ...noFlags, install: false, ...command },
      isInteractive: answers !== null,
      print: (line: string) => printed.push(line),
      cancellation: { consequence: "" },
      localConfigOnly: true,
    })
    .withAnswers(answers ?? {})
    .run();
  return { asked: askedQuestions.map(({ name }) => name), printed: printed.join("\n") };
}

describe("the generator at a terminal", () => {
  it("prompts for everything that no flag sets", async () => {
    await using folder = await temporaryFolder();
    const answers = { name: "asked-app", template: "minimal" as const, git: false, install: false };
    const { asked, printed } = await generate({ into: folder.path, install: undefined }, answers);
    expect(asked).toEqual([
      "name",
      "template",
      "runtime",
      "deploy",
      "extras",
      "docker",
      "loadTests",
      "ci",
      "packageManager",
      "git",
      "install",
    ]);
    expect(existsSync(join(folder.path, "asked-app/package.json"))).toBe(true);
    expect(existsSync(join(folder.path, "asked-app/.git"))).toBe(false);
    expect(printed).not.toContain("Not asked");
  });

  it("does not prompt for the values of flags", async () => {
    await using folder = await temporaryFolder();
    const { asked } = await generate({ ...everyFlag, into: folder.path, name: "given-app", git: false }, {});
    expect(asked).toEqual([]);
    expect(existsSync(join(folder.path, "given-app/package.json"))).toBe(true);
  });

  it("does not prompt for Git if the project is already in a repository", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "my-app/.git"), { recursive: true });
    const command = { ...everyFlag, into: folder.path, name: "my-app", install: undefined };
    const { asked } = await generate(command, { install: false });
    expect(asked).toEqual(["install"]);
  });

  it("prompts for a database if the template has one", async () => {
    await using folder = await temporaryFolder();
    const command = { ...everyFlag, into: folder.path, name: "my-app", git: false, database: undefined };
    const { asked } = await generate(command, { database: "postgresql" });
    expect(asked).toEqual(["database"]);
    const example = readFileSync(join(folder.path, "my-app/.env.example"), "utf8");
    expect(example).toContain("DATABASE_URL=postgresql://postgres:postgres@127.0.0.1:5432/my_app\n");
    expect(asked).not.toContain("template");
  });
});

describe("the generator at a terminal, for the template api", () => {
  const given = {
    name: "my-app",
    loadTests: false,
    ci: true,
    packageManager: "npm",
    git: false,
    install: false,
  } as const;

  it("prompts for the runtime, and then only for available options", async () => {
    await using folder = await temporaryFolder();
    const answers = { template: "api" as const, database: "none" as const, runtime: "deno" as const, docker: true };
    const { asked } = await generate({ ...given, into: folder.path, packageManager: undefined }, answers);
    expect(asked).toEqual(["template", "database", "runtime", "deploy", "docker"]);
    expect(readdirSync(join(folder.path, "my-app"))).toEqual(expect.arrayContaining(["Dockerfile", "deno.json"]));
  });

  it("does not prompt for the runtime of a project with a database", async () => {
    await using folder = await temporaryFolder();
    const answers = { template: "api" as const, database: "sqlite" as const, extras: ["jobs" as const], docker: true };
    const { asked } = await generate({ ...given, into: folder.path }, answers);
    expect(asked).toEqual(["template", "database", "deploy", "extras", "docker"]);
    const schema = readFileSync(join(folder.path, "my-app/prisma/schema.prisma"), "utf8");
    expect(schema).toContain('provider = "sqlite"');
    expect(existsSync(join(folder.path, "my-app/src/jobs.ts"))).toBe(true);
  });
});

describe("the generator without a terminal", () => {
  it("does not prompt, and prints the values that it uses", async () => {
    await using folder = await temporaryFolder();
    const { asked, printed } = await generate({ into: folder.path, git: false }, null);
    expect(asked).toEqual([]);
    expect(printed).toContain(
      "Using these defaults: name my-app, template auth, database sqlite, deploy none, extras none, docker yes, ",
    );
    expect(printed).toMatch(/Wrote \d+ files into .*my-app\./);
  });

  it("rejects with the reason, and no file is written", async () => {
    await using folder = await temporaryFolder();
    await mkdir(join(folder.path, "my-app"));
    await writeFile(join(folder.path, "my-app/notes.txt"), "mine");
    await expect(generate({ into: folder.path, git: false }, null)).rejects.toThrow(
      /is not empty: it contains notes\.txt/,
    );
    expect(readdirSync(join(folder.path, "my-app"))).toEqual(["notes.txt"]);
  });
});
