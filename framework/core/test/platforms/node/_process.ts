/** Runs a server in a separate process, so that it can be sent signals. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { transform } from "@swc/core";

const SOURCE = join(import.meta.dirname, "../../../src");
/** The server's own sources as JavaScript in a temporary folder: a test of signals needs no build before it. */
async function compile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tsgi-node-"));
  const names = await readdir(SOURCE, { recursive: true });
  const files = names.filter((name) => name.endsWith(".ts"));
  for (const file of files) {
    const { code } = await transform(await readFile(join(SOURCE, file), "utf8"), {
      jsc: { target: "es2022", parser: { syntax: "typescript" } },
      module: { type: "es6" },
    });
    const target = join(folder, file.replace(/\.ts$/, ".js"));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, code);
  }
  await writeFile(join(folder, "package.json"), '{"type":"module"}');
  await symlink(join(SOURCE, "../../../node_modules"), join(folder, "node_modules"));
  return folder;
}

export interface Ended {
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A process that runs `script`, in which `serve` is imported and `say(text)` prints a line. */
export class ServerProcess implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  stdout = "";
  stderr = "";
  readonly #folder: string;
  #wake: () => void = () => {};

  private constructor(folder: string) {
    this.#folder = folder;
    this.child = spawn(process.execPath, [join(folder, "main.js")], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true, // a separate group, so that its workers end with it
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.stdout += chunk.toString();
      this.#wake();
    });
    this.child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.once("close", (status, signal) => {
        resolve({ status, signal, stdout: this.stdout, stderr: this.stderr });
        this.#wake();
      });
    });
  }

  /** The program's main module, for those who change it while it runs. */
  get main(): string {
    return join(this.#folder, "main.js");
  }

  static async start(script: string): Promise<ServerProcess> {
    const folder = await compile();
    const door = JSON.stringify(pathToFileURL(join(folder, "node.js")).href);
    await writeFile(
      join(folder, "main.js"),
      `import { serve } from ${door};\nconst say = (text) => process.stdout.write(text + "\\n");\n${script}`,
    );
    return new ServerProcess(folder);
  }

  /** Waits for a line on stdout and returns the match of the pattern's first group. */
  async said(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match !== null) {
        return match[1] ?? match[0];
      }
      if (this.child.exitCode !== null || this.child.signalCode !== null) {
        throw new Error(`ended before it said ${String(pattern)}: ${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.child.pid as number), "SIGKILL");
    } catch {
      // they have all ended
    }
    await this.ended;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
