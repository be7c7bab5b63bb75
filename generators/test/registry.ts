import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { readTarball } from "../src/tarball.js";
import { templateOf } from "./repository-templates.js";
import { packageRoot, repositoryRoot, run, shellEnvironment, temporaryFolder } from "./support.js";

/** Packages that only these tests need are installed here, once. */
const cache = join(packageRoot, ".cache/registry");

/** Its dependency needs a newer node-fetch than it asks for. */
const verdaccio = { dependencies: { verdaccio: "6.8.0" }, overrides: { "node-fetch": "2.7.0" } };

/** Listens on a free port, and returns it. Packages that it does not have are downloaded from the upstream registry. */
const program = `
import verdaccio from "verdaccio";

const [storage, upstream] = process.argv.slice(1);
const all = { access: "$all", publish: "$all", unpublish: "$all" };
const server = await verdaccio.runServer({
  self_path: storage,
  storage,
  uplinks: { upstream: { url: upstream, timeout: "60s", maxage: "30m" } },
  auth: { htpasswd: { file: storage + "/htpasswd" } },
  packages: { tsgi: all, "@tsgi/*": all, "create-tsgi": all, "**": { access: "$all", proxy: "upstream" } },
  log: { type: "stdout", format: "json", level: "fatal" },
  web: { enable: false },
});
server.listen(0, "127.0.0.1", () => console.log("port " + server.address().port));
`;

/** A registry of npm's on this machine that holds the packages of the repository. */
export interface Registry extends AsyncDisposable {
  url: string;
  /** The settings with which npm, pnpm and yarn use it, without the user's own. */
  env: Record<string, string>;
}

async function must(name: string, parameters: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const result = await run(name, parameters, { cwd, env });
  if (result.status !== 0) {
    throw new Error(`${name} ${parameters.join(" ")}: ${result.stdout}${result.stderr}`);
  }
  return result.stdout.trim();
}

/** Installs packages into a folder of the cache, unless they are there. Another test file may do the same meanwhile. */
export async function fetchPackages(name: string, manifest: { dependencies: Record<string, string> }): Promise<string> {
  const folder = join(cache, name);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const temporary = await mkdtemp(`${folder}-`);
    await writeFile(join(temporary, "package.json"), JSON.stringify({ private: true, ...manifest }));
    await must("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], temporary);
    await rename(temporary, folder).catch(async (error: unknown) => {
      if (!existsSync(folder)) throw error;
      await rm(temporary, { recursive: true });
    });
  }
  return folder;
}

/**
 * Starts a registry and publishes the framework's packages and this one to it, as they would be packed.
 *
 * @param user the test file: each has the packages of others in a separate folder of the cache
 */
export async function startRegistry(user: string): Promise<Registry> {
  const folder = await fetchPackages("verdaccio", verdaccio);
  const storage = join(cache, `storage-${user}`);
  await mkdir(storage, { recursive: true });
  for (const name of ["tsgi", "@tsgi", "create-tsgi", ".verdaccio-db.json"]) {
    await rm(join(storage, name), { recursive: true, force: true });
  }
  const upstream = await must("npm", ["config", "get", "registry"], repositoryRoot);
  const server = spawn(
    process.execPath,
    ["--input-type=module", "--eval", program, storage, upstream.split("\n").at(-1) ?? ""],
    {
      cwd: folder,
      env: shellEnvironment,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = once(server, "close");
  const stop = async () => {
    server.kill("SIGKILL");
    await ended;
  };
  try {
    const port = await new Promise<string>((resolve, reject) => {
      createInterface({ input: server.stdout }).on("line", (line) => {
        const [, found] = /^port (\d+)$/.exec(line) ?? [];
        if (found !== undefined) {
          resolve(found);
        }
      });
      void ended.then(() => reject(new Error("verdaccio does not start")));
    });
    const home = await temporaryFolder();
    const url = `http://127.0.0.1:${port}/`;
    // Anonymous publishing: npm still requires a token, and the registry accepts any.
    await writeFile(join(home.path, ".npmrc"), `registry=${url}\n//127.0.0.1:${port}/:_authToken=anonymous\n`);
    const env = {
      HOME: home.path,
      npm_config_userconfig: join(home.path, ".npmrc"),
      npm_config_cache: join(home.path, ".npm"),
      npm_config_registry: url,
      // Its cache is new, so a package in it does not have to be looked for again.
      npm_config_prefer_offline: "true",
      YARN_REGISTRY: url,
      // Yarn installs created packages globally: for a superuser next to the programs of the system, regardless of
      // HOME.
      YARN_PREFIX: home.path,
      YARN_CACHE_FOLDER: join(home.path, ".yarn-cache"),
    };
    await publish(url);
    return {
      url,
      env,
      [Symbol.asyncDispose]: async () => {
        await stop();
        await home[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Publishes all packages by the requests of `npm publish`, which takes a second of processor time for each. */
async function publish(registry: string): Promise<void> {
  const { packages, generator } = templateOf("auth");
  const tarballs = [...packages.values(), generator].flatMap(({ tarball }) => tarball ?? []);
  for (const { path, read } of tarballs) {
    const data = await read();
    const manifest = JSON.parse(String(readTarball(data).get("package.json"))) as { name: string; version: string };
    const { name, version } = manifest;
    const file = basename(path);
    const dist = {
      tarball: `${registry}${name}/-/${file}`,
      shasum: createHash("sha1").update(data).digest("hex"),
      integrity: `sha512-${createHash("sha512").update(data).digest("base64")}`,
    };
    const response = await fetch(`${registry}${name.replace("/", "%2f")}`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        _id: name,
        name,
        "dist-tags": { latest: version },
        versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
        _attachments: {
          [file]: { content_type: "application/octet-stream", data: data.toString("base64"), length: data.length },
        },
      }),
    });
    if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`);
  }
}
