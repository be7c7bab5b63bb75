import { relative } from "node:path";
import { clearFileState, isFilePending, setCommittedFile } from "mem-fs-editor/state";
import Generator, { type BaseOptions } from "yeoman-generator";
import type { Cancellation } from "./cancellation.js";
import { ExistingProject } from "./code/existing-project.js";
import { UsageError } from "./errors.js";
import { formatFiles } from "./format-files.js";
import { planProject, type FileAction } from "./plan.js";
import type { SubCommandOptions } from "./sub-command.js";
import type { Outcome } from "./sub-generators/sub-generator.js";
import { toRuntime } from "./runtimes.js";
import { findTemplates } from "./templates.js";
import { writeProject } from "./write-project.js";

/** The document of `--json` for a sub-generator: the changes made, or planned with `--dry-run`. */
export interface CodeReport {
  /** Absolute path of the project. */
  folder: string;
  dryRun: boolean;
  files: readonly { path: string; action: FileAction }[];
  notes: readonly string[];
}

/** The options of the generator. */
export interface CodeSettings {
  packageRoot: string;
  /** The folder of the project. */
  folder: string;
  command: SubCommandOptions;
  isInteractive: boolean;
  /** Receives the state of the project, for the message after an interruption. */
  cancellation: Pick<Cancellation, "consequence">;
  print: (line: string) => void;
  report?: (report: CodeReport) => void;
}

/**
 * Adds code to an existing project: plans all changes, writes all or reverts, and formats the files.

 */
export class CodeGenerator extends Generator<Record<string, unknown>, BaseOptions & CodeSettings> {
  #parameters: readonly string[] = [];
  #outcome: Outcome = { changes: [], notes: [] };
  #files: CodeReport["files"] = [];

  override customFeatures = { customCommitTask: () => this.#commit(), customInstallTask: true };

  override determineAppname(): string {
    return "tsgi";
  }

  async prompting(): Promise<void> {
    const { command, isInteractive } = this.options;
    const { generator, parameters } = command;
    this.#parameters = parameters;
    if (parameters.length >= generator.parameters[0]) {
      return;
    }
    const what = generator.usage.split(" ").slice(1).join(" ");
    if (!isInteractive) {
      throw new UsageError(`${what} is missing; usage: create-tsgi ${generator.usage}, e.g. ${generator.example}`);
    }
    const { word } = await this.env.adapter.prompt<{ word: string }>([
      {
        type: "input",
        name: "word",
        message: `${what.replaceAll(/["<>]/g, "")} (e.g. ${generator.example.split(" ").slice(1).join(" ")})`,
        validate: (text: string) => text.trim() !== "" || "something has to be there",
      },
    ]);
    this.#parameters = [word.trim().replaceAll('"', "")];
  }

  writing(): void {
    const { command, folder, packageRoot } = this.options;
    const project = ExistingProject.open(folder);
    this.#outcome = command.generator.plan(project, {
      parameters: this.#parameters,
      ...(command.file === undefined ? {} : { file: command.file }),
      templates: findTemplates(packageRoot),
    });
    for (const { path, text } of this.#outcome.changes) {
      this.fs.write(`${folder}/${path}`, path.endsWith(".ts") ? toRuntime(text, project.runtime) : text);
    }
  }

  end(): void {
    const { command, folder, print, report } = this.options;
    const written = this.#files.filter(({ action }) => action !== "skip").map(({ path }) => path);
    const notes = [...this.#outcome.notes];
    if (!command.dryRun && written.length > 0) {
      notes.push(...formatFiles(folder, written));
    }
    const lines = this.#files.map(
      ({ path, action }) => `  ${(action === "overwrite" ? "change" : action).padEnd(9)} ${path}`,
    );
    print([...(command.dryRun ? ["Dry run, no files are written:"] : []), ...lines, ...notes].join("\n"));
    report?.({ folder, dryRun: command.dryRun, files: this.#files, notes });
  }

  /** Writes all files or reverts. */
  #commit(): void {
    const { command, folder } = this.options;
    const pending = this.env.sharedFs.all().filter((file) => isFilePending(file));
    const isNew = new Map(this.#outcome.changes.map((change) => [change.path, change.isNew]));
    const plan = planProject(
      folder,
      pending.map(({ path, contents }) => {
        const name = relative(folder, path).replaceAll("\\", "/");
        return { path: name, mode: 0o666, isKept: isNew.get(name) === true, contents: contents ?? Buffer.alloc(0) };
      }),
    );
    this.#files = plan.entries.map(({ file, action }) => ({ path: file.path, action }));
    if (!command.dryRun && this.#files.some(({ action }) => action !== "skip")) {
      writeProject(plan);
      this.options.cancellation.consequence = "the files are written";
    }
    for (const file of pending) {
      setCommittedFile(file);
      clearFileState(file);
    }
  }
}
