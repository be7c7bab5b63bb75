import { execFileSync, spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { parse as parseToml } from "smol-toml";
import { parseAllDocuments } from "yaml";
import type { ProjectOptions } from "../src/answers.js";
import { parseArguments } from "../src/arguments.js";
import type { Deploy } from "../src/options.js";
import { renderProject } from "../src/project.js";
import { copiesOf, isIn, readDockerfile, stagesOf } from "./dockerfile.js";
import { findFlyFaults } from "./fly-toml.js";
import { templateOf } from "./repository-templates.js";
import { scaffoldWithPackages } from "./scaffolded.js";
import { createTsgi } from "./in-process.js";
import { temporaryFolder } from "./support.js";

type Answers = ProjectOptions["answers"];

const base: Answers = {
  name: "@acme/my-app",
  template: "minimal",
  database: "none",
  docker: true,
  loadTests: false,
  ci: false,
  packageManager: "npm",
};

/** A project for a platform. */
async function render(changed: Partial<Answers>) {
  const template = templateOf(changed.template ?? base.template);
  const files = await renderProject(template, { answers: { ...base, ...changed }, generatorVersion: "0.9.0" });
  const read = (path: string) => files.find((file) => file.path === path)?.contents.toString() ?? "missing";
  return { paths: files.map(({ path }) => path), read };
}

/** The documents of a YAML file. @throws Error for YAML that cannot be parsed. */
const documentsOf = (text: string): unknown[] =>
  parseAllDocuments(text, { logLevel: "error" }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as unknown;
  });

/** The files that a project has for its platform. */
const FILES: Readonly<Record<Exclude<Deploy, "none">, readonly string[]>> = {
  lambda: ["src/lambda.ts", "template.yaml", "test/lambda.test.ts"],
  vercel: ["api/index.ts", "public/.gitkeep", "test/vercel.test.ts", "vercel.json"],
  netlify: ["netlify.toml", "netlify/functions/app.ts", "public/.gitkeep", "test/netlify.test.ts"],
  cloudflare: ["src/worker.ts", "test/worker.test.ts", "wrangler.jsonc"],
  fly: ["Dockerfile", "fly.toml"],
  kubernetes: ["Dockerfile", "kubernetes/deployment.yaml"],
};

const OWN = Object.values(FILES)
  .flat()
  .filter((path) => path !== "Dockerfile");

describe("a project with --deploy", () => {
  it.each(Object.entries(FILES))("has the files of its platform and of no other: %s", async (deploy, files) => {
    const runtime = deploy === "cloudflare" ? "workers" : "node";
    const { paths, read } = await render({ deploy: deploy as Deploy, runtime });
    expect(paths).toEqual(expect.arrayContaining([...files]));
    expect(paths.filter((path) => OWN.includes(path) && !files.includes(path))).toEqual([]);
    expect(read("README.md")).toMatch(deploy === "cloudflare" ? /Cloudflare/ : /deploy|kubectl apply/);
    expect(read("README.md")).not.toContain("{{");
  });

  it("has no such files without a platform", async () => {
    for (const deploy of [undefined, "none"] as const) {
      const { paths, read } = await render(deploy === undefined ? {} : { deploy });
      expect(paths.filter((path) => OWN.includes(path))).toEqual([]);
      expect(JSON.parse(read("package.json"))["create-tsgi"]).not.toHaveProperty("deploy");
    }
  });

  it("records the platform for an upgrade", async () => {
    const { read } = await render({ deploy: "fly" });
    expect(JSON.parse(read("package.json"))["create-tsgi"]).toMatchObject({ deploy: "fly" });
  });

  it("bundles the function of Lambda, and depends on @tsgi/lambda", async () => {
    const { read } = await render({ deploy: "lambda" });
    const { scripts, dependencies, devDependencies } = JSON.parse(read("package.json"));
    expect(scripts.bundle).toContain("esbuild src/lambda.ts");
    expect([Object.keys(dependencies), Object.keys(devDependencies)]).toEqual([
      expect.arrayContaining(["tsgi", "@tsgi/lambda"]),
      expect.arrayContaining(["esbuild"]),
    ]);
    const [template] = documentsOf(read("template.yaml").replace("!Sub ", "")) as [{ Resources: object }];
    expect(template.Resources).toMatchObject({
      Function: { Type: "AWS::Serverless::Function", Properties: { Handler: "lambda.handler" } },
    });
  });

  it.each<[string, Partial<Answers>, number, boolean]>([
    ["a stateless application", {}, 2, false],
    ["an application on PostgreSQL", { template: "api", database: "postgresql" }, 2, false],
    ["an application on SQLite", { template: "api", database: "sqlite" }, 1, true],
    ["users and login", { template: "auth", database: "sqlite" }, 1, true],
    ["Deno", { runtime: "deno" }, 2, false],
  ])("has a Deployment with probes and without privileges: %s", async (_name, answers, replicas, hasVolume) => {
    const { read } = await render({ ...answers, deploy: "kubernetes" });
    const [deployment, service, claim] = documentsOf(read("kubernetes/deployment.yaml")) as [
      { kind: string; spec: { replicas: number; template: { spec: { containers: Record<string, unknown>[] } } } },
      { kind: string },
      { kind: string } | undefined,
    ];
    expect([deployment.kind, service.kind, claim?.kind]).toEqual([
      "Deployment",
      "Service",
      hasVolume ? "PersistentVolumeClaim" : undefined,
    ]);
    expect(deployment.spec.replicas).toBe(replicas);
    const [container] = deployment.spec.template.spec.containers;
    const httpGet = { path: answers.template === "auth" ? "/health" : "/openapi.json", port: "http" };
    expect(container).toMatchObject({
      image: "registry.example.com/my-app:1",
      livenessProbe: { httpGet },
      readinessProbe: { httpGet },
      securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
    });
  });

  it.each<[string, Partial<Answers>, boolean]>([
    ["a stateless application", {}, false],
    ["users and login", { template: "auth", database: "sqlite" }, true],
  ])("has a fly.toml with a check, and a volume for SQLite: %s", async (_name, answers, hasVolume) => {
    const { read } = await render({ ...answers, deploy: "fly" });
    const config = parseToml(read("fly.toml"));
    expect(findFlyFaults(config)).toEqual([]);
    expect(config).toMatchObject({
      app: "my-app",
      http_service: {
        internal_port: 8000,
        checks: [{ path: answers.template === "auth" ? "/health" : "/openapi.json" }],
      },
    });
    expect(config["mounts"]).toEqual(hasVolume ? { source: "data", destination: "/data" } : undefined);
    expect(read("Dockerfile")).toMatch(/EXPOSE 8000/);
  });

  it("has a fly.toml whose mistakes are found", () => {
    const wrong = { app: 1, kill_timeout: "15", http_service: { checks: {}, port: 8000 } };
    expect(findFlyFaults(wrong)).toEqual([
      "fly.toml.app is not a string",
      "fly.toml.kill_timeout is not a duration",
      "fly.toml.http_service.checks is not an array",
      "fly.toml.http_service.port is unknown",
    ]);
  });

  it.each([
    ["lambda", "src/lambda.ts", ["src/app.ts"]],
    ["vercel", "api/index.ts", ["src/app.ts"]],
    ["netlify", "netlify/functions/app.ts", ["src/app.ts"]],
    ["cloudflare", "src/worker.ts", ["src/app.ts"]],
  ] as const)("has an entry that imports files of the project: %s", async (deploy, entry, expected) => {
    const runtime = deploy === "cloudflare" ? "workers" : "node";
    const { paths, read } = await render({ deploy, runtime });
    const imports = [...read(entry).matchAll(/from "(\..*)\.js"/g)].map(([, path = ""]) =>
      join(dirname(entry), `${path}.ts`),
    );
    expect(imports).toEqual(expected);
    expect(paths).toEqual(expect.arrayContaining([...expected]));
  });

  it("has a netlify.toml with the folder of its function", async () => {
    const { read } = await render({ deploy: "netlify" });
    expect(parseToml(read("netlify.toml"))).toEqual({
      build: { command: "", publish: "public" },
      functions: {
        directory: "netlify/functions",
        node_bundler: "esbuild",
        included_files: ["node_modules/@tsgi/docs-ui/**"],
      },
    });
  });

  it("trusts the proxies of TRUSTED_PROXIES on each runtime, which fly.toml and the Deployment set", async () => {
    for (const deploy of ["fly", "kubernetes"] as const) {
      for (const runtime of ["bun", "deno"] as const) {
        const main = (await render({ deploy, runtime })).read("src/main.ts");
        expect(main).toContain("TRUSTED_PROXIES");
        expect(main).toContain("CLIENT_ADDRESS_HEADER");
      }
      const { read } = await render({ deploy });
      expect(read("fly.toml") + read("kubernetes/deployment.yaml")).toContain("TRUSTED_PROXIES");
      expect(read("Dockerfile")).toContain('"node_modules/@tsgi/cli/bin/tsgi.js", "run"');
    }
  });
});

describe("the client's address in a project with --deploy", () => {
  it.each([
    ["lambda", "src/lambda.ts", "toLambda(app)"], // from the event
    ["netlify", "netlify/functions/app.ts", "export default app.fetch"], // from the context
    ["vercel", "api/index.ts", 'toFetchHandler(app, { clientAddressHeader: "X-Real-Ip" })'],
    ["cloudflare", "src/worker.ts", 'toFetchHandler(app, { clientAddressHeader: "CF-Connecting-IP" })'],
    ["fly", "fly.toml", 'CLIENT_ADDRESS_HEADER = "Fly-Client-IP"'],
    ["kubernetes", "kubernetes/deployment.yaml", "{ name: TRUSTED_PROXIES, value: 10.0.0.0/8 }"],
  ] as const)("is read from the source that the platform documents: %s", async (deploy, file, setting) => {
    const { read } = await render({ deploy, runtime: deploy === "cloudflare" ? "workers" : "node" });
    expect(read(file)).toContain(setting);
  });

  it("is read by the template auth from the header that fly.toml names", async () => {
    const { read } = await render({ template: "auth", database: "sqlite", deploy: "fly" });
    expect(parseToml(read("fly.toml"))["env"]).toEqual({
      TRUSTED_PROXIES: "private",
      CLIENT_ADDRESS_HEADER: "Fly-Client-IP",
    });
    expect(read("src/server.ts")).toContain("clientAddressHeader");
  });
});

describe("the Dockerfile of a project", () => {
  it.each<[string, Partial<Answers>]>([
    ["minimal", {}],
    ["api on SQLite", { template: "api", database: "sqlite" }],
    ["auth", { template: "auth", database: "sqlite" }],
    ["Bun", { runtime: "bun" }],
    ["Deno", { runtime: "deno" }],
    ["pnpm", { packageManager: "pnpm" }],
  ])("copies files that are there, and runs as a user who is not root: %s", async (_name, answers) => {
    const { paths, read } = await render(answers);
    const stages = stagesOf(readDockerfile(read("Dockerfile")));
    const copies = stages.flatMap(copiesOf);
    const missing = copies.flatMap(({ from, paths: copied }) =>
      from === null ? copied.filter((path) => !isIn(paths, path)) : [],
    );
    expect(missing).toEqual([]);
    const built = copies.filter(({ from }) => from !== null).flatMap(({ paths: copied }) => copied);
    const made = ["/app/dist", "/app/node_modules"];
    expect(built.filter((path) => !made.includes(path) && !isIn(paths, path.replace("/app/", "")))).toEqual([]);
    const last = stages.at(-1) ?? [];
    const names = last.map(({ name }) => name);
    expect(names.indexOf("USER")).toBeGreaterThan(names.lastIndexOf("RUN"));
    expect(last.find(({ name }) => name === "USER")?.words).not.toEqual(["root"]);
    expect([names.filter((name) => name === "CMD").length, names.at(-1)]).toEqual([1, "CMD"]);
  });

  it("has commands of the project's own scripts", async () => {
    const { read } = await render({});
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const commands = readDockerfile(read("Dockerfile")).filter(({ name }) => name === "RUN");
    const called = commands.flatMap(({ words }) =>
      [...words.join(" ").matchAll(/npm run (\w+)/g)].map(([, name]) => name),
    );
    expect(called).toEqual(["build"]);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(called));
  });

  it("is read with its mistakes", () => {
    expect(() => readDockerfile("FROM node\nCOPPY . .")).toThrow("COPPY");
    expect(() => readDockerfile('FROM node\nCMD ["node",]')).toThrow(SyntaxError);
  });
});

describe("--deploy on the command line", () => {
  const parse = (...argv: string[]) => parseArguments(argv, {});

  it("rejects another value with the list", () => {
    expect(() => parse("--deploy=heroku")).toThrow(
      /none, lambda, vercel, netlify, cloudflare, fly(?:,| or) kubernetes|none.*lambda.*vercel.*netlify.*cloudflare.*fly.*kubernetes/,
    );
  });

  it.each([
    [["--deploy=lambda", "--template=auth"], "the template auth does not run on AWS Lambda"],
    [["--deploy=vercel", "--template=api", "--database=sqlite"], "a project with a database does not run on Vercel"],
    [["--deploy=netlify", "--runtime=bun"], "a project on Netlify does not run on bun"],
    [["--deploy=cloudflare", "--runtime=node"], "a project on Cloudflare does not run on node"],
    [["--deploy=cloudflare", "--docker"], "wrangler deploys it"],
    [["--deploy=fly", "--no-docker"], "leave --no-docker out"],
    [["--deploy=kubernetes", "--runtime=workers"], "a project on Kubernetes does not run on workers"],
  ])("rejects a project that the platform does not run: %j", (argv, message) => {
    expect(() => parse(...argv)).toThrow(message);
  });

  it.each([
    ["lambda", "template.yaml", "api"],
    ["cloudflare", "wrangler.jsonc", "api"],
    ["fly", "fly.toml", "auth"],
  ])("selects a template that the platform runs: %s", async (deploy, file, template) => {
    await using folder = await temporaryFolder();
    const flags = ["my-app", "--yes", "--json", "--dry-run", "--no-git", "--no-install", `--deploy=${deploy}`];
    const { status, stdout, stderr } = await createTsgi(flags, { cwd: folder.path });
    expect([status, stderr]).toEqual([0, ""]);
    const { answers, files } = JSON.parse(stdout) as { answers: object; files: { path: string }[] };
    expect(answers).toMatchObject({ template, deploy });
    expect(files.map(({ path }) => path)).toContain(file);
  });
});

const hasKubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;

(hasKubectl ? describe : describe.skip)("a kubernetes/deployment.yaml (skipped without kubectl)", () => {
  it("is read by kubectl", async () => {
    const { read } = await render({ template: "auth", database: "sqlite", deploy: "kubernetes" });
    const output = execFileSync("kubectl", ["label", "--local", "--filename=-", "--output=name", "a=b"], {
      input: read("kubernetes/deployment.yaml"),
      env: { ...process.env, KUBECONFIG: "/dev/null" },
    }).toString();
    expect(output.trim().split("\n")).toEqual([
      "deployment.apps/my-app",
      "service/my-app",
      "persistentvolumeclaim/my-app",
    ]);
  });
});

(process.env["TSGI_SLOW"] ? describe : describe.skip)("a written project", () => {
  it.each([
    ["lambda", "api"],
    ["vercel", "minimal"],
    ["netlify", "minimal"],
    ["kubernetes", "minimal"],
  ] as const)("passes its own checks and tests: %s", async (deploy, template) => {
    await using project = await scaffoldWithPackages(template, `--deploy=${deploy}`);
    expect(await project.check()).toMatchObject({ status: 0, stderr: "" });
    expect(await project.test()).toMatchObject({ status: 0 });
  });

  it("has a function of Lambda in one file", async () => {
    await using project = await scaffoldWithPackages("minimal", "--deploy=lambda");
    expect(await project.script("bundle")).toMatchObject({ status: 0 });
    expect(await readFile(join(project.path, "dist/lambda/lambda.mjs"), "utf8")).toContain("handler");
  });
});
