/**
 * Bundles the command with its imports into `dist/bundle/`. Yeoman and inquirer install 300 packages and 60 MB; the
 * command uses 2 % of them.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";

const entry = "cli.js";

/**
 * Large modules that are never reached: fly-import installs generators from the network,
 * the editor prompt opens a program for long texts (and brings all character sets of the world).
 */
const stubs = {
  "fly-import": "export class FlyRepository {} export const flyImport = undefined;",
  "@inquirer/editor": "export default undefined;",
};

const stubPlugin = {
  name: "stub",
  setup(builder) {
    builder.onResolve({ filter: /^(?:fly-import|@inquirer\/editor)$/ }, ({ path: id }) => ({
      path: id,
      namespace: "stub",
    }));
    builder.onLoad({ filter: /.*/, namespace: "stub" }, ({ path: id }) => ({ contents: stubs[id] }));
  },
};

/** The expressions with which Yeoman's packages read their package.json, which is not next to the bundle. */
const ownManifest = [
  "JSON.parse(readFileSync(pathJoin(_dirname, '../package.json'), 'utf8'))",
  "JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json')).toString())",
  "require('../package.json')",
];

const manifestPlugin = {
  name: "inline-manifest",
  setup(builder) {
    const found = new Set();
    builder.onLoad({ filter: /[/\\]yeoman-(?:environment|generator)[/\\]dist[/\\].*\.js$/ }, ({ path: file }) => {
      const manifest = path.join(file.slice(0, file.lastIndexOf(`${path.sep}dist${path.sep}`)), "package.json");
      const { name, version } = JSON.parse(readFileSync(manifest, "utf8"));
      let contents = readFileSync(file, "utf8");
      for (const expression of ownManifest.filter((text) => contents.includes(text))) {
        found.add(expression);
        contents = contents.replace(expression, `(${JSON.stringify({ name, version })})`);
      }
      return { contents, loader: "js" };
    });
    builder.onEnd(() => {
      const missing = ownManifest.filter((expression) => !found.has(expression));
      return {
        errors: missing.map((text) => ({ text: `Yeoman no longer says ${text}; look how it reads its version` })),
      };
    });
  },
};

/**
 * Makes the bundle.
 *
 * @returns {Promise<{ modules: string[], files: string[] }>} the modules in it, as paths, and the names of its files
 */
export async function bundle(packageRoot) {
  // Loaded only here: each start of the command in the repository looks whether its bundle is fresh.
  const { build } = await import("esbuild");
  const dist = path.join(packageRoot, "dist");
  mkdirSync(path.join(dist, "bundle"), { recursive: true });
  const temporary = mkdtempSync(path.join(dist, "bundling-"));
  try {
    const { metafile } = await build({
      entryPoints: ["cli", "yo"].map((name) => path.join(packageRoot, `src/${name}.ts`)),
      outdir: temporary,
      bundle: true,
      splitting: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
      minify: true,
      metafile: true,
      logLevel: "error",
      // Some of the packages are CommonJS and call `require` for Node's own modules.
      banner: {
        js: 'import { createRequire as createRequireOf } from "node:module"; const require = createRequireOf(import.meta.url);',
      },
      plugins: [stubPlugin, manifestPlugin],
    });
    // The entry is written last and the names of chunks have a hash: a command that starts meanwhile finds a complete
    // bundle.
    const files = readdirSync(temporary).toSorted((a, b) => Number(a === entry) - Number(b === entry));
    for (const name of files) {
      renameSync(path.join(temporary, name), path.join(dist, "bundle", name));
    }
    return { modules: Object.keys(metafile.inputs).map((input) => path.resolve(input)), files };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** Makes the bundle if it is missing or older than the newest source. */
export async function bundleWhereNeeded(packageRoot) {
  const made = statSync(path.join(packageRoot, "dist/bundle", entry), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ["src", "scripts"].flatMap((folder) =>
    readdirSync(path.join(packageRoot, folder)).map((name) => path.join(packageRoot, folder, name)),
  );
  if (sources.some((source) => statSync(source).mtimeMs >= made)) {
    await bundle(packageRoot);
  }
}
