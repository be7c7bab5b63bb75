/** A program that does not import a sandbox does not contain it. */
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { build } from "esbuild";

const FRAMEWORK = path.resolve(import.meta.dirname, "../../..");

/** A name in the sources of the sandbox. */
const SANDBOX = "tsgi_sandbox_jobs";

/** The text of a program that imports one entry point, with the packages of the framework. */
async function bundleOf(entry: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from ${JSON.stringify(entry)};`, resolveDir: FRAMEWORK },
    bundle: true,
    write: false,
    logLevel: "silent",
    format: "esm",
    platform: "node",
    external: ["@prisma/*", "libsql", "pg", "pg-native", "tsgi", "tsgi/*"],
  });
  return outputFiles.map(({ text }) => text).join("");
}

describe("a bundle for production", () => {
  it.each(["@tsgi/prisma", "@tsgi/transactions"])("has no sandbox: %s", async (name) => {
    expect(await bundleOf(name)).not.toContain(SANDBOX);
    expect(await bundleOf(`${name}/testing`)).toContain(SANDBOX);
  });
});
