/**
 * Bundles the sources of a package into `dist`: each entry point and each program that a process or thread starts is a file
 * there, and what several of them need is in files that they share, so that no class is there twice. Node loads the
 * twenty files of the core in a third of the time that it takes for its 280 modules.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { build } from "esbuild";
import { FRAMEWORK, readManifest } from "./packages.js";
import { SHORT_TYPEBOX, shorten } from "./shorten.js";

/** `new URL("./worker.js", import.meta.url)`: a file that is found by the place of the module that names it. */
const OWN_FILE = /new URL\("([^"]+)", import\.meta\.url\)/g;

/** Marks such a place, relative to `dist`, until it is known which file of the bundle names it. */
const PLACE = "in-dist:";
const MARKED = new RegExp(`"${PLACE}([^"]+)"`, "g");

/** A module with these places marked, except in its comments. */
function markPlaces(text, module) {
  return text
    .split("\n")
    .map((line) =>
      /^\s*(?:\/\/|\/?\*)/.test(line)
        ? line
        : line.replaceAll(OWN_FILE, (_, place) => {
            return `new URL("${PLACE}${path.join(path.dirname(module), place)}", import.meta.url)`;
          }),
    )
    .join("\n");
}

/** The modules of the sources, each with its places marked. */
function readModules(src) {
  const names = readdirSync(src, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return new Map(names.map((name) => [name, markPlaces(readFileSync(path.join(src, name), "utf8"), name)]));
}

/** The entry modules: those of the manifest, and those that another module starts by their file. */
function entryPoints({ exports, bin }, modules) {
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === "string" ? [] : Object.entries(target),
  );
  const doors = targets.flatMap(([condition, file]) =>
    condition === "types" || condition === "browser" || file.endsWith(".cjs") ? [] : path.relative("dist", file),
  );
  const places = [...modules.values()].flatMap((text) => [...text.matchAll(MARKED)].map(([, place]) => place));
  const program = bin !== undefined && modules.has("main.ts") ? ["main.js"] : [];
  return [...new Set([...doors, ...places.filter((place) => place.endsWith(".js")), ...program])];
}

/**
 * For `require()`: the module that Node loads for `import`, so that no class is there twice. Jest on Node before 24.9 loads only
 * CommonJS, and replaces `createRequire` in its context. `runInThisContext` runs code in the main one.
 */
function doorsOfCommonJS({ exports }) {
  const files = Object.values(exports).flatMap(({ require: file }) => (file?.endsWith(".cjs") ? file : []));
  return files.map((file) => ({
    name: path.relative("dist", file),
    text:
      'const { getBuiltinModule } = require("node:vm").runInThisContext("process");\n' +
      `module.exports = getBuiltinModule("node:module").createRequire(__filename)("./${path.basename(file, ".cjs")}.js");\n`,
  }));
}

/** A file of the bundle, with each place as it is seen from there. */
function settle(text, name) {
  const up = path.relative(path.dirname(name), ".");
  return (
    text
      .replaceAll(MARKED, (_, place) => {
        const seen = path.join(up, place);
        return JSON.stringify(seen.startsWith(".") ? seen : `./${seen}`);
      })
      // esbuild renames a class that refers to itself, which its instances and errors would show. The names are as long
      // as before, so the source map stays true.
      .replaceAll(/(?<![\w$.#"'`])_([A-Z]\w*)\b/g, (whole, className) =>
        new RegExp(`\\b${className} ?= ?class _${className}\\b`).test(text) ? ` ${className}` : whole,
      )
      // A class gets its name from its variable, which may be shortened.
      .replaceAll(/(?<![\w$.#])([A-Z]\w*) = class (?=extends |\{)/g, "$1 = class $1 ")
  );
}

/** TypeBox's licence asks to go along with its code. */
function licenceOfTypeBox() {
  // The package's own entry point is build/cjs/index.js; it exports no package.json.
  const home = path.resolve(createRequire(import.meta.url).resolve("@sinclair/typebox"), "../../..");
  const { name, version } = JSON.parse(readFileSync(path.join(home, "package.json"), "utf8"));
  return `The bundle holds code of ${name} ${version}:\n\n${readFileSync(path.join(home, "license"), "utf8")}`;
}

/**
 * Packages that need little more than the types of `tsgi` say so by an optional peer. The few functions of it that they use
 * go along in their one file: a browser, or a test of another server, does not load the framework for them.
 */
function needsTypesAlone({ peerDependenciesMeta = {} }) {
  return peerDependenciesMeta.tsgi?.optional === true;
}

/** The modules that are part of the bundle of such packages, and those that stay outside it. */
function parts(manifest) {
  const outside = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  if (!needsTypesAlone(manifest)) {
    return { splitting: true, external: outside.filter((name) => name !== "@sinclair/typebox") };
  }
  const alias = { "tsgi/internals": path.join(FRAMEWORK, "core/src/internals.ts") };
  return { splitting: false, external: outside.filter((name) => name !== "tsgi"), alias };
}

/** In a bundle for the web, `x.web.ts` takes the place of `x.ts`. */
const WEB_VARIANTS = {
  name: "web",
  setup: (builder) =>
    builder.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, ({ path: specifier, resolveDir }) => {
      const variant = path.resolve(resolveDir, specifier.replace(/\.js$/, ".web.ts"));
      return existsSync(variant) ? { path: variant } : undefined;
    }),
};

/**
 * The settings of the bundle for the web: the entry points that have the condition `browser`. Code behind a comparison of
 * `TSGI_PLATFORM` is left out there.
 */
function forWeb(src, dist, { exports }) {
  const files = Object.values(exports).flatMap(({ browser }) => browser ?? []);
  return {
    entryPoints: files.map((file) => path.join(src, path.relative("dist/web", file).replace(/\.js$/, ".ts"))),
    outdir: path.join(dist, "web"),
    sourcemap: false, // the application's bundler writes its own, and shortens names
    define: { "process.env.TSGI_MESSAGES": "process.env.NODE_ENV", "process.env.TSGI_PLATFORM": '"web"' },
    minifyWhitespace: true,
  };
}

/**
 * Makes the bundle of a package.
 *
 * @returns {Promise<string[]>} its files, relative to `dist`
 */
export async function bundle(folder) {
  const dist = path.join(folder, "dist");
  const src = path.join(folder, "src");
  const manifest = readManifest(folder);
  const modules = readModules(src);
  const plugins = [
    {
      name: "modules",
      setup: (builder) =>
        builder.onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
          const contents = modules.get(path.relative(src, file));
          return contents === undefined ? undefined : { contents, loader: "ts" };
        }),
    },
  ];
  const settings = {
    entryPoints: entryPoints(manifest, modules).map((name) => path.join(src, name.replace(/\.js$/, ".ts"))),
    outbase: src,
    outdir: dist,
    bundle: true,
    ...parts(manifest),
    format: "esm",
    platform: "node",
    target: "node20.19",
    minifySyntax: true,
    sourcemap: "external",
    define: { "process.env.TSGI_MESSAGES": '"all"', "process.env.TSGI_PLATFORM": '"any"' },
    sourcesContent: false,
    chunkNames: "shared/[name]-[hash]",
    legalComments: "none",
    plugins,
    write: false,
    logLevel: "warning",
  };
  const { outputFiles } = await build({ ...settings, plugins: [SHORT_TYPEBOX, ...plugins] });
  const web = forWeb(src, dist, manifest);
  if (web.entryPoints.length > 0) {
    outputFiles.push(...(await build({ ...settings, ...web, plugins: [WEB_VARIANTS, ...plugins] })).outputFiles);
  }
  const texts = new Map(outputFiles.map(({ path: file, text }) => [path.relative(dist, file), text]));
  const files = [];
  for (const [name, text] of texts) {
    const map = texts.get(`${name}.map`);
    if (name.endsWith(".map")) continue;
    const settled = settle(text, name);
    files.push(...(map === undefined ? [{ name, text: settled }] : await shorten(name, settled, map)));
  }
  files.push(...doorsOfCommonJS(manifest));
  if (manifest.dependencies?.["@sinclair/typebox"]) files.push({ name: "LICENSES.txt", text: licenceOfTypeBox() });
  // Imported files come before their importers: a process that starts meanwhile finds a complete bundle.
  const isShared = ({ name }) => /^(?:web\/)?shared\//.test(name);
  for (const { name, text } of files.toSorted((a, b) => Number(isShared(b)) - Number(isShared(a)))) {
    const file = path.join(dist, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  }
  return files.map(({ name }) => name);
}
