/**
 * `make bench`: measures, prints the tables, and writes the figures to `.cache/bench/latest.json`.
 *
 * Ends with status 1 when an answer was wrong, 2 after an invalid variable of the environment.
 *
 * @module
 */
import { runBench } from "./run.js";
import { readSettings, type Settings } from "./settings.js";

process.exitCode = await runBench(settingsOrExit());

function settingsOrExit(): Settings {
  try {
    return readSettings(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}
