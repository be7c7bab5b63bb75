import { describe, expect, it } from "@jest/globals";
import type { Limits } from "../../../src/http/limits.js";
import { App, File, Form, Request } from "../../../src/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { BOUNDARY, CLOSING, multipart, partHead } from "../../../../test/support/multipart.js";
import { MiB, openUploads } from "./_files.js";

describeMatrix("the limits of a multipart form", ({ call }) => {
  async function statusOf(limits: Partial<Limits>, sent: object): Promise<number> {
    const app = new App({ limits });
    app.post("/", { params: { request: Request } }, async ({ request }) => [...(await request.form())].length);
    const { status } = await call(app, "POST", "/", sent);
    expect(openUploads()).toEqual([]);
    return status;
  }

  /** The same form with its length announced, and in chunks. */
  const roads = (sent: ReturnType<typeof multipart>) => [
    sent,
    { headers: sent.headers, chunks: [sent.body.subarray(0, 100), sent.body.subarray(100)] },
  ];
  const files = (...sizes: number[]) =>
    multipart(...sizes.map((size) => ["f", { filename: "f", content: Buffer.alloc(size) }] as const));

  it.each<[string, Partial<Limits>, ReturnType<typeof multipart>, number]>([
    ["uploadBytes of one file", { uploadBytes: 1000 }, files(1000), 200],
    ["one byte more", { uploadBytes: 1000 }, files(1001), 413],
    ["uploadBytes of several files together", { uploadBytes: 1000 }, files(500, 500), 200],
    ["one byte more of several files", { uploadBytes: 1000 }, files(500, 501), 413],
    ["bodyBytes of fields, names among them", { bodyBytes: 1000 }, multipart(["a", "x".repeat(999)]), 200],
    ["one byte more of fields", { bodyBytes: 1000 }, multipart(["a", "x".repeat(1000)]), 413],
    [
      "one byte more of several fields",
      { bodyBytes: 1000 },
      multipart(["a", "x".repeat(499)], ["a", "x".repeat(500)]),
      413,
    ],
    ["more than 1 MiB of fields", {}, multipart(["a", "x".repeat(MiB)]), 413],
    ["no bytes of fields", { bodyBytes: 0 }, multipart(["", ""]), 200],
    ["1,000 parts", {}, multipart(...Array.from({ length: 1000 }, () => ["a", "1"] as const)), 200],
    ["1,001 parts", {}, multipart(...Array.from({ length: 1001 }, () => ["a", "1"] as const)), 413],
    ["formParts", { formParts: 1 }, multipart(["a", "1"], ["f", { filename: "f", content: "" }]), 413],
    ["a preamble past all limits", { uploadBytes: 0, bodyBytes: 0 }, prefixed(65 * 1024), 413],
    ["an epilogue past all limits", { uploadBytes: 0, bodyBytes: 0 }, suffixed(65 * 1024), 413],
    ["a preamble and an epilogue", { uploadBytes: 0, bodyBytes: 0 }, prefixed(63 * 1024), 200],
  ])("for %s", async (_what, limits, sent, status) => {
    for (const road of roads(sent)) expect(await statusOf(limits, road)).toBe(status);
  });

  it("are 50 MiB of files if no other is set", async () => {
    for (const road of roads(files(50 * MiB))) expect(await statusOf({}, road)).toBe(200);
    for (const road of roads(files(25 * MiB, 25 * MiB + 1))) expect(await statusOf({}, road)).toBe(413);
  });

  it("use the values of the route, if it has any, before the values of the App", async () => {
    const app = new App({ limits: { uploadBytes: 10, formParts: 1 } });
    app.post("/more", { params: { f: File() }, limits: { uploadBytes: 1000 } }, async ({ f }) => f.size);
    app.post("/same", { params: { f: File() }, limits: { uploadBytes: undefined } }, async ({ f }) => f.size);
    expect((await call(app, "POST", "/more", files(1000))).json).toBe(1000);
    expect((await call(app, "POST", "/more", files(1, 1))).status).toBe(413);
    expect((await call(app, "POST", "/same", files(11))).status).toBe(413);
  });

  it("hold for File and Form of a route, and for a body that was read before", async () => {
    const app = new App({ limits: { uploadBytes: 10, bodyBytes: 2000 } });
    app.post("/params", { params: { f: File(), a: Form({ default: null }) } }, async () => null);
    app.post("/before", { params: { request: Request } }, async ({ request }) => {
      await request.body();
      return [...(await request.form())].length;
    });
    for (const path of ["/params", "/before"]) {
      expect((await call(app, "POST", path, files(10))).status).toBe(200);
      expect((await call(app, "POST", path, files(11))).status).toBe(413);
    }
  });
});

function prefixed(size: number) {
  const sent = multipart();
  return { ...sent, body: Buffer.concat([Buffer.alloc(size, "x"), Buffer.from("\r\n"), sent.body]) };
}

function suffixed(size: number) {
  const sent = multipart();
  return { ...sent, body: Buffer.concat([sent.body, Buffer.alloc(size, "x")]) };
}

describe("a form over a socket", () => {
  const head = (length: string) =>
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\n${length}\r\n\r\n`;

  const serveFile = () => {
    const app = new App();
    app.post("/", { params: { f: File() } }, async ({ f }) => f.size);
    return served(app);
  };

  it("is rejected by its Content-Length, before its first byte arrives", async () => {
    await using server = await serveFile();
    await using wire = new Wire(server.port);
    wire.write(head(`Content-Length: ${52 * MiB}`));
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 413 [^]*The body is larger than \d+ bytes/);
  });

  it("is rejected by its Content-Length instead of 100 Continue", async () => {
    await using server = await serveFile();
    await using wire = new Wire(server.port);
    wire.write(head(`Content-Length: ${52 * MiB}\r\nExpect: 100-continue`));
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("is rejected as soon as it exceeds its limit, even if the rest is not sent", async () => {
    await using server = await serveFile();
    await using wire = new Wire(server.port);
    wire.write(head("Transfer-Encoding: chunked"));
    const chunk = (bytes: string) => `${Buffer.byteLength(bytes).toString(16)}\r\n${bytes}\r\n`;
    wire.write(chunk(partHead("f", { filename: "f" })));
    const MiBOfText = chunk("x".repeat(MiB));
    for (let sent = 0; sent < 51; sent++) wire.write(MiBOfText);
    expect(await wire.until(/\r\n\r\n.*\}/s)).toMatch(/^HTTP\/1\.1 413 /);
    expect(openUploads()).toEqual([]);
  });

  it("can arrive byte by byte", async () => {
    await using server = await serveFile();
    await using wire = new Wire(server.port);
    const body = `${partHead("f", { filename: "f" })}x\r${CLOSING}`;
    wire.write(head(`Content-Length: ${body.length}`));
    for (const byte of body) wire.write(byte);
    expect(await wire.until(/\r\n\r\n2$/)).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("limits at registration", () => {
  it.each<[string, object]>([
    ["a name that is none", { uploadByte: 1 }],
    ["text", { uploadBytes: "1 MiB" }],
    ["NaN", { bodyBytes: Number.NaN }],
    ["a negative number", { formParts: -1 }],
  ])("reject %s, of an App and of a route", (_what, limits) => {
    expect(() => new App({ limits })).toThrow(/limit/);
    expect(() => new App().get("/x", { limits }, async () => null)).toThrow(/GET \/x: .*limit/);
    expect(() => new App().websocket("/x", { limits }, async () => {})).toThrow(/limit/);
  });

  it("may be switched off", async () => {
    expect(() => new App({ limits: { bodyBytes: Infinity } })).not.toThrow();
  });
});
