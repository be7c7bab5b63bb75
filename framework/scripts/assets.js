/**
 * Copies what the documentation pages need of Swagger UI, ReDoc and Scalar, with the licences, into `@tsgi/docs-ui`,
 * beside its own files. They are not installed beside it: the one brings a script that reports each installation, the
 * other a tree of 85 MB.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** The files that are needed of each package. */
export const PACKAGES = {
  redoc: ["package.json", "LICENSE", "bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt"],
  "@scalar/api-reference": ["package.json", "dist/browser/standalone.js"],
  "swagger-ui-dist": [
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
};

/**
 * The one address of another host in ReDoc's bundle: the logo under its menu. ReDoc leaves the logo out when the image
 * cannot be shown, which is so for an empty one.
 */
const LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** The folder of an installed package; not every one exports its `package.json`. */
export function folderOf(name) {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const found = folders.find((folder) => existsSync(path.join(folder, name, "package.json")));
  if (found === undefined) throw new Error(`${name} is not installed`);
  return path.join(found, name);
}

/**
 * Makes `dist` of the package `@tsgi/docs-ui`.
 *
 * @returns {string[]} its files, relative to `dist`
 */
export function copyAssets(folder) {
  const dist = path.join(folder, "dist");
  const own = path.join(folder, "assets");
  for (const [name, files] of Object.entries(PACKAGES)) {
    const source = folderOf(name);
    const target = path.join(dist, name);
    mkdirSync(target, { recursive: true });
    for (const file of files) copyFileSync(path.join(source, file), path.join(target, path.basename(file)));
    // Its entry points are not there, and Node reads `exports` of a package's root alone.
    const { version, license } = JSON.parse(readFileSync(path.join(source, "package.json"), "utf8"));
    writeFileSync(path.join(target, "package.json"), `${JSON.stringify({ name, version, license }, null, 2)}\n`);
  }
  cpSync(own, dist, { recursive: true });
  const redoc = path.join(dist, "redoc/redoc.standalone.js");
  writeFileSync(redoc, readFileSync(redoc, "utf8").replaceAll(LOGO, "data:,"));
  const copies = Object.entries(PACKAGES).flatMap(([name, files]) =>
    files.map((file) => `${name}/${path.basename(file)}`),
  );
  const added = readdirSync(own, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(own, path.join(entry.parentPath, entry.name)));
  return [...copies, ...added];
}
