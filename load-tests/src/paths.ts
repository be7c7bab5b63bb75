/** Paths, the same from `src` and from `dist`. @module */
import path from "node:path";
import { pathToFileURL } from "node:url";

/** The folder of the whole repository. */
export const REPOSITORY = new URL("../../", import.meta.url);

/** The peers as they are committed: their versions and one small module for each. */
export const PEER_SOURCES = new URL("../peers/", import.meta.url);

/** The URL to import a module given by path or by `file:` URL. */
export function toModuleURL(pathOrURL: string): string {
  return pathOrURL.startsWith("file:") ? pathOrURL : pathToFileURL(pathOrURL).href;
}

/** The folder of the installed peers. Not in version control. */
export const PEERS = new URL(".cache/peers/", REPOSITORY);

/** The results of a run. Not in version control. */
export const RESULTS = new URL(".cache/bench/latest.json", REPOSITORY);

/** The files that a variable lists, relative to the folder of the call; by default the results of the last run. */
export function runFiles(list: string | undefined): URL[] {
  if (!list) return [RESULTS];
  return list.split(",").map((file) => pathToFileURL(path.resolve(process.env["INIT_CWD"] ?? "", file)));
}

/** The committed results, from which the pages are written. */
export const PUBLISHED = new URL("load-tests/results.json", REPOSITORY);

/** The pages that show figures, between comments. */
export const PAGES: readonly URL[] = ["README.md", "framework/docs/benchmarks.md"].map(
  (name) => new URL(name, REPOSITORY),
);

/** The folder of the charts, with the documentation's other pictures. */
export const CHARTS = new URL("framework/site/public/", REPOSITORY);
