import { parseArguments } from "./arguments.js";
import { Cancellation } from "./cancellation.js";
import { CommandError, ExitCode, messageOf, systemErrorCode } from "./errors.js";
import type { Environment } from "./npm-flags.js";
import { subCommandNames } from "./options.js";
import { print } from "./output.js";
import { versionOf } from "./templates.js";

/**
 * Runs `create-tsgi`.
 *
 * @param argv the arguments after the name of the command
 * @param packageRoot the folder of this package
 * @returns the exit status, one of {@link ExitCode}
 */
export async function main(argv: readonly string[], packageRoot: string): Promise<number> {
  try {
    const [word] = argv;
    if (word === "package") {
      await runPackage(argv.slice(1), packageRoot);
      return ExitCode.done;
    }
    if (word === "upgrade") {
      return await runUpgrade(argv.slice(1), packageRoot);
    }
    await (subCommandNames.some((name) => name === word) ? runSubCommand : runCreate)(argv, packageRoot);
    return ExitCode.done;
  } catch (error) {
    // With `--json` standard output is for programs, and messages go to standard error.
    if (argv.includes("--json")) {
      printJsonError(error);
    }
    return report(error);
  }
}

async function runCreate(argv: readonly string[], packageRoot: string): Promise<void> {
  const command = parseArguments(argv, process.env);
  if (command.help) {
    const { helpText } = await import("./help.js");
    print(helpText());
  } else if (command.version) {
    print(`${versionOf(packageRoot)}\n`);
  } else {
    // Yeoman takes 250 ms to load: only after the command line is valid.
    const { createProject } = await import("./create-project.js");
    using cancellation = new Cancellation();
    const isInteractive = !command.yes && !command.json && isTerminal() && !isContinuousIntegration(process.env);
    await createProject({ packageRoot, cancellation, command, isInteractive, ...outputOf(command) });
  }
}

async function runSubCommand(argv: readonly string[], packageRoot: string): Promise<void> {
  // It loads the parser of TypeScript, which a new project does not need.
  const { parseSubCommand } = await import("./sub-command.js");
  const command = parseSubCommand(argv);
  if (command.help) {
    const { subHelpText } = await import("./help.js");
    print(subHelpText(command.generator));
    return;
  }
  const { generateCode } = await import("./generate-code.js");
  using cancellation = new Cancellation();
  generateCode({ packageRoot, cancellation, folder: process.cwd(), command, ...outputOf(command) });
}

async function runPackage(argv: readonly string[], packageRoot: string): Promise<void> {
  const { parsePackage } = await import("./sub-command.js");
  const command = parsePackage(argv);
  if (command.help) {
    const { packageHelpText } = await import("./help.js");
    print(packageHelpText());
    return;
  }
  const { createPackage } = await import("./package.js");
  using cancellation = new Cancellation();
  await createPackage({ packageRoot, cancellation, parent: process.cwd(), command, ...outputOf(command) });
}

/** @returns 1 after conflicts, which the user must resolve */
async function runUpgrade(argv: readonly string[], packageRoot: string): Promise<number> {
  const { parseUpgrade } = await import("./sub-command.js");
  const command = parseUpgrade(argv);
  if (command.help) {
    const { upgradeHelpText } = await import("./help.js");
    print(upgradeHelpText());
    return ExitCode.done;
  }
  const { describeUpgrade, upgradeProject } = await import("./upgrade.js");
  using _ = new Cancellation();
  const done = await upgradeProject({ ...command, packageRoot, folder: process.cwd() });
  if (command.json) {
    printJson(done);
  } else {
    print(`${describeUpgrade(done)}\n`);
  }
  const isOpen = !command.dryRun && done.files.some(({ action }) => action === "conflict");
  return isOpen ? ExitCode.failed : ExitCode.done;
}

/** The output of a command: for a person, or as JSON for a program. */
function outputOf({ json }: { json: boolean }) {
  return json ? { print: () => {}, report: printJson } : { print: (line: string) => print(`${line}\n`) };
}

/** inquirer reads only from terminals. Otherwise the process would end with status 0 at the first question. */
function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

function isContinuousIntegration({ CI }: Environment): boolean {
  return CI !== undefined && CI !== "" && CI !== "0" && CI !== "false";
}

function report(error: unknown): number {
  const isExpected = error instanceof CommandError || systemErrorCode(error) !== undefined;
  const stack = error instanceof Error && !isExpected ? error.stack : undefined;
  process.stderr.write(`create-tsgi: ${stack ?? messageOf(error)}\n`);
  return exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  return error instanceof CommandError ? error.exitCode : ExitCode.failed;
}

function printJsonError(error: unknown): void {
  try {
    printJson({ error: { message: messageOf(error), exitCode: exitCodeOf(error) } });
  } catch {
    // Standard output cannot be written. Standard error has the message.
  }
}

function printJson(value: unknown): void {
  print(`${JSON.stringify(value, null, 2)}\n`);
}
