/** The program of a worker. @module */
import { configurationError } from "../../common/exceptions.js";
import { isStandalone, nodeModule } from "../../common/platform.js";
import type { EntryModule } from "./protocol.js";

/**
 * The file that a worker runs: the worker's own program, or the application where a bundler has put both into one file.
 * The application then finds out by itself that it is in a worker. `null` in a single executable, which contains it.
 *
 * @param locate - Gives the place of the worker's own program. Throws in a CommonJS bundle, which has no `import.meta.url`.
 * @throws ConfigurationError without an application, if a bundle or an executable contains this package.
 */
export function findProgram(locate: () => URL, entry: EntryModule | null): string | null {
  const own = isStandalone() ? null : existing(locate);
  if (own !== null) return own;
  if (entry === null) throw configurationError("TSGI_BUNDLED_POOL");
  if (isStandalone()) return null;
  return existing(() => new URL(entry.url)) ?? entry.main;
}

function existing(locate: () => URL): string | null {
  const { existsSync } = nodeModule("node:fs", "A pool");
  const { fileURLToPath } = nodeModule("node:url", "A pool");
  try {
    const file = fileURLToPath(locate());
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}
