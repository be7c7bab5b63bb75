/** Variables for the environment that lie in files. @module */
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { showError, commandError } from "./errors.js";

const files = new Set<string>();

/**
 * Adds the variables of a file to the environment without overriding existing ones. @throws CommandError if the file is
 * missing.
 */
export function loadEnvFile(file: string): void {
  files.add(path.resolve(file));
  try {
    process.loadEnvFile(file);
  } catch (error) {
    throw commandError("TSGI_UNREADABLE_FILE.env", file, showError(error));
  }
}

/** The same for a file that may be missing. */
export function loadEnvFileIfExists(file: string): void {
  files.add(path.resolve(file));
  if (existsSync(file)) loadEnvFile(file);
}

/** The files that this command was given, as absolute paths. */
export function envFiles(): readonly string[] {
  return [...files];
}

/** The environment without what those files have put there, for a child that reads them as they are by then. */
export function environmentBeside(): NodeJS.ProcessEnv {
  const before = { ...process.env };
  for (const file of files) {
    for (const [name, value] of Object.entries(read(file))) {
      if (before[name] === value) delete before[name];
    }
  }
  return before;
}

function read(file: string): NodeJS.Dict<string> {
  return existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
}
