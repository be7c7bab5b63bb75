/** uWebSockets.js, where it was fetched: `node framework/scripts/uws.js`; the slow tests fetch it themselves. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { UwsModule } from "../src/module.js";

const root = join(import.meta.dirname, "../../..");
const folder = join(root, ".cache/uws");

/** The package, or `null` where it is not there or has no binary for this Node. */
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
