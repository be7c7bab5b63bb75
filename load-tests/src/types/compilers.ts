/** The compilers that users run. @module */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PEERS, REPOSITORY } from "../paths.js";

/** One version of TypeScript. */
export interface Compiler {
  /** `TypeScript 5.9.3` */
  readonly name: string;
  /** The path of `tsc`. */
  readonly path: string;
}

/** The compilers that the framework's own types are tested with, the newest last. */
export interface Compilers {
  /** Counts instantiations; 7 does so anew in each of the checkers that run side by side. */
  readonly counting: Compiler;
  readonly newest: Compiler;
  readonly all: readonly Compiler[];
}

/** Finds the installed compilers; TypeScript 6 comes with the peers. */
export function findCompilers(peers: boolean): Compilers {
  const framework = new URL("framework/package.json", REPOSITORY);
  const counting = findCompiler("typescript-5.9", framework);
  const newest = findCompiler("typescript", framework);
  const between = peers ? [findCompiler("typescript-6", new URL("package.json", PEERS))] : [];
  return { counting, newest, all: [counting, ...between, newest] };
}

function findCompiler(alias: string, home: URL): Compiler {
  const require = createRequire(home);
  const manifest = require.resolve(`${alias}/package.json`);
  const { version } = require(manifest) as { version: string };
  return { name: `TypeScript ${version}`, path: join(dirname(manifest), "bin/tsc") };
}
