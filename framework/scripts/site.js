/**
 * Builds the documentation as a static site with a search of its own, into `.cache/site/dist`: the pages of `docs`, and a
 * reference from the doc comments of everything that the package exports. The tools are fetched on demand: nothing else
 * needs them.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

const framework = path.dirname(import.meta.dirname);
const home = path.resolve(framework, "../.cache/site");
const pages = path.join(home, "docs");
/** Beside the pages as in the repository, so that they name their pictures by the same path. */
const pictures = path.join(home, "site/public");

/** TypeDoc reads the source with TypeScript's programming interface, which 7 does not have. */
const TOOLS = { vitepress: "1.6.4", typedoc: "0.28.20", "typedoc-plugin-markdown": "4.14.1", typescript: "5.9.3" };

function fetchTools() {
  if (Object.keys(TOOLS).every((name) => existsSync(path.join(home, "node_modules", name)))) return;
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), '{"private":true,"type":"module"}');
  const packages = Object.entries(TOOLS).map(([name, version]) => `${name}@${version}`);
  const flags = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", [...flags, ...packages], { cwd: home, stdio: "inherit" });
}

function copyPages() {
  rmSync(pages, { recursive: true, force: true });
  rmSync(pictures, { recursive: true, force: true });
  cpSync(path.join(framework, "docs"), pages, { recursive: true });
  cpSync(path.join(framework, "site/public"), pictures, { recursive: true });
  cpSync(path.join(framework, "site/config.js"), path.join(pages, ".vitepress/site.js"));
  cpSync(path.join(framework, "site/style.css"), path.join(pages, ".vitepress/theme/style.css"));
  writeFileSync(path.join(pages, ".vitepress/config.js"), 'export { site as default } from "./site.js";\n');
  writeFileSync(
    path.join(pages, ".vitepress/theme/index.js"),
    'export { default } from "vitepress/theme";\nimport "./style.css";\n',
  );
}

/** Writes a page for each name that an entry point of the package exports. */
function writeReference() {
  const { exports } = JSON.parse(readFileSync(path.join(framework, "package.json"), "utf8"));
  const entryPoints = Object.values(exports)
    .filter((entry) => typeof entry === "object")
    .map((entry) => path.join(framework, entry.types.replace(/^\.\/dist/, "src").replace(/\.d\.ts$/, ".ts")));
  const settings = {
    plugin: ["typedoc-plugin-markdown"],
    tsconfig: path.join(framework, "tsconfig.json"),
    entryPoints,
    out: path.join(pages, "reference"),
    readme: "none",
    name: "Reference",
    excludePrivate: true,
    disableSources: true,
    githubPages: false,
    hidePageHeader: true,
    useCodeBlocks: true,
    entryFileName: "index",
    // Types that an exported one mentions are told where it stands.
    validation: { notExported: false },
    logLevel: "Warn",
  };
  writeFileSync(path.join(home, "typedoc.json"), JSON.stringify(settings));
  runTool("typedoc/bin/typedoc", "--options", "typedoc.json");
}

function runTool(file, ...args) {
  execFileSync(process.execPath, [path.join(home, "node_modules", file), ...args], { cwd: home, stdio: "inherit" });
}

fetchTools();
copyPages();
writeReference();
runTool("vitepress/bin/vitepress.js", "build", "docs", "--outDir", "dist");
const site = path.relative(process.cwd(), path.join(home, "dist"));
console.log(`\n${site} is the site: npx serve ${site}`);
