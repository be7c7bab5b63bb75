/** The sources of an application with many routes, made of a template with a few. @module */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { REPOSITORY } from "../paths.js";

/** The routes of a template: two with a parameter in the path and one in the query, a validated body, a list. */
export const ROUTES_OF_TEMPLATE = 4;

/** The modules of an area, for a framework that cannot take all of them in one chain. */
const MODULES_OF_AREA = 25;

const COMPILER_OPTIONS = {
  strict: true,
  noEmit: true,
  module: "nodenext",
  target: "es2022",
  skipLibCheck: true,
  types: ["node"],
  // The peers bring declarations of Node of another version.
  typeRoots: [fileURLToPath(new URL("node_modules/@types", REPOSITORY))],
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/**
 * Repeats a source of a template: a file `items0.ts` or `calls0.ts` for each module, `area0.ts` for each area; and
 * elsewhere each line with one of these names.
 *
 * @returns The sources by the name of the file.
 */
export function repeat(file: string, source: string, modules: number): Record<string, string> {
  const all = range(modules);
  const areas = range(Math.ceil(modules / MODULES_OF_AREA));
  if (file === "area0.ts") {
    const inArea = (area: number): number[] => all.filter((module) => Math.floor(module / MODULES_OF_AREA) === area);
    return Object.fromEntries(
      areas.map((area) => [`area${area}.ts`, numbered(repeatLines(source, "items", inArea(area)), "area", area)]),
    );
  }
  if (file.endsWith("0.ts")) {
    return Object.fromEntries(
      all.map((module) => [file.replace("0.ts", `${module}.ts`), numbered(source, "items", module)]),
    );
  }
  return { [file]: repeatLines(repeatLines(source, "items", all), "area", areas) };
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}

function repeatLines(source: string, name: string, numbers: readonly number[]): string {
  const isRepeated = new RegExp(`${name}0`, "i");
  return source
    .split("\n")
    .flatMap((line) => (isRepeated.test(line) ? numbers.map((number) => numbered(line, name, number)) : [line]))
    .join("\n");
}

function numbered(source: string, name: string, number: number): string {
  return source.replaceAll(new RegExp(`(${name})0`, "gi"), `$1${number}`);
}

/** Files in a folder. */
export interface Sources {
  readonly folder: URL;
  readonly files: readonly string[];
}

/** Writes an application of so many routes, and whatever else its template has, into an emptied folder. */
export async function writeSources(template: URL, folder: URL, routes: number): Promise<Sources> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const sources = new Map([["package.json", '{"type":"module"}']]);
  for (const file of await readdir(template)) {
    const source = await readFile(new URL(file, template), "utf8");
    const repeated = repeat(file, source, Math.ceil(routes / ROUTES_OF_TEMPLATE));
    for (const [name, text] of Object.entries(repeated)) sources.set(name, text);
  }
  await Promise.all([...sources].map(([name, text]) => writeFile(new URL(name, folder), text)));
  return { folder, files: [...sources.keys()] };
}

/**
 * Makes a program that begins with some of the sources, and has what they import.
 *
 * @returns The path of its configuration.
 */
export async function writeProgram(
  { folder, files }: Sources,
  name: string,
  begins: (file: string) => boolean,
): Promise<string> {
  const program = new URL(`${name}.json`, folder);
  await writeFile(program, JSON.stringify({ compilerOptions: COMPILER_OPTIONS, files: files.filter(begins) }));
  return fileURLToPath(program);
}
