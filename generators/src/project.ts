import { randomBytes } from "node:crypto";
import type { ProjectOptions } from "./answers.js";
import { findRegistrars } from "./code/registrars.js";
import { SourceFile } from "./code/source-file.js";
import { hasDatabase } from "./databases.js";
import { linkedFolder, renderDenoJson } from "./deno-json.js";
import { renderDotenv } from "./dotenv.js";
import { LeftOut } from "./features.js";
import { allOf, selectPackages, vendoredPins, type UsedPackages } from "./framework-packages.js";
import { extrasOf, hasExtra, hasPart, hasWorker } from "./extras.js";
import { keepParts } from "./marks.js";
import { deploys, extraNames, runtimes, type Database, type Runtime } from "./options.js";
import { isNamed, nameAfterProject } from "./own-names.js";
import { renderPackageJson, scriptsOf } from "./package-json.js";
import { commandsOf } from "./package-manager.js";
import { packageManagerFiles } from "./package-manager-files.js";
import { fillPlaceholders, type Values } from "./placeholders.js";
import type { ProjectFile } from "./project-file.js";
import { folderOf } from "./project-name.js";
import { installerOf } from "./runtime-answers.js";
import { profileOf, toRuntime } from "./runtimes.js";
import { readTarball } from "./tarball.js";
import { includeRouter } from "./sub-generators/router.js";
import type { PackageSource, Template, TemplateFile } from "./template.js";
import { renderTestTsconfig, renderTsconfig } from "./tsconfig.js";

type Transform = (text: string, template: Template, options: ProjectOptions) => string;

const adapt: Transform = (text, _, { answers }) =>
  toRuntime(
    nameAfterProject(
      ofOneDatabase(
        keepParts(text, (part) => hasPart(answers, part)),
        answers,
      ),
      answers.name,
    ),
    answers.runtime,
  );

/** The sample application has a client for each database, and a project has one. */
function ofOneDatabase(text: string, { name, database }: ProjectOptions["answers"]): string {
  return text
    .replaceAll(/\bgenerated\/(?:sqlite|postgresql)\b/g, "generated")
    .replace('provider = "sqlite"', `provider = "${database}"`)
    .replaceAll("sample_auth_app", databaseNameOf(name));
}

const databaseNameOf = (name: string) => folderOf(name).replaceAll(/[^a-z0-9]/g, "_");

/** Files of the template that are not copied unchanged, each with its conversion. */
const transforms: Readonly<Record<string, Transform>> = {
  "tsconfig.json": renderTsconfig,
  "test/tsconfig.json": renderTestTsconfig,
};

/** The files that list packages: written once the modules, which import these, are known. */
const manifests = {
  "package.json": renderPackageJson,
  "deno.json": renderDenoJson,
};

const isManifest = (path: string): path is keyof typeof manifests => Object.hasOwn(manifests, path);

/**
 * Creates the files of a project from a template. Deterministic, except for the secret in `.env`.
 *
 * @returns sorted by path
 */
export async function renderProject(source: Template, options: ProjectOptions): Promise<ProjectFile[]> {
  const { runtime = "node" } = options.answers;
  const template = withOwnFiles(source, options);
  const leftOut = new LeftOut(options.answers);
  const { unused } = profileOf(runtime);
  const files = new Map<string, ProjectFile>();
  const add = (file: ProjectFile) => leftOut.hasFile(file.path) || unused.test(file.path) || files.set(file.path, file);

  for (const [path, file] of withoutManifests(template.files)) {
    const transform = transforms[path] ?? (isNamed(path) ? adapt : undefined);
    add(copy(path, file, transform && ((text) => transform(text, template, options))));
  }
  for (const file of renderOverlay(template, options)) {
    add(file);
  }
  const app = files.get(APP);
  if (app && hasExtra(options.answers, "jobs") && options.answers.template !== "auth") {
    add({ ...app, contents: Buffer.from(withReports(app.contents.toString("utf8"))) });
  }
  const example = files.get(".env.example");
  if (example) {
    add(dotenvOf(example));
  }
  const used = selectPackages(template, files.values(), scriptsOf(template, options));
  const pins = { ...vendoredPins(used), ...template.workspace.overrides };
  const others = [
    ...renderManifests(template, options, used),
    ...packageManagerFiles(installerOf(options.answers), pins),
    ...(await readVendored(template, used, runtime)),
  ];
  for (const file of others) {
    add(file);
  }
  return [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** The module of the App in the templates that have the choice of jobs. */
const APP = "src/app.ts";

/** Includes the routes that enqueue. */
function withReports(text: string): string {
  const file = new SourceFile(APP, text);
  const registrar = findRegistrars(file).find(({ kind }) => kind === "App");
  if (registrar === undefined) {
    throw new TypeError(`${APP} has no App`);
  }
  includeRouter({ module: { path: APP, file }, registrar }, "reports", "src/routes/reports.ts");
  return file.toString();
}

/** The template with the files of jobs, of the runtime and of the database in its overlay. */
function withOwnFiles(template: Template, { answers }: ProjectOptions): Template {
  const { runtime = "node" } = answers;
  const database = hasDatabase(answers) ? template.database : undefined;
  return {
    ...template,
    overlay: new Map([
      ...template.overlay,
      ...withoutManifest(hasExtra(answers, "jobs") ? template.jobs : undefined),
      ...(template.runtimes?.[runtime] ?? []),
      ...(template.deploys?.[answers.deploy ?? "none"] ?? []),
      ...(database ?? []),
    ]),
  };
}

/** The manifest of jobs is merged with the others. */
const withoutManifest = (files: Template["jobs"]) => [...(files ?? [])].filter(([path]) => path !== "package.json");

const withoutManifests = (files: Template["files"]) => [...files].filter(([path]) => !isManifest(path));

/** Those of `package.json` and `deno.json` that the template or its overlay has. */
function renderManifests(template: Template, options: ProjectOptions, used: UsedPackages): ProjectFile[] {
  const paths = new Set([...template.files.keys(), ...template.overlay.keys()].filter(isManifest));
  return [...paths].map((path) => ({
    path,
    contents: Buffer.from(manifests[path](template, options, used)),
    mode: 0o666,
  }));
}

/** `.env`, with a secret if the example has a place for one. */
function dotenvOf({ contents }: ProjectFile): ProjectFile {
  const text = contents.toString("utf8");
  const secret: Record<string, string> = { SECRET_KEY: randomBytes(48).toString("base64url") };
  return {
    path: ".env",
    contents: Buffer.from(renderDotenv(text, text.includes("SECRET_KEY=") ? secret : {})),
    // 0600: the key signs every token, and the URL may have a password; other users of the machine must not read them.
    mode: 0o600,
    isKept: true,
  };
}

/** The files that only projects have. */
function renderOverlay(template: Template, options: ProjectOptions): ProjectFile[] {
  const values = valuesOf(options.answers, template);
  return withoutManifests(template.overlay).map(([path, file]) => {
    const has = (part: string) => hasPart(options.answers, part);
    const transform =
      transforms[path] ??
      ((text) => toRuntime(path.endsWith(".ts") ? keepParts(text, has) : text, options.answers.runtime));
    // A leading underscore, because npm does not pack `.gitignore`.
    return copy(path.replace(/(^|\/)_/, "$1."), file, (text) =>
      transform(fillPlaceholders(text, values), template, options),
    );
  });
}

/** The packages that a project created from the repository includes. */
async function readVendored({ generator }: Template, used: UsedPackages, runtime: Runtime): Promise<ProjectFile[]> {
  const packages = allOf(used);
  if (runtime === "deno") {
    const folders = await Promise.all([...packages].map(([name, { tarball }]) => unpack(linkedFolder(name), tarball)));
    return folders.flat();
  }
  const tarballs = [...packages.values(), generator].flatMap((one) => one?.tarball ?? []);
  return Promise.all(tarballs.map(async ({ path, read }) => ({ path, contents: await read(), mode: 0o666 })));
}

async function unpack(folder: string, tarball: PackageSource["tarball"]): Promise<ProjectFile[]> {
  const files = tarball ? readTarball(await tarball.read()) : new Map<string, Buffer>();
  return [...files].map(([path, contents]) => ({ path: `${folder}/${path}`, contents, mode: 0o666 }));
}

/** The command that adds code to a project. Before an installation npx would ask the registry for packages in `vendor`. */
function createCommand(runtime: Runtime, generator: Template["generator"]): string {
  const published = { node: "npx create-tsgi", workers: "npx create-tsgi", bun: "bunx create-tsgi" };
  const vendored = { node: "npx --no -- create-tsgi", workers: "npx --no -- create-tsgi", bun: "bun run create-tsgi" };
  return runtime === "deno" ? "deno run -A npm:create-tsgi" : (generator === undefined ? published : vendored)[runtime];
}

/** The placeholders of overlays. */
function valuesOf(answers: ProjectOptions["answers"], { generator }: Template): Values {
  const {
    name,
    template,
    database,
    runtime = "node",
    deploy = "none",
    packageManager,
    docker,
    loadTests,
    ci,
  } = answers;
  const databaseName = databaseNameOf(name);
  return {
    name,
    title: folderOf(name),
    create: createCommand(runtime, generator),
    tsgi: { node: "npx tsgi", workers: "npx tsgi", bun: "bunx --bun tsgi", deno: "deno run -A npm:@tsgi/cli" }[runtime],
    // A project on Deno includes no generator, and a registry may have another package of its name.
    growing: runtime !== "deno" || generator === undefined,
    runtime: profileOf(runtime).title,
    ...Object.fromEntries(runtimes.map((one) => [one, one === runtime])),
    ...Object.fromEntries(deploys.map((one) => [`to_${one}`, one === deploy])),
    auth: template === "auth",
    healthPath: template === "auth" ? "/health" : "/openapi.json",
    // The user of the image: Deno has another number.
    userId: runtime === "deno" ? "1993" : "1000",
    serves: runtime === "bun" || runtime === "deno",
    // Cloudflare: 63 characters of a DNS label.
    workerName: folderOf(name)
      .replaceAll(/[^a-z0-9-]/g, "-")
      .slice(0, 63),
    databaseName,
    packageManager,
    ...commandsOf(installerOf(answers)),
    corepack: packageManager !== "npm",
    docker,
    loadTests,
    ci,
    ...Object.fromEntries(extraNames.map((one) => [one, extrasOf(answers).includes(one)])),
    extras: extrasOf(answers).length > 0,
    items: answers.items !== false,
    behindNginx: hasExtra(answers, "nginx") ? ", behind nginx at https://localhost:8443" : "",
    ...jobsValuesOf(answers),
    prisma: hasDatabase(answers),
    sqlite: hasDatabase(answers) && database === "sqlite",
    postgresql: hasDatabase(answers) && database === "postgresql",
    testsOnPostgreSQL: hasDatabase(answers) && database === "postgresql",
    database,
    databaseUrl: urlOf(database, databaseName),
  };
}

const programsOfAuth = {
  jobsModule: "src/extras/jobs/index.ts",
  workerCommand: "node dist/extras/jobs/worker.js",
  appCommand: "node dist/server.js",
};

const programsOfOthers = {
  jobsModule: "src/jobs.ts",
  workerCommand: "node node_modules/@tsgi/cli/bin/tsgi.js worker dist/jobs.js",
  appCommand: "node node_modules/@tsgi/cli/bin/tsgi.js run dist/app.js --host 0.0.0.0 --port 8000",
};

/** The placeholders about jobs. */
function jobsValuesOf(answers: ProjectOptions["answers"]): Values {
  const isStored = hasDatabase(answers);
  const isOnSQLite = isStored && answers.database === "sqlite";
  const jobs = hasWorker(answers);
  const hasData = jobs || isStored;
  const programs = answers.template === "auth" ? programsOfAuth : programsOfOthers;
  return {
    ...programs,
    workerList: programs.workerCommand.replaceAll(" ", ", "),
    worker: jobs,
    // Prisma reads the file of SQLite from the other variable.
    jobsUrl: isOnSQLite && answers.template !== "auth" ? "JOBS_DATABASE_URL" : "DATABASE_URL",
    postgresServer: jobs || (isStored && !isOnSQLite),
    postgresVolume: isOnSQLite ? "postgres" : "data",
    bothVolumes: jobs && isOnSQLite,
    dataVolume: hasData,
    volumes: hasData || hasExtra(answers, "nginx"),
    node22: hasExtra(answers, "jobs") || answers.runtime === "workers",
  };
}

/** The database for development. */
function urlOf(database: Database, name: string): string {
  return database === "postgresql" ? `postgresql://postgres:postgres@127.0.0.1:5432/${name}` : "file:./dev.db";
}

function copy(path: string, { contents, isExecutable }: TemplateFile, change?: (text: string) => string): ProjectFile {
  return {
    path,
    contents: change ? Buffer.from(change(contents.toString("utf8"))) : contents,
    mode: isExecutable ? 0o777 : 0o666,
  };
}
