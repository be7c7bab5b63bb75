import { Console } from "node:console";
import { join } from "node:path";
import { Writable } from "node:stream";
import { createLogger, QueuedAdapter, TerminalAdapter } from "@yeoman/adapter";
import { createPromptModule } from "inquirer";
import { createEnv } from "yeoman-environment";
import type { Cancellation } from "./cancellation.js";
import { CommandError, ExitCode } from "./errors.js";

/** In the place of Yeoman's own log, which would say everything a second time in other words. */
function createSilentLog() {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const log = createLogger({ console: new Console(nowhere) });
  log.write = () => log;
  return log;
}

/** What every generator is given. */
interface Settings {
  /** The folder of this package. */
  packageRoot: string;
  cancellation: Pick<Cancellation, "consequence">;
}

/**
 * Runs a generator in a Yeoman environment, with inquirer asking the questions.
 *
 * @throws CommandError for everything that a person can put right, and after Ctrl-C in a question
 */
export async function runGenerator(
  generatorClass: Parameters<ReturnType<typeof createEnv>["register"]>[0],
  namespace: string,
  options: Settings,
): Promise<void> {
  const terminal = new TerminalAdapter({ promptModule: createPromptModule(), log: createSilentLog() });
  const environment = createEnv({
    adapter: new QueuedAdapter({ adapter: terminal }),
    // Yeoman reads .yo-rc.json in these two places, here and in the home folder, before anything else: not the user's.
    cwd: options.packageRoot,
    localConfigOnly: true,
    skipInstall: true,
  });
  // With its place Yeoman finds this package's package.json, instead of any in the current folder.
  environment.register(generatorClass, { namespace, resolved: join(options.packageRoot, "package.json") });
  try {
    const generator = await environment.create(namespace, { generatorOptions: { ...options, skipCache: true } });
    await environment.runGenerator(generator);
  } catch (error) {
    throw isCancelled(error)
      ? new CommandError(`cancelled, ${options.cancellation.consequence}`, ExitCode.cancelled)
      : error;
  }
}

/** inquirer's errors for Ctrl-C and for an input that ends in the middle of a question, and npm's end by Ctrl-C. */
function isCancelled(error: unknown): boolean {
  return error instanceof Error && ["ExitPromptError", "AbortPromptError", "InterruptedError"].includes(error.name);
}
