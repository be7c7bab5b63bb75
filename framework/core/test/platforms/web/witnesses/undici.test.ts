import { describe, expect, it } from "@jest/globals";
import * as undici from "undici";
import { App, Request, t, UploadFile } from "../../../../src/index.js";
import { serve } from "../../../../src/node.js";
import { fromFetchHandler } from "../../../../src/platforms/web/index.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../../test/support/matrix.js";

const ITEM = t.Object({ name: t.String(), price: t.Number({ minimum: 0 }) });

function shop(): App {
  const app = new App({ logger: new KeptLog() });
  app.post("/items/{id}", { params: { id: t.Integer(), body: ITEM }, statusCode: 201 }, async ({ id, body }) => ({
    id,
    ...body,
  }));
  app.post("/upload", { params: { file: UploadFile } }, async ({ file }) => [file.filename, await file.text()]);
  app.get("/headers", { params: { request: Request } }, async ({ request }) => {
    const response = new globalThis.Response(request.headers["x-name"] ?? null);
    response.headers.append("set-cookie", "a=1");
    response.headers.append("set-cookie", "b=2");
    return response;
  });
  app.get("/numbers", { stream: "jsonl" }, async function* () {
    for (let n = 0; n < 3; n++) yield n;
  });
  return app;
}

/** undici's own class, which is not the platform's. */
const requestOf = (url: string, init?: undici.RequestInit) =>
  new undici.Request(url, init) as unknown as globalThis.Request;

describe("app.fetch with a Request of the package undici", () => {
  it("reads its method, URL and JSON body", async () => {
    const app = shop();
    expect(requestOf("http://a.test")).not.toBeInstanceOf(globalThis.Request);
    const body = JSON.stringify({ name: "Pen", price: 1.5 });
    const headers = { "content-type": "application/json" };
    const made = await app.fetch(requestOf("http://a.test/items/7", { method: "POST", headers, body }));
    expect([made.status, await made.json()]).toEqual([201, { id: 7, name: "Pen", price: 1.5 }]);
    const wrong = await app.fetch(requestOf("http://a.test/items/x", { method: "POST", headers, body: "{" }));
    expect(wrong.status).toBe(422);
    await app.fetch.close();
  });

  it("reads its multipart form and its stream", async () => {
    const app = shop();
    const form = new undici.FormData();
    form.append("file", new globalThis.File(["content"], "a.txt"));
    const upload = await app.fetch(requestOf("http://a.test/upload", { method: "POST", body: form }));
    expect(await upload.json()).toEqual(["a.txt", "content"]);
    const stream = ReadableStream.from(['{"name":"Pen",', '"price":2}'].map((part) => Buffer.from(part)));
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: stream, duplex: "half" } as const;
    expect(await (await app.fetch(requestOf("http://a.test/items/1", init))).json()).toMatchObject({ price: 2 });
    await app.fetch.close();
  });

  it("ends with its signal", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get(
      "/",
      { params: { request: Request } },
      async ({ request }) =>
        new Promise((resolve) => {
          request.signal.addEventListener("abort", () => resolve("gone"));
          controller.abort();
        }),
    );
    const controller = new AbortController();
    const answer = await app.fetch(requestOf("http://a.test/", { signal: controller.signal }));
    expect(answer.status).toBe(499);
    await app.fetch.close();
  });
});

describe("undici as the client of a server", () => {
  it("gets the same results as from app.fetch, by fetch, request and a pipelining pool", async () => {
    const app = shop();
    const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
    const pool = new undici.Pool(server.url, { connections: 1, pipelining: 10 });
    try {
      const direct = await app.fetch(requestOf(`${server.url}/headers`, { headers: { "x-name": "ada" } }));
      const fetched = await undici.fetch(`${server.url}/headers`, { headers: { "x-name": "ada" }, dispatcher: pool });
      expect(fetched.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(direct.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
      expect(await fetched.text()).toBe(await direct.text());
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => pool.request({ path: "/numbers", method: "GET" })),
      );
      const texts = await Promise.all(answers.map(({ body }) => body.text()));
      expect(new Set(texts)).toEqual(new Set(["0\n1\n2\n"]));
    } finally {
      await pool.close();
      await server.close();
    }
  });
});

describeMatrix("a Response of the package undici", ({ call, returning }) => {
  const made = () => {
    const headers = new undici.Headers({ "content-type": "text/x" });
    headers.append("set-cookie", "a=1");
    headers.append("set-cookie", "b=2");
    return new undici.Response("text", { status: 203, headers });
  };

  it("is sent as it is when a handler returns it", async () => {
    expect(made()).not.toBeInstanceOf(globalThis.Response);
    const { status, headerLines, text } = await returning(made())();
    expect([status, text]).toEqual([203, "text"]);
    expect(headerLines).toEqual([
      ["content-type", "text/x"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
  });

  it("is the response of a mounted handler", async () => {
    const app = new App({ logger: new KeptLog() });
    app.mount(
      "/undici",
      fromFetchHandler(() => made()),
    );
    expect(await call(app, "GET", "/undici")).toMatchObject({ status: 203, text: "text" });
  });
});
