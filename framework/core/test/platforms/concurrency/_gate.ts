/** A temporary folder with files that tasks wait for, and logs that they leave. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export class Gate implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<Gate> {
    return new Gate(await mkdtemp(join(tmpdir(), "tsgi-pool-")));
  }

  /** The path of a file in the folder. */
  file(name = "open"): string {
    return join(this.folder, name);
  }

  /** Releases the calls that wait for the file. */
  async open(name?: string): Promise<void> {
    await writeFile(this.file(name), "");
  }

  /** Lets those wait that come from now on. */
  async close(name?: string): Promise<void> {
    await rm(this.file(name), { force: true });
  }

  /** The lines of a file. */
  async lines(name: string): Promise<string[]> {
    return (await readFile(this.file(name), "utf8")).split("\n").filter((line) => line !== "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Lets the loop turn until a condition holds. A test's own time limit ends it. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}
