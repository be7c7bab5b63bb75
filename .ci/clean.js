/** Removes what the other scripts made: packages, builds, generated code, caches. Databases and settings stay. */
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const { workspaces } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

const made = [
  "node_modules",
  ".cache",
  "coverage",
  "sample-auth-app/src/generated",
  "generators/templates",
  "framework/build",
];
made.push("generators/starters/api/dist", "generators/starters/minimal/dist");
for (const workspace of workspaces) {
  made.push(`${workspace}/node_modules`, `${workspace}/dist`, `${workspace}/.cache`);
}
for (const folder of made) {
  rmSync(path.join(root, folder), { recursive: true, force: true });
}
