/** The proof that types are inferred: programs with mistakes, each of which has to be found. @module */
import { readFile } from "node:fs/promises";
import { check } from "./check.js";
import { type Sources, writeProgram } from "./sources.js";

/** The end of a line with a mistake. */
const MARK = "// wrong";

/** Checks each file of mistakes among some sources. Gives what the compiler missed, and what it found elsewhere. */
export async function faultsOfMistakes(compiler: string, sources: Sources): Promise<string[]> {
  const faults: string[] = [];
  for (const file of sources.files.filter((name) => name.endsWith("mistakes.ts"))) {
    const source = await readFile(new URL(file, sources.folder), "utf8");
    const program = await writeProgram(sources, file.replace(".ts", ""), (name) => name === file);
    const { errors } = await check(compiler, program);
    faults.push(...compareMistakes(file, source, errors));
  }
  return faults;
}

/** Compares the lines that bear the mark with those of the errors. */
export function compareMistakes(file: string, source: string, errors: readonly string[]): string[] {
  const wanted = source.split("\n").flatMap((line, index) => (line.endsWith(MARK) ? [index + 1] : []));
  const found = errors.map((error) => Number(error.split(`${file}(`)[1]?.split(",")[0]));
  const missed = wanted.filter((line) => !found.includes(line));
  const surplus = errors.filter((_error, index) => !wanted.includes(found[index] ?? 0));
  return [...missed.map((line) => `expected an error in line ${line} of ${file}, got none`), ...surplus];
}
