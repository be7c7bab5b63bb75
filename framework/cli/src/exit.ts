/** The end of a process of the command. @module */

/**
 * Ends the process when its outputs have taken all text, in spite of timers and sockets of the application's module.
 */
export function exit(status: number): void {
  if (status !== 0) process.exitCode = status; // else that of the module
  process.stdout.write("", () => process.stderr.write("", () => process.exit()));
}

/** Throws an error that nothing catches. */
export function crash(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}
