/**
 * Builds the documentation as a static site with a search of its own, into `.cache/site/dist`. VitePress is fetched on
 * demand: nothing else needs it.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const VITEPRESS = "1.6.4";

const framework = path.dirname(import.meta.dirname);
const home = path.resolve(framework, "../.cache/site");
const pages = path.join(home, "docs");

if (!existsSync(path.join(home, "node_modules/vitepress"))) {
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), '{"private":true,"type":"module"}');
  const flags = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", `vitepress@${VITEPRESS}`];
  execFileSync("npm", flags, { cwd: home, stdio: "inherit" });
}
rmSync(pages, { recursive: true, force: true });
cpSync(path.join(framework, "docs"), pages, { recursive: true });
cpSync(path.join(framework, "site/config.js"), path.join(pages, ".vitepress/site.js"));
writeFileSync(path.join(pages, ".vitepress/config.js"), 'export { site as default } from "./site.js";\n');

const command = path.join(home, "node_modules/vitepress/bin/vitepress.js");
execFileSync(process.execPath, [command, "build", "docs", "--outDir", "dist"], { cwd: home, stdio: "inherit" });
console.log(
  `\n${path.relative(process.cwd(), path.join(home, "dist"))} is the site: npx serve ${path.relative(process.cwd(), path.join(home, "dist"))}`,
);
