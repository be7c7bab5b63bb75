import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startServer } from "../../src/http/server-process.js";
import { SliceProcess } from "../../src/pairs/slice-process.js";

const dist = (path: string): URL => new URL(`../../dist/${path}`, import.meta.url);
const MEASURED = ["GET /health", "GET /users/{id}", "POST /users", "GET /users/{id} with 1 KB of header lines"];

let folder = "";
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "sliced-server-"))));
afterEach(() => rm(folder, { recursive: true }));

/** The check and the first slice of a server's client. */
async function load(script: URL) {
  const server = await startServer(script);
  const options = JSON.stringify({ url: server.url, connections: 10, databaseUrl: null });
  const client = new SliceProcess(dist("pairs/slice-client.js"), [options], 0);
  try {
    const { names, faults } = await client.ready();
    const slices: (number | string)[] = [];
    for (const row of names.keys()) {
      slices.push(await client.slice(row, 50).catch((error: Error) => error.message));
    }
    return { names, faults, slices };
  } finally {
    await Promise.all([client.stop(), server.stop()]);
  }
}

/** A server of `node:http`, whose listener has the number of the request. */
async function scriptOf(listener: string): Promise<URL> {
  const path = join(folder, "server.mjs");
  await writeFile(
    path,
    `import { createServer } from "node:http";
let requests = 0;
const server = createServer((request, response) => { requests++; ${listener} });
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port));`,
  );
  return pathToFileURL(path);
}

describe("the load of a server", () => {
  it.each(["tsgi", "hand-written", "node-http"])(
    "finds no error in the server %s",
    async (name) => {
      const { names, faults, slices } = await load(dist(`http/servers/${name}.js`));
      expect(names).toEqual(MEASURED);
      expect(faults).toEqual([]);
      expect(slices.every((used) => typeof used === "number" && used > 0)).toBe(true);
    },
    30_000,
  );

  it.each([
    ["status", 'response.writeHead(500).end(\'{"status":"ok"}\')'],
    ["body", 'response.setHeader("content-type", "application/json").end("{}")'],
  ])(
    "reports a wrong %s",
    async (_what, listener) => {
      expect((await load(await scriptOf(listener))).faults[0]).toMatch(/^GET \/health: expected/);
    },
    30_000,
  );

  it("reports a body that turns wrong while it is measured", async () => {
    const answer = `response.setHeader("content-type", "application/json").end(requests === 40 ? '{"status":"no"}' : '{"status":"ok"}')`;
    expect((await load(await scriptOf(answer))).slices[0]).toContain("a response differs from the first one");
  }, 30_000);
});

describe("a process that works in slices", () => {
  it("is reported if it ends", async () => {
    const script = join(folder, "ends.mjs");
    await writeFile(script, "process.exit(3);");
    const started = new SliceProcess(pathToFileURL(script), [], 0);
    await expect(started.ready()).rejects.toThrow("A measuring process ended with 3.");
  });
});
