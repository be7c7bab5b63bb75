/** The tool library in programs of its own: bundled, minified, with every kind of pool, with two workers. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { fetchedUws } from "../node/_uws.js";
import { conversations } from "./_conversations.js";
import { type Need, rows } from "./_calls.js";
import { type Served, servedAt } from "./_drivers.js";
import { seenOf, wantedOf } from "./_observe.js";
import { bundle, LibraryProgram, temporaryFolder } from "./_programs.js";
import { stories } from "./_stories.js";

type Started = Awaited<ReturnType<typeof LibraryProgram.start>>;

/** Defines the rows of the tables for a program. @param lacks - Beside the process of this test. */
function describeTables(title: string, start: () => Promise<Started>, lacks: readonly Need[] = []): void {
  const isMet = ({ needs = [] }: { readonly needs?: readonly Need[] }) =>
    !needs.some((need) => need === "process" || lacks.includes(need));
  const hasMemory = !lacks.includes("memory");

  describe(`the library ${title}`, () => {
    let program: Started;
    let served: Served;
    beforeAll(async () => {
      program = await start();
      served = servedAt(program.url, async () => {});
    });
    beforeEach(async () => {
      if (hasMemory) await served.reset();
    });
    afterAll(async () => program[Symbol.asyncDispose]());

    it.each(rows.filter(isMet))("$title", async ({ method, target, sent, expected }) => {
      expect(seenOf(await served.send(method, target, sent), expected)).toEqual(wantedOf(expected));
    });

    if (hasMemory) {
      it.each(stories.filter(isMet))("$title", async ({ tell, expected }) => {
        expect(await tell(served)).toEqual(expected);
      });

      it.each(conversations)("$title", async ({ path: target, handshake, talk, expected }) => {
        const peer = await served.connect!(target, handshake);
        try {
          expect(await talk(peer, served)).toEqual(expected);
        } finally {
          await peer.close();
        }
      });
    }

    it("ends with the status 0 at SIGTERM", async () => {
      expect(await program.stop()).toBe(0);
    });
  });
}

describe("one file, in a folder without packages", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const files: Record<string, string> = {};
  beforeAll(async () => {
    folder = await temporaryFolder();
    files["minified"] = await bundle(folder.path, "plain", { minify: true, keepNames: true });
    files["cjs"] = await bundle(folder.path, "plain", { format: "cjs" });
    files["node"] = await bundle(path.join(folder.path, "node"), "node");
  });
  afterAll(async () => folder[Symbol.asyncDispose]());

  // tsgi/metrics and tsgi/otel await the import of their library at the top level, which CommonJS does not have. A static
  // import would do, but a missing package would be an error of Node's that names no command.
  it.failing("is CommonJS with metrics and traces, too", async () => {
    expect(await bundle(path.join(folder.path, "failing"), "node", { format: "cjs" })).toMatch(/\.cjs$/);
  });

  const start = (name: string, env: Readonly<Record<string, string>>) => LibraryProgram.start(files[name] ?? "", env);

  describeTables("minified, with a pool of processes", () => start("minified", { TOOLS_POOL_KIND: "process" }));
  describeTables("as CommonJS, with a pool of threads", () => start("cjs", { TOOLS_POOL_KIND: "thread" }));
  describeTables(
    "observed by everything, with two workers and a pool of processes in each",
    () => start("node", { TOOLS_POOL_KIND: "process", TOOLS_WORKERS: "2" }),
    ["memory", "passwords"],
  );
});

const CACHE = path.join(import.meta.dirname, "../../../.cache/uws");
const onUws = existsSync(CACHE) || fetchedUws() !== null ? describe : describe.skip;

onUws("uWebSockets.js", () => {
  let file = "";
  beforeAll(async () => {
    file = await bundle(path.join(CACHE, `library-${process.pid}`), "plain");
  });
  afterAll(async () => rm(path.dirname(file), { recursive: true, force: true }));

  it("is what the program chooses where it is installed", async () => {
    await using program = await LibraryProgram.start(file);
    expect(program.loop).toBe("uwebsockets");
  });

  describeTables("on uWebSockets.js", () => LibraryProgram.start(file));
});
