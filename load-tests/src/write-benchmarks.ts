/**
 * `make bench-page [RUN=file.json,other.json]`: writes the results of a run, by default of the last one, or the launches
 * of several runs together, to the documentation. Sections that the runs do not have stay as they are. Writes
 * `load-tests/results.json`, the charts, and the blocks between the comments of the pages.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { fillIn, toBlocks, toFigures } from "./benchmarks-page.js";
import { CHARTS, PAGES, runFiles } from "./paths.js";
import { pool, readPublished, readRun, replaceSections, writePublished } from "./published.js";

/** @throws Error when no run exists. */
async function publish(): Promise<void> {
  const run = pool(await Promise.all(runFiles(process.env["RUN"]).map(readRun)));
  await writePublished(replaceSections(await readPublished(), run));
  const published = await readPublished();
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
