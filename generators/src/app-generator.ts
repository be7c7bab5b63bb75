import { join, relative, resolve } from "node:path";
import { clearFileState, isFilePending, setCommittedFile } from "mem-fs-editor/state";
import Generator, { type BaseOptions } from "yeoman-generator";
import { answersOf, defaultAnswers, describeDefaults, type Answers } from "./answers.js";
import type { Cancellation } from "./cancellation.js";
import { CommandError, messageOf } from "./errors.js";
import { makeRepository, whyNoRepository } from "./git.js";
import { describeNextSteps } from "./next-steps.js";
import { InterruptedError, runNpm } from "./npm.js";
import { templateNames, type CommandOptions } from "./options.js";
import { planProject, refuseOccupied } from "./plan.js";
import type { ProjectFile } from "./project-file.js";
import { findNameFault, folderOf } from "./project-name.js";
import { renderProject } from "./project.js";
import { findTemplates } from "./templates.js";
import { writeProject } from "./write-project.js";

/** What the generator is given by the command, or by whoever runs it in an environment of their own. */
export interface AppSettings {
  /** The folder of this package, in which the templates are found. */
  packageRoot: string;
  command: CommandOptions;
  /** Whether somebody sits at a terminal and may be asked. */
  isInteractive: boolean;
  /** Takes a line for standard output. */
  print: (line: string) => void;
  /** Is told what a person who stops the command is left with. */
  cancellation: Pick<Cancellation, "consequence">;
}

const withoutDependencies = "the project is written, its dependencies are missing: run npm install in it";

/**
 * Makes a new project: asks, checks, writes all of it or nothing, then makes it a Git repository and installs it.
 *
 * Yeoman calls the methods named after its phases, in its order. The phase in which it would write file after file is
 * replaced by {@link writeProject}, its install task by one that reports a failure.
 */
export class AppGenerator extends Generator<Record<string, unknown>, BaseOptions & AppSettings> {
  #answers: Answers = { ...defaultAnswers };
  /** What is to be written, by absolute path. */
  readonly #files = new Map<string, ProjectFile>();

  override customFeatures = { customCommitTask: () => this.#commit(), customInstallTask: true };

  /** Yeoman would read a name out of any package.json further up, and stumble over one that is no JSON. */
  override determineAppname(): string {
    return defaultAnswers.name;
  }

  async prompting(): Promise<void> {
    const { command, isInteractive, print } = this.options;
    const given = answersOf(command);
    this.#answers = { ...defaultAnswers, ...given, ...(isInteractive ? await this.#ask(given) : {}) };
    const line = isInteractive ? null : describeDefaults(given);
    if (line !== null) {
      print(line);
    }
  }

  async writing(): Promise<void> {
    const { name, template: templateName } = this.#answers;
    const templates = findTemplates(this.options.packageRoot);
    const options = { name, templateName, generatorVersion: templates.version };
    for (const file of await renderProject(templates.read(templateName), options)) {
      const path = join(this.#folder, file.path);
      this.#files.set(path, file);
      this.fs.write(path, file.contents);
    }
  }

  async install(): Promise<void> {
    const { command, print } = this.options;
    if (command.dryRun) {
      return;
    }
    const reason = this.#answers.git ? whyNoRepository(this.#folder) : "not wanted";
    if (reason === null || command.git === true) {
      makeRepository(this.#folder);
    } else if (this.#answers.git) {
      print(`No Git repository of its own: ${reason}.`);
    }
    if (this.#answers.install) {
      print("Installing the dependencies with npm …");
      // The build needs the development packages, which npm leaves out where NODE_ENV is production.
      await runNpm(["install", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], {
        cwd: this.#folder,
        output: "terminal",
      }).catch((error: unknown) => {
        throw error instanceof InterruptedError
          ? error
          : new CommandError(`${messageOf(error)}; ${withoutDependencies}`);
      });
    }
  }

  end(): void {
    const { command, print } = this.options;
    if (!command.dryRun) {
      print(describeNextSteps({ folder: this.#folder, isInstalled: this.#answers.install }, process.cwd()));
    }
  }

  get #folder(): string {
    return this.#folderOf(this.#answers.name);
  }

  #folderOf(name: string): string {
    return resolve(this.options.command.into ?? ".", folderOf(name));
  }

  #ask(given: Partial<Answers>): Promise<Partial<Answers>> {
    const isOpen = (name: keyof Answers) => !(name in given);
    // Not by way of `this.prompt`, which would look for earlier answers in .yo-rc.json and in the home folder.
    return this.env.adapter.prompt<Partial<Answers>>([
      {
        type: "input",
        name: "name",
        message: "Name of the project",
        default: defaultAnswers.name,
        when: isOpen("name"),
        validate: (name: string) => findNameFault(name) ?? this.#findFolderFault(name) ?? true,
      },
      {
        type: "select",
        name: "template",
        message: "What to start from",
        choices: [...templateNames],
        when: isOpen("template") && templateNames.length > 1,
      },
      {
        type: "confirm",
        name: "git",
        message: "Make it a Git repository",
        when: ({ name = given.name ?? defaultAnswers.name }) =>
          isOpen("git") && whyNoRepository(this.#folderOf(name)) === null,
      },
      { type: "confirm", name: "install", message: "Install the dependencies now", when: isOpen("install") },
    ]);
  }

  /** Why a name cannot be taken although it is an npm name: so that it can be asked again at once. */
  #findFolderFault(name: string): string | null {
    try {
      const plan = planProject(this.#folderOf(name), []);
      if (!this.options.command.force) {
        refuseOccupied(plan);
      }
      return null;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Everything that is pending in Yeoman's file system in memory goes to disk, or nothing of it. */
  #commit(): void {
    const { command, print } = this.options;
    const folder = this.#folder;
    const pending = this.env.sharedFs.all().filter((file) => isFilePending(file));
    const plan = planProject(
      folder,
      pending.map(({ path, contents }) => ({
        path: relative(folder, path).replaceAll("\\", "/"),
        mode: 0o666,
        ...this.#files.get(path),
        contents: contents ?? Buffer.alloc(0),
      })),
    );
    if (command.dryRun) {
      const lines = plan.entries.map(({ file, action }) => `  ${action.padEnd(9)} ${file.path}`);
      print([`${folder} (dry run, nothing is written):`, ...lines].join("\n"));
    }
    if (!command.force) {
      refuseOccupied(plan);
    }
    if (!command.dryRun) {
      writeProject(plan);
      this.options.cancellation.consequence = withoutDependencies;
      print(`Wrote ${plan.entries.filter(({ action }) => action !== "skip").length} files into ${folder}.`);
    }
    for (const file of pending) {
      setCommittedFile(file);
      clearFileState(file);
    }
  }
}
