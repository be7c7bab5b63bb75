/* oxlint-disable unicorn/prefer-node-protocol -- An old Node must reach the line that says it is too old. */
// Installs the packages if they are missing or package-lock.json has changed: for all workspaces, or for the given ones
// (`node .ci/setup.cjs framework`). To start the sample application takes a third of the packages. It runs first, so it
// uses no package, and only syntax that a ten-year-old Node can parse.
"use strict";

const { createHash } = require("crypto");
const { spawnSync } = require("child_process");
const fs = require("fs");
const path = require("path");

const root = path.dirname(__dirname);
const stampFile = path.join(root, "node_modules", ".installed");

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node 20.19 or newer is needed, but this is Node ${process.versions.node}. See https://nodejs.org/en/download`);
}

const wanted = createHash("sha256")
  .update(fs.readFileSync(path.join(root, "package-lock.json")))
  .update(`${process.platform} ${process.arch}`)
  .digest("hex");
const workspaces = process.argv.slice(2);
const scope = workspaces.join(" ");
const [installed, installedScope = ""] = fs.existsSync(stampFile) ? fs.readFileSync(stampFile, "utf8").split("\n") : [];

if (installed !== wanted || (installedScope !== scope && installedScope !== "")) {
  process.stderr.write(
    workspaces.length > 0
      ? "Installing the packages that this command needs; later runs skip this step …\n"
      : "Installing the packages of all workspaces; later runs skip this step …\n",
  );
  // npm writes its hidden lock file last: if it is missing, an installation was interrupted, and runs again.
  const complete = fs.existsSync(path.join(root, "node_modules", ".package-lock.json"));
  const named = workspaces.map((name) => `--workspace=${name}`);
  const status = npm((complete ? ["install", "--no-save"] : ["ci"]).concat(named));
  if (status !== 0) fail("The packages could not be installed; npm's own message is above.");
  fs.writeFileSync(stampFile, `${wanted}\n${scope}`);
}

/** Runs npm; inside an npm script the same npm, else the one on the path. */
function npm(parameters) {
  const own = process.env.npm_execpath;
  const command = own ? process.execPath : "npm";
  // The packages here do not need install scripts. A script run with --silent would hand its silence down, and an error
  // would go unsaid.
  const all = (own ? [own] : []).concat(parameters, "--ignore-scripts", "--loglevel=error");
  const child = spawnSync(command, all, { cwd: root, stdio: ["ignore", 2, 2] });
  if (child.error) fail(`npm could not be started: ${child.error.message}`);
  return child.status;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
