/** Where things lie. Every path is the same from `src` and from `dist`. @module */
import { pathToFileURL } from "node:url";

/** The folder of the whole repository. */
export const REPOSITORY = new URL("../../", import.meta.url);

/** The peers as they are committed: their versions and one small module for each. */
export const PEER_SOURCES = new URL("../peers/", import.meta.url);

/** What `import` takes for a module that is named by a path or by a `file:` URL. */
export function toModuleURL(pathOrURL: string): string {
  return pathOrURL.startsWith("file:") ? pathOrURL : pathToFileURL(pathOrURL).href;
}

/** Where the peers are installed. Not in version control. */
export const PEERS = new URL(".cache/peers/", REPOSITORY);

/** Where the results of a run are written. Not in version control. */
export const RESULTS = new URL(".cache/bench/latest.json", REPOSITORY);

/** The figures that are committed, from which those of the pages are written. */
export const PUBLISHED = new URL("load-tests/results.json", REPOSITORY);

/** The pages that show figures, between comments. */
export const PAGES: readonly URL[] = ["README.md", "framework/docs/benchmarks.md"].map(
  (name) => new URL(name, REPOSITORY),
);

/** Where the charts of the pages lie, beside the documentation's other pictures. */
export const CHARTS = new URL("framework/site/public/", REPOSITORY);
