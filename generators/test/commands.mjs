/**
 * Runs commands one after the other in one process: the arguments of each, as JSON on standard input; how each ended
 * and what it wrote, as JSON on standard output. A start of the command takes 0.3 s of processor time.
 */
import path from "node:path";
import { json } from "node:stream/consumers";
import { main } from "../dist/bundle/cli.js";

const packageRoot = path.dirname(import.meta.dirname);
const print = process.stdout.write.bind(process.stdout);
const results = [];
for (const argv of await json(process.stdin)) {
  const result = { status: null, stdout: "", stderr: "" };
  for (const stream of ["stdout", "stderr"]) {
    process[stream].write = (text) => {
      result[stream] += text;
      return true;
    };
  }
  result.status = await main(argv, packageRoot);
  results.push(result);
}
print(JSON.stringify(results));
