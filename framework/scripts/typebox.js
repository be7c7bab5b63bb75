/** Puts TypeBox's builder into one file, with its licence. `src/schema/typebox.ts` says why. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "esbuild";

const framework = path.dirname(import.meta.dirname);
// The package's own entry point is build/cjs/index.js; it exports no package.json.
const typebox = path.resolve(createRequire(import.meta.url).resolve("@sinclair/typebox"), "../../..");
const { version } = JSON.parse(readFileSync(path.join(typebox, "package.json"), "utf8"));
const licence = readFileSync(path.join(typebox, "license"), "utf8");

await build({
  stdin: { contents: 'export { Type } from "@sinclair/typebox";', resolveDir: framework },
  outfile: path.join(framework, "dist/schema/typebox.js"),
  bundle: true,
  format: "esm",
  target: "es2022",
  banner: { js: `/*! @sinclair/typebox ${version}\n${licence}*/` },
  logLevel: "warning",
});
