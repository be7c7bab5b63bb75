/** The program of the `tsgi` command, which `bin/tsgi.js` starts. @module */
import { CommanderError } from "commander";
import { fail } from "./errors.js";
import { createProgram } from "./program.js";

// `tsgi dev | head -1`: without a listener, Node ends the process with EPIPE.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError) process.exitCode = error.exitCode; // commander has printed the message
    else fail(error);
  });
