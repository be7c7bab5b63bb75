/**
 * `make bench`: measures, prints the tables, and writes the figures to `.cache/bench/latest.json`.
 *
 * Exits with status 1 if a response was wrong, and with 2 after an invalid environment variable.
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
