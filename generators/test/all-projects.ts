import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { blocksOf, PAGES } from "./agent-pages.js";
import { calls, callsWithModels } from "./generated-calls.js";
import { extrasFor } from "../src/extras.js";
import { extraNames, type TemplateName } from "../src/options.js";
import { linkPackages, scaffoldInto, type Project } from "./scaffolded.js";
import { repositoryRoot, run, temporaryFolder, type Result } from "./support.js";

export interface Kind {
  readonly name: string;
  readonly flags: readonly string[];
  /** The sub-generators that add code to it. */
  readonly calls: readonly (readonly string[])[];
  /** The project whose Prisma client it uses. Defaults to the first one of the same schema. */
  readonly client?: string;
}

/** Every template with every database. */
const TEMPLATES = [
  { name: "minimal", flags: ["--template=minimal"] },
  { name: "api", flags: ["--template=api"] },
  { name: "api-sqlite", flags: ["--template=api", "--database=sqlite"] },
  { name: "api-postgresql", flags: ["--template=api", "--database=postgresql"] },
  { name: "auth-sqlite", flags: ["--template=auth", "--database=sqlite"] },
  { name: "auth-postgresql", flags: ["--template=auth", "--database=postgresql"] },
];

const hasDatabase = (name: string) => /sqlite|postgresql/.test(name);

/** With all that the sub-generators write. */
export const GROWN: readonly Kind[] = TEMPLATES
  // Its code differs from `auth-sqlite` in the lines of the database, which `auth-postgresql-all` has.
  .filter(({ name }) => name !== "auth-postgresql")
  .map(({ name, flags }) =>
    hasDatabase(name)
      ? { name: `${name}-grown`, flags, calls: callsWithModels, client: `${name}-grown` }
      : { name: `${name}-grown`, flags, calls },
  );

/** The projects with tables or a database that no grown project has. */
const OWN_CLIENTS = new Map(
  ["auth-postgresql", "auth-sqlite-bare", "auth-postgresql-all"].map((name) => [
    name,
    name === "auth-postgresql" ? "auth-postgresql-all" : name,
  ]),
);

const WITHOUT = ["--no-docker", "--no-load-tests", "--no-ci", "--package-manager=pnpm"];

/** As they are created. */
const CREATED: readonly Kind[] = [
  ...TEMPLATES,
  { name: "minimal-without", flags: ["--template=minimal", ...WITHOUT] },
  { name: "api-without", flags: ["--template=api", ...WITHOUT] },
  { name: "minimal-jobs", flags: ["--template=minimal", "--with=jobs"] },
  { name: "api-jobs", flags: ["--template=api", "--with=jobs"] },
  { name: "api-sqlite-jobs", flags: ["--template=api", "--database=sqlite", "--with=jobs"] },
  { name: "api-postgresql-jobs", flags: ["--template=api", "--database=postgresql", "--with=jobs"] },
  { name: "auth-sqlite-bare", flags: ["--template=auth", "--no-items"] },
  { name: "auth-postgresql-all", flags: ["--template=auth", "--database=postgresql", `--with=${extraNames.join()}`] },
  { name: "api-all", flags: ["--template=api", "--with=jobs,mcp,metrics,tracing,nginx"] },
  { name: "lambda", flags: ["--template=api", "--deploy=lambda"] },
  { name: "vercel", flags: ["--template=minimal", "--deploy=vercel"] },
  { name: "netlify", flags: ["--template=minimal", "--deploy=netlify"] },
  { name: "kubernetes", flags: ["--template=minimal", "--deploy=kubernetes"] },
].map((kind) => {
  const client = `${kind.name.replace("-jobs", "")}-grown`;
  return { ...kind, calls: [], ...(hasDatabase(kind.name) ? { client: OWN_CLIENTS.get(kind.name) ?? client } : {}) };
});

/** A template as it is, with each optional part that it can have, and with all of them. */
function withParts(name: string, flags: readonly string[], items = true): Kind[] {
  const template: TemplateName = name.startsWith("auth") ? "auth" : name.startsWith("api") ? "api" : "minimal";
  const parts = extrasFor({ template, items });
  const choices = [...parts.map((part) => [part, [part]] as const), ["all", parts] as const];
  return [
    { name, flags, calls: [] },
    ...choices.map(([choice, extras]) => ({
      name: `${name}-${choice}`,
      flags: [...flags, `--with=${extras.join()}`],
      calls: [],
    })),
  ];
}

/** Every template with every database and every optional part. */
export const MATRIX: readonly Kind[] = [
  ...TEMPLATES.flatMap(({ name, flags }) => withParts(name, flags)),
  ...["sqlite", "postgresql"].flatMap((database) =>
    withParts(`auth-${database}-bare`, ["--template=auth", `--database=${database}`, "--no-items"], false).filter(
      ({ name }) => /-(?:bare|all)$/.test(name),
    ),
  ),
];

/** The settings of the tools, of which one copy is enough for all projects. */
const SETTINGS = ["tsconfig.json", ".oxlintrc.json", ".oxfmtrc.json"];

/** Tools in Go use one thread and collect little garbage: 4 s of processor time instead of 7 s. */
const ENVIRONMENT = { NODE_OPTIONS: undefined, GOMAXPROCS: "1", GOGC: "400" };

/** All projects below one folder, which has the packages. */
export interface AllProjects extends AsyncDisposable {
  readonly projects: ReadonlyMap<string, Project>;
  /** The calls of sub-generators. */
  readonly results: readonly (readonly [project: string, call: readonly string[], Result])[];
  /** The text of each file with settings in each project. */
  readonly settings: readonly (readonly [path: string, texts: ReadonlySet<string>])[];
  /** Runs a tool over all projects. */
  tool(name: string, ...parameters: string[]): Promise<Result>;
  /** Runs tests of the projects. @returns for each file "passed", or its errors */
  test(files: readonly string[]): Promise<Map<string, string>>;
  /** Runs all tests of a project. */
  testAll(name: string, env: Readonly<Record<string, string>>): Promise<Result>;
  /** Puts the compiled code of a project to its place. */
  build(name: string): Project;
}

/** Writes all projects, and makes them one project for the compiler and the linter. */
export async function writeAllProjects(kinds: readonly Kind[] = [...GROWN, ...CREATED]): Promise<AllProjects> {
  const folder = await temporaryFolder();
  await linkPackages(folder.path);
  const tool = (name: string, ...parameters: string[]) =>
    run(join(folder.path, "node_modules/.bin", name), parameters, { cwd: folder.path, env: ENVIRONMENT });
  const projects = new Map<string, Project>();
  const results: AllProjects["results"][number][] = [];
  for (const { name, flags, calls: added } of kinds) {
    mkdirSync(join(folder.path, name));
    const project = await scaffoldInto(join(folder.path, name), "my-app", ...flags);
    projects.set(name, project);
    const done = await project.createInOrder(added);
    results.push(...done.map((result, index) => [name, added[index] ?? [], result] as const));
    if (kinds !== MATRIX && TEMPLATES.some((template) => template.name === name)) addPages(project.path);
  }
  // As the sub-generators do it for each file, in a project that has the formatter.
  if (results.length > 0) await tool("oxfmt", ...GROWN.map(({ name }) => name));
  await addClients(kinds, (name) => join(folder.path, name, "my-app"));
  const settings = shareSettings(folder.path, projects);
  return {
    projects,
    results,
    settings,
    tool,
    test: (files) => runTests(folder.path, projects, files),
    testAll: async (name, env) => {
      const project = projects.get(name);
      if (project === undefined) throw new Error(`there is no project ${name}`);
      return run("sh", ["-c", `${project.jest()} -i`], { cwd: project.path, env: { NODE_OPTIONS: undefined, ...env } });
    },
    build: (name) => {
      const project = projects.get(name);
      if (project === undefined) throw new Error(`there is no project ${name}`);
      renameSync(join(folder.path, "dist", name, "my-app/src"), join(project.path, "dist"));
      return project;
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Runs tests in one process, as the script `test` of each project does it. */
async function runTests(
  folder: string,
  projects: ReadonlyMap<string, Project>,
  files: readonly string[],
): Promise<Map<string, string>> {
  const used = [...projects].filter(([name]) => files.some((file) => file.startsWith(`${name}/`)));
  const scripts = new Set(used.map(([, project]) => project.jest()));
  if (scripts.size !== 1) throw new Error(`different scripts: ${[...scripts].join(", ")}`);
  const output = join(folder, "results.json");
  const parameters = ["-i", "--json", `--outputFile=${output}`, "--projects", ...used.map(([, { path }]) => path)];
  const line = [...scripts, ...parameters, "--runTestsByPath", ...files].join(" ");
  const { stderr } = await run("sh", ["-c", line], { cwd: folder, env: { NODE_OPTIONS: undefined } });
  if (!existsSync(output)) throw new Error(stderr);
  const { testResults } = JSON.parse(readFileSync(output, "utf8")) as {
    testResults: { name: string; status: string; message: string }[];
  };
  return new Map(testResults.map(({ name, status, message }) => [relative(folder, name), message || status]));
}

/** Adds the code of the pages for agents to a project. */
function addPages(path: string): void {
  for (const { file, code } of PAGES.flatMap((page) => blocksOf(readFileSync(join(path, page), "utf8")))) {
    if (file === "") continue;
    mkdirSync(dirname(join(path, file)), { recursive: true });
    writeFileSync(join(path, file), code);
  }
}

/** Adds the Prisma clients, as `scripts/generate-client.js` does in each project. */
async function addClients(kinds: readonly Kind[], pathOf: (name: string) => string): Promise<void> {
  const schemaOf = (name: string) => join(pathOf(name), "prisma/schema.prisma");
  const owners = new Map<string, string>();
  const users: [user: string, owner: string][] = [];
  for (const { name, client } of kinds.filter((kind) => existsSync(schemaOf(kind.name)))) {
    const key = client ?? readFileSync(schemaOf(name), "utf8");
    const owner = client ?? owners.get(key) ?? name;
    owners.set(key, owner);
    if (owner !== name) users.push([name, owner]);
  }
  const schemas = [...new Set(owners.values())].map(schemaOf);
  const env = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  const script = join(import.meta.dirname, "prisma-clients.cjs");
  const { status, stderr } = await run(process.execPath, [script, ...schemas], { cwd: repositoryRoot, env });
  if (status !== 0) throw new Error(stderr);
  for (const [user, owner] of users)
    symlinkSync(join(pathOf(owner), "src/generated"), join(pathOf(user), "src/generated"));
}

/** Puts one copy of the settings above all projects, and removes theirs: the tools take those next to a file. */
function shareSettings(folder: string, projects: ReadonlyMap<string, Project>): AllProjects["settings"] {
  const include: string[] = [];
  const texts = SETTINGS.map((path) => [path, new Set<string>()] as const);
  for (const [name, { path }] of projects) {
    const tests = JSON.parse(readFileSync(join(path, "test/tsconfig.json"), "utf8")) as { include: string[] };
    include.push(`${name}/my-app/src`, ...tests.include.map((part) => join(name, "my-app/test", part)));
    for (const [file, found] of texts) {
      found.add(readFileSync(join(path, file), "utf8"));
      cpSync(join(path, file), join(folder, file));
      rmSync(join(path, file));
    }
    rmSync(join(path, "test/tsconfig.json"));
  }
  renameSync(join(folder, "tsconfig.json"), join(folder, "tsconfig.project.json"));
  const compilerOptions = { composite: false, rootDir: ".", outDir: "dist", tsBuildInfoFile: null, sourceMap: false };
  const whole = { extends: "./tsconfig.project.json", compilerOptions, include };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(whole));
  return texts;
}
