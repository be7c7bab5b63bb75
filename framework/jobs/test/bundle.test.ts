/** Programs in one file, as esbuild makes them. */
import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { build, type BuildOptions } from "esbuild";
import { createDatabase, describeWithDatabase } from "./_database.js";

// Below the repository, so that an external package is found.
const FOLDER = path.resolve(import.meta.dirname, `../../../.cache/jobs-bundle-${process.pid}`);

const program = (url: string, schema: string) => `
import { Jobs } from "@tsgi/jobs";
const jobs = new Jobs({ url: ${JSON.stringify(url)}, schema: ${JSON.stringify(schema)} });
const ran = Promise.withResolvers();
const job = jobs.define("bundled", {}, async () => ran.resolve());
await job.enqueue();
const worker = await jobs.work();
await ran.promise;
await worker.stop();
await jobs.close();
console.log("the job has run");
`;

describeWithDatabase("a bundle in the ESM format", () => {
  const at = createDatabase();
  beforeAll(() => mkdir(FOLDER, { recursive: true }));
  afterAll(() => rm(FOLDER, { recursive: true, force: true }));

  const require = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

  it.each<[string, BuildOptions]>([
    ["external", { external: ["pg-boss"] }],
    ["require", { banner: { js: require } }],
  ])("runs jobs with the documented option: %s", async (name, options) => {
    const input = path.join(FOLDER, `${name}.mjs`);
    const outfile = path.join(FOLDER, `${name}.bundle.mjs`);
    await writeFile(input, program(at.url, at.schema));
    const common = { bundle: true, platform: "node", format: "esm", logLevel: "silent" } as const;
    await build({ ...common, entryPoints: [input], outfile, ...options });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile]);
    expect(stdout).toContain("the job has run");
  });
});
