/** The outputs of a command. @module */
import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { commandError, showError } from "./errors.js";

/** An output: of the process, or of a test. */
export type Output = Writable & {
  /** The descriptor, if it is an output of the process. */
  readonly fd?: number;
  /** The width of a terminal. */
  readonly columns?: number;
};

/** The outputs that a command writes to. It shares the directory and the environment of its process. */
export class Terminal {
  readonly stdout: Output;
  readonly stderr: Output;

  constructor({ stdout, stderr }: { readonly stdout: Output; readonly stderr: Output }) {
    this.stdout = stdout;
    this.stderr = stderr;
  }

  /** Writes text to the standard output. @throws CommandError for a file that cannot take all of it, as on a full disk. */
  print(text: string): void {
    const { fd } = this.stdout;
    // Pipes and terminals are sockets. To a file, the stream of Node writes once: a disk that has room for a part of the
    // text takes that part, without an error.
    if (fd === undefined || this.stdout instanceof Socket) {
      this.stdout.write(text);
      return;
    }
    try {
      writeFileSync(fd, text);
    } catch (error) {
      throw commandError("TSGI_UNWRITABLE_FILE.output", showError(error));
    }
  }

  /** The same, with a newline. */
  printLine(text: string): void {
    this.print(`${text}\n`);
  }

  /** Writes a line to the standard error. */
  say(text: string): void {
    this.stderr.write(`${text}\n`);
  }

  /** Columns of the terminal; infinite for other outputs. */
  get width(): number {
    return this.stdout.columns ?? (Number(process.env["COLUMNS"]) || Number.POSITIVE_INFINITY);
  }

  /** Resolves when the outputs have taken all text. */
  async flush(): Promise<void> {
    for (const output of [this.stdout, this.stderr]) {
      await new Promise<void>((resolve) => output.write("", () => resolve()));
    }
  }
}
