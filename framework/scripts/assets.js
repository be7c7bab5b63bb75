/**
 * Copies what the documentation pages need of Swagger UI and ReDoc, with the licences, into the built framework. They
 * are not installed beside it: the one brings a script that reports each installation, the other a tree of 85 MB.
 */
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const PACKAGES = {
  redoc: ["package.json", "LICENSE", "bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt"],
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

const { resolve } = createRequire(import.meta.url);
const assets = path.join(path.dirname(import.meta.dirname), "dist/assets");
for (const [name, files] of Object.entries(PACKAGES)) {
  const source = path.dirname(resolve(`${name}/package.json`));
  for (const file of files) {
    const target = path.join(assets, name, file);
    mkdirSync(path.dirname(target), { recursive: true });
    copyFileSync(path.join(source, file), target);
  }
}
