/** Modules by their URLs. @module */
import { createRequire } from "node:module";
import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigurationError } from "../exceptions.js";

/** @throws ConfigurationError when the name is neither a URL nor an absolute path. */
export function toModuleURL(module: string | URL): string {
  const text = String(module);
  if (isAbsolute(text)) return pathToFileURL(text).href;
  if (URL.canParse(text)) return text;
  throw new ConfigurationError(
    `A worker imports a module by its URL, not ${JSON.stringify(text)}. Write import.meta.url, ` +
      `or new URL(${JSON.stringify(text)}, import.meta.url).`,
  );
}

/** The program's main module. `null` where there is none (`node -e`), and where it is an installed tool's. */
export function findMainModule(): string | null {
  const [, main] = process.argv;
  if (main === undefined) return null;
  try {
    const path = createRequire(main).resolve(main);
    return path.includes(`${sep}node_modules${sep}`) ? null : pathToFileURL(path).href;
  } catch {
    return null;
  }
}
