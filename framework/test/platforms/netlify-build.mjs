/**
 * Builds the function of a project as the command of Netlify does, and prints its folder. Usage:
 * node netlify-build.mjs MODULES PROJECT TARGET
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , modules, project, target] = process.argv;
const require = createRequire(path.join(modules, "index.js"));
const { zipFunctions } = await import(pathToFileURL(require.resolve("@netlify/zip-it-and-ship-it")).href);

const { functions } = require("toml").parse(readFileSync(path.join(project, "netlify.toml"), "utf8"));
const [built] = await zipFunctions(path.join(project, functions.directory), target, {
  archiveFormat: "none",
  basePath: project,
  config: {
    "*": {
      includedFiles: functions.included_files,
      includedFilesBasePath: project,
      nodeBundler: functions.node_bundler === "esbuild" ? "esbuild_zisi" : functions.node_bundler,
    },
  },
});
process.stdout.write(built.path);
