import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { readdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it, jest } from "@jest/globals";
import { parseDocument } from "yaml";
import type { ProjectOptions } from "../src/answers.js";
import { parseArguments } from "../src/arguments.js";
import { renderProject } from "../src/project.js";
import { emptyDatabase } from "./empty-database.js";
import { templateOf } from "./repository-templates.js";
import { scaffoldWithPackages } from "./scaffolded.js";
import { repositoryRoot, shellEnvironment } from "./support.js";

jest.setTimeout(600_000);

type Answers = ProjectOptions["answers"];

const base: Answers = {
  name: "@acme/my-app",
  template: "minimal",
  database: "none",
  docker: true,
  loadTests: false,
  ci: true,
  packageManager: "npm",
};

async function render(changed: Partial<Answers>) {
  const template = templateOf(changed.template ?? base.template);
  const files = await renderProject(template, { answers: { ...base, ...changed }, generatorVersion: "0.9.0" });
  const read = (path: string) => files.find((file) => file.path === path)?.contents.toString() ?? "missing";
  return { paths: files.map(({ path }) => path), read, manifest: JSON.parse(read("package.json")) };
}

const OWN = [".env.example", "src/jobs.ts", "src/routes/reports.ts", "test/jobs.test.ts"];

const CHOICES: readonly Partial<Answers>[] = [
  { template: "minimal" },
  { template: "api", database: "none" },
  { template: "api", database: "sqlite" },
  { template: "api", database: "postgresql" },
];

describe("a project with --with jobs", () => {
  it.each(CHOICES)("has a job, a route that enqueues it, a test and a worker: %j", async (choice) => {
    const { paths, read, manifest } = await render({ ...choice, extras: ["jobs"] });
    expect(paths).toEqual(expect.arrayContaining([...OWN, "vendor/tsgi-jobs-0.1.0.tgz"]));
    expect(read("src/app.ts")).toContain("app.includeRouter(reports);");
    expect(manifest.scripts).toMatchObject({ worker: "tsgi worker --env-file-if-exists .env dist/jobs.js" });
    expect(manifest.engines).toEqual({ node: ">=22.12" });
    expect(read(".github/workflows/ci.yml")).toContain("node: [22, 24]");
    expect(read("README.md")).toContain("npm run worker");
    const variable = choice.database === "sqlite" ? "JOBS_DATABASE_URL" : "DATABASE_URL";
    expect(read("src/jobs.ts")).toContain(`process.env["${variable}"]`);
    expect(read(".env.example")).toMatch(new RegExp(`^# ${variable}=postgresql://`, "m"));
    const { services, volumes } = parseDocument(read("compose.yaml")).toJS();
    expect(services.worker).toMatchObject({ environment: services.app.environment });
    expect(services.worker.environment).toEqual([expect.stringMatching(`^${variable}=postgresql://`)]);
    expect(Object.keys(volumes)).toContain(String(services.postgres.volumes[0]).split(":")[0]);
  });

  it("installs the pg-boss that @tsgi/jobs requires, and records the choice for an upgrade", async () => {
    const { manifest } = await render({ extras: ["jobs"] });
    const { peerDependencies } = JSON.parse(
      await readFile(join(repositoryRoot, "framework/jobs/package.json"), "utf8"),
    );
    expect(manifest.dependencies["pg-boss"]).toBe(peerDependencies["pg-boss"]);
    expect(manifest["create-tsgi"]).toMatchObject({ extras: "jobs" });
  });

  it.each(["fly", "kubernetes"] as const)("runs a worker on %s", async (deploy) => {
    const { read } = await render({ extras: ["jobs"], deploy });
    expect(read(deploy === "fly" ? "fly.toml" : "kubernetes/deployment.yaml")).toMatch(/worker,? dist\/jobs\.js/);
  });
});

describe("a project without --with jobs", () => {
  it.each(CHOICES)("has no part of it: %j", async (choice) => {
    const { paths, read, manifest } = await render(choice);
    expect(paths.filter((path) => /jobs|reports/.test(path))).toEqual([]);
    expect(JSON.stringify(manifest)).not.toMatch(/jobs|pg-boss|worker/);
    expect(["README.md", "AGENTS.md", "compose.yaml"].filter((path) => /\bjobs?\b/.test(read(path)))).toEqual([]);
  });
});

describe("--with on the command line", () => {
  const parse = (...argv: string[]) => parseArguments(argv, {});

  it.each([
    [["--with=jobs", "--runtime=bun"], "jobs runs on Node, not on Bun"],
    [["--with=jobs", "--runtime=workers"], "jobs runs on Node, not on Workers"],
    [["--with=jobs", "--deploy=lambda"], "jobs needs a process that keeps running, which AWS Lambda does not have"],
    [["--with=metrics", "--deploy=cloudflare", "--template=api"], "not on Workers"],
    [["--with=mail", "--template=api"], "mail needs accounts: write --template auth"],
    [["--with=mcp", "--template=minimal"], "write --template auth or --template api"],
    [["--with=live", "--no-items"], "live shows the items: leave --no-items out"],
    [["--with=nginx", "--no-docker"], "leave --no-docker out"],
    [["--no-items", "--template=api"], "the template api has no items of users"],
    [["--login", "--template=minimal"], "--template api"],
    [["--with=jobs,cache"], '--with "cache" is unknown; write some of jobs, mail, '],
  ])("rejects %j", (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  it("rejects jobs if Node is older than pg-boss requires", () => {
    const version = process.env["CREATE_TSGI_NODE"];
    process.env["CREATE_TSGI_NODE"] = "22.11.0";
    try {
      expect(() => parse("--with=mail")).toThrow("mail needs Node 22.12 or later, and this is Node 22.11.0");
    } finally {
      process.env["CREATE_TSGI_NODE"] = version;
    }
  });

  it("accepts several parts, in any order", () => {
    expect(parse("--with=redis, jobs")).toHaveProperty("extras", ["jobs", "redis"]);
    expect(parse("--with=none")).toHaveProperty("extras", []);
    expect(parse("--template=api", "--login")).toHaveProperty("template", "auth");
  });
});

const slowly = process.env["TSGI_SLOW"] ? describe : describe.skip;

slowly("a written project with jobs (only with TSGI_SLOW=1)", () => {
  it.each(CHOICES)("passes its own checks and tests: %j", async ({ template = "minimal", database }) => {
    const flags = database === undefined ? [] : [`--database=${database}`];
    await using project = await scaffoldWithPackages(template, "--with=jobs", ...flags);
    expect(readdirSync(join(project.path, "vendor"))).toContain("tsgi-jobs-0.1.0.tgz");
    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
    await using server = await emptyDatabase();
    const tests = await project.script("test", database === "postgresql" ? { DATABASE_URL: server.url ?? "" } : {});
    expect(tests).toMatchObject({ status: 0, stderr: expect.stringContaining("PASS test/jobs.test.ts") });
  });

  it("runs the jobs of its application in a worker", async () => {
    await using database = await emptyDatabase();
    await using project = await scaffoldWithPackages("minimal", "--with=jobs");
    const script = join(repositoryRoot, "framework/scripts/runtimes.js");
    const line = execFileSync(process.execPath, [script, "node22"], { encoding: "utf8" }).trim();
    const path = `${dirname(line.slice("node22 ".length))}${delimiter}${join(project.path, "node_modules/.bin")}`;
    // Without the NODE_ENV of this test, with which jobs run inline.
    const { NODE_ENV: _, ...own } = shellEnvironment;
    const env = { ...own, PATH: `${path}${delimiter}${own["PATH"]}`, DATABASE_URL: database.url ?? "", PORT: "0" };
    // A separate process group, which gets the signal as a whole, as in a terminal.
    const start = (name: string) => spawn("npm", ["run", "--silent", name], { cwd: project.path, env, detached: true });
    const server = start("start");
    const worker = start("worker");
    const ended = [once(server, "close"), once(worker, "close")];
    const delivered = said(worker, /The report of 2026-01 is ready/);
    delivered.catch(() => {}); // reported below
    try {
      const url = await said(server, /http:\/\/127\.0\.0\.1:\d+/);
      const response = await fetch(`${url}/reports`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"month":"2026-01"}',
      });
      expect([response.status, await response.json()]).toEqual([202, { job: expect.any(String) }]);
      await delivered;
    } finally {
      for (const { pid = 0 } of [server, worker]) process.kill(-pid, "SIGTERM");
      await Promise.all(ended);
    }
  });
});

/** Waits for a text in the output of a process. Rejects if the process ends before. */
async function said(child: ReturnType<typeof spawn>, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (line) => {
        output += `${line}\n`;
        const found = pattern.exec(line);
        if (found) resolve(found[0]);
      });
    }
    child.once("close", () => reject(new Error(`never said ${pattern.source}:\n${output}`)));
  });
}
