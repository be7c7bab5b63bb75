import { describe, expect, it } from "@jest/globals";
import { Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { stream, streamSSE } from "hono/streaming";
import { App } from "../../../../src/app/app.js";
import { serve } from "../../../../src/node.js";
import { Deferred } from "../../../../src/common/promises.js";
import { Router } from "../../../../src/routing/router.js";
import { fromFetchHandler } from "../../../../src/platforms/web/index.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../../test/support/matrix.js";

const PREFIX = "/hono";

/** An App with its own routes, and an app of Hono below the prefix. */
function mounting(hono: Hono, logger = new KeptLog()): App {
  const app = new App({ logger });
  app.get("/own", async () => ({ from: "tsgi" }));
  app.mount(PREFIX, fromFetchHandler(hono.fetch));
  return app;
}

describeMatrix("a mounted Hono app", ({ call }) => {
  it("routes by the original path, in addition to the routes of the App", async () => {
    const hono = new Hono()
      .basePath(PREFIX)
      .get("/", (c) => c.text("root"))
      .get("/posts/:slug", (c) => c.json({ slug: c.req.param("slug"), tags: c.req.queries("tag"), url: c.req.url }));
    const app = mounting(hono);
    const post = await call(app, "GET", `${PREFIX}/posts/caf%C3%A9%2Fa?tag=x&tag=y%20z`, {
      headers: [["host", "api.test"]],
    });
    expect(post.json).toEqual({
      slug: "café/a",
      tags: ["x", "y z"],
      url: `http://api.test${PREFIX}/posts/caf%C3%A9%2Fa?tag=x&tag=y%20z`,
    });
    expect((await call(app, "GET", PREFIX)).text).toBe("root");
    expect((await call(app, "GET", "/own")).json).toEqual({ from: "tsgi" });
  });

  it("sees the whole path below the prefixes of routers and of other mounts", async () => {
    const hono = new Hono().get("/outer/api/hono/where", (c) => c.text(c.req.path));
    const router = new Router({ prefix: "/api" });
    router.mount("/hono", fromFetchHandler(hono.fetch));
    const inner = new App();
    inner.includeRouter(router);
    const outer = new App();
    outer.mount("/outer", inner);
    expect((await call(outer, "GET", "/outer/api/hono/where")).text).toBe("/outer/api/hono/where");
  });

  it("reads JSON, text, bytes, urlencoded and multipart bodies", async () => {
    const hono = new Hono()
      .basePath(PREFIX)
      .post("/json", async (c) => c.json(await c.req.json()))
      .post("/text", async (c) => c.text(await c.req.text()))
      .post("/bytes", async (c) => c.body(await c.req.arrayBuffer()))
      .post("/form", async (c) => {
        const form = await c.req.formData();
        const file = form.get("file");
        return c.json([form.getAll("name"), file instanceof File ? [file.name, await file.text()] : null]);
      });
    const app = mounting(hono);
    expect((await call(app, "POST", `${PREFIX}/json`, { json: { a: [1, "é"] } })).json).toEqual({ a: [1, "é"] });
    expect((await call(app, "PUT", `${PREFIX}/json`, { json: {} })).status).toBe(404);
    expect((await call(app, "POST", `${PREFIX}/text`, { text: "" })).text).toBe("");
    const bytes = Buffer.from([0, 255, 10, 13]);
    expect((await call(app, "POST", `${PREFIX}/bytes`, { chunks: [bytes, bytes] })).body).toEqual(
      Buffer.concat([bytes, bytes]),
    );
    expect((await call(app, "POST", `${PREFIX}/form`, { form: "name=a+b&name=c" })).json).toEqual([["a b", "c"], null]);
    const form = new FormData();
    form.append("name", "ada");
    form.append("file", new File(["content"], "ü.txt"));
    const multipart = new Response(form);
    const sent = {
      headers: [["content-type", multipart.headers.get("content-type") ?? ""]] as const,
      body: new Uint8Array(await multipart.arrayBuffer()),
    };
    expect((await call(app, "POST", `${PREFIX}/form`, sent)).json).toEqual([["ada"], ["ü.txt", "content"]]);
  });

  it("responds with its errors: its 404, an HTTPException, and the result of its onError for others", async () => {
    const hono = new Hono().basePath(PREFIX);
    hono.get("/teapot", () => {
      throw new HTTPException(418, { message: "short and stout" });
    });
    hono.get("/broken", () => {
      throw new Error("secret");
    });
    hono.onError((error, c) =>
      error instanceof HTTPException ? error.getResponse() : c.json({ error: "broken" }, 500),
    );
    const app = mounting(hono);
    expect(await call(app, "GET", `${PREFIX}/none`)).toMatchObject({ status: 404, text: "404 Not Found" });
    expect(await call(app, "GET", `${PREFIX}/teapot`)).toMatchObject({ status: 418, text: "short and stout" });
    expect(await call(app, "GET", `${PREFIX}/broken`)).toMatchObject({ status: 500, json: { error: "broken" } });
  });

  it("keeps several Set-Cookie apart, and reads cookies and headers", async () => {
    const hono = new Hono().basePath(PREFIX).get("/", (c) => {
      setCookie(c, "a", "1", { httpOnly: true, path: "/" });
      setCookie(c, "b", "2; 3", { path: "/" });
      c.header("x-name", c.req.header("x-name"));
      return c.json(getCookie(c));
    });
    const { json, headers, headerLines } = await call(mounting(hono), "GET", PREFIX, {
      headers: [
        ["cookie", "session=s%20s; theme=dark"],
        ["x-name", "ada"],
      ],
    });
    expect(json).toEqual({ session: "s s", theme: "dark" });
    expect(headers["x-name"]).toBe("ada");
    expect(headerLines.filter(([name]) => name === "set-cookie")).toEqual([
      ["set-cookie", "a=1; Path=/; HttpOnly"],
      ["set-cookie", "b=2%3B%203; Path=/"],
    ]);
  });

  it("runs its own middleware, and responds to HEAD and OPTIONS", async () => {
    const hono = new Hono().basePath(PREFIX).use(cors({ origin: "https://site.test" }));
    hono.get("/", (c) => c.text("body"));
    const app = mounting(hono);
    const head = await call(app, "HEAD", PREFIX);
    expect([head.status, head.text]).toEqual([200, ""]);
    const preflight = await call(app, "OPTIONS", PREFIX, {
      headers: [
        ["origin", "https://site.test"],
        ["access-control-request-method", "PUT"],
      ],
    });
    expect([preflight.status, preflight.headers["access-control-allow-origin"]]).toEqual([204, "https://site.test"]);
  });

  it("streams a body back as it arrives", async () => {
    const hono = new Hono().basePath(PREFIX).post("/", (c) => new Response(c.req.raw.body));
    const chunks = Array.from({ length: 20 }, (_, index) => Buffer.alloc(10_000, index));
    expect((await call(mounting(hono), "POST", PREFIX, { chunks })).body).toEqual(Buffer.concat(chunks));
  });
});

describe("a mounted Hono app on the Node server", () => {
  it("sends the chunks of a stream one by one, and is notified if the client disconnects", async () => {
    const [next, aborted] = [new Deferred<void>(), new Deferred<void>()];
    const hono = new Hono().basePath(PREFIX).get("/", (c) =>
      stream(c, async (output) => {
        output.onAbort(() => aborted.resolve());
        await output.write("one");
        await next.promise;
        await output.write("two");
        await aborted.promise;
      }),
    );
    const server = await serve(mounting(hono), { port: 0, signals: false, logger: new KeptLog() });
    try {
      const controller = new AbortController();
      const { body } = await fetch(server.url + PREFIX, { signal: controller.signal });
      const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      expect(await reader.read()).toEqual({ done: false, value: "one" });
      next.resolve();
      expect(await reader.read()).toEqual({ done: false, value: "two" });
      controller.abort();
      await expect(aborted.promise).resolves.toBeUndefined();
      await expect(reader.read()).rejects.toThrow("aborted");
    } finally {
      await server.close();
    }
  });

  it("sends server-sent events immediately", async () => {
    const next = new Deferred<void>();
    const hono = new Hono().basePath(PREFIX).get("/", (c) =>
      streamSSE(c, async (events) => {
        await events.writeSSE({ event: "tick", data: "1", id: "a" });
        await next.promise;
        await events.writeSSE({ data: "2" });
      }),
    );
    const server = await serve(mounting(hono), { port: 0, signals: false, logger: new KeptLog() });
    try {
      const { body, headers } = await fetch(server.url + PREFIX);
      expect(headers.get("content-type")).toBe("text/event-stream");
      const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.endsWith("\n\n")) text += (await reader.read()).value ?? "";
      expect(text).toBe("event: tick\ndata: 1\nid: a\n\n");
      next.resolve();
      text = "";
      for (let part = await reader.read(); !part.done; part = await reader.read()) text += part.value;
      expect(text).toBe("data: 2\n\n");
    } finally {
      await server.close();
    }
  });
});
