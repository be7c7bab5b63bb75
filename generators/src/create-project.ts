import { Console } from "node:console";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createLogger, QueuedAdapter, TerminalAdapter } from "@yeoman/adapter";
import { createPromptModule } from "inquirer";
import { createEnv } from "yeoman-environment";
import { AppGenerator, type AppSettings } from "./app-generator.js";
import { CommandError, ExitCode } from "./errors.js";

const NAMESPACE = "tsgi:app";

/** Replaces Yeoman's log, which would repeat each message. */
function createSilentLog() {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const log = createLogger({ console: new Console(nowhere) });
  log.write = () => log;
  return log;
}

/**
 * Creates a project: runs the generator in a Yeoman environment, with inquirer asking the questions.
 *
 * @throws CommandError for errors that the user can correct, and after Ctrl-C in a question
 */
export async function createProject(options: AppSettings): Promise<void> {
  const terminal = new TerminalAdapter({ promptModule: createPromptModule(), log: createSilentLog() });
  const environment = createEnv({
    adapter: new QueuedAdapter({ adapter: terminal }),
    // Yeoman first reads .yo-rc.json here and in the home folder. The user's files must not take part.
    cwd: options.packageRoot,
    localConfigOnly: true,
    skipInstall: true,
  });
  // With this path Yeoman finds this package's package.json instead of the one in the current folder.
  environment.register(AppGenerator, { namespace: NAMESPACE, resolved: join(options.packageRoot, "package.json") });
  try {
    const generator = await environment.create(NAMESPACE, { generatorOptions: { ...options, skipCache: true } });
    await environment.runGenerator(generator);
  } catch (error) {
    throw isCancelled(error)
      ? new CommandError(`cancelled, ${options.cancellation.consequence}`, ExitCode.cancelled)
      : error;
  }
}

/** True for inquirer's errors after Ctrl-C and closed input, and for npm stopped by Ctrl-C. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && ["ExitPromptError", "AbortPromptError", "InterruptedError"].includes(error.name);
}
