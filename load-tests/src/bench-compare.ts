/**
 * `make bench-compare BASE=commit`: compares the framework of this work tree with a commit or tag, at the same time, in
 * fresh processes that take turns every 20 to 50 ms, by processor time. `BASE=release` is the last tag `v*`; without one, it
 * has no effect. `TIME` is the longest run in seconds (600), `ONLY` selects `direct`, `routing` or `http`.
 *
 * Exits with status 1 if a row must be investigated or a response was wrong, and with 2 for an invalid variable.
 *
 * @module
 */
import { mkdir, writeFile } from "node:fs/promises";
import { defaultBase, lastRelease, prepareBuilds, type Build } from "./compare/builds.js";
import { changesTable } from "./compare/changes-table.js";
import { compareBuilds, readCompareSettings } from "./compare/sections.js";
import { noiseLines, watchMachine } from "./machine.js";
import { REPOSITORY } from "./paths.js";
import { Progress } from "./progress.js";

try {
  process.exitCode = await compare();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = error instanceof TypeError ? 2 : 1;
}

async function compare(): Promise<number> {
  const { base, seconds, sections } = readCompareSettings(process.env);
  const commit = base === "release" ? await lastRelease() : (base ?? (await defaultBase()));
  if (commit === null) {
    process.stdout.write("No release to compare with: there is no tag v* before this commit.\n");
    return 0;
  }
  const progress = new Progress();
  const builds = await prepareBuilds(commit, progress);
  process.stdout.write(`${nameOf(builds.head)} beside ${nameOf(builds.base)}, at most ${seconds} s\n`);
  const watched = watchMachine();
  const changes = await compareBuilds(sections, builds, Date.now() + seconds * 1_000, (section, launch) =>
    progress.step(`${section}, launch ${launch + 1}`),
  );
  progress.clear();
  process.stdout.write(`\n${[...noiseLines(watched()), changesTable(changes)].join("\n")}\n`);
  const file = new URL(".cache/bench/compare.json", REPOSITORY);
  await mkdir(new URL(".", file), { recursive: true });
  await writeFile(
    file,
    `${JSON.stringify({ base: builds.base.commit, head: builds.head.commit, changes }, null, 2)}\n`,
  );
  return changes.some(({ verdict }) => verdict === "to be investigated") ? 1 : 0;
}

function nameOf({ commit }: Build): string {
  return commit.endsWith("+") ? `${commit.slice(0, -1)} with changes` : commit;
}
