/**
 * `make bench-page [RUN=file.json]`: writes the results of a run, by default of the last one, to the documentation.
 * Writes `load-tests/results.json`, the charts, and the blocks between the comments of the pages.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { fillIn, toBlocks, toFigures } from "./benchmarks-page.js";
import { CHARTS, PAGES, RESULTS } from "./paths.js";
import { readRun, writePublished } from "./published.js";

/** @throws Error when no complete run exists. */
async function publish(): Promise<void> {
  const run = process.env["RUN"];
  const published = await readRun(run ? pathToFileURL(path.resolve(process.env["INIT_CWD"] ?? "", run)) : RESULTS);
  await writePublished(published);
  for (const [name, figure] of Object.entries(toFigures(published))) await writeFile(new URL(name, CHARTS), figure);
  for (const page of PAGES) {
    const text = await readFile(page, "utf8");
    await writeFile(page, fillIn(text, toBlocks(published)));
  }
}

try {
  await publish();
  process.stdout.write(
    "Wrote load-tests/results.json, and from it the charts and the figures of the pages. Look, and commit.\n",
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
