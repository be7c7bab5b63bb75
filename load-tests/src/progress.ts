/** Prints the current measurement to stderr. @module */

/** The destination of progress: `process.stderr`, or its replacement. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** One line that is written over on a terminal; a line for each step elsewhere, so that a log stays readable. */
export class Progress {
  readonly #output: ProgressOutput;

  constructor(output: ProgressOutput = process.stderr) {
    this.#output = output;
  }

  /** Names the step that begins. */
  step(text: string): void {
    if (this.#output.isTTY === true) {
      this.#output.write(`\r\u001B[K${text.slice(0, (this.#output.columns || 80) - 1)}`);
    } else {
      this.#output.write(`${text}\n`);
    }
  }

  /** Takes the line away again, before a table is printed. */
  clear(): void {
    if (this.#output.isTTY === true) this.#output.write("\r\u001B[K");
  }
}
