/** Removes the results of the other scripts: packages, builds, generated code, caches. Databases and settings stay. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";

const root = path.dirname(import.meta.dirname);
const { workspaces } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));

const made = ["node_modules", ".cache", "coverage", "sample-auth-app/src/generated", "generators/templates"];
made.push("generators/starters/api/dist", "generators/starters/minimal/dist");
/** The folders of a workspace, which may end with the pattern `/*`. */
const foldersOf = (workspace) =>
  workspace.endsWith("/*")
    ? readdirSync(path.join(root, workspace.slice(0, -2))).map((name) => `${workspace.slice(0, -1)}${name}`)
    : [workspace];

for (const folder of workspaces.flatMap(foldersOf)) {
  if (!existsSync(path.join(root, folder, "package.json"))) continue;
  made.push(...["node_modules", "dist", "build", ".cache"].map((name) => `${folder}/${name}`));
}
for (const folder of made) {
  rmSync(path.join(root, folder), { recursive: true, force: true });
}
