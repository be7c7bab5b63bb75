/** Which module a worker imports. @module */
import { configurationError } from "../exceptions.js";
import type { EntryModule } from "./protocol.js";

let given: string | null = null;

/**
 * Names the module of the application for every App that names none itself. A command that imports the application
 * from a file says so with it, since the program's main module is then the command's own.
 *
 * @param module - A URL, as `import.meta.url` gives it, or an absolute path.
 * @throws ConfigurationError when it is neither.
 */
export function setEntry(module: string | URL): void {
  given = toModuleURL(module);
}

/**
 * The module that workers import: the one that the App names, the one that a command was given, or the program's main
 * module. `null` where there is none, or where it belongs to a tool, as a test runner's does.
 */
export async function resolveEntry(named: string | null): Promise<EntryModule | null> {
  const main = process.argv[1] ?? null;
  const url = named ?? given;
  if (url !== null) return { url, isNamed: true, main };
  const { findMainModule } = await import("./main-module.js");
  const found = findMainModule();
  return found === null ? null : { url: found, isNamed: false, main };
}

/** An absolute path on Windows, which would pass for a URL of the scheme `c:`. */
const WINDOWS_PATH = /^[A-Za-z]:[/\\]/;

/**
 * The URL of a module that a worker is to import.
 *
 * @param module - A URL, or an absolute path.
 * @throws ConfigurationError when it is neither.
 */
export function toModuleURL(module: string | URL): string {
  const text = String(module);
  if (text.startsWith("/") || WINDOWS_PATH.test(text)) {
    const path = text.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/");
    return `file://${WINDOWS_PATH.test(text) ? `/${path.replace("%3A", ":")}` : path}`;
  }
  if (URL.canParse(text)) return text;
  throw configurationError("TSGI_INVALID_MODULE_URL", text);
}
