/**
 * Copies the required files of Swagger UI, ReDoc and Scalar, with the licenses, into `@tsgi/docs-ui`, next to its own
 * files. Only their tarballs are downloaded, without an installation: one of them contains a script that reports each
 * installation, the others a tree of 85 MB.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { FRAMEWORK } from "./packages.js";

/** The packages with the hash of their tarballs, as the registry has it in `dist.integrity`, and the files that are needed. */
export const PACKAGES = {
  redoc: {
    version: "2.5.4",
    integrity: "sha512-M6jWhG1qoBnH6TFmzJnstyCZ87HmOY/UzDm78mHiYihEdlV/YcS9ogOo1NlElnJMeLsyxHFe2yFc4sNjHTrABQ==",
    files: ["package.json", "LICENSE", "bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt"],
  },
  "@scalar/api-reference": {
    version: "1.44.27",
    integrity: "sha512-nvE8rDBo6YLxHzoZ9phDD/Xq6Kf6/tOUej9UKnjGiitLlcuarPAkbC7WRZNzI41EuuUNEtNFWz2ImaZXVtg6fQ==",
    files: ["package.json", "dist/browser/standalone.js"],
  },
  "swagger-ui-dist": {
    version: "5.35.0",
    integrity: "sha512-U06rpMtW9V3XPGOBeamTUSr0Z09jMX4IJuANpE/EZbAhw0G8CgwrzU4YmXkn/h0wCDNsXdGarTNNHC3sU8yVUQ==",
    files: [
      "package.json",
      "LICENSE",
      "NOTICE",
      "favicon-32x32.png",
      "oauth2-redirect.html",
      "oauth2-redirect.js",
      "swagger-ui.css",
      "swagger-ui-bundle.js",
      "swagger-ui-bundle.js.LICENSE.txt",
    ],
  },
};

const CACHE = path.join(FRAMEWORK, "../.cache/docs-ui");

/**
 * The one address of another host in ReDoc's bundle: the logo under its menu. ReDoc leaves the logo out when the image
 * cannot be shown, which is so for an empty one.
 */
const LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** The folder of a package's files, fetched once. @throws Error if the tarball is another than the pinned one. */
function fetchPackage(name) {
  const { version, integrity } = PACKAGES[name];
  const folder = path.join(CACHE, `${name.replace("/", "-")}-${version}`);
  if (existsSync(path.join(folder, "package"))) return path.join(folder, "package");
  process.stderr.write(`Fetching ${name} ${version} for the documentation pages; later runs skip this step …\n`);
  mkdirSync(folder, { recursive: true });
  const args = ["pack", `${name}@${version}`, "--json", "--loglevel=error", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(execFileSync("npm", args, { cwd: folder, encoding: "utf8" }));
  const tarball = path.join(folder, filename);
  const found = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  if (found !== integrity) {
    rmSync(folder, { recursive: true });
    throw new Error(`The registry's tarball of ${name}@${version} is ${found}, not ${integrity}.`);
  }
  execFileSync("tar", ["-xzf", filename], { cwd: folder });
  rmSync(tarball);
  return path.join(folder, "package");
}

/**
 * Makes `dist` of the package `@tsgi/docs-ui`.
 *
 * @returns {string[]} its files, relative to `dist`
 */
export function copyAssets(folder) {
  const dist = path.join(folder, "dist");
  const own = path.join(folder, "assets");
  for (const [name, { files }] of Object.entries(PACKAGES)) {
    const source = fetchPackage(name);
    const target = path.join(dist, name);
    mkdirSync(target, { recursive: true });
    for (const file of files) copyFileSync(path.join(source, file), path.join(target, path.basename(file)));
    // Its entry points are missing, and Node reads `exports` only in a package's root.
    const { version, license } = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
    writeFileSync(path.join(target, "package.json"), `${JSON.stringify({ name, version, license }, null, 2)}\n`);
  }
  cpSync(own, dist, { recursive: true });
  const redoc = path.join(dist, "redoc/redoc.standalone.js");
  writeFileSync(redoc, readFileSync(redoc, "utf8").replaceAll(LOGO, "data:,"));
  const copies = Object.entries(PACKAGES).flatMap(([name, { files }]) =>
    files.map((file) => `${name}/${path.basename(file)}`),
  );
  const added = readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(own, path.join(entry.parentPath, entry.name)));
  return [...copies, ...added];
}
