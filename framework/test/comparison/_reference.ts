/** Debian's FastAPI, in a separate process. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** Debian's own interpreter: one that is earlier on `PATH` may not have FastAPI. */
const PYTHON = "/usr/bin/python3";

const probed = spawnSync(PYTHON, ["-c", "import fastapi, uvicorn, multipart, websockets; print(fastapi.__version__)"], {
  encoding: "utf8",
});

/** The version of FastAPI, `null` if it is not installed. */
export const FASTAPI_VERSION = probed.status === 0 ? probed.stdout.trim() : null;

/** The reason why a comparison is not possible, or `null`. */
export const WITHOUT_FASTAPI =
  FASTAPI_VERSION === null
    ? "there is no FastAPI: apt-get install python3-fastapi python3-uvicorn python3-multipart"
    : null;

/** A server of reference.py. */
export class Reference implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: string) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** @param folder - Files to send. */
  static async start(folder: string): Promise<Reference> {
    const script = path.join(import.meta.dirname, "reference.py");
    const child = spawn(PYTHON, ["-B", script, folder], { stdio: ["ignore", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
    const ended = once(child, "close").then(() => {
      throw new Error(`reference.py has ended: ${errors}`);
    });
    const [port] = (await Promise.race([once(child.stdout, "data"), ended])) as [Buffer];
    ended.catch(() => {}); // from here on it ends because it is told to
    return new Reference(child, port.toString().trim());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#child, "close");
    this.#child.kill("SIGKILL");
    await closed;
  }
}
