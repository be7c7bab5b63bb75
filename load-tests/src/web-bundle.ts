/** The size of a bundle for the web: what a page or a function at the edge loads of each framework. @module */
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { PEERS, REPOSITORY } from "./paths.js";
import type { Progress } from "./progress.js";
import { takeTurns, type Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import type { Summary } from "./statistics.js";

/** The package of each contender, and from where it is found. */
const OURS = { tsgi: { name: "tsgi", from: new URL("load-tests/", REPOSITORY) } };
const THEIRS = {
  Hono: { name: "hono", from: PEERS },
  h3: { name: "h3", from: PEERS },
  Elysia: { name: "elysia", from: PEERS },
};

/** The row of the table. */
export const MAIN_ENTRY = "main entry point";

const KIB = 1024;

/** Bundles everything that the main entry point of each package exports, as `esbuild --bundle --minify` does. */
export function measureWebBundle(settings: Settings, progress: Progress): Promise<Result[]> {
  const packages: Readonly<Record<string, { name: string; from: URL }>> = settings.peers
    ? { ...OURS, ...THEIRS }
    : OURS;
  // The same input gives the same bytes: there is nothing to repeat.
  return takeTurns(Object.keys(packages), 1, async (contender) => {
    progress.step(`bundle for the web: ${contender}`);
    const { name, from } = packages[contender] ?? OURS.tsgi;
    return { rows: [{ name: MAIN_ENTRY, figures: await bundle(name, fileURLToPath(from)) }], faults: [] };
  });
}

/** Node's own modules stay outside, and are counted. */
async function bundle(name: string, resolveDir: string) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `export * from ${JSON.stringify(name)};`, resolveDir },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    external: ["node:*"],
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const [{ contents } = { contents: new Uint8Array() }] = outputFiles;
  const external = Object.values(metafile.outputs).flatMap(({ imports }) => imports.filter((one) => one.external));
  return {
    minifiedKiB: contents.length / KIB,
    gzipKiB: gzipSync(contents).length / KIB,
    nodeModules: new Set(external.map(({ path }) => path)).size,
  };
}

/** The columns of the tables that show it. */
export const BUNDLE_COLUMNS: readonly string[] = ["", "minified", "gzip", "modules of Node"];

/** Their lines, one for each contender. */
export function bundleLines(results: readonly Result[]): string[][] {
  const size = (summary: Summary | undefined): string =>
    summary === undefined ? "–" : `${summary.median.toFixed(1)} KiB`;
  return results.map(({ contender, rows: { [MAIN_ENTRY]: figures } }) => [
    contender,
    size(figures?.["minifiedKiB"]),
    size(figures?.["gzipKiB"]),
    String(figures?.["nodeModules"]?.median ?? "–"),
  ]);
}
