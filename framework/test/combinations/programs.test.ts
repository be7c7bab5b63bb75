/** The tool library in separate programs: bundled, minified, with every kind of pool, with two workers. */
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { fetchedUws } from "../../uwebsockets/test/_uws.js";
import { servedAt } from "./_drivers.js";
import { bundle, LibraryProgram, temporaryFolder } from "./_programs.js";
import { describeTables } from "./_tables.js";

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

  it("is CommonJS with metrics and traces, too", async () => {
    expect(await bundle(path.join(folder.path, "failing"), "node", { format: "cjs" })).toMatch(/\.cjs$/);
  });

  const start = (name: string, env: Readonly<Record<string, string>>) => LibraryProgram.start(files[name] ?? "", env);

  describeTables("minified, with a pool of processes", () => start("minified", { TOOLS_POOL_KIND: "process" }));
  describeTables("as CommonJS, with a pool of threads", () => start("cjs", { TOOLS_POOL_KIND: "thread" }), {
    isSlow: true,
  });
  describeTables(
    "observed by everything, with two workers and a pool of processes in each",
    () => start("node", { TOOLS_POOL_KIND: "process", TOOLS_WORKERS: "2" }),
    { needs: ["memory", "passwords"], isSlow: true },
  );

  it.each([
    ["one process, whose pool has a process", "minified", { TOOLS_POOL_KIND: "process" }],
    ["two workers under observation", "node", { TOOLS_WORKERS: "2" }],
  ])("ends with the status 0 at SIGTERM, as %s", async (_what, name, env) => {
    await using program = await start(name, env);
    expect((await servedAt(program.url, async () => {}).send("GET", "/v1/reports/primes/5")).json).toEqual([2, 3]);
    expect(await program.stop()).toBe(0);
  });

  it("runs non-async handlers in another process or thread than the others", async () => {
    await using processes = await start("minified", { TOOLS_POOL_KIND: "process" });
    await using threads = await start("cjs", { TOOLS_POOL_KIND: "thread" });
    const ids = async ({ url }: { url: string }) => {
      const { send } = servedAt(url, async () => {});
      return Promise.all(["where", "here"].map(async (name) => (await send("GET", `/v1/reports/${name}`)).json));
    };
    const [pooled, own] = await ids(processes);
    expect(pooled).not.toEqual(own);
    const [threaded, loop] = await ids(threads);
    expect(threaded).toEqual(loop);
  });

  it("reports features that a bundle cannot contain: pools of functions, and password hashes", async () => {
    await using program = await start("node", {});
    const { send } = servedAt(program.url, async () => {});
    expect((await send("GET", "/v1/workshop/failed")).json).toEqual(["TSGI_BUNDLED_POOL", "PoolClosedError"]);
    const form: [string, string][] = [
      ["username", "ada"],
      ["password", "password-of-ada"],
    ];
    expect((await send("POST", "/v1/login", { form })).status).toBe(500);
    await program.said(/npm install argon2/);
  });
});

describe("the sources of the library, as in development", () => {
  it("run functions in processes and threads of TypeScript", async () => {
    await using program = await LibraryProgram.develop({ TOOLS_POOL_KIND: "process" });
    const { send } = servedAt(program.url, async () => {});
    const names = ["Säge", "Sage", "Zange"];
    const query = new URLSearchParams(["Zange", "Säge", "Sage"].map((name): [string, string] => ["names", name]));
    expect((await send("GET", `/v1/workshop/sorted?${query.toString()}`)).json).toEqual({
      processes: names.toSorted(new Intl.Collator("de").compare),
      threads: names.toSorted(new Intl.Collator("de").compare),
      process: names.toSorted(new Intl.Collator("de").compare),
      thread: names.toSorted(new Intl.Collator("de").compare),
    });
    expect((await send("GET", "/v1/workshop/failed")).json).toEqual([
      "TypeError: a name is missing",
      "PoolClosedError",
    ]);
    expect((await send("GET", "/v1/workshop/turn")).json).toBe("done");
    expect((await send("GET", "/v1/workshop/full")).json).toEqual({ detail: "Service Unavailable" });
    expect((await send("GET", "/v1/reports/primes/12")).json).toEqual([2, 3, 5, 7, 11]);
  });
});

const CACHE = path.join(import.meta.dirname, "../../../.cache/uws");
const onUws = existsSync(CACHE) || fetchedUws() !== null ? describe : describe.skip;

onUws("uWebSockets.js", () => {
  let file = "";
  beforeAll(async () => {
    file = await bundle(path.join(CACHE, `library-${process.pid}`), "plain");
  });
  afterAll(async () => rm(path.dirname(file), { recursive: true, force: true }));

  it("is not used by a bundle, which contains a different copy of tsgi than the package", async () => {
    await using program = await LibraryProgram.start(file);
    expect(program.loop).toBe("libuv");
  });
});
