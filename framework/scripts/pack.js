/**
 * Packs every package as npm publishes it, and checks what users get: the manifests (publint), the types
 * (`@arethetypeswrong/cli`), an installation into empty folders with npm, pnpm and Yarn from a registry on this machine,
 * and a program for each package. The tarballs are left in `.cache/pack`.
 *
 *     make pack                 # all of it, a few minutes
 *     make pack ARGS="npm"      # only with this package manager
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { SMOKE } from "./pack/smoke.js";
import { FRAMEWORK, packageFolders, readManifest } from "./packages.js";

const ROOT = path.dirname(FRAMEWORK);
const CACHE = path.join(ROOT, ".cache");
const PACKED = path.join(CACHE, "pack");
const TOOLS = {
  publint: "0.3.25",
  "@arethetypeswrong/cli": "0.18.5",
  verdaccio: "6.8.0",
  pnpm: "10.18.3",
  yarn: "1.22.22",
};
const MANAGERS = {
  npm: { command: ["npm"], add: ["install", "--no-audit", "--no-fund", "--loglevel=error"] },
  pnpm: {
    command: [process.execPath, path.join(CACHE, "pack-tools/node_modules/pnpm/bin/pnpm.cjs")],
    add: ["add", "--silent"],
  },
  yarn: {
    command: [process.execPath, path.join(CACHE, "pack-tools/node_modules/yarn/bin/yarn.js")],
    add: ["add", "--silent", "--no-lockfile"],
  },
};

/** Runs a command. @throws Error with its output if it fails. */
function run([command, ...args], cwd, env = {}) {
  try {
    return execFileSync(command, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    throw new Error(`${path.basename(command)} ${args.join(" ")}\n${error.stdout}${error.stderr}`, { cause: error });
  }
}

function say(text) {
  process.stdout.write(`${text}\n`);
}

/** The folder of the tools, which only this script needs. */
function installTools() {
  const folder = path.join(CACHE, "pack-tools");
  if (Object.keys(TOOLS).every((name) => existsSync(path.join(folder, "node_modules", name)))) return folder;
  say("Installing the tools of this check; later runs skip this step …");
  mkdirSync(folder, { recursive: true });
  const overrides = { "node-fetch": "2.7.0" }; // verdaccio's dependency needs a newer one than it asks for
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, dependencies: TOOLS, overrides }));
  run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], folder);
  return folder;
}

/** Packs a package. */
function pack(folder) {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", PACKED];
  const [{ filename, unpackedSize, files }] = JSON.parse(run(["npm", ...args], folder));
  const { name } = readManifest(folder);
  return { name, folder, tarball: path.join(PACKED, filename), unpackedSize, count: files.length };
}

/** Checks the manifest of a package, and the resolution of its types. */
function lint({ name, folder, tarball }, tools) {
  const bin = (file) => [process.execPath, path.join(tools, "node_modules", file)];
  run([...bin("publint/src/cli.js"), "run", tarball, "--strict"], ROOT);
  const hasTypes = existsSync(path.join(folder, "dist/index.d.ts")) || name === "tsgi";
  // Node from 20.19 on can `require` ES modules: there is no CommonJS build.
  if (hasTypes) run([...bin("@arethetypeswrong/cli/dist/index.js"), tarball, "--profile", "esm-only"], ROOT);
}

/** A registry on loopback for our packages; all others it gets from the one that npm uses here. */
async function startRegistry(tools) {
  const storage = path.join(PACKED, "registry");
  const program = path.join(tools, "serve.mjs");
  writeFileSync(
    program,
    `import verdaccio from "verdaccio";
     const [storage, upstream] = process.argv.slice(2);
     const own = { access: "$all", publish: "$all" };
     const server = await verdaccio.runServer({
       self_path: storage, storage, max_body_size: "100mb",
       uplinks: { upstream: { url: upstream, timeout: "60s", maxage: "30m" } },
       auth: { htpasswd: { file: storage + "/htpasswd" } },
       packages: { tsgi: own, "create-tsgi": own, "@tsgi/*": own, "**": { access: "$all", proxy: "upstream" } },
       log: { type: "stdout", format: "json", level: "fatal" },
       web: { enable: false },
     });
     server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));`,
  );
  const upstream = run(["npm", "config", "get", "registry"], ROOT).trim();
  const server = spawn(process.execPath, [program, storage, upstream], { stdio: ["ignore", "pipe", "inherit"] });
  const port = await new Promise((resolve, reject) => {
    createInterface({ input: server.stdout }).on("line", (line) => resolve(/^port (\d+)$/.exec(line)?.[1]));
    server.once("exit", () => reject(new Error("The registry does not start.")));
  });
  const home = path.join(PACKED, "home");
  mkdirSync(home, { recursive: true });
  const url = `http://127.0.0.1:${port}/`;
  writeFileSync(path.join(home, ".npmrc"), `registry=${url}\n//127.0.0.1:${port}/:_authToken=anonymous\n`);
  const env = {
    HOME: home,
    npm_config_userconfig: path.join(home, ".npmrc"),
    npm_config_cache: path.join(home, ".npm"),
    npm_config_registry: url,
    YARN_REGISTRY: url,
    YARN_CACHE_FOLDER: path.join(home, ".yarn-cache"),
  };
  return { env, home, stop: () => server.kill("SIGKILL") };
}

/** Installs a package into an empty folder, and runs its program. */
function tryOut(manager, name, version, env) {
  const { command, add } = MANAGERS[manager];
  const { packages = [], program } = SMOKE[name];
  const folder = path.join(PACKED, "projects", `${manager}-${name.replace("@tsgi/", "")}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const wanted = [...new Set([name, "tsgi"])].map((one) => `${one}@${version}`);
  run([...command, ...add, ...wanted, ...packages], folder, env);
  writeFileSync(path.join(folder, "main.js"), `${program}\nconsole.log("ok");`);
  const output = run([process.execPath, "main.js"], folder, env);
  if (output.trim().split("\n").at(-1) !== "ok") throw new Error(`${name}: ${output}`);
}

const [, , ...wanted] = process.argv;
const unknown = wanted.filter((name) => !(name in MANAGERS));
if (unknown.length > 0) {
  process.stderr.write(`Unknown: ${unknown.join(", ")}. Expected ${Object.keys(MANAGERS).join(", ")}.\n`);
  process.exit(2);
}
const managers = wanted.length > 0 ? wanted : Object.keys(MANAGERS);
rmSync(PACKED, { recursive: true, force: true });
mkdirSync(PACKED, { recursive: true });
const tools = installTools();
const packages = [...packageFolders(), path.join(ROOT, "generators")]
  .filter((folder) => readManifest(folder).private !== true)
  .map(pack);
for (const { name, tarball, unpackedSize, count } of packages) {
  const kilobytes = (bytes) => `${Math.ceil(bytes / 1000)} kB`.padStart(9);
  say(
    `${name.padEnd(22)}${kilobytes(statSync(tarball).size)} packed${kilobytes(unpackedSize)} unpacked, ${count} files`,
  );
}
say("Checking manifests and types …");
// The templates in create-tsgi are files of other projects, which no check of this package can judge.
for (const one of packages.filter(({ name }) => SMOKE[name] !== undefined)) lint(one, tools);

const { version } = readManifest(path.join(FRAMEWORK, "core"));
run([process.execPath, path.join(ROOT, ".ci/check-release.js"), "--rehearsal", `v${version}`], ROOT);
for (const { tarball } of packages) run(["npm", "publish", tarball, "--dry-run", "--loglevel=error"], PACKED);
say(`A release of ${version} is complete except for its tag.`);

const { env, home, stop } = await startRegistry(tools);
try {
  // Provenance needs the identity of a build server, which only the release has.
  for (const { tarball } of packages) {
    run(["npm", "publish", tarball, "--no-provenance", "--loglevel=error"], home, env);
  }
  for (const manager of managers) {
    for (const { name } of packages) {
      if (SMOKE[name] === undefined) continue;
      say(`${manager}: ${name} …`);
      tryOut(manager, name, version, env);
    }
  }
} finally {
  stop();
}
rmSync(path.join(PACKED, "projects"), { recursive: true, force: true });
rmSync(path.join(PACKED, "registry"), { recursive: true, force: true });
rmSync(path.join(PACKED, "home"), { recursive: true, force: true });
say(
  `All ${packages.length} packages install and run with ${managers.join(", ")}. Tarballs: ${path.relative(ROOT, PACKED)}: ${readdirSync(PACKED).length}`,
);
