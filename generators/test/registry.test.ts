import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { exampleRequest } from "../src/next-steps.js";
import type { TemplateName } from "../src/options.js";
import { emptyDatabase } from "./empty-database.js";
import { fetchPackages, startRegistry, type Registry } from "./registry.js";
import { serve } from "./scaffolded.js";
import { hasProgram, run, temporaryFolder } from "./support.js";
import { hasTerminal, keys, runAtTerminal, type Step } from "./terminal.js";

jest.setTimeout(900_000);

/** Many minutes, most of it installation; `make test-all` sets the variable. */
const slowly = process.env["TSGI_SLOW"] ? describe : describe.skip;

/** Sends the example request of a template to a server, or returns the unexpected result. */
async function ask(template: TemplateName, url: string, cwd: string): Promise<unknown> {
  const request = exampleRequest(template).replace("http://127.0.0.1:8000", url).replace("curl", "curl --silent");
  const { stdout } = await run("sh", ["-c", request], { cwd });
  return JSON.parse(stdout);
}

const answers = {
  minimal: { item_id: 42, version: 3 },
  api: { name: "Pen", price: 1.5 },
  auth: { token_type: "bearer" },
} as const;

slowly("from a registry (only with TSGI_SLOW=1)", () => {
  let registry: Registry;

  beforeAll(async () => {
    registry = await startRegistry("registry");
  });

  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
  });

  const ifInstalled = hasProgram("curl") ? it : it.skip;

  ifInstalled.each([
    ["minimal", "none"],
    ["api", "none"],
    ["api", "sqlite"],
    ["api", "postgresql"],
    ["auth", "sqlite"],
    ["auth", "postgresql"],
  ] as const)("npm create tsgi writes %s on %s: checked, tested, started, called", async (template, database) => {
    await using folder = await temporaryFolder();
    await using server = database === "postgresql" ? await emptyDatabase() : null;
    if (server?.url === null) {
      console.warn("Skipped: there is no PostgreSQL at 127.0.0.1:5432.");
      return;
    }
    const made = await run(
      "npm",
      ["create", "tsgi@latest", "my-app", "--yes", "--", "--yes", `--template=${template}`, `--database=${database}`],
      { cwd: folder.path, env: registry.env },
    );
    expect({ ...made, stdout: "" }).toMatchObject({ status: 0 });
    const project = join(folder.path, "my-app");
    const lock = JSON.parse(await readFile(join(project, "package-lock.json"), "utf8"));
    expect(lock.packages["node_modules/tsgi"].resolved).toContain(registry.url);

    const env = { ...registry.env, ...(server === null ? {} : { DATABASE_URL: server.url }) };
    const npm = (...parameters: string[]) => run("npm", parameters, { cwd: project, env, patienceMs: 800_000 });
    // `projects.test.ts` compares the code of `auth` on both databases: it is the same.
    if (template !== "auth" || database === "sqlite") {
      const check = await npm("run", "check");
      expect([check.stdout + check.stderr, check.status]).toEqual([expect.anything(), 0]);
      const tests = await npm("test");
      expect([tests.status, /(?:● .*|^not ok.*)/m.exec(tests.stdout + tests.stderr)?.[0]]).toEqual([0, undefined]);
    }

    await using running = await serve(["npm", "start"], project, env);
    expect(await ask(template, running.url, project)).toMatchObject(answers[template]);
  });

  it.each([
    ["pnpm", "10.18.3"],
    ["yarn", "1.22.22"],
  ] as const)("%s %s creates, installs, checks, tests and starts a project", async (name, version) => {
    const bin = join(await fetchPackages(name, { dependencies: { [name]: version } }), "node_modules/.bin");
    await using folder = await temporaryFolder();
    const env = { ...registry.env, PATH: `${bin}${delimiter}${process.env["PATH"]}` };
    const call = (cwd: string, ...parameters: string[]) => run(name, parameters, { cwd, env });
    await writeFile(join(folder.path, ".yarnrc"), `--global-folder ${JSON.stringify(join(folder.path, "global"))}\n`);
    const made = await call(folder.path, "create", "tsgi", "my-app", "--yes", "--template=minimal");
    expect(made).toMatchObject({ status: 0, stdout: expect.stringContaining(`package manager ${name}`) });
    const project = join(folder.path, "my-app");
    expect(await call(project, "run", "check")).toMatchObject({ status: 0 });
    expect(await call(project, "test")).toMatchObject({ status: 0 });
    await using running = await serve([name, "start"], project, env);
    expect(await ask("minimal", running.url, project)).toMatchObject(answers.minimal);
  });

  const atTerminal = hasTerminal ? it : it.skip;

  atTerminal("npm create tsgi prompts in a terminal, uses the input, and removes everything after Ctrl-C", async () => {
    await using folder = await temporaryFolder();
    await using cache = await temporaryFolder();
    const create = ["create", "tsgi@latest", "--", "--no-install", "--no-git"];
    // npm does not prompt if it detects CI, or if its cache contains the command.
    const env = { ...registry.env, CI: "false", npm_config_cache: cache.path };
    const surroundings = { cwd: folder.path, env };
    const proceed: Step = [/Ok to proceed/, `y${keys.enter}`];
    const stopped = await runAtTerminal("npm", create, [proceed, [/Name of the project/, keys.controlC]], surroundings);
    expect(stopped.status).toBe(130);
    expect(stopped.stdout).toContain("cancelled, no files were written");
    expect(readdirSync(folder.path)).toEqual([]);

    const steps: Step[] = [
      [/Name of the project/, `typed-app${keys.enter}`],
      [/Template/, `${keys.down}${keys.enter}`],
      [/Database/, keys.enter],
      [/Runtime/, keys.enter],
      [/Deploy to/, keys.enter],
      [/Write a job/, `n${keys.enter}`],
      [/Write a Dockerfile/, `n${keys.enter}`],
      [/Write a load test/, keys.enter],
      [/Write a workflow/, keys.enter],
      [/Package manager/, keys.enter],
    ];
    const done = await runAtTerminal("npm", create, steps, surroundings);
    expect(done).toMatchObject({ status: 0, stdout: expect.stringContaining("cd typed-app") });
    const names = readdirSync(join(folder.path, "typed-app"));
    expect(names).toEqual(expect.arrayContaining([".github", "load-tests", "src"]));
    expect(names).not.toContain("Dockerfile");
  });

  it("npm run in a project finds the sub-generators and the upgrade by npx", async () => {
    await using folder = await temporaryFolder();
    const surroundings = { cwd: folder.path, env: registry.env };
    const flags = ["--yes", "--template=api", "--no-git", "--no-install"];
    await run("npm", ["create", "tsgi", "my-app", "--yes", "--", ...flags], surroundings);
    const project = { cwd: join(folder.path, "my-app"), env: registry.env };
    const router = await run("npx", ["--yes", "create-tsgi", "router", "orders"], project);
    expect(router).toMatchObject({ status: 0, stdout: expect.stringContaining("src/routes/orders.ts") });
    const upgrade = await run("npx", ["--yes", "create-tsgi", "upgrade", "--dry-run"], project);
    expect(upgrade).toMatchObject({ status: 0, stdout: expect.stringContaining("already") });
  });
});
