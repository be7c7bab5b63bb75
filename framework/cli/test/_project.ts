/** A user's project in a temporary folder, and the command run in it: in the process of the test, or the built one. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Ran } from "./_in-process.js";

const FRAMEWORK = path.resolve(import.meta.dirname, "../..");

/** The command as npm links it; its program is the output of `npm run build`. */
const COMMAND = path.join(FRAMEWORK, "cli/bin/tsgi.js");

/** The output of a command. */
export interface Outcome {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A command that runs. */
export class RunningCommand {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
  output = "";
  #seen = 0;
  #wake: () => void = () => {};

  constructor(
    args: readonly string[],
    cwd: string,
    env: NodeJS.ProcessEnv,
    { isAtTerminal = false, shell = 'exec "$@"' } = {},
  ) {
    const line = [process.execPath, COMMAND, ...args];
    const child = isAtTerminal
      ? spawn("script", ["--quiet", "--return", "--flush", "--command", `exec '${line.join("' '")}'`, "/dev/null"], {
          cwd,
          env,
        })
      : spawn("sh", ["-c", shell, "sh", ...line], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    this.child = child;
    let stdout = "";
    let stderr = "";
    const keep = (text: string) => {
      this.output += text;
      this.#wake();
    };
    child.stdout.on("data", (chunk: Buffer) => keep(((stdout += chunk.toString()), chunk.toString())));
    child.stderr.on("data", (chunk: Buffer) => keep(((stderr += chunk.toString()), chunk.toString())));
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        resolve({ code, signal, stdout, stderr });
        this.#wake();
      });
    });
  }

  /** Skips the output so far. Gives what returns the output since then. */
  skip(): () => string {
    const from = this.output.length;
    this.#seen = from;
    return () => this.output.slice(from);
  }

  /** The match of the next output that matches, after the previous match. Fails when the command ends without. */
  async next(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output.slice(this.#seen));
      if (match) {
        this.#seen += match.index + match[0].length;
        return match;
      }
      if (this.child.exitCode !== null) throw new Error(`${pattern} did not come:\n${this.output}`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** The environment of the test without variables that commands read. */
function inherited(): NodeJS.ProcessEnv {
  const { PORT: _port, HOST: _host, NODE_ENV: _mode, ...rest } = process.env;
  return rest;
}

async function toOutcome({ result, stdout, stderr }: Ran): Promise<Outcome> {
  if (typeof result === "number") return { code: result, signal: null, stdout, stderr };
  await result.close();
  throw new Error(`It serves at ${result.url}.`);
}

/** A temporary project in which `tsgi` and `tsx` resolve. */
export class Project implements AsyncDisposable {
  readonly folder: string;
  readonly #commands: RunningCommand[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes a project of these files. Pass `tools: false` for one without TypeScript's loader. */
  static async create(files: Readonly<Record<string, string>>, { tools = true } = {}): Promise<Project> {
    const project = new Project(await mkdtemp(path.join(tmpdir(), "tsgi-cli-")));
    const modules = path.join(project.folder, "node_modules");
    if (tools) await symlink(path.resolve(FRAMEWORK, "../node_modules"), modules);
    else {
      await mkdir(modules);
      await symlink(path.join(FRAMEWORK, "core"), path.join(modules, "tsgi"));
    }
    await project.write({ "package.json": '{"type":"module"}', ...files });
    return project;
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(this.folder, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
  }

  /** Starts the built command. It is killed with the project when it has not ended. */
  start(
    args: readonly string[],
    env: NodeJS.ProcessEnv = {},
    options: { isAtTerminal?: boolean; shell?: string } = {},
  ): RunningCommand {
    const command = new RunningCommand(args, this.folder, { ...inherited(), ...env }, options);
    this.#commands.push(command);
    return command;
  }

  /** Starts it at a pseudo-terminal of util-linux's `script`: keys go to its standard input. */
  startAtTerminal(args: readonly string[]): RunningCommand {
    return this.start(args, { TERM: "dumb" }, { isAtTerminal: true });
  }

  /** Runs a command that ends, in this process. Use `spawn` if Node itself writes the text. */
  run(...args: string[]): Promise<Outcome> {
    return this.runWith({}, ...args);
  }

  /** The same, with these variables. */
  async runWith(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Outcome> {
    return toOutcome(await this.#runHere(env, args));
  }

  /** The same, with the standard output in a file. */
  async runTo(file: string, ...args: string[]): Promise<Outcome> {
    await using opened = await open(file, "a");
    return await toOutcome(await this.#runHere({}, args, opened.fd));
  }

  /** Runs a command that serves, in this process. */
  async serve(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<{ url: string } & AsyncDisposable> {
    const { result, stderr } = await this.#runHere(env, args);
    if (typeof result === "number") throw new Error(stderr);
    return { url: result.url, [Symbol.asyncDispose]: () => result.close() };
  }

  async #runHere(env: NodeJS.ProcessEnv, args: readonly string[], fd?: number): Promise<Ran> {
    const { runInProcess } = await import("./_in-process.js");
    return runInProcess(this.folder, args, { ...inherited(), ...env }, fd);
  }

  /** Runs the built command to its end. */
  spawn(...args: string[]): Promise<Outcome> {
    return this.start(args).ended;
  }

  /** Runs it by a line of a shell, in which it is `"$@"`. */
  runBy(shell: string, ...args: string[]): Promise<Outcome> {
    return this.start(args, {}, { shell }).ended;
  }

  /** Runs a program of the project, and returns its output. */
  async script(file: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const options = { cwd: this.folder, env: { ...process.env, ...env } };
    return (await promisify(execFile)(process.execPath, [file, ...args], options)).stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { child, ended } of this.#commands) {
      if (child.exitCode === null) child.kill("SIGTERM");
      await ended;
    }
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** An application with one route of each kind. */
export const ITEMS_APP = `import { App, Depends, t, withParams } from "tsgi";
const verify = withParams({}, async function verify() {});
const getUser = withParams({}, async function getUser() { return "ada"; });
export const app = new App({ title: "Items", version: "1.2.3", dependencies: [Depends(verify)] });
app.get("/items/{item_id}", { params: { item_id: t.Integer(), user: Depends(getUser) } },
  async function readItem({ item_id, user }) { return { item_id, user }; });
app.get("/sum", function sum() { return 1; });
app.websocket("/chat", async function chat({ ws }) { await ws.accept(); });
`;
