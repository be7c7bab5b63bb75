import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Cancellation } from "./cancellation.js";
import { ExistingProject } from "./code/existing-project.js";
import { UsageError } from "./errors.js";
import { formatFiles } from "./format-files.js";
import { fillPlaceholders } from "./placeholders.js";
import { planProject, type FileAction } from "./plan.js";
import { toRuntime } from "./runtimes.js";
import type { parseSubCommand } from "./sub-command.js";
import { writeProject } from "./write-project.js";

/** The document of `--json` for a sub-generator: the changes made, or planned with `--dry-run`. */
export interface CodeReport {
  /** Absolute path of the project. */
  folder: string;
  dryRun: boolean;
  files: readonly { path: string; action: FileAction }[];
  notes: readonly string[];
}

/** The options of a sub-generator. */
export interface CodeSettings {
  /** The folder of this package. */
  packageRoot: string;
  /** The folder of the project. */
  folder: string;
  command: ReturnType<typeof parseSubCommand>;
  /** Receives the state of the project, for the message after an interruption. */
  cancellation: Pick<Cancellation, "consequence">;
  print: (line: string) => void;
  report?: (report: CodeReport) => void;
}

/**
 * Adds code to an existing project: plans all changes, writes all or reverts, and formats the files.
 *
 * @throws CommandError for errors that the user can correct
 */
export function generateCode({ packageRoot, folder, command, cancellation, print, report }: CodeSettings): void {
  const { generator, parameters, file, dryRun } = command;
  if (parameters.length < generator.parameters[0]) {
    const missing = generator.usage.split(" ").slice(1).join(" ");
    throw new UsageError(`${missing} is missing; usage: create-tsgi ${generator.usage}, e.g. ${generator.example}`);
  }
  const project = ExistingProject.open(folder);
  const outcome = generator.plan(project, {
    parameters,
    ...(file === undefined ? {} : { file }),
    readCode: (name, values) => fillPlaceholders(readFileSync(join(packageRoot, `code/${name}.txt`), "utf8"), values),
  });
  const plan = planProject(
    folder,
    outcome.changes.map(({ path, text, isNew }) => ({
      path,
      mode: 0o666,
      isKept: isNew,
      contents: Buffer.from(path.endsWith(".ts") ? toRuntime(text, project.runtime) : text),
    })),
  );
  const files = plan.entries.map((entry) => ({ path: entry.file.path, action: entry.action }));
  const written = files.filter(({ action }) => action !== "skip").map(({ path }) => path);
  const notes = [...outcome.notes];
  if (!dryRun && written.length > 0) {
    writeProject(plan);
    cancellation.consequence = "the files are written";
    notes.push(...formatFiles(folder, written));
  }
  const lines = files.map(({ path, action }) => `  ${(action === "overwrite" ? "change" : action).padEnd(9)} ${path}`);
  print([...(dryRun ? ["Dry run, no files are written:"] : []), ...lines, ...notes].join("\n"));
  report?.({ folder, dryRun, files, notes });
}
