import { dirname, join } from "node:path";
import { expect, it } from "@jest/globals";
import { parentFolder } from "../src/parent-folder.js";
import { packageRoot, repositoryRoot, temporaryFolder } from "./support.js";

it.each([
  ["in the clone", undefined, repositoryRoot, dirname(repositoryRoot)],
  ["in a folder of the clone", undefined, join(repositoryRoot, "framework/src"), dirname(repositoryRoot)],
  ["beside the clone", undefined, dirname(repositoryRoot), dirname(repositoryRoot)],
  ["in a folder whose name begins as that of the clone", undefined, `${repositoryRoot}-2`, `${repositoryRoot}-2`],
  ["elsewhere", undefined, "/srv", "/srv"],
  ["elsewhere, with --into", "apps", "/srv", "/srv/apps"],
  ["in the clone, with --into", "/srv", repositoryRoot, "/srv"],
])("creates the project's folder in a place that other tools do not read: %s", (_where, into, current, parent) => {
  expect(parentFolder(into, packageRoot, current)).toBe(parent);
});

it("is the current folder for the published package", async () => {
  await using folder = await temporaryFolder();
  expect(parentFolder(undefined, join(folder.path, "node_modules/create-tsgi"), folder.path)).toBe(folder.path);
});
