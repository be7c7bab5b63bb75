/**
 * Builds the documentation as a static site with a search, into `.cache/site/dist`: the pages of `docs`, and a
 * reference from the doc comments of all exports of the packages. The tools are downloaded on demand: only this script
 * needs them.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

import { writeForPrograms } from "../site/for-programs.js";
import { makeHome } from "../site/home.js";
import { makeGroups } from "../site/sidebar.js";
import { entryPoints, FRAMEWORK, readManifest } from "./packages.js";

const repository = path.dirname(FRAMEWORK);
const core = path.join(FRAMEWORK, "core");
const home = path.join(repository, ".cache/site");
const pages = path.join(home, "docs");
const entries = path.join(home, "entries");
const read = (file) => readFileSync(path.join(FRAMEWORK, file), "utf8");

/** TypeDoc reads the source with TypeScript's programming interface, which 7 does not have. */
const TOOLS = { vitepress: "1.6.4", typedoc: "0.28.20", "typedoc-plugin-markdown": "4.14.1", typescript: "5.9.3" };

const { version, description, repository: address } = readManifest(core);

/** The entry points: the name that a program imports, and the file of the source. */
const modules = entryPoints().map(({ name, folder, file }) => {
  const declarations = path.relative(path.join(folder, "dist"), file);
  return { name, file: path.join(folder, "src", declarations.replace(/\.d\.ts$/, ".ts")) };
});

function fetchTools() {
  if (Object.keys(TOOLS).every((name) => existsSync(path.join(home, "node_modules", name)))) return;
  mkdirSync(home, { recursive: true });
  writeFileSync(path.join(home, "package.json"), '{"private":true,"type":"module"}');
  const packages = Object.entries(TOOLS).map(([name, number]) => `${name}@${number}`);
  const flags = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", [...flags, ...packages], { cwd: home, stdio: "inherit" });
}

/** The link to the source: the repository of `package.json`, else the page on the files of the framework. */
function findRepository() {
  const url = (address?.url ?? address)?.replace(/^git\+/, "").replace(/\.git$/, "");
  return { link: url ?? "/architecture#files-by-topic" };
}

function copyPages() {
  rmSync(pages, { recursive: true, force: true });
  cpSync(path.join(FRAMEWORK, "docs"), pages, { recursive: true });
  // Next to the pages as in the repository, so that they refer to their pictures by the same path.
  rmSync(path.join(home, "site/public"), { recursive: true, force: true });
  cpSync(path.join(FRAMEWORK, "site/public"), path.join(home, "site/public"), { recursive: true });
  const settings = path.join(pages, ".vitepress");
  for (const name of ["config.js", "for-programs.js", "search.js", "sidebar.js"])
    cpSync(path.join(FRAMEWORK, "site", name), path.join(settings, name === "config.js" ? "site.js" : name));
  cpSync(path.join(FRAMEWORK, "site/style.css"), path.join(settings, "theme/style.css"));
  writeFileSync(path.join(settings, "config.js"), 'export { site as default } from "./site.js";\n');
  writeFileSync(
    path.join(settings, "theme/index.js"),
    'export { default } from "vitepress/theme-without-fonts";\nimport "./style.css";\n',
  );
  const facts = { version, description, repository: findRepository(), modules: modules.map(({ name }) => name) };
  writeFileSync(path.join(settings, "facts.json"), JSON.stringify(facts));
  const texts = { readme: read("core/README.md"), benchmarks: read("docs/benchmarks.md"), version };
  writeFileSync(path.join(pages, "index.md"), makeHome(texts));
}

/** Writes a page for each name that an entry point exports. A module is called as a program imports it. */
function writeReference() {
  rmSync(entries, { recursive: true, force: true });
  for (const { name, file } of modules) {
    const comment = /^\/\*\*.*?@module.*?\*\//s.exec(readFileSync(file, "utf8"))?.[0] ?? "";
    const entry = path.join(entries, `${name}.ts`);
    mkdirSync(path.dirname(entry), { recursive: true });
    writeFileSync(entry, `${comment}\nexport * from ${JSON.stringify(file.replace(/ts$/, "js"))};\n`);
  }
  const compilerOptions = { rootDir: repository, composite: false, noEmit: true, types: ["node"] };
  const typeRoots = [path.join(repository, "node_modules/@types")];
  writeFileSync(
    path.join(entries, "tsconfig.json"),
    JSON.stringify({
      extends: path.join(repository, "tsconfig.base.json"),
      compilerOptions: { ...compilerOptions, typeRoots },
      include: ["**/*.ts"],
    }),
  );
  const settings = {
    plugin: ["typedoc-plugin-markdown"],
    tsconfig: path.join(entries, "tsconfig.json"),
    entryPoints: modules.map(({ name }) => path.join(entries, `${name}.ts`)),
    out: path.join(pages, "reference"),
    readme: "none",
    name: "Reference",
    excludePrivate: true,
    excludeInternal: true,
    disableSources: true,
    githubPages: false,
    hidePageHeader: true,
    useCodeBlocks: true,
    entryFileName: "index",
    // Types that an exported one mentions are described at their place.
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
writeFileSync(
  path.join(pages, "index.md"),
  read("core/README.md").replaceAll("](../docs/", "](").replace("[MIT](LICENSE)", "MIT"),
);
const groups = makeGroups(
  path.join(pages, "cookbook/README.md"),
  modules.map(({ name }) => name),
);
writeForPrograms({ pages, site: path.join(home, "dist"), groups, description });
const site = path.relative(process.cwd(), path.join(home, "dist"));
console.log(`\n${site} is the site: npx serve ${site}`);
