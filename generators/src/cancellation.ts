import { ExitCode } from "./errors.js";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Ends the process with status 130 when a signal asks for it, and says what is there by then.
 *
 * Without a listener a signal would end the process at once, in the middle of writing as well; a listener waits until
 * what is synchronous is over.
 */
export class Cancellation implements Disposable {
  /** What a person who stops the command now is left with. */
  consequence = "nothing was written";

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
