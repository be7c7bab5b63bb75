/** Which module a worker imports. @module */
import { ConfigurationError } from "../exceptions.js";
import type { EntryModule } from "./protocol.js";

let given: string | null = null;

/**
 * Names the module of the application for every App that names none itself. A command that imports the application
 * from a file says so with it, since the program's main module is then the command's own.
 *
 * @param module - A URL, as `import.meta.url` gives it, or an absolute path.
 */
export function setEntry(module: string | URL): void {
  given = String(module);
}

/**
 * The module that workers import: the one that the App names, the one that a command was given, or the program's main
 * module. `null` where there is none, or where it belongs to a tool, as a test runner's does.
 *
 * @throws ConfigurationError when the name is neither a URL nor an absolute path.
 */
export async function resolveEntry(named: string | URL | undefined): Promise<EntryModule | null> {
  const { findMainModule, toModuleURL } = await import("./main-module.js");
  const main = process.argv[1] ?? null;
  const module = named ?? given;
  if (module !== null) return { url: toModuleURL(module), isNamed: true, main };
  const url = findMainModule();
  return url === null ? null : { url, isNamed: false, main };
}

/**
 * The URL of a module that a worker is to import.
 *
 * @throws ConfigurationError when the name is neither a URL nor an absolute path.
 */
export async function resolveModule(module: string | URL): Promise<string> {
  const { toModuleURL } = await import("./main-module.js");
  try {
    return toModuleURL(module);
  } catch (cause) {
    throw new ConfigurationError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
