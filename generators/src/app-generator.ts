import { join } from "node:path";
import Generator, { type BaseOptions } from "yeoman-generator";
import { answersOf, defaultAnswers, describeDefaults, type Answers } from "./answers.js";
import type { Cancellation } from "./cancellation.js";
import { databasesOf, hasDatabase } from "./databases.js";
import { CommandError, messageOf, UsageError } from "./errors.js";
import { commitAll, makeRepository, whyNoRepository } from "./git.js";
import { describeNextSteps, exampleRequest, nextSteps } from "./next-steps.js";
import { InterruptedError, runNpm } from "./npm.js";
import { commandsOf } from "./package-manager.js";
import type { CommandOptions } from "./options.js";
import { parentFolder } from "./parent-folder.js";
import { planProject, refuseOccupied, type Plan } from "./plan.js";
import type { ProjectFile } from "./project-file.js";
import { findNameFault, folderOf } from "./project-name.js";
import { createQuestions } from "./questions.js";
import type { Report } from "./report.js";
import { findFault, fitDefaults, installerOf } from "./runtime-answers.js";
import { renderProject } from "./project.js";
import { findTemplates, versionOf } from "./templates.js";
import { writeProject } from "./write-project.js";

/** The options of the generator. */
export interface AppSettings {
  /** The folder of this package, which has the templates. */
  packageRoot: string;
  command: CommandOptions;
  /** True where questions can be asked at a terminal. */
  isInteractive: boolean;
  print: (line: string) => void;
  /** Receives the report for programs. */
  report?: (report: Report) => void;
  /** Receives the state of the project, for the message after an interruption. */
  cancellation: Pick<Cancellation, "consequence">;
}

/**
 * Creates a new project: prompts, checks, writes all files or fails, then creates a Git repository, installs it, and
 * commits it.
 *
 * Yeoman calls the methods named after its phases, in its order. Its install task is replaced by one that reports a
 * failure.
 */
export class AppGenerator extends Generator<Record<string, unknown>, BaseOptions & AppSettings> {
  #answers: Answers = defaultAnswers(process.env);
  #actions: Plan["entries"] = [];
  #isRepository = false;

  override customFeatures = { customInstallTask: true };

  /** Yeoman would read the name from a package.json of a parent folder, and fail on invalid JSON. */
  override determineAppname(): string {
    return "tsgi";
  }

  async prompting(): Promise<void> {
    const { command, isInteractive, print } = this.options;
    const given = answersOf(command);
    this.#answers = fitDefaults(this.#answers, given);
    const asked = isInteractive ? await this.#ask(given) : {};
    const chosen = { ...given, ...asked };
    const fault = findFault(chosen);
    if (fault !== null) {
      throw new UsageError(fault);
    }
    this.#answers = { ...fitDefaults(this.#answers, chosen), ...chosen };
    const line = isInteractive ? null : describeDefaults(given, this.#answers);
    if (line !== null) {
      print(line);
    }
    const { template, database } = this.#answers;
    if (given.database !== undefined && given.database !== "none" && databasesOf(template).length === 0) {
      print(`The template ${template} does not use a database: ${database} is ignored.`);
    }
  }

  async writing(): Promise<void> {
    const templates = findTemplates(this.options.packageRoot);
    const options = { answers: this.#answers, generatorVersion: templates.version };
    this.#write(await renderProject(templates.read(this.#answers.template), options));
  }

  async install(): Promise<void> {
    const { command, print } = this.options;
    if (command.dryRun) {
      return;
    }
    const reason = this.#answers.git ? whyNoRepository(this.#folder) : "not wanted";
    if (reason === null || command.git === true) {
      makeRepository(this.#folder);
      this.#isRepository = true;
    } else if (this.#answers.git) {
      print(`Did not create a Git repository: ${reason}.`);
    }
    if (this.#answers.install) {
      await this.#installDependencies();
    }
    // With the lock file that the installation has written.
    if (this.#isRepository) {
      this.#commitProject();
    }
  }

  #commitProject(): void {
    const { packageRoot, print } = this.options;
    const message = `Create ${this.#answers.name} with create-tsgi ${versionOf(packageRoot)}`;
    const fault = commitAll(this.#folder, message);
    if (fault !== null) {
      print(`The Git repository has no commit yet: ${fault}`);
    }
  }

  end(): void {
    const { command, print, report } = this.options;
    const project = { folder: this.#folder, isInstalled: this.#answers.install && !command.dryRun };
    if (!command.dryRun) {
      print(describeNextSteps(project, this.#answers, process.cwd()));
    }
    report?.({
      folder: this.#folder,
      answers: this.#answers,
      dryRun: command.dryRun,
      files: this.#actions.map(({ file, action }) => ({ path: file.path, action })),
      git: this.#isRepository,
      installed: project.isInstalled,
      next: nextSteps(project, this.#answers, process.cwd()).map((step) => step.command),
      example: exampleRequest(this.#answers.template),
    });
  }

  async #installDependencies(): Promise<void> {
    const installer = installerOf(this.#answers);
    this.options.print(`Installing the dependencies with ${installer} …`);
    // The build needs the development packages, which npm leaves out where NODE_ENV is production.
    const parameters = {
      npm: ["install", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"],
      pnpm: ["install", "--prod=false"],
      yarn: ["install"],
      bun: ["install"],
      deno: ["install"],
    };
    await this.#run(parameters[installer]);
    // Generates the modules that the application imports, so that `tsgi routes` works before the first start.
    if (hasDatabase(this.#answers)) {
      await this.#run(["run", "generate"]);
    }
  }

  async #run(parameters: readonly string[]): Promise<void> {
    await runNpm(parameters, {
      cwd: this.#folder,
      output: this.options.command.json ? "errors" : parameters[0] === "run" ? "on failure" : "terminal",
      packageManager: installerOf(this.#answers),
    }).catch((error: unknown) => {
      throw error instanceof InterruptedError
        ? error
        : new CommandError(`${messageOf(error)}; ${this.#withoutDependencies}`);
    });
  }

  get #withoutDependencies(): string {
    const { install } = commandsOf(installerOf(this.#answers));
    return `the project is written, its dependencies are missing: run ${install} in it`;
  }

  get #folder(): string {
    return this.#folderOf(this.#answers.name);
  }

  #folderOf(name: string): string {
    return join(parentFolder(this.options.command.into, this.options.packageRoot), folderOf(name));
  }

  #ask(given: Partial<Answers>): Promise<Partial<Answers>> {
    // `this.prompt` would look for earlier input in .yo-rc.json and in the home folder.
    return this.env.adapter.prompt<Partial<Answers>>(
      createQuestions(given, this.#answers, {
        findNameFault: (name) => findNameFault(name) ?? this.#findFolderFault(name),
        canBeRepository: (name) => whyNoRepository(this.#folderOf(name)) === null,
      }),
    );
  }

  /** The reason that an npm name cannot be used, for the prompt to ask again. */
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

  /** Writes all files or reverts. Not by Yeoman's in-memory file system, which decodes each file as text: 60 ms for `vendor/`. */
  #write(files: readonly ProjectFile[]): void {
    const { command, print } = this.options;
    const folder = this.#folder;
    const plan = planProject(folder, files);
    this.#actions = plan.entries;
    if (command.dryRun) {
      const lines = plan.entries.map(({ file, action }) => `  ${action.padEnd(9)} ${file.path}`);
      print([`${folder} (dry run, no files are written):`, ...lines].join("\n"));
    }
    if (!command.force) {
      refuseOccupied(plan);
    }
    if (!command.dryRun) {
      writeProject(plan);
      this.options.cancellation.consequence = this.#withoutDependencies;
      print(`Wrote ${plan.entries.filter(({ action }) => action !== "skip").length} files into ${folder}.`);
    }
  }
}
