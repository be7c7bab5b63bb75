/** The program's main module, as Node finds it. @module */
import { createRequire } from "node:module";
import { sep } from "node:path";
import { pathToFileURL } from "node:url";

/** Its URL. `null` where there is none (`node -e`), and where it is an installed tool's, as a test runner's is. */
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
