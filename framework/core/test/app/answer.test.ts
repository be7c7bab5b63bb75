import path from "node:path";
import { expect, it } from "@jest/globals";
import type { Send } from "../../src/protocol/asgi.js";
import {
  App,
  BackgroundTasks,
  EventSourceResponse,
  FileResponse,
  HeaderList,
  HTMLResponse,
  HTTPException,
  JSONResponse,
  PlainTextResponse,
  RedirectResponse,
  Request,
  Response,
  StreamingResponse,
} from "../../src/index.js";
import { createFolder } from "../../../test/support/folder.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const folder = createFolder({ "page.txt": "page" });

/** A class of an application's own, which sends in its own way. */
class OwnResponse extends Response {
  override async send(send: Send): Promise<void> {
    await send({ type: "http.response.start", status: 299, headers: [[Buffer.from("X-Own"), Buffer.from("yes")]] });
    await send({ type: "http.response.body", body: Buffer.from("own") });
  }
}

describeMatrix("the draft `Response`", ({ call }) => {
  it.each<[string, () => Response, number, string]>([
    ["a Response", () => new Response("text", { statusCode: 201 }), 201, "text"],
    ["a PlainTextResponse", () => new PlainTextResponse("text"), 200, "text"],
    ["an HTMLResponse", () => new HTMLResponse("<p>"), 200, "<p>"],
    ["a JSONResponse", () => new JSONResponse({ a: 1 }), 200, '{"a":1}'],
    ["a RedirectResponse", () => new RedirectResponse("/x"), 307, ""],
    ["a StreamingResponse", () => new StreamingResponse(["a", "b"]), 200, "ab"],
    ["a FileResponse", () => new FileResponse("page.txt", { root: folder }), 200, "page"],
    ["an EventSourceResponse", () => new EventSourceResponse(["a"]), 200, "data: a\n\n"],
    ["a class of one's own", () => new OwnResponse(), 299, "own"],
  ])(
    "reaches %s with headers and cookies, which keeps its own headers and status",
    async (_kind, make, status, text) => {
      const app = new App();
      app.get("/", { params: { draft: Response } }, async ({ draft }) => {
        draft.statusCode = 418;
        draft.headers.set("x-draft", "1").set("content-type", "image/png").set("content-length", "9999");
        draft.setCookie("a", "1");
        draft.setCookie("b", "2");
        const response = make();
        response.headers.append("set-cookie", "own=1");
        if (!(response instanceof OwnResponse)) response.headers.set("x-draft", "of the response");
        return response;
      });
      const answer = await call(app, "GET", "/");
      expect(answer).toMatchObject({ status, text });
      const cookies = answer.headerLines
        .filter(([name]) => name.toLowerCase() === "set-cookie")
        .map(([, value]) => value);
      expect(cookies.slice(-2)).toEqual([expect.stringMatching(/^a=1;/), expect.stringMatching(/^b=2;/)]);
      expect(answer.headers["x-draft"]).toBe(status === 299 ? "1" : "of the response");
      const own = make().headers.get("content-type");
      if (own !== undefined) expect(answer.headers["content-type"]).toBe(own);
    },
  );

  it("is overridden by a header of the response, in any case", async () => {
    class ShoutingResponse extends Response {
      override async send(send: Send): Promise<void> {
        await send({
          type: "http.response.start",
          status: 200,
          headers: new HeaderList(["X-DRAFT", "of the response"]),
        });
        await send({ type: "http.response.body", body: Buffer.from("own") });
      }
    }
    const app = new App();
    app.get("/", { params: { draft: Response } }, async ({ draft }) => {
      draft.headers.set("x-draft", "1");
      return new ShoutingResponse();
    });
    const answer = await call(app, "GET", "/");
    expect(answer.headers["x-draft"]).toBe("of the response");
  });

  it("leaves a response that is given to many as it was", async () => {
    const shared = new FileResponse("page.txt", { root: folder });
    const app = new App();
    app.get("/{name}", { params: { draft: Response } }, async ({ draft, name }) => {
      draft.setCookie("name", name);
      return shared;
    });
    expect((await call(app, "GET", "/a")).headers["set-cookie"]).toMatch(/^name=a;/);
    const second = await call(app, "GET", "/b");
    expect(second.headerLines.filter(([name]) => name.toLowerCase() === "set-cookie")).toHaveLength(1);
    expect([...shared.headers]).toEqual([]);
  });

  it("reaches a JSON result with its status, and a 304 of a file", async () => {
    const app = new App();
    app.get("/json", { params: { draft: Response } }, async ({ draft }) => {
      draft.statusCode = 201;
      draft.headers.set("content-type", "application/vnd.api+json").set("content-length", "1");
      return { a: 1 };
    });
    app.get("/file", { params: { draft: Response } }, async ({ draft }) => {
      draft.headers.set("x-draft", "1");
      return new FileResponse(path.join(folder, "page.txt"), { headers: { etag: '"x"' } });
    });
    const json = await call(app, "GET", "/json");
    expect(json).toMatchObject({ status: 201, text: '{"a":1}' });
    expect(json.headers).toEqual({ "content-type": "application/vnd.api+json", "content-length": "7" });
    const file = await call(app, "GET", "/file", { headers: [["if-none-match", '"x"']] });
    expect(file).toMatchObject({ status: 304, headers: { "x-draft": "1" } });
  });

  it("has background tasks, which run after the tasks of the response", async () => {
    const order: string[] = [];
    const tasksOf = (name: string) => {
      const tasks = new BackgroundTasks();
      tasks.addTask(() => void order.push(name));
      return tasks;
    };
    const app = new App();
    app.get("/", { params: { draft: Response } }, async ({ draft }) => {
      draft.background = tasksOf("draft");
      return new StreamingResponse(["a"], { background: tasksOf("response") });
    });
    await call(app, "GET", "/");
    expect(order).toEqual(["response", "draft"]);
  });
});

describeMatrix("the signal of a request", ({ call }) => {
  it.each<[string, () => unknown]>([
    ["JSON", () => ({ a: "x".repeat(2_000_000) })],
    ["a Response", () => new Response("x".repeat(2_000_000))],
    ["a stream", () => new StreamingResponse(Array.from({ length: 100 }, () => "x".repeat(20_000)))],
    ["a file", () => new FileResponse(import.meta.filename)],
  ])("does not abort when the response is complete: %s", async (_kind, make) => {
    const app = new App({ logger: new KeptLog() });
    let signal: AbortSignal | undefined;
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      signal = request.signal;
      return make();
    });
    expect((await call(app, "GET", "/")).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal?.aborted).toBe(false);
  });
});

describeMatrix("the response to an error", ({ call }) => {
  it("may be a file or a stream, of a route, without a route, and below a middleware that fails", async () => {
    const app = new App({ logger: new KeptLog() });
    app.exceptionHandler(404, () => new FileResponse("page.txt", { root: folder, statusCode: 404 }));
    app.exceptionHandler(RangeError, () => new StreamingResponse(["a", "b"], { statusCode: 503 }));
    app.get("/", async () => {
      throw new HTTPException(404);
    });
    app.get("/stream", { middleware: [() => () => Promise.reject(new RangeError())] }, async () => null);
    for (const target of ["/", "/none"]) {
      expect(await call(app, "GET", target)).toMatchObject({ status: 404, text: "page" });
      expect(await call(app, "HEAD", target)).toMatchObject({ status: 404, text: "" });
    }
    expect(await call(app, "GET", "/stream")).toMatchObject({ status: 503, text: "ab" });
  });

  it("is the default one if that file is missing", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.exceptionHandler(Error, () => new FileResponse("gone.html", { root: folder }));
    app.get("/", async () => {
      throw new RangeError();
    });
    app.get("/middleware", { middleware: [() => () => Promise.reject(new RangeError())] }, async () => null);
    for (const target of ["/", "/middleware"]) {
      expect(await call(app, "GET", target)).toMatchObject({ status: 404, json: { detail: "Not Found" } });
    }
  });
});
