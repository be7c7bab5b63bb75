/** Variables for the environment that lie in files. @module */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { showError, commandError } from "./errors.js";

/** The files of variables that a command was given. */
export class EnvFiles {
  readonly #paths = new Set<string>();

  /** Loads a file. @throws CommandError if it is missing. */
  load(file: string): void {
    this.#paths.add(path.resolve(file));
    loadEnvFile(file);
  }

  /** Loads a file that may be missing. */
  loadIfExists(file: string): void {
    this.#paths.add(path.resolve(file));
    loadEnvFileIfExists(file);
  }

  /** As absolute paths. */
  get paths(): readonly string[] {
    return [...this.#paths];
  }

  /** The environment without what those files have put there, for a child that reads them as they are by then. */
  environmentBeside(): NodeJS.ProcessEnv {
    const before = { ...process.env };
    for (const file of this.#paths) {
      for (const [name, value] of Object.entries(existsSync(file) ? read(file) : {})) {
        if (before[name] === value) delete before[name];
      }
    }
    return before;
  }
}

/**
 * Adds the variables of a file to the environment without overriding existing ones. @throws CommandError if the file is
 * missing.
 */
export function loadEnvFile(file: string): void {
  try {
    for (const [name, value] of Object.entries(read(file))) process.env[name] ??= value;
  } catch (error) {
    throw commandError("TSGI_UNREADABLE_FILE.env", file, showError(error));
  }
}

/** The same for a file that may be missing. */
export function loadEnvFileIfExists(file: string): void {
  if (existsSync(file)) loadEnvFile(file);
}

function read(file: string): NodeJS.Dict<string> {
  return parseEnv(readFileSync(file, "utf8"));
}
