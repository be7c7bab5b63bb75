/** A server in a separate process, which can have a full disk and whose memory is measured. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Readable } from "node:stream";

const DIST = path.resolve(import.meta.dirname, "../../../dist");
const urlOf = (file: string) => JSON.stringify(pathToFileURL(path.join(DIST, file)).href);

/** The start of the process: normal, with a limit on the size of its files, or on a separate disk. */
export const COMMANDS = {
  plain: 'exec "$@"',
  "ulimit -f": 'ulimit -f 2048; exec "$@"',
  tmpfs:
    'exec unshare --user --map-root-user --mount sh -c \'mount -t tmpfs -o size=3m none "$TMPDIR" && exec "$@"\' sh "$@"',
} as const;

/** The response to an upload. */
export interface Uploaded {
  readonly status: number;
  readonly text: string;
}

/** Serves the `app` of a script, in which everything that `tsgi` exports is there by the name `tsgi`. */
export class UploadProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #folder: string;
  #url = "";
  stderr = "";

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.stderr?.on("data", (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  static async start(script: string, command: keyof typeof COMMANDS = "plain"): Promise<UploadProcess> {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-upload-process-"));
    const main = path.join(folder, "main.mjs");
    await writeFile(
      main,
      `import * as tsgi from ${urlOf("index.js")};\nimport { serve } from ${urlOf("node.js")};\n${script}\n` +
        "const { url } = await serve(app, { port: 0 });\nprocess.stdout.write(`${url}\\n`);",
    );
    await mkdir(path.join(folder, "tmp"));
    const args = ["-c", COMMANDS[command], "bash", process.execPath, main];
    const env = { ...process.env, TMPDIR: path.join(folder, "tmp") };
    const child = spawn("bash", args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const started = new UploadProcess(child, folder);
    const ended = once(child, "close").then(() => {
      throw new Error(`The process ended before it served: ${started.stderr}`);
    });
    const [line] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    ended.catch(() => {});
    started.#url = line.toString().trim();
    return started;
  }

  /** Sends a body of chunks, each after the previous one was sent, and returns the response. */
  async upload(target: string, headers: Record<string, string>, chunks: Iterable<Uint8Array>): Promise<Uploaded> {
    const sending = request(`${this.#url}${target}`, { method: "POST", headers, agent: false });
    sending.on("error", () => {}); // an early refusal may cut the sending
    const answered = once(sending, "response");
    Readable.from(chunks).pipe(sending);
    const [response] = (await answered) as [Readable & { statusCode: number }];
    return { status: response.statusCode, text: Buffer.concat((await response.toArray()) as Buffer[]).toString() };
  }

  /** Begins to send a body of this length, and leaves it at these bytes. */
  async begin(target: string, headers: Record<string, string>, bytes: Uint8Array, length: number): Promise<void> {
    const sending = request(`${this.#url}${target}`, {
      method: "POST",
      headers: { ...headers, "content-length": String(length) },
      agent: false,
    });
    sending.on("error", () => {});
    await new Promise<void>((resolve) => sending.write(bytes, () => resolve()));
  }

  /** Ends it at once, as a lack of memory would. */
  async kill(): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }

  /** Waits until its log has the pattern. */
  async logged(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.stderr)) await once(this.#child.stderr as Readable, "data");
  }

  /** Waits until it holds the temporary file of an upload open. */
  async holdsUpload(): Promise<void> {
    const folder = `/proc/${this.#child.pid}/fd`;
    const targets = async () =>
      Promise.all((await readdir(folder)).map((fd) => readlink(path.join(folder, fd)).catch(() => "")));
    while (!(await targets()).some((target) => target.includes("tsgi-upload-") && target.endsWith("(deleted)")));
  }

  /** The names in its folder of temporary files. Seen from outside, which does not have the separate disk. */
  temporaryFiles(): Promise<string[]> {
    return readdir(path.join(this.#folder, "tmp"));
  }

  /** Its memory in bytes: as it is, and the most that it has been. */
  async memory(): Promise<{ rss: number; peak: number }> {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    const bytesOf = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1]) * 1024;
    return { rss: bytesOf("VmRSS"), peak: bytesOf("VmHWM") };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
