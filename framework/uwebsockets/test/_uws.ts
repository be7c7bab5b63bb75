/** uWebSockets.js, if it was downloaded: `node framework/scripts/uws.js`; the slow tests download it themselves. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { UwsModule } from "../src/module.js";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, ".cache/uws");

/** The package, or `null` if it is missing or has no binary for this Node. */
export function fetchedUws(): UwsModule | null {
  if (process.env["TSGI_SLOW"] !== undefined && process.platform === "linux") {
    execFileSync(process.execPath, [join(root, "framework/scripts/uws.js")], { stdio: "inherit" });
  }
  if (!existsSync(folder) || process.platform !== "linux") {
    return null;
  }
  try {
    const found = createRequire(join(folder, "package.json"))("uWebSockets.js") as Partial<UwsModule>;
    return found.SSLApp === undefined ? null : (found as UwsModule);
  } catch {
    return null;
  }
}
