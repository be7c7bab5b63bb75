import { describe, expect, it } from "@jest/globals";
import { App, Depends, File, HTTPException, Request, Response, withParams } from "../../../src/index.js";
import { httpMiddleware } from "../../../src/middleware/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { BOUNDARY, CLOSING, multipart, partHead } from "../../../../test/support/multipart.js";
import { MiB, noise, openUploads } from "./_files.js";

const large = multipart(["f", { filename: "f", content: noise(2 * MiB) }]);

/** A large file, and then something else. */
const followed = (tail: string) => ({
  headers: large.headers,
  body: Buffer.concat([Buffer.from(partHead("f", { filename: "f" })), noise(2 * MiB), Buffer.from(tail)]),
});

describeMatrix("the files of a form", ({ call }) => {
  /** Calls a route whose handler sees the open file, and returns how many were open then and are afterwards. */
  async function opened(end: (f: unknown) => unknown, sent = large) {
    const app = new App({ logger: new KeptLog() });
    let during = 0;
    app.post("/", { params: { f: File() } }, async ({ f }) => {
      during = openUploads().length;
      return end(f);
    });
    const { status } = await call(app, "POST", "/", sent);
    return { status, during, after: openUploads().length };
  }

  it.each<[string, number, () => unknown]>([
    ["returns", 200, () => null],
    ["throws an HTTPException", 404, () => Promise.reject(new HTTPException(404))],
    ["throws", 500, () => Promise.reject(new Error("no"))],
    ["returns what JSON cannot write", 500, () => 1n],
    ["returns a Response", 200, () => new Response("x")],
  ])("are closed when the handler %s", async (_how, status, end) => {
    expect(await opened(end)).toEqual({ status, during: 1, after: 0 });
  });

  it.each<[string, number, ReturnType<typeof followed>]>([
    ["is malformed behind them", 422, followed(`\r\n--${BOUNDARY}\r\nnonsense\r\n\r\n`)],
    ["ends before its end", 422, followed("")],
    ["has another file where text is wanted", 422, multipart(["g", { filename: "g", content: noise(2 * MiB) }])],
    ["is too large behind them", 413, followed(`\r\n${partHead("x")}${"x".repeat(MiB)}${CLOSING}`)],
  ])("are closed when the form %s", async (_how, status, sent) => {
    expect(await opened(() => null, sent)).toEqual({ status, during: 0, after: 0 });
  });

  it("are open for dependencies' cleanup, and closed after it", async () => {
    const seen: number[] = [];
    const app = new App();
    const getFile = withParams({ f: File() }, async function* ({ f }) {
      yield f;
      seen.push((await f.read()).length);
    });
    app.post("/", { params: { f: Depends(getFile) } }, async () => null);
    await call(app, "POST", "/", large);
    expect([seen, openUploads()]).toEqual([[2 * MiB], []]);
  });

  it("are closed when a middleware has read the form", async () => {
    const app = new App();
    app.addMiddleware(
      httpMiddleware(async (request, next) => {
        const during = [...(await request.form())].length * openUploads().length;
        (await next()).headers.set("x-during", String(during));
      }),
    );
    app.post("/", { params: { request: Request } }, async () => null);
    expect((await call(app, "POST", "/", large)).headers["x-during"]).toBe("1");
    expect(openUploads()).toEqual([]);
  });
});

describe("a client that resets", () => {
  const body = Buffer.concat([
    Buffer.from(partHead("f", { filename: "f", type: "text/plain" })),
    noise(1.5 * MiB),
    Buffer.from(`\r\n${partHead("a")}text${CLOSING}`),
  ]);
  const head = Buffer.from(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=${BOUNDARY}\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const whole = Buffer.concat([head, body]);
  const edges = [...Array(16).keys()].flatMap((step) => [head.length + step * 13, whole.length - 1 - step * 13]);
  const inside = [...Array(24).keys()].map((step) => head.length + Math.floor((step * body.length) / 24));

  it("at any byte of its upload leaves no file, runs every cleanup, and is not an error", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    let calls = 0;
    let aborts = 0;
    let cleanUps = 0;
    let handled = 0;
    const guard = withParams({ request: Request }, async function* ({ request }) {
      calls++;
      request.signal.addEventListener("abort", () => aborts++);
      try {
        yield;
      } finally {
        cleanUps++;
      }
    });
    app.post("/", { params: { guard: Depends(guard), f: File(), request: Request } }, async () => {
      handled++;
      return null;
    });
    const settled: Promise<unknown>[] = [];
    await using server = await served((scope, receive, send) => {
      const result = app(scope, receive, send);
      if (scope.type === "http") settled.push(result);
      return result;
    });
    for (const offset of [...edges, ...inside].toSorted((a, b) => a - b)) {
      await using wire = new Wire(server.port);
      await new Promise<void>((resolve) => wire.socket.write(whole.subarray(0, offset), () => resolve()));
      wire.socket.resetAndDestroy();
      await wire.closed;
    }
    await using last = new Wire(server.port);
    last.socket.write(whole);
    expect(await last.until(/null$/)).toMatch(/^HTTP\/1\.1 200 /);
    await Promise.all(settled);

    expect(openUploads()).toEqual([]);
    expect(settled.length).toBeGreaterThan(40);
    expect(calls).toBe(settled.length);
    expect({ aborts, cleanUps, handled }).toEqual({ aborts: calls - 1, cleanUps: calls, handled: 1 });
    expect(log.lines).toEqual([]);
    expect(server.logger.at("error")).toEqual([]);
  });
});
