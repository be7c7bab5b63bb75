/** Copies what a page needs of a package that is not installed with the framework: ReDoc's bundle, with its licences. */
import { copyFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const FILES = ["package.json", "LICENSE", "bundles/redoc.standalone.js", "bundles/redoc.standalone.js.LICENSE.txt"];

const source = path.dirname(createRequire(import.meta.url).resolve("redoc/package.json"));
const target = path.join(path.dirname(import.meta.dirname), "dist/assets/redoc");
for (const file of FILES) {
  mkdirSync(path.join(target, path.dirname(file)), { recursive: true });
  copyFileSync(path.join(source, file), path.join(target, file));
}
