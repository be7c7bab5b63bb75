/** Finds the modules that tests import. */
import { existsSync } from "node:fs";
import path from "node:path";

const RELATIVE = /^\.{1,2}\/.*\.js$/;

/**
 * Finds the source `x.ts`, if it exists, for an import of `./x.js`. Jest remembers the results of a resolver, but looks
 * up names of a `moduleNameMapper` again for each import of each test file.
 */
export default function resolve(name, options) {
  if (RELATIVE.test(name)) {
    const source = path.resolve(options.basedir, `${name.slice(0, -3)}.ts`);
    if (existsSync(source)) return source;
  }
  return options.defaultResolver(name, options);
}
