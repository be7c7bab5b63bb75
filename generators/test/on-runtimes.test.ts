import { execFileSync } from "node:child_process";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { exampleRequest } from "../src/next-steps.js";
import { startRegistry, type Registry } from "./registry.js";
import { serve } from "./scaffolded.js";
import { hasProgram, repositoryRoot, run, spawnTsgi, temporaryFolder } from "./support.js";

jest.setTimeout(900_000);

/** Minutes, most of them installation; `make test-all` sets the variable. */
const slowly = process.env["TSGI_SLOW"] && hasProgram("curl") ? describe : describe.skip;

/** The folders of the real programs, and the Node that wrangler needs. */
function fetchPrograms(): string[] {
  const script = join(repositoryRoot, "framework/scripts/runtimes.js");
  const lines = execFileSync(process.execPath, [script, "bun", "deno", "node24"], { encoding: "utf8" });
  return lines
    .trim()
    .split("\n")
    .map((line) => dirname(line.slice(line.indexOf(" ") + 1)));
}

/** The commands that people type on each runtime. */
const commands = {
  bun: {
    routes: "bun x --bun tsgi routes",
    check: "bun run check",
    test: "bun test",
    start: ["bun", "run", "start"],
    create: "bun x create-tsgi",
  },
  deno: {
    routes: "deno run -A npm:@tsgi/cli routes",
    check: "deno task check",
    test: "deno task test",
    start: ["deno", "task", "start"],
    create: null,
  },
  workers: {
    routes: "npx tsgi routes",
    check: "npm run check",
    test: "npm test",
    start: ["npm", "run", "dev", "--", "--port=0", "--ip=127.0.0.1"],
    create: "npx --yes create-tsgi",
  },
} as const;

const answers = { minimal: { item_id: 42, version: 3 }, api: { name: "Pen", price: 1.5 } } as const;

slowly("a project on another runtime (only with TSGI_SLOW=1)", () => {
  let registry: Registry;
  let env: Record<string, string>;

  beforeAll(async () => {
    registry = await startRegistry("on-runtimes");
    env = {
      ...registry.env,
      NPM_CONFIG_REGISTRY: registry.url, // the name that Deno and Bun read
      BUN_INSTALL_CACHE_DIR: join(registry.env["HOME"] ?? "", ".bun"),
      DENO_DIR: join(registry.env["HOME"] ?? "", ".deno"),
      NO_COLOR: "1",
      PATH: [...fetchPrograms(), process.env["PATH"]].join(delimiter),
    };
  });

  afterAll(async () => {
    await registry[Symbol.asyncDispose]();
  });

  /** Runs a line of a shell in a project, and shows what it said where it failed. */
  async function type(line: string, cwd: string): Promise<void> {
    const { status, stdout, stderr } = await run("sh", ["-c", line], { cwd, env, patienceMs: 600_000 });
    expect([line, status, status === 0 ? "" : stdout + stderr]).toEqual([line, 0, ""]);
  }

  it.each([
    ["bun", "minimal"],
    ["bun", "api"],
    ["deno", "minimal"],
    ["deno", "api"],
    ["workers", "minimal"],
    ["workers", "api"],
  ] as const)("npm create tsgi --runtime %s writes %s: checked, tested, started, called", async (runtime, template) => {
    await using folder = await temporaryFolder();
    const create = `npm create tsgi@latest my-app --yes -- --yes --runtime=${runtime} --template=${template}`;
    const project = join(folder.path, "my-app");
    if (runtime === "deno") {
      // Deno installs no version that was published within a day, as this one was.
      await type(`${create} --no-install`, folder.path);
      await type("deno install --minimum-dependency-age=0", project);
    } else {
      await type(create, folder.path);
    }
    const { routes, check, test, start, create: add } = commands[runtime];
    await type(routes, project);
    await type(check, project);
    await type(test, project);
    await using server = await serve(start, project, env);
    const request = exampleRequest(template).replace("http://127.0.0.1:8000", server.url);
    const { stdout } = await run("sh", ["-c", request.replace("curl", "curl --silent")], { cwd: project });
    expect(JSON.parse(stdout)).toMatchObject(answers[template]);

    if (add !== null) {
      await type(`${add} route "GET /orders/{order_id}"`, project);
      await type(check, project);
      await type(test, project);
    }
  });

  it.each(["bun", "deno"] as const)("runs from the repository, before the first release, on %s", async (runtime) => {
    await using folder = await temporaryFolder();
    const flags = ["--yes", `--runtime=${runtime}`, "--no-git"];
    const made = await spawnTsgi(["my-app", ...flags], { cwd: folder.path, env });
    expect([made.status, made.status === 0 ? "" : made.stderr]).toEqual([0, ""]);
    const project = join(folder.path, "my-app");
    await type(commands[runtime].routes, project);
    await type(commands[runtime].test, project);
    const added = await spawnTsgi(["router", "orders"], { cwd: project, env });
    expect(added).toMatchObject({ status: 0, stdout: expect.not.stringContaining("could not format") });
    await type(commands[runtime].check, project);
    await type(commands[runtime].test, project);
  });
});
