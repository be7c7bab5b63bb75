import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startServer } from "../../src/http/server-process.js";

let folder = "";

beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), "server-process-"))));
afterEach(() => rm(folder, { recursive: true }));

/** A process that announces an address, or ends. */
async function scriptOf(source: string): Promise<URL> {
  const path = join(folder, "server.mjs");
  await writeFile(path, source);
  return pathToFileURL(path);
}

const ANNOUNCED = 'console.log("http://127.0.0.1:1"); setInterval(() => {}, 1_000);';

describe("the process of a server", () => {
  it("is found by its address, and ends", async () => {
    const server = await startServer(await scriptOf(ANNOUNCED));
    expect(server.url).toBe("http://127.0.0.1:1");
    await server.stop();
    expect(() => process.kill(server.pid, 0)).toThrow("ESRCH");
  });

  it("is rejected if it exits before it responds", async () => {
    await expect(startServer(await scriptOf("process.exit()"))).rejects.toThrow("exited before it responded");
  });
});
