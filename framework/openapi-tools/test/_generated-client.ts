import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

const COMPILER_OPTIONS = {
  strict: true,
  target: "es2022",
  module: "nodenext",
  lib: ["es2023", "dom", "dom.iterable"],
  types: ["node"],
  skipLibCheck: true,
  outDir: "dist",
};

const START = `
  import { call } from "./program.js";
  void call(process.argv.slice(2)).then((results: unknown) => console.log(JSON.stringify(results)));
`;

/**
 * Compiles a folder with a generated client by the TypeScript of `home`.
 *
 * @returns the compiler's output
 */
export async function compile(home: string, folder: string): Promise<string> {
  // CommonJS, because generators omit the extension in their imports.
  await writeFile(path.join(folder, "package.json"), JSON.stringify({ type: "commonjs" }));
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  const compiler = path.join(home, "node_modules/typescript/lib/tsc.js");
  const { stdout } = await run(process.execPath, [compiler, "-p", folder]).catch((error: { stdout: string }) => error);
  return stdout;
}

/**
 * Compiles a program together with a generated client, and calls its exported function `call` with the list of
 * arguments.
 *
 * @returns its results
 * @throws Error with the compiler's errors for the program
 */
export async function callProgram(home: string, folder: string, program: string, ...args: string[]): Promise<unknown> {
  await writeFile(path.join(folder, "program.ts"), program);
  await writeFile(path.join(folder, "start.ts"), START);
  const faults = await compile(home, folder);
  if (faults !== "") throw new Error(faults);
  const { stdout } = await run(process.execPath, [path.join(folder, "dist/start.js"), ...args]);
  return JSON.parse(stdout);
}
