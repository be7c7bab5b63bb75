/** The HTTP table on this Node, by `fetch` and without generated code, and on every other runtime in every way. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { ASGIApp } from "../../core/src/protocol/asgi.js";
import { FetchCaller } from "../support/fetch.js";
import { KeptLog } from "../support/kept-log.js";
import { IS_SLOW } from "../support/on-demand.js";
import { sendTo } from "../support/send.js";
import { Wire } from "../../core/test/platforms/node/_http.js";
import { files, LATIN1, observe, table } from "./_http-table.js";
import { onEach, Program } from "./_program.js";
import { defineSocketRows } from "./_socket-table.js";
import { defineStreamRows } from "./_stream-table.js";
import { attacks, sendRaw } from "./_wire-table.js";
import { startWorker } from "./_workerd.js";

const APP: string = "./http-app.mjs"; // not a literal, as JavaScript has no types here

/** Defines the rows, each sent to the address that is known when it runs. */
function describeTable(way: string, url: () => string, rows = [...table, ...files]): void {
  describe(`by ${way}`, () => {
    it.each(rows)("%s", async (_title, request, expected, sent) => {
      expect(await observe(request, expected, sent, (...asked) => sendTo(url(), ...asked))).toEqual(expected);
    });

    it.each(attacks)("%s", async (_rule, request, answer) => {
      expect(await sendRaw(Number(new URL(url()).port), request)).toMatch(answer);
    });
  });
}

describe("the HTTP table by app.fetch on this Node", () => {
  const caller = new FetchCaller();
  let app: ASGIApp;
  beforeAll(async () => {
    const { createApp } = (await import(APP)) as { createApp: (logger: object) => ASGIApp };
    app = createApp(new KeptLog());
  });
  afterAll(() => caller[Symbol.asyncDispose]());

  it("has at least 150 rows, each with a separate name", () => {
    expect(new Set(table.map(([title]) => title)).size).toBe(table.length);
    expect(table.length).toBeGreaterThan(150);
  });

  it.each(table)("%s", async (_title, request, expected, sent) => {
    expect(await observe(request, expected, sent, (...asked) => caller.call(app, ...asked))).toEqual(expected);
  });
});

describe("the HTTP table on a Node that makes no code from strings", () => {
  let program: Program;
  beforeAll(async () => {
    const flags = ["--disallow-code-generation-from-strings"];
    program = await Program.run(["node", [process.execPath, ...flags]], "http-server.mjs");
  });
  afterAll(() => program[Symbol.asyncDispose]());

  describeTable("serve", () => program.url.split(" ")[0] ?? "");
});

onEach("the HTTP table on %s", (...runtime) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.run(runtime, "http-server.mjs");
  });
  afterAll(() => program[Symbol.asyncDispose]());

  describeTable("serve", () => program.url.split(" ")[0] ?? "");
  describe("a WebSocket by serve", () => {
    defineSocketRows(() => program.url.split(" ")[0] ?? "");
  });
  describe("a stream by serve", () => {
    defineStreamRows(
      () => program,
      () => program.url.split(" ")[0] ?? "",
    );
  });
  if (!runtime[0].startsWith("node")) {
    describe("a stream by app.fetch", () => {
      defineStreamRows(
        () => program,
        () => program.url.split(" ")[1] ?? "",
      );
    });
    describeTable("app.fetch in the runtime's own server", () => program.url.split(" ")[1] ?? "");
  }
});

(IS_SLOW ? describe : describe.skip)("the HTTP table on workerd", () => {
  let program: Program;
  beforeAll(async () => {
    program = await startWorker("http-worker.mjs");
  });
  afterAll(() => program[Symbol.asyncDispose]());

  it("compresses", async () => {
    const answer = await fetch(`${program.url}/compressed`);
    expect([answer.headers.get("content-encoding"), await answer.json()]).toEqual(["gzip", "a".repeat(1000)]);
  });

  it("reports the module that the platform lacks: when a part is created, and when the application starts", async () => {
    expect(await (await fetch(`${program.url}/lacks`)).json()).toBe("TSGI_MISSING_PLATFORM_MODULE");
    expect((await fetch(`${program.url}/lacks/file`)).status).toBe(500);
    expect((await fetch(`${program.url}/pooled`)).status).toBe(500);
    await program.said("FileResponse needs node:fs");
    await program.said('pool: { kind: "process" } needs node:child_process');
  });

  it("starts for the next client if the first one disconnects during the start", async () => {
    await using own = await startWorker("http-worker.mjs");
    const wire = new Wire(Number(new URL(own.url).port));
    await new Promise((resolve) => wire.socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n", resolve));
    const answer = fetch(`${own.url}/plain/7`);
    wire.socket.resetAndDestroy();
    expect(await (await answer).json()).toEqual({ n: 7, isPlain: true });
    const warnings = own.stderr.split("\n").filter((line) => line.includes(" WARN "));
    expect(warnings).toEqual([expect.stringContaining("1 route runs inline on this platform")]);
  });

  const rows = table.filter(([title]) => title !== LATIN1);
  describeTable("app.fetch", () => program.url, rows);
  describe("a stream by app.fetch", () => {
    defineStreamRows(
      () => program,
      () => program.url,
    );
  });
  describe("a WebSocket by app.fetch", () => {
    defineSocketRows(() => program.url);
  });
});
