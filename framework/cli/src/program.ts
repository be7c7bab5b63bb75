/** The commands with their flags. The code of each is loaded when it runs. @module */
import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import type { DevFlags } from "./dev.js";
import type { JobsFlags } from "./jobs.js";
import type { WorkerFlags } from "./worker.js";
import type { RunningServer } from "tsgi/node";
import { EnvFiles } from "./env-file.js";
import { EXIT } from "./errors.js";
import type { OpenAPIFlags } from "./openapi.js";
import type { RunFlags } from "./run.js";
import type { Terminal } from "./terminal.js";

/** The argument of commands: its name and description. */
type Argument = readonly [name: string, description: string];

const MODULE: Argument = [
  "[module]",
  "the file that exports the app as `app` or `default` (default: src/app.ts and similar)",
];
const JOBS_MODULE: Argument = ["[module]", "the file that exports the Jobs (default: src/app.ts and similar)"];
const JOB_ACTIONS = ["list", "show", "retry", "cancel", "schedules", "events"];
const ACTIONS_OF_ONE_JOB = new Set(["show", "retry", "cancel"]);
const SOURCE: Argument = ["[source]", "the module, or the file (*.json) or URL of an OpenAPI document"];

/** The exit status of a command, or the server of one that serves until a signal. */
export type Result = number | RunningServer;

/** The outputs of a command, and what receives its result if that is not the status 0. */
interface Call {
  readonly terminal: Terminal;
  readonly finish: (result: Result) => void;
  readonly envFiles: EnvFiles;
}

/** Makes the command line. */
export function createProgram(terminal: Terminal, finish: (result: Result) => void): Command {
  const program = new Command("tsgi")
    .description("Serves and inspects applications written with tsgi.")
    .version(version(), "-V, --version")
    .showHelpAfterError("(tsgi --help shows every command)")
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => terminal.print(text),
      writeErr: (text) => void terminal.stderr.write(text),
    })
    .configureHelp({ sortSubcommands: false });
  // Commander's own code for a wrong line is 1, which stands for the failure of a right one.
  program.exitOverride((error) => {
    throw Object.assign(error, { exitCode: error.exitCode === 0 ? EXIT.done : EXIT.usage });
  });
  const call = { terminal, finish, envFiles: new EnvFiles() };
  addServing(program, call);
  addJobs(program, call);
  addInspecting(program, call);
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}

function addServing(program: Command, { finish, envFiles }: Call): void {
  addLoading(program, envFiles, "dev", "serve, and restart when a file changes")
    .addOption(host())
    .addOption(port())
    .addOption(loop())
    .addOption(trustedProxies())
    .addOption(clientAddressHeader())
    .option("--watch <folder...>", "more folders: a change of any file in them restarts the application", [])
    .option("--no-access-log", "do not print a line for each request")
    .action(async (module: string | undefined, flags: DevFlags) =>
      (await import("./dev.js")).dev(module, flags, envFiles),
    );
  addLoading(program, envFiles, "run", "serve in production, until SIGTERM or SIGINT")
    .addOption(host())
    .addOption(port())
    .option("--socket <path>", "listen on a Unix socket instead")
    .addOption(
      new Option("--workers <n>", "number of server processes")
        .env("WEB_CONCURRENCY")
        .default(1)
        .argParser(integer(1, 1024)),
    )
    .addOption(loop())
    .option("--tls-key <file>", "private key, PEM")
    .option("--tls-cert <file>", "certificate chain, PEM")
    .option("--http2", "enable HTTP/2 in addition to HTTP/1.1")
    .addOption(trustedProxies())
    .addOption(clientAddressHeader())
    .option("--shutdown-timeout <ms>", "graceful shutdown timeout in milliseconds", integer(0, 3_600_000))
    .action(async (module: string | undefined, flags: RunFlags) =>
      finish(await (await import("./run.js")).run(module, flags)),
    );
}

function addJobs(program: Command, { terminal, envFiles }: Call): void {
  addLoading(program, envFiles, "worker", "run jobs of @tsgi/jobs, until SIGTERM or SIGINT", JOBS_MODULE)
    .addOption(new Option("--queues <list>", "the names of the jobs to run (default: all)").argParser(listOf))
    .option("--concurrency <n>", "jobs that run at the same time (default: as the jobs declare)", integer(1, 10_000))
    .addOption(
      new Option("--shutdown-timeout <ms>", "milliseconds that running jobs have at the end")
        .default(10_000)
        .argParser(integer(0, 3_600_000)),
    )
    .action(async (module: string | undefined, flags: WorkerFlags) =>
      (await import("./worker.js")).work(module, flags),
    );
  addEnvironment(program.command("jobs").description("list, show, retry or cancel jobs of @tsgi/jobs"), envFiles)
    .addArgument(program.createArgument("<action>", "what to do").choices(JOB_ACTIONS))
    .argument("[id]", "the id of the job to show, retry or cancel")
    .option("--module <file>", "the file that exports the Jobs (default: as for tsgi worker)")
    .option("--json", "print JSON instead of a table")
    .action(async (action: string, id: string | undefined, flags: JobsFlags, command: Command) => {
      if (ACTIONS_OF_ONE_JOB.has(action) && id === undefined)
        command.error(`error: tsgi jobs ${action} takes the id of a job`);
      await (await import("./jobs.js")).runJobsCommand(action, id ?? "", flags, terminal);
    });
}

function addInspecting(program: Command, { terminal, finish, envFiles }: Call): void {
  addLoading(program, envFiles, "routes", "list every route with its handler, where it runs and its dependencies")
    .option("--json", "print JSON instead of a table")
    .action(async (module: string | undefined, flags: { json?: boolean }) =>
      (await import("./routes.js")).showRoutes(module, flags, terminal),
    );
  addLoading(program, envFiles, "openapi", "write the OpenAPI document, without a server")
    .option("--out <file>", "write to a file instead of the standard output")
    .addOption(
      new Option("--check <file>", "list the changes since that document; status 1 if one breaks clients").conflicts(
        "out",
      ),
    )
    .option("--write", "with --check: update that document, with status 0")
    .addOption(
      new Option("--async", "write the AsyncAPI document of WebSockets and events instead").conflicts([
        "check",
        "write",
      ]),
    )
    .action(async (module: string | undefined, flags: OpenAPIFlags, command: Command) => {
      if (flags.write && flags.check === undefined) command.error("error: --write requires --check <file>");
      finish(await (await import("./openapi.js")).showOpenAPI(module, flags, terminal));
    });
  addLoading(program, envFiles, "client", "write a typed client for openapi-fetch", SOURCE)
    .requiredOption("--out <file>", "the file to write, such as src/api.ts")
    .action(async (source: string | undefined, flags: { out: string }) =>
      (await import("./openapi.js")).showClient(source, flags, terminal),
    );
  addLoading(program, envFiles, "doctor", "check Node, the project, the application and its routes").action(
    async (module: string | undefined) =>
      finish(await (await import("./doctor.js")).doctor(module, envFiles, terminal)),
  );
  program
    .command("explain")
    .description("explain an error code and how to fix the error")
    .argument("[code]", "its code, such as TSGI_DUPLICATE_ROUTE (default: a list of all)")
    .action(async (code: string | undefined, _flags: object, command: Command) =>
      (await import("./explain.js")).explain(code, command, terminal),
    );
  program
    .command("completion")
    .description("print the completion script of a shell")
    .addArgument(program.createArgument("<shell>", "the shell").choices(["bash", "zsh", "fish"]))
    .action(async (shell: string) => (await import("./completion.js")).showCompletion(program, shell, terminal));
}

/** Adds a command that loads an application. */
function addLoading(
  program: Command,
  envFiles: EnvFiles,
  name: string,
  description: string,
  argument = MODULE,
): Command {
  return addEnvironment(
    program
      .command(name)
      .description(description)
      .argument(...argument),
    envFiles,
  );
}

function addEnvironment(command: Command, envFiles: EnvFiles): Command {
  return (
    command
      .option("--env-file <file>", "load environment variables from this file, including PORT")
      .option("--env-file-if-exists <file>", "the same, but ignore a missing file")
      // Immediately, so that the variables of a file apply to flags that are not on the command line.
      .on("option:env-file", (file: string) => envFiles.load(file))
      .on("option:env-file-if-exists", (file: string) => envFiles.loadIfExists(file))
  );
}

const host = () => new Option("--host <address>", "address to listen on").env("HOST").default("127.0.0.1");
const port = () =>
  new Option("--port <n>", "port, 0 for a free one").env("PORT").default(8000).argParser(integer(0, 65_535));
const loop = () =>
  new Option("--loop <name>", "I/O loop (default: uWebSockets.js if it is installed, else libuv)").choices([
    "libuv",
    "uwebsockets",
  ]);

const trustedProxies = () =>
  new Option("--trusted-proxies <list>", "proxies to trust for X-Forwarded-For and X-Forwarded-Proto")
    .env("TRUSTED_PROXIES")
    .argParser((text: string, before: string[] | undefined) => [...(before ?? []), ...listOf(text)]);

const clientAddressHeader = () =>
  new Option("--client-address-header <name>", "header of these proxies with the client's address").env(
    "CLIENT_ADDRESS_HEADER",
  );

/** The members of a list with commas or spaces. */
function listOf(text: string): string[] {
  return text.split(/[,\s]+/).filter((member) => member !== "");
}

/** Reads a whole number within bounds. */
function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`Expected a whole number from ${min} to ${max}.`);
  };
}

function version(): string {
  const file = new URL("../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
