/** The program of the `tsgi` command, which `bin/tsgi.js` starts. @module */
import { runCommand } from "./command.js";
import { crash, exit } from "./exit.js";
import { Terminal } from "./terminal.js";

// `tsgi dev | head -1`: without a listener, Node ends the process with EPIPE.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});

runCommand(process.argv.slice(2), new Terminal(process)).then(
  (result) => typeof result === "number" && exit(result),
  crash,
);
