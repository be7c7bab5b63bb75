import { truncateSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { App, FileResponse, StreamingResponse } from "../../../src/index.js";
import { served } from "../../platforms/node/_http.js";
import { aliveBytes } from "../../../../test/support/garbage.js";
import { createFolder } from "../../../../test/support/folder.js";

const MEBIBYTE = 1024 * 1024;
/** 1 GiB with TSGI_SLOW=1; enough to tell a kept body from a passing one without. */
const BYTES = (process.env["TSGI_SLOW"] === undefined ? 96 : 1024) * MEBIBYTE;
/** Between two measurements, each of which collects the garbage of all tests of this process. */
const STEP = BYTES / 3;
const MAX_GROWTH = 16 * MEBIBYTE;

const file = path.join(createFolder({}), "large.bin");
writeFileSync(file, "");
truncateSync(file, BYTES);

async function* parts(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < BYTES; sent += MEBIBYTE) yield new Uint8Array(MEBIBYTE);
}

/** Reads a response more slowly than it could arrive, and returns its length and the growth of the live buffers at most. */
async function readSlowly(url: string): Promise<{ length: number; growth: number }> {
  const before = await aliveBytes();
  let [length, growth, measured] = [0, 0, 0];
  const response = await new Promise<IncomingMessage>((resolve) => get(url, { agent: false }, resolve));
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length - measured >= STEP) {
      measured = length;
      growth = Math.max(growth, (await aliveBytes()) - before);
    } else {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return { length, growth };
}

describe("a large response to a slow reader", () => {
  it.each<[string, () => StreamingResponse<Uint8Array> | FileResponse]>([
    ["a stream", () => new StreamingResponse(parts())],
    ["a file", () => new FileResponse(file)],
  ])("keeps less than 16 MiB of it: %s", async (_kind, make) => {
    const app = new App();
    app.get("/", async () => make());
    await using server = await served(app);
    const { length, growth } = await readSlowly(server.url);
    expect(length).toBe(BYTES);
    expect(growth).toBeLessThan(MAX_GROWTH);
  });
});
