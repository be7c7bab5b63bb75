/** A mounted listener of `node:http` on other runtimes. Slow, because the runtimes are fetched. */
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { binaryOf, IS_SLOW } from "../support/on-demand.js";
import { installPackages } from "../support/packages.js";

const run = promisify(execFile);

const slow = IS_SLOW ? describe : describe.skip;

slow("fromNodeHandler (skipped without TSGI_SLOW=1)", () => {
  it.each([
    ["Bun", "bun", []],
    ["Deno", "deno", ["run", "--allow-all", "--no-prompt"]],
  ])("is a mistake on %s", async (name, binary, args) => {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-from-node-"));
    try {
      await installPackages(folder, ["tsgi"]);
      await writeFile(path.join(folder, "package.json"), '{ "type": "module", "dependencies": { "tsgi": "*" } }');
      const program = `import { ConfigurationError } from "tsgi";
      import { fromNodeHandler } from "tsgi/node";
      try {
        fromNodeHandler((req, res) => res.end());
      } catch (error) {
        console.log(error instanceof ConfigurationError, error.code, error.message);
      }`;
      await writeFile(path.join(folder, "main.js"), program);
      const { stdout } = await run(binaryOf(binary), [...args, "main.js"], { cwd: folder });
      expect(stdout).toMatch(new RegExp(`^true TSGI_NODE_LISTENER_PLATFORM .* this is ${name}\\.`));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
