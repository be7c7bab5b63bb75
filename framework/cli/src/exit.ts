/** The end of a process of the command. @module */

/**
 * Ends the process when its outputs have taken all text, in spite of timers and sockets of the application's module.
 */
export function exit(status: number): void {
  if (status !== 0) process.exitCode = status; // otherwise the module may have set a status
  process.stdout.write("", () => process.stderr.write("", () => process.exit()));
}

/** Throws an error that is not caught. */
export function crash(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
