/** The tool library on every other runtime: by `serve` and by the runtime's own server. */
import { afterAll, beforeAll, describe } from "@jest/globals";
import { binaryOf } from "../runtimes/_program.js";
import { IS_SLOW } from "../support/on-demand.js";
import { bundle, LibraryProgram, temporaryFolder } from "./_programs.js";
import { describeTables } from "./_tables.js";

const DENO_LACKS = {
  "sends no body with a 205": "Deno 2.9 sends a 205 without Content-Length, against RFC 9110 §15.3.6: clients wait on",
};

const isHere = IS_SLOW && process.platform === "linux" && process.arch === "x64";

(isHere ? describe : describe.skip)("another runtime", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const files: Record<string, string> = {};
  beforeAll(async () => {
    folder = await temporaryFolder();
    for (const entry of ["plain", "function", "worker"] as const) {
      files[entry] = await bundle(`${folder.path}/${entry}`, entry);
    }
  });
  afterAll(async () => folder[Symbol.asyncDispose]());

  const commandOf = (name: string) => {
    const binary = binaryOf(name);
    return name === "deno" ? [binary, "run", "--allow-all", "--no-prompt"] : [binary];
  };

  describe.each(["node22", "node24", "node26", "bun", "deno"])("%s", (name) => {
    describeTables("by serve", () => LibraryProgram.start(files["plain"] ?? "", {}, commandOf(name)), {
      needs: ["workers"],
    });
  });

  describe.each(["bun", "deno"])("%s", (name) => {
    describeTables("by its own server", () => LibraryProgram.start(files["function"] ?? "", {}, commandOf(name)), {
      needs: ["workers"],
      webSockets: true,
      unmet: name === "deno" ? DENO_LACKS : {},
    });
  });

  describe("workerd", () => {
    describeTables("by app.fetch", () => LibraryProgram.startWorker(files["worker"] ?? "", binaryOf("workerd")), {
      needs: ["client", "files", "workers"],
    });
  });
});
