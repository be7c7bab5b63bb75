import { once } from "node:events";
import { readdirSync, readlinkSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { App, Depends, FileResponse, Request, StreamingResponse } from "../../../src/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { createFolder } from "../../../../test/support/folder.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

const folder = createFolder({});
const file = path.join(folder, "large.bin");
writeFileSync(file, "");
truncateSync(file, 100_000_000);

/** Whether this process has the file open. */
function isOpen(): boolean {
  return readdirSync("/proc/self/fd").some((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === file;
    } catch {
      return false;
    }
  });
}

describe("a client that resets a download", () => {
  const cases = ["stream", "file", "items"].flatMap((kind) =>
    [0, 1, 1000, 100_000, 3_000_000].map((bytes) => [kind, bytes] as const),
  );

  it.each(cases)("leaves no resources open and no log entry: %s at byte %i", async (kind, bytes) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const seen: string[] = [];
    let [start, settle] = [() => {}, () => {}];
    const started = new Promise<void>((resolve) => (start = resolve));
    const settled = new Promise<void>((resolve) => (settle = resolve));
    let signal!: AbortSignal;
    async function* connect() {
      yield "db";
      seen.push("cleanup");
    }
    async function* endless() {
      try {
        for (;;) yield "x".repeat(10_000);
      } finally {
        seen.push("closed");
      }
    }
    const params = { request: Request, db: Depends(connect) };
    app.get("/stream", { params }, async ({ request }) => {
      ({ signal } = request);
      start();
      return new StreamingResponse(endless());
    });
    app.get("/file", { params }, async ({ request }) => {
      ({ signal } = request);
      start();
      return new FileResponse(file);
    });
    app.get("/items", { params }, async function* ({ request }) {
      ({ signal } = request);
      start();
      yield* endless();
    });
    await using server = await served((...args) => app(...args).finally(args[0].type === "http" ? settle : undefined));
    await using wire = new Wire(server.port);
    let received = 0;
    const enough = new Promise<void>((resolve) => {
      wire.socket.on("data", (chunk) => {
        received += chunk.length;
        if (received >= bytes) resolve();
      });
    });
    wire.write(`GET /${kind} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await (bytes === 0 ? started : enough);
    wire.socket.resetAndDestroy();
    await settled;
    expect(seen).toEqual(kind === "file" ? ["cleanup"] : ["closed", "cleanup"]);
    if (!signal.aborted) await once(signal, "abort");
    expect(isOpen()).toBe(false);
    expect([...log.lines, ...server.logger.at("error"), ...server.logger.at("warn")]).toEqual([]);
  });
});
