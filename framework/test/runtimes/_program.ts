/** The program of these tests under a runtime, with the package as npm would install it, and its remote control. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "@jest/globals";
import type { SendMessage } from "../../core/src/protocol/asgi.js";
import type { ServeOptions } from "../../core/src/node.js";
import { binaryOf, IS_SLOW } from "../support/on-demand.js";
import { installPackages } from "../support/packages.js";

export { binaryOf };

const PROGRAMS = ["files", "http-app.mjs", "http-server.mjs", "http-worker.mjs", "program.mjs", "workers.mjs"];

/** A runtime: its name, and the command that runs a program. */
export type Runtime = readonly [name: string, command: readonly string[]];

/**
 * The Node that runs this test, and all others if their binaries run here, which are downloaded if they are missing.
 */
function findRuntimes(): Runtime[] {
  const own: Runtime = [`node${process.versions.node}`, [process.execPath]];
  if (!IS_SLOW || process.platform !== "linux" || process.arch !== "x64") return [own];
  const others = ["node22", "node24", "node26", "bun", "deno"].map((name): Runtime => {
    const path = binaryOf(name);
    return [name, name === "deno" ? [path, "run", "--allow-all", "--no-prompt"] : [path]];
  });
  return [own, ...others];
}

/** Describes each runtime, with TSGI_SLOW=1 only: the engine's other tests hold it to the same in their own process. */
export const onEach = (IS_SLOW ? describe : describe.skip).each(findRuntimes());

/** A folder with the programs and `tsgi` in its `node_modules`. */
async function install(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tsgi-runtime-"));
  await installPackages(folder, ["tsgi", "ws"]);
  await writeFile(join(folder, "package.json"), '{ "type": "module", "dependencies": { "tsgi": "*" } }');
  for (const file of PROGRAMS) await cp(join(import.meta.dirname, file), join(folder, file), { recursive: true });
  return folder;
}

/** A failure that the program reports. */
export interface Failure {
  readonly error: { readonly name: string; readonly code: string; readonly message: string };
}

/** The log of the program and the reports of its applications since the last call, and all calls of its echo. */
interface Seen {
  readonly lines: readonly string[];
  readonly events: readonly string[];
  readonly calls: number;
}

/** A server in the program. */
export interface RemoteServer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  readonly loop: string;
  close(): Promise<object>;
}

type Options = Omit<ServeOptions, "tls"> & { tls?: Record<string, string> };

/** The running program. */
export class Program implements AsyncDisposable {
  readonly child: ChildProcess;
  /** Exit code or signal. */
  readonly ended: Promise<number | string>;
  stderr = "";
  /** Warnings and errors in the log. */
  readonly lines: string[] = [];
  /** The address that the program has printed. */
  url = "";
  readonly #events: string[] = [];
  readonly #folder: string;
  #count = 0;

  private constructor(folder: string, [file = "", ...args]: readonly string[]) {
    this.#folder = folder;
    this.child = spawn(file, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"], detached: true });
    this.child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = once(this.child, "close").then(([code, signal]: (number | string | null)[]) => signal ?? code ?? 0);
  }

  /** Starts the program with the remote control. */
  static async start([name, command]: Runtime): Promise<Program> {
    const program = await Program.run([name, command], "program.mjs");
    const { name: running } = await program.#call<{ name: string }>("runtime");
    if (!running.startsWith(name)) throw new Error(`Expected the program to run on ${name}, not on ${running}.`);
    return program;
  }

  /**
   * Starts one of the programs, and waits for the address that it prints.
   *
   * @param prepare - Gets the folder of the programs, and returns the file to run instead of the program.
   */
  static async run(
    [name, command]: Runtime,
    file: string,
    prepare = async (folder: string): Promise<string> => join(folder, file),
  ): Promise<Program> {
    const folder = await install();
    const program = new Program(folder, [...command, await prepare(folder)]);
    const first = once(program.child.stdout as NodeJS.ReadableStream, "data") as Promise<Buffer[]>;
    const said = await Promise.race([first, program.ended]);
    if (!Array.isArray(said)) throw new Error(`${name} ended (${said}) before it listened: ${program.stderr}`);
    program.child.stdout?.resume();
    program.url = String(said[0]).trim();
    return program;
  }

  async #call<T>(command: string, parameters: object = {}): Promise<T> {
    const body = JSON.stringify({ command, ...parameters });
    const response = await fetch(this.url, { method: "POST", body, headers: { connection: "close" } });
    return (await response.json()) as T;
  }

  /** Starts a server. @throws Error with the program's message when it does not start. */
  async serve(options: Options = {}, app: "routes" | "scripted" | "api" = "routes"): Promise<RemoteServer> {
    const name = `server ${++this.#count}`;
    const started = await this.#call<{ url: string; loop: string } | Failure>("start", { name, app, options });
    if ("error" in started) throw Object.assign(new Error(started.error.message), { code: started.error.code });
    const close = () => this.#call<object>("close", { name });
    const port = started.url.startsWith("unix:") ? 0 : Number(new URL(started.url).port);
    return { name, port, ...started, close, [Symbol.asyncDispose]: async () => void (await close()) };
  }

  /** Calls of the echo. Takes over the log and the reports of the meantime. */
  async calls(): Promise<number> {
    const { lines, events, calls } = await this.#call<Seen>("seen");
    this.lines.push(...lines);
    this.#events.push(...events);
    return calls;
  }

  /** Waits until an application has reported an event, and takes it. */
  async reported(event: string): Promise<void> {
    while (!this.#events.includes(event)) await this.calls();
    this.#events.splice(this.#events.indexOf(event), 1);
  }

  /** Waits until the program's log has this text. */
  async said(text: string): Promise<void> {
    while (!this.stderr.includes(text)) await once(this.child.stderr as NodeJS.ReadableStream, "data");
  }

  /** Releases the applications that wait for it. */
  async release(): Promise<void> {
    await this.#call("release");
  }

  /** Sets the messages of the scripted application. */
  async script(messages: readonly SendMessage[]): Promise<void> {
    await this.#call("script", { messages: JSON.stringify(messages.map(toPlain)) });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.child.pid as number), "SIGKILL"); // its workers, too
    } catch {
      // they have all ended
    }
    await this.ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Bytes as `{ latin1 }`, and headers as pairs. */
function toPlain(message: SendMessage): object {
  const plain = (bytes: Uint8Array) => ({ latin1: Buffer.from(bytes).toString("latin1") });
  return Object.fromEntries(
    Object.entries(message).map(([key, value]: [string, unknown]) => {
      if (key === "headers") {
        const pairs = Array.from(value as Iterable<[Uint8Array, Uint8Array]>);
        return [key, pairs.map(([name, text]) => [plain(name), plain(text)])];
      }
      return [key, value instanceof Uint8Array ? plain(value) : value];
    }),
  );
}
