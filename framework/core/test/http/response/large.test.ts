import { truncateSync, writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { App, FileResponse, type Middleware, StreamingResponse } from "../../../src/index.js";
import { served } from "../../platforms/node/_http.js";
import { aliveBytes } from "../../../../test/support/garbage.js";
import { createFolder } from "../../../../test/support/folder.js";

const MEBIBYTE = 1024 * 1024;
const isSlow = process.env["TSGI_SLOW"] !== undefined;
const slowly = isSlow ? it : it.skip;
/** Enough to tell a kept body from a passing one. */
const BYTES = (isSlow ? 1024 : 96) * MEBIBYTE;
/** Between two measurements of memory, each of which collects the garbage of all tests of this process. */
const STEP = BYTES / 3;
/** Bytes that the server and the system may hold. */
const MAX_HELD = 16 * MEBIBYTE;

const file = path.join(createFolder({}), "large.bin");
writeFileSync(file, "");
truncateSync(file, BYTES);

async function* parts(): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < BYTES; sent += MEBIBYTE) yield new Uint8Array(MEBIBYTE);
}

/** Counts the bytes of bodies that an application has sent. */
function countSent(count: { sent: number }): Middleware {
  return (app) => (scope, receive, send) =>
    app(scope, receive, (message) => {
      if (message.type === "http.response.body") count.sent += Buffer.byteLength(message.body ?? "");
      return send(message);
    });
}

/** Reads a response more slowly than it could arrive, and calls a function after each chunk. */
async function readSlowly(url: string, onChunk: (length: number) => Promise<void> | void): Promise<number> {
  let length = 0;
  const response = await new Promise<IncomingMessage>((resolve) => get(url, { agent: false }, resolve));
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    await onChunk(length);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return length;
}

const KINDS: readonly [string, () => StreamingResponse<Uint8Array> | FileResponse][] = [
  ["a stream", () => new StreamingResponse(parts())],
  ["a file", () => new FileResponse(file)],
];

describe("a large response to a slow reader", () => {
  it.each(KINDS)("is at most 16 MiB ahead of it: %s", async (_kind, make) => {
    const count = { sent: 0 };
    const app = new App({ middleware: [countSent(count)] });
    app.get("/", async () => make());
    await using server = await served(app);
    let ahead = 0;
    const length = await readSlowly(server.url, (read) => void (ahead = Math.max(ahead, count.sent - read)));
    expect(length).toBe(BYTES);
    expect(ahead).toBeLessThan(MAX_HELD);
    expect(ahead).toBeGreaterThan(0);
  });

  for (const [kind, make] of KINDS) {
    slowly(`keeps less than 16 MiB of it in memory: ${kind}`, async () => {
      const app = new App();
      app.get("/", async () => make());
      await using server = await served(app);
      const before = await aliveBytes();
      let [growth, measured] = [0, 0];
      await readSlowly(server.url, async (read) => {
        if (read - measured < STEP) return;
        measured = read;
        growth = Math.max(growth, (await aliveBytes()) - before);
      });
      expect(measured).toBeGreaterThan(0);
      expect(growth).toBeLessThan(MAX_HELD);
    });
  }
});
