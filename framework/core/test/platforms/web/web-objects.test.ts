/** The platform's `Request` and `Response` in handlers, on every server. */
import { expect, it } from "@jest/globals";
import { App } from "../../../src/app/app.js";
import { HTTPException } from "../../../src/common/exceptions.js";
import { httpMiddleware } from "../../../src/middleware/index.js";
import { Request as OwnRequest, Request } from "../../../src/http/request.js";
import { Response as OwnResponse } from "../../../src/http/response/response.js";
import { t } from "../../../src/schema/schema.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

const params = { request: Request };

describeMatrix("request.toWeb()", ({ call, keeps }) => {
  const app = new App({ logger: new KeptLog() });
  app.post("/echo/{name}", { params }, async ({ request }) => {
    const web = request.toWeb();
    const { pathname, search } = new URL(web.url);
    return {
      isWeb: web instanceof globalThis.Request,
      pathname,
      search,
      method: web.method,
      a: web.headers.get("x-a"),
      text: await web.text(),
    };
  });
  app.post("/after", { params }, async ({ request }) => [
    await request.text(),
    await request.toWeb().text(),
    await request.text(),
  ]);
  app.post("/before", { params }, async ({ request }) => {
    await request.toWeb().text();
    return request.text();
  });
  app.get("/get", { params }, async ({ request }) => request.toWeb().body);

  it("returns the platform's request, with the body unread", async () => {
    const sent = { chunks: [Buffer.from("hé"), Buffer.from("llo")], headers: [["x-a", "b, c"]] as const };
    expect((await call(app, "POST", "/echo/caf%C3%A9?q=1", sent)).json).toEqual({
      isWeb: true,
      pathname: "/echo/caf%C3%A9",
      search: "?q=1",
      method: "POST",
      a: "b, c",
      text: "héllo",
    });
  });

  it("returns the same bytes after body()", async () => {
    expect((await call(app, "POST", "/after", { body: Buffer.from("a") })).json).toEqual(["a", "a", "a"]);
  });

  it("uses the body from body()", async () => {
    expect((await call(app, "POST", "/before", { body: Buffer.from("a") })).status).toBe(500);
  });

  it.each(["/auth/../admin", "/auth/%2e%2E/admin", "/auth/a/./b", "/auth/..", "/auth/..\\..\\admin"])(
    "has no other path than the guards of the application have seen: %s",
    async (path) => {
      const seen: string[] = [];
      const library = ({ url }: globalThis.Request) =>
        new globalThis.Response(String(seen.push(new URL(url).pathname)));
      const guarded = new App({ logger: new KeptLog() });
      for (const pattern of ["/auth/{a}", "/auth/{a}/{b}", "/auth/{a}/{b}/{c}"]) {
        guarded.get(pattern, { params }, async ({ request }) => library(request.toWeb()));
      }
      const { status, json } = await call(guarded, "GET", path);
      expect(seen).toEqual(status === 200 ? ["/auth/a/b"] : []);
      if (keeps.dotSegments)
        expect([status, json]).toEqual([400, { detail: "The path has a dot segment or a backslash" }]);
    },
  );

  it("has no body for GET", async () => {
    expect((await call(app, "GET", "/get")).json).toBeNull();
  });
});

describeMatrix("a platform's Response as a handler's result", ({ call, returning }) => {
  it("is sent unchanged: status, headers, several Set-Cookie, body", async () => {
    const headers = new Headers([
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["x-a", "b"],
    ]);
    const answer = await returning(new Response("héllo", { status: 201, headers }))();
    expect([answer.status, answer.text]).toEqual([201, "héllo"]);
    expect(answer.headerLines).toEqual([
      ["content-type", "text/plain;charset=UTF-8"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["x-a", "b"],
    ]);
  });

  it("is not checked against `returns`, like a Response of this framework", async () => {
    const answer = await returning(Response.json({ n: "text" }), { returns: t.Object({ n: t.Integer() }) })();
    expect([answer.status, answer.json]).toEqual([200, { n: "text" }]);
  });

  it("is streamed", async () => {
    const app = new App();
    app.get("/", async () => new Response(ReadableStream.from(["a", "b", "c"].map((text) => Buffer.from(text)))));
    expect((await call(app, "GET", "/")).text).toBe("abc");
  });

  it("responds to HEAD without its body, which is canceled", async () => {
    let isCancelled = false;
    const app = new App();
    app.get(
      "/",
      async () =>
        new Response(new ReadableStream({ cancel: () => void (isCancelled = true) }), { headers: { "x-a": "b" } }),
    );
    const answer = await call(app, "HEAD", "/");
    expect([answer.status, answer.text, answer.headers["x-a"], isCancelled]).toEqual([200, "", "b", true]);
  });

  it.each([204, 304])("has no body: %i", async (status) => {
    const answer = await returning(new Response(null, { status }))();
    expect([answer.status, answer.text]).toEqual([status, ""]);
  });

  it("gets the headers of a draft, its own first", async () => {
    const app = new App();
    app.get("/", { params: { draft: OwnResponse } }, async ({ draft }) => {
      draft.headers.set("x-a", "draft").set("x-b", "draft");
      return new Response(null, { headers: { "x-a": "own" } });
    });
    expect((await call(app, "GET", "/")).headers).toMatchObject({ "x-a": "own", "x-b": "draft" });
  });

  it("is taken from exception handlers, middleware, and handlers that stream", async () => {
    const app = new App();
    app.exceptionHandler(404, () => new Response("none", { status: 404 }));
    app.get("/error", async () => {
      throw new HTTPException(404);
    });
    app.get("/middle", { middleware: [httpMiddleware(() => new Response("middle"))] }, async () => null);
    app.get("/stream", { stream: "sse" }, async () => new Response("stream"));
    expect((await call(app, "GET", "/error")).text).toBe("none");
    expect((await call(app, "GET", "/middle")).text).toBe("middle");
    expect((await call(app, "GET", "/stream")).text).toBe("stream");
  });

  it("results in 500 and a log entry if its body has been read", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    const read = new Response("a");
    await read.text();
    app.get("/", { params: { request: OwnRequest } }, async () => read);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(logger.lines.join()).toContain("has been read already");
  });
});
