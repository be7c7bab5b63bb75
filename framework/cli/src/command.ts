/** One command line, from its arguments to its exit status. @module */
import { CommanderError } from "commander";
import { EXIT, report } from "./errors.js";
import { createProgram, type Result } from "./program.js";
import type { Terminal } from "./terminal.js";

/**
 * Runs a command line. Returns its exit status, or the server of a command that serves until a signal.
 *
 * @throws SyntaxError of a module: Node shows its place if it is not caught.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<Result> {
  let result: Result = EXIT.done;
  const program = createProgram(terminal, (given) => (result = given));
  try {
    await program.parseAsync(args, { from: "user" });
    return result;
  } catch (error) {
    // commander has printed the message
    return error instanceof CommanderError ? error.exitCode : report(error, terminal.stderr);
  }
}
