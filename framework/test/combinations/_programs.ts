/** The tool library as a separate program: a bundle of one file, run in an otherwise empty folder. @module */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build, type BuildOptions } from "esbuild";

const APP = path.join(import.meta.dirname, "app");
const TSX = path.join(import.meta.dirname, "../../../node_modules/tsx/dist/cli.mjs");

/** Packages of CommonJS in a bundle of the format ESM call `require`, as esbuild's documentation says. */
const BANNER = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** The program without the libraries of metrics and traces. */
const PLAIN = `
  import { serve } from "tsgi/node";
  import { createApp, DEVELOPMENT } from "./app.js";
  const { app } = createApp({ env: { ...DEVELOPMENT, ...process.env } });
  void serve(app, { port: 0 }).then(({ url, loop }) => console.log(\`Serving at \${url} on \${loop}\`));
`;

/** The library by the server of the runtime itself, which calls a function. */
const FUNCTION = `
  import { createHandler } from "./platform.js";
  const handler = createHandler();
  const hostname = "127.0.0.1";
  const url = "Bun" in globalThis
    ? String(Bun.serve({ hostname, port: 0, fetch: handler }).url).slice(0, -1)
    : \`http://127.0.0.1:\${Deno.serve({ hostname, port: 0, onListen: () => {} }, handler).addr.port}\`;
  console.log(\`Serving at \${url} on its_own\`);
`;

const WORKER = `
  import { createHandler } from "./platform.js";
  export default { fetch: createHandler() };
`;

const source = (contents: string) => ({ stdin: { contents, resolveDir: APP, loader: "js" } }) as const;

/** A program to bundle: all of the library, or what needs no package with a native part. */
const ENTRIES = {
  node: { entryPoints: [path.join(APP, "server.ts")] },
  plain: source(PLAIN),
  function: source(FUNCTION),
  worker: { ...source(WORKER), platform: "browser", conditions: ["workerd", "worker", "browser"], banner: {} },
} satisfies Record<string, BuildOptions>;

/** The configuration of workerd for a worker in one file. */
const workerdConfig = (file: string) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "${file}")],
    compatibilityDate = "2026-11-01",
    compatibilityFlags = ["enable_request_signal"],
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** A folder of the temporary files, which is removed at the end of the surrounding block. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "tsgi-library-")));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Writes the library into one file. */
export async function bundle(
  folder: string,
  entry: keyof typeof ENTRIES,
  { format = "esm", ...options }: BuildOptions = {},
): Promise<string> {
  const outfile = path.join(folder, `library.${format === "esm" ? "mjs" : "cjs"}`);
  await build({
    outfile,
    format,
    bundle: true,
    platform: "node",
    target: "node20",
    logLevel: "silent",
    ...(format === "esm" && { banner: { js: BANNER } }),
    ...ENTRIES[entry],
    ...options,
  });
  await cp(path.join(APP, "assets"), path.join(folder, "assets"), { recursive: true });
  return outfile;
}

/** A program that serves the library. */
export class LibraryProgram implements AsyncDisposable {
  readonly ended: Promise<number | string>;
  output = "";
  readonly #child: ChildProcess;
  #wake: () => void = () => {};

  private constructor(command: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
    const [file = "", ...args] = command;
    const options = { cwd, detached: true, env: { PATH: process.env["PATH"], ...env } };
    this.#child = spawn(file, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.output += chunk.toString();
        this.#wake();
      });
    }
    this.ended = once(this.#child, "close").then(([code, signal]: (number | string | null)[]) => signal ?? code ?? 0);
    void this.ended.then(() => this.#wake());
  }

  /** Starts a file and waits until it serves. */
  static async start(
    file: string,
    env: Readonly<Record<string, string>> = {},
    runtime: readonly string[] = [process.execPath],
  ): Promise<LibraryProgram & { readonly url: string; readonly loop: string }> {
    const assets = path.join(path.dirname(file), "assets");
    const program = new LibraryProgram([...runtime, file], path.dirname(file), { TOOLS_ASSETS: assets, ...env });
    try {
      const [, url = "", loop = ""] = await program.said(/Serving at (http:\S+) on (\w+)/);
      // Workers say the same, each as soon as it serves.
      if (env["TOOLS_WORKERS"] !== undefined) await program.said(/Listening on \S+ with \d workers/);
      return Object.assign(program, { url, loop });
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts a worker on workerd, whose binary is given. */
  static async startWorker(file: string, binary: string): Promise<LibraryProgram & { readonly url: string }> {
    const config = path.join(path.dirname(file), "config.capnp");
    await writeFile(config, workerdConfig(path.basename(file)));
    const program = new LibraryProgram([binary, "serve", "--control-fd=1", config], path.dirname(file), {});
    const [, port = ""] = await program.said(/"port":(\d+)/);
    return Object.assign(program, { url: `http://127.0.0.1:${port}` });
  }

  /** Starts the sources of the library, as in development. */
  static develop(env: Readonly<Record<string, string>> = {}) {
    return LibraryProgram.start(path.join(APP, "server.ts"), env, [process.execPath, TSX]);
  }

  /** Waits for a text of its output. */
  async said(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.output);
      if (match) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) throw new Error(this.output.slice(0, 5000));
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Ends it as a supervisor does. */
  stop(): Promise<number | string> {
    this.#child.kill("SIGTERM");
    return this.ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      process.kill(-(this.#child.pid as number), "SIGKILL"); // its workers, too
    } catch {
      // they have all ended
    }
    await this.ended;
  }
}
