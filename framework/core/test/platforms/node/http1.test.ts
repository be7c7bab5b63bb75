import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { decodeLatin1 } from "../../../src/protocol/bytes.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, readBody, served, Wire, type Served } from "./_http.js";
import { accepted, HOST, refused } from "./_http1-table.js";

const calls: string[] = [];

/** Reads the body, and responds with the received values. */
const echo = httpApp(async (scope, receive, send) => {
  calls.push(`${scope.method} ${scope.path}`);
  const body = await readBody(receive);
  const text = JSON.stringify({
    method: scope.method,
    path: scope.path,
    query: decodeLatin1(scope.query_string ?? new Uint8Array(0)),
    headers: Array.from(scope.headers ?? [], ([name, value]) => [decodeLatin1(name), decodeLatin1(value)]),
    body: body.toString(),
  });
  await send({ type: "http.response.start", status: 200, headers: [] });
  await send({ type: "http.response.body", body: Buffer.from(text) });
});

let server: Served;
beforeAll(async () => {
  // Without timeouts, so that a connection ends only because its request is rejected.
  server = await served(echo, { timeouts: { headersMs: 0, requestMs: 0, keepAliveMs: 0 } });
});
afterAll(() => server.close());

describe("bytes that are not HTTP/1.1", () => {
  it.each(refused)("%s", async (_rule, request, status) => {
    const before = calls.length;
    await using wire = new Wire(server.port);
    const answer = await wire.write(request).closed;
    expect(Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])).toBe(status);
    expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toEqual({ detail: expect.any(String) });
    expect(calls).toHaveLength(before);
    await using next = new Wire(server.port);
    await next.write(`GET /good HTTP/1.1\r\n${HOST}\r\n`).until(/"path":"\/good"/);
  });
});

describe("bytes that are not HTTP/1.1, on a kept-alive connection", () => {
  it.each(refused)("%s", async (_rule, request, status) => {
    await using wire = new Wire(server.port);
    await wire.write(`GET /good HTTP/1.1\r\n${HOST}\r\n`).until(/"path":"\/good"[^]*\}$/);
    wire.received = "";
    const before = calls.length;
    const answer = await wire.write(request).closed;
    expect(Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1])).toBe(status);
    expect(calls).toHaveLength(before);
    await using next = new Wire(server.port);
    await next.write(`GET /good HTTP/1.1\r\n${HOST}\r\n`).until(/"path":"\/good"/);
  });
});

describe("valid HTTP/1.1", () => {
  it.each(accepted)("%s", async (_rule, request, told) => {
    await using wire = new Wire(server.port);
    const answer = await wire.write(request).until(/\}$/);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toMatchObject(told);
  });

  it("responds to OPTIONS *, which is about the server", async () => {
    await using wire = new Wire(server.port);
    const before = calls.length;
    await wire.write(`OPTIONS * HTTP/1.1\r\n${HOST}\r\n`).until(/^HTTP\/1\.1 204 No Content\r\n/);
    expect(calls).toHaveLength(before);
  });

  it("reads a request line that arrives byte by byte", async () => {
    await using wire = new Wire(server.port);
    for (const char of "GET /slow HTTP/1.1\r\n") {
      await new Promise((resolve) => wire.socket.write(char, resolve));
    }
    expect(await wire.write(`${HOST}\r\n`).until(/\}$/)).toContain('"path":"/slow"');
  });

  it("responds to pipelined requests in their order", async () => {
    await using wire = new Wire(server.port);
    wire.write(
      `GET /1 HTTP/1.1\r\n${HOST}\r\nPOST /2 HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\n${HOST}\r\n`,
    );
    const answer = await wire.until(/\/3/);
    expect([...answer.matchAll(/"path":"([^"]+)"/g)].map((match) => match[1])).toEqual(["/1", "/2", "/3"]);
  });

  it("responds to HEAD without a body, even if the application changes the method in the scope", async () => {
    const app = httpApp(async (scope, _receive, send) => {
      const body = Buffer.from("HTTP/1.1 200 Not A Response\r\n\r\n");
      scope.method = "GET";
      await send({ type: "http.response.start", status: 200 });
      if (scope.path === "/stream") await send({ type: "http.response.body", body, more_body: true });
      if (scope.path !== "/failing") await send({ type: "http.response.body", body });
    });
    await using lax = await served(app);
    await using wire = new Wire(lax.port);
    for (const path of ["/whole", "/stream", "/failing"]) wire.write(`HEAD ${path} HTTP/1.1\r\n${HOST}\r\n`);
    expect(await wire.closed).not.toMatch(/Not A Response|detail/);
  });

  it("responds to requests before a malformed one, then rejects that and closes", async () => {
    await using wire = new Wire(server.port);
    const answer = await wire.write(`GET /1 HTTP/1.1\r\n${HOST}\r\nGARBAGE\r\n\r\n`).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK[^]*"path":"\/1"[^]*\}HTTP\/1\.1 400 Bad Request/);
  });

  it("ignores the bytes after a rejected request", async () => {
    await using wire = new Wire(server.port);
    const answer = await wire.write(`GET / HTTP/1.1\r\nHost: a b\r\n\r\nGET /behind HTTP/1.1\r\n${HOST}\r\n`).closed;
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\}$/);
    expect(calls).not.toContain("GET /behind");
  });

  it("rejects a body with invalid framing instead of the application", async () => {
    await using wire = new Wire(server.port);
    wire.write(`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`);
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 400 Bad Request[^]*\{"detail":"The request is malformed\."\}$/);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("rejects endless chunk extensions", async () => {
    await using wire = new Wire(server.port);
    wire.write(`POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n1;${"a".repeat(20_000)}`);
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe("Expect: 100-continue", () => {
  const UPLOAD = `POST /upload HTTP/1.1\r\n${HOST}Content-Length: 3\r\nExpect: 100-continue\r\n\r\n`;

  it("gets 100 when the application first reads the body", async () => {
    const entered = new Deferred<void>();
    const ask = new Deferred<void>();
    await using lazy = await served(
      httpApp(async (_scope, receive, send) => {
        entered.resolve();
        await ask.promise;
        const body = await readBody(receive);
        await send({ type: "http.response.start", status: 200 });
        await send({ type: "http.response.body", body });
      }),
    );
    await using wire = new Wire(lazy.port);
    wire.write(UPLOAD);
    await entered.promise;
    expect(wire.received).toBe("");
    ask.resolve();
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    await wire.write("abc").until(/200 OK[^]*abc$/);
  });

  it("gets no 100, and its connection closes, if the application responds without reading the body", async () => {
    await using eager = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 401 });
        await send({ type: "http.response.body" });
      }),
    );
    await using wire = new Wire(eager.port);
    expect(await wire.write(UPLOAD).closed).toMatch(/^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i);
  });
});
