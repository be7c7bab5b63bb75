/**
 * Counts the instantiations of a compiler for each of several programs: `node _instantiations.mjs TSC FOLDER`, with the
 * names of files in the folder as JSON on standard input. Prints by file `{ instantiations, errors }`. The declarations
 * that the programs share are read and bound once, which is most of the time that one takes.
 */
import path from "node:path";
import { json } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const [, , compiler = "", folder = ""] = process.argv;
const { default: ts } = await import(pathToFileURL(path.join(path.dirname(compiler), "typescript.js")).href);

const { config } = ts.readConfigFile(path.join(folder, "tsconfig.json"), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, folder);
const host = ts.createCompilerHost(options);
const files = new Map();
const read = host.getSourceFile.bind(host);
host.getSourceFile = (file, ...how) => {
  if (!files.has(file)) files.set(file, read(file, ...how));
  return files.get(file);
};

const results = {};
for (const name of await json(process.stdin)) {
  const program = ts.createProgram({ rootNames: [path.join(folder, name)], options, host });
  const errors = ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
  results[name] = { instantiations: program.getInstantiationCount(), errors };
}
process.stdout.write(JSON.stringify(results));
