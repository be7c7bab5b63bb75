/** The terminal blocks of a page, executed. */
import { type ChildProcess, execFile, fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";

import type { Block, Step } from "./_blocks.js";

/** The address of the application on the pages. */
const ADDRESS = "127.0.0.1:8000";

const hasCurl = spawnSync("curl", ["--version"]).status === 0;

/**
 * Returns the tool that a terminal block needs but that is missing, or `null`. A block with the word `postgresql` needs
 * that.
 */
export function missingFor(block: Block): string | null {
  if (!hasCurl) return "curl is not installed";
  if (!block.words.includes("postgresql")) return null;
  const probe = `require("node:net").connect(5432, "127.0.0.1", process.exit).on("error", () => process.exit(1))`;
  return spawnSync(process.execPath, ["-e", probe]).status === 0 ? null : "no PostgreSQL at 127.0.0.1:5432";
}

/** The reply of `_serve.mjs` to a message. */
interface Reply {
  readonly address?: string;
  readonly error?: string;
}

/** A process that serves one application after the other: to start one for each takes 0.2 s. */
export class AppServer implements AsyncDisposable {
  readonly #child: ChildProcess;
  #resolve: (reply: Reply) => void = () => {};

  constructor(env: NodeJS.ProcessEnv = {}) {
    const script = path.join(import.meta.dirname, "_serve.mjs");
    this.#child = fork(script, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    this.#child.on("message", (reply: Reply) => this.#resolve(reply));
    this.#child.on("exit", () => this.#resolve({ error: "The process has ended." }));
  }

  /** Serves a module until the end of the block. */
  async start(module: string): Promise<{ address: string } & AsyncDisposable> {
    const { address } = await this.#ask(pathToFileURL(module).href);
    if (address === undefined) throw new Error("The application has no address.");
    return { address: new URL(address).host, [Symbol.asyncDispose]: async () => void (await this.#ask(null)) };
  }

  async #ask(module: string | null): Promise<Reply> {
    this.#child.send({ module });
    const reply = await new Promise<Reply>((resolve) => {
      this.#resolve = resolve;
    });
    if (reply.error !== undefined) throw new Error(`The application did not start:\n${reply.error}`);
    return reply;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    if (this.#child.exitCode === null) await once(this.#child, "exit");
  }
}

/** Starts a module that calls `serve`, which reads its port from `PORT`, as a separate program. */
async function startProgram(module: string): Promise<{ address: string } & AsyncDisposable> {
  const server = spawn(process.execPath, [module], {
    env: { ...process.env, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const dispose = async () => {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "close");
  };
  const address = await new Promise<string>((resolve, reject) => {
    let output = "";
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const match = /127\.0\.0\.1:\d+/.exec(output);
      if (match) resolve(match[0]);
    };
    server.stdout.on("data", read);
    server.stderr.on("data", read);
    server.once("close", () => reject(new Error(`The application did not start:\n${output}`)));
  });
  return { address, [Symbol.asyncDispose]: dispose };
}

/** Starts a module, runs each command, and returns its output. */
export async function typeIn(apps: AppServer, module: string, steps: readonly Step[]): Promise<string[]> {
  const isProgram = (await readFile(module, "utf8")).includes("serve(");
  await using server = await (isProgram ? startProgram(module) : apps.start(module));
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-docs-"));
  try {
    return await runSteps(steps, server.address, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs each command against the application at an address, and returns its output. One shell for all of them, so that a
 * variable that one sets is there for the next.
 */
export async function runSteps(steps: readonly Step[], address: string, cwd: string): Promise<string[]> {
  const mark = "--- a mark between commands ---";
  const script = steps.map(({ command }) => `${command.replaceAll(ADDRESS, address)}\necho; echo '${mark}'\n`).join("");
  const output = await new Promise<string>((resolve, reject) => {
    execFile("sh", ["-c", script.replaceAll("curl ", "curl -s ")], { cwd }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    );
  });
  return output
    .replaceAll("\r", "")
    .replaceAll(address, ADDRESS)
    .split(mark)
    .slice(0, steps.length)
    .map((text) => text.trim());
}

/** Whether the output matches the page, where `…` stands for anything, and as a line for any lines. */
export function isAsShown(answer: string, shown: string): boolean {
  const pattern = shown
    .trim()
    .replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("\n…\n", String.raw`\n(?:[^]*\n)?`)
    .replaceAll("…", "[^]*");
  return new RegExp(`^${pattern}$`).test(answer);
}
