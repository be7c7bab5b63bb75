/** The module that a worker imports. @module */
import { configurationError } from "../../common/exceptions.js";
import { isStandalone, nodeModule } from "../../common/platform.js";
import type { EntryModule } from "./protocol.js";

let given: string | null = null;

/**
 * Sets the module of the application for every App that does not set one. A command that imports the application from a
 * file calls it, since the program's main module is then the command's own.
 *
 * @param module - A URL, such as `import.meta.url`, or an absolute path.
 * @throws ConfigurationError when it is neither.
 */
export function setEntry(module: string | URL): void {
  given = toModuleURL(module);
}

/**
 * The module that workers import: the one that the App names, the one that a command was given, or the program's main
 * module. `null` if there is none, or if it belongs to a tool, such as a test runner. A single executable is its own
 * module.
 */
export async function resolveEntry(named: string | null): Promise<EntryModule | null> {
  const main = process.argv[1] ?? null;
  if (isStandalone()) return { url: toModuleURL(process.execPath), isNamed: false, main };
  const url = named ?? given ?? (main === null ? null : await findMainModule(main));
  return url === null ? null : { url, isNamed: url === named || url === given, main };
}

/** The file that Node runs for `node main`; `null` for an installed tool. */
async function findMainModule(main: string): Promise<string | null> {
  const { createRequire } = nodeModule("node:module", "A pool");
  try {
    const url = toModuleURL(createRequire(main).resolve(main));
    return url.includes("/node_modules/") ? null : url;
  } catch {
    return null;
  }
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
  const path = WINDOWS_PATH.test(text) ? `/${text.replaceAll("\\", "/")}` : text;
  // Escaped as by `pathToFileURL`: under another spelling of its URL a module is loaded a second time.
  if (path.startsWith("/")) return new URL(`file://${path.replaceAll(/[%?#\\\t\r\n]/g, encodeURIComponent)}`).href;
  if (URL.canParse(text)) return text;
  throw configurationError("TSGI_INVALID_MODULE_URL", text);
}
