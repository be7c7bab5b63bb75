/** The program of the `tsgi` command, which `bin/tsgi.js` starts. @module */
import { CommanderError } from "commander";
import { fail } from "./errors.js";
import { createProgram } from "./program.js";

createProgram()
  .parseAsync()
  .catch((error: unknown) => {
    if (error instanceof CommanderError) process.exitCode = error.exitCode; // commander has printed the message
    else fail(error);
  });
