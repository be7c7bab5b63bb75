import { ExitCode } from "./errors.js";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends the process with status 130 on a signal, and reports the state of the project.
 *
 * Without a listener a signal would end the process in the middle of writing. A listener runs after synchronous code.
 */
export class Cancellation implements Disposable {
  /** The state of the project, for the message after an interruption. */
  consequence = "no files were written";

  readonly #stop = () => {
    process.stderr.write(`create-tsgi: cancelled, ${this.consequence}\n`);
    process.exit(ExitCode.cancelled);
  };

  constructor() {
    for (const signal of signals) {
      process.on(signal, this.#stop);
    }
  }

  [Symbol.dispose](): void {
    for (const signal of signals) {
      process.off(signal, this.#stop);
    }
  }
}
