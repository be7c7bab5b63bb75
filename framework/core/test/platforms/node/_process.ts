/** Runs a server in a separate process, so that it can be sent signals. */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll } from "@jest/globals";
import { build } from "esbuild";

const SOURCE = path.join(import.meta.dirname, "../../../src");

let compiled: Promise<string> | null = null;
let started = 0;

afterAll(async () => {
  if (compiled !== null) await rm(await compiled, { recursive: true, force: true });
});

/** The server's own sources as JavaScript, in a temporary folder: a test of signals needs no build before it. */
async function compile(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-node-"));
  await build({
    entryPoints: ["node.ts", "index.ts", "middleware/index.ts"].map((entry) => path.join(SOURCE, entry)),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    outdir: folder,
  });
  await writeFile(path.join(folder, "package.json"), '{"type":"module"}');
  await symlink(path.join(SOURCE, "../../../node_modules"), path.join(folder, "node_modules")); // with the pages' files
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
  /** The program's main module, for tests that change it while it runs. */
  readonly main: string;
  #wake: () => void = () => {};

  private constructor(main: string) {
    this.main = main;
    this.child = spawn(process.execPath, [main], {
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

  static async start(script: string): Promise<ServerProcess> {
    compiled ??= compile();
    const main = path.join(await compiled, `main-${++started}.js`);
    await writeFile(
      main,
      `import { serve } from "./node.js";\nconst say = (text) => process.stdout.write(text + "\\n");\n${script}`,
    );
    return new ServerProcess(main);
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
  }
}
