/** The documents of applications that others wrote: the recipes of the cookbook, and the sample application. */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { OpenAPIDocument } from "../../src/openapi/types.js";
import { blocksOf, fileOf } from "../../../test/docs/_blocks.js";

const run = promisify(execFile);

const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");
const COOKBOOK = path.join(REPOSITORY, "framework/docs/cookbook");

/** Imports each module of the list, and prints the documents of its application by name and version. */
const PRINT = `
  import { endpointsOf } from "tsgi/internals";
  import { buildDocument } from "tsgi/openapi";
  const documents = {};
  for (const [name, file] of JSON.parse(process.argv[2])) {
    const { app, createApp } = await import(file);
    const made = app ?? createApp();
    for (const openapiVersion of ["3.0", "3.1", "3.2"]) {
      documents[name + " in " + openapiVersion] = buildDocument({ ...made.settings, openapiVersion }, endpointsOf(made));
    }
  }
  process.stdout.write(JSON.stringify(documents), () => process.exit());
`;

/** Writes the files of each recipe, and returns its module by its name. */
async function writeRecipes(folder: string): Promise<[string, string][]> {
  const modules: [string, string][] = [];
  for (const page of await readdir(COOKBOOK)) {
    const name = path.basename(page, ".md");
    for (const block of blocksOf(page, await readFile(path.join(COOKBOOK, page), "utf8"))) {
      const file = fileOf(block);
      if (!file?.endsWith(".ts")) continue;
      const target = path.join(folder, name, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, `${block.before}\n${block.code}\n`);
      if (file === "app.ts") modules.push([name, target]);
    }
  }
  return modules;
}

/** The documents by application and version: `cors in 3.1`. */
export async function recipeDocuments(): Promise<Record<string, OpenAPIDocument>> {
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-recipes-"));
  try {
    await symlink(path.join(REPOSITORY, "node_modules"), path.join(folder, "node_modules"));
    await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
    await writeFile(path.join(folder, "print.mjs"), PRINT);
    const sample: [string, string] = ["sample", path.join(REPOSITORY, "sample-auth-app/dist/app.js")];
    const modules = [...(await writeRecipes(folder)), sample];
    const flags = ["--import", "tsx", path.join(folder, "print.mjs"), JSON.stringify(modules)];
    const { stdout } = await run(process.execPath, flags, { cwd: folder, maxBuffer: 2 ** 28 });
    return JSON.parse(stdout) as Record<string, OpenAPIDocument>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
