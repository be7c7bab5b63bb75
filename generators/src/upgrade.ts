import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultAnswers } from "./answers.js";
import { ExistingProject } from "./code/existing-project.js";
import { CommandError } from "./errors.js";
import { databases, deploys, packageManagers, runtimes, templateNames, extraNames } from "./options.js";
import { planProject } from "./plan.js";
import { findNameFault } from "./project-name.js";
import { renderProject } from "./project.js";
import type { Template } from "./template.js";
import { fitDefaults } from "./runtime-answers.js";
import { findTemplates } from "./templates.js";
import { renderBase, type KeptAnswers } from "./upgrade/base.js";
import { mergeProject, type UpgradeAction, type UpgradeEntry } from "./upgrade/merge-project.js";
import { writeProject } from "./write-project.js";

/** The options of an upgrade. */
export interface UpgradeOptions {
  /** The folder of the project. */
  folder: string;
  packageRoot: string;
  /** The package that created the project. Defaults to `create-tsgi@<version>` of the registry. */
  from?: string;
  dryRun: boolean;
  /** Upgrades despite changes that are not committed. */
  force: boolean;
}

/** The report of an upgrade: the changes made, or planned with `--dry-run`. */
export interface UpgradeReport {
  folder: string;
  from: string;
  to: string;
  dryRun: boolean;
  files: readonly { path: string; action: UpgradeAction; conflicts: readonly string[] }[];
}

/**
 * Merges changes of newer templates into a project, file by file: the old template, the new template, and the project.
 * Does not delete files.
 *
 * @throws CommandError when the project has no record of its version, or has changes that are not committed
 */
export async function upgradeProject(options: UpgradeOptions): Promise<UpgradeReport> {
  const { folder, packageRoot, dryRun } = options;
  const project = ExistingProject.open(folder);
  refuseEarlierLayout(project);
  const answers = readAnswers(project);
  const from = String(project.kept["version"]);
  const templates = findTemplates(packageRoot);
  const report = { folder, from, to: templates.version, dryRun };
  if (from === templates.version && options.from === undefined) {
    return { ...report, files: [] };
  }
  if (!dryRun && !options.force) {
    refuseUncommitted(folder);
  }
  const base = await renderBase(options.from ?? publishedPackage(templates.read(answers.template), from), answers);
  const rendered = await renderProject(templates.read(answers.template), {
    answers: { ...fitDefaults(defaultAnswers({}), answers), ...answers },
    generatorVersion: templates.version,
  });
  const kept = new Set(rendered.filter(({ isKept }) => isKept).map(({ path }) => path));
  const theirs = new Map(rendered.filter(({ isKept }) => !isKept).map(({ path, contents }) => [path, contents]));
  const before = new Map([...base].filter(([path]) => !kept.has(path)));
  const ours = readOurs(folder, new Set([...before.keys(), ...theirs.keys()]));
  const entries = mergeProject({ ours, base: before, theirs }, `create-tsgi ${templates.version}`);
  if (!dryRun) {
    write(folder, entries);
  }
  return { ...report, files: entries.map(({ path, action, conflicts }) => ({ path, action, conflicts })) };
}

/**
 * The package that npm installs to create the project again.
 *
 * @throws CommandError if this package runs from the repository: a registry may have another package with its name
 */
function publishedPackage({ generator }: Template, version: string): string {
  if (generator !== undefined) {
    throw new CommandError(
      `this create-tsgi runs from the repository, so it cannot download version ${version}: ` +
        `specify the package that created this project, as in --from vendor/create-tsgi-${version}.tgz`,
    );
  }
  return `create-tsgi@${version}`;
}

/** Reads a file of the project. A link or a folder in its place does not count. */
function readOurs(folder: string, paths: ReadonlySet<string>): Map<string, Buffer> {
  const isFile = (path: string) => lstatSync(join(folder, path), { throwIfNoEntry: false })?.isFile() === true;
  return new Map([...paths].filter(isFile).map((path) => [path, readFileSync(join(folder, path))]));
}

function write(folder: string, entries: readonly UpgradeEntry[]): void {
  const files = entries.flatMap(({ path, contents }) =>
    contents === null ? [] : [{ path, contents, mode: modeOf(join(folder, path)) }],
  );
  writeProject(planProject(folder, files));
}

function modeOf(path: string): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() ? stats.mode & 0o777 : 0o666;
}

function extrasIn(value: unknown) {
  const names = typeof value === "string" ? value.split(",") : [];
  return names.length > 0 ? extraNames.filter((name) => names.includes(name)) : undefined;
}

function readAnswers({ kept, manifest, folder }: ExistingProject): KeptAnswers {
  const one = <Value extends string>(known: readonly Value[], value: unknown) => known.find((name) => name === value);
  const flag = (value: unknown) => (typeof value === "boolean" ? value : undefined);
  const template = one(templateNames, kept["template"]);
  if (
    template === undefined ||
    typeof kept["version"] !== "string" ||
    !/^\d+\.\d+\.\d+[\w.+-]*$/.test(kept["version"])
  ) {
    throw new CommandError(
      `${folder}/package.json has no version under "create-tsgi": name the package that created the project with --from`,
    );
  }
  const written = manifest["name"] ?? kept["name"];
  const name = typeof written === "string" && findNameFault(written) === null ? written : "my-app";
  const answers = {
    name,
    database: one(databases, kept["database"]),
    runtime: one(runtimes, kept["runtime"]),
    deploy: one(deploys, kept["deploy"]),
    extras: extrasIn(kept["extras"]),
    items: flag(kept["items"]),
    docker: flag(kept["docker"]),
    loadTests: flag(kept["loadTests"]),
    ci: flag(kept["ci"]),
    packageManager: one(packageManagers, kept["packageManager"]),
  };
  const given = Object.fromEntries(Object.entries(answers).filter(([, answer]) => answer !== undefined));
  return { name, template, ...given };
}

/** Its migrations and its jobs are in other folders, and an upgrade moves no files. */
function refuseEarlierLayout(project: ExistingProject): void {
  if ("jobs" in project.kept || project.has("prisma/migrations/sqlite")) {
    throw new CommandError(
      "this project is from before create-tsgi had --with, and its files are in other folders: create a new project and move your code",
    );
  }
}

/** After a failed upgrade `git checkout .` must restore the project. */
function refuseUncommitted(folder: string): void {
  const { status, stdout } = spawnSync("git", ["status", "--porcelain", "--", "."], { cwd: folder, encoding: "utf8" });
  if (status !== 0) {
    throw new CommandError(
      "the project is not in a Git repository, so changes cannot be undone: commit it, or use --force",
    );
  }
  if (stdout.trim() !== "") {
    throw new CommandError("there are changes that are not committed: commit them first, or use --force");
  }
}

/** The report as text. */
export function describeUpgrade({ from, to, dryRun, files }: UpgradeReport): string {
  if (files.length === 0) {
    return from === to
      ? `This project already has the templates of create-tsgi ${to}.`
      : `The templates of ${from} and ${to} do not differ.`;
  }
  const lines = files.flatMap(({ path, action, conflicts }) => [
    `  ${action.padEnd(9)} ${path}`,
    ...conflicts.map((conflict) => `            ${conflict}`),
  ]);
  const counted = files.filter(({ action }) => action === "conflict").length;
  return [
    `From create-tsgi ${from} to ${to}${dryRun ? " (dry run, no files are written)" : ""}:`,
    ...lines,
    ...(counted > 0 ? [`${counted} with conflicts: decide between the marks, then commit.`] : []),
    ...(dryRun ? [] : ["Next: install the dependencies, then run the checks and the tests."]),
  ].join("\n");
}
