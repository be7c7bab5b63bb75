import { describe, expect, it } from "@jest/globals";
import { EventStream, getCookie, getQuery, getRequestIP, H3, HTTPError, readBody, setCookie, withBase } from "h3";
import { App } from "../../../../src/app/app.js";
import { serve } from "../../../../src/node.js";
import { Deferred } from "../../../../src/common/promises.js";
import { fromFetchHandler } from "../../../../src/platforms/web/index.js";
import { KeptLog } from "../../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../../test/support/matrix.js";

const PREFIX = "/h3";

/** An App with an app of h3 below the prefix. */
function mounting(h3: H3): App {
  const app = new App({ logger: new KeptLog() });
  app.mount(
    PREFIX,
    fromFetchHandler((request) => h3.fetch(request)),
  );
  return app;
}

describeMatrix("a mounted h3 app", ({ call }) => {
  it("routes by the path that the client wrote", async () => {
    const h3 = new H3().get(`${PREFIX}/posts/:slug`, (event) => ({
      slug: event.context.params?.["slug"],
      query: getQuery(event),
      path: event.url.pathname,
    }));
    const { text } = await call(mounting(h3), "GET", `${PREFIX}/posts/caf%C3%A9?n=1&n=2&q=a%20b`);
    expect(JSON.parse(text)).toEqual({
      slug: "caf%C3%A9",
      query: { n: ["1", "2"], q: "a b" },
      path: `${PREFIX}/posts/caf%C3%A9`,
    });
  });

  it("removes its own base from the path", async () => {
    const h3 = new H3().all(
      `${PREFIX}/**`,
      withBase(
        PREFIX,
        new H3().get("/a", ({ url }) => url.pathname),
      ),
    );
    expect((await call(mounting(h3), "GET", `${PREFIX}/a`)).text).toBe("/a");
  });

  it("reads JSON and urlencoded bodies, and streams one back", async () => {
    const h3 = new H3()
      .post(`${PREFIX}/body`, async (event) => ({ body: await readBody(event) }))
      .post(`${PREFIX}/echo`, ({ req }) => req.body);
    const app = mounting(h3);
    expect((await call(app, "POST", `${PREFIX}/body`, { json: { a: 1 } })).text).toBe('{"body":{"a":1}}');
    const form = await call(app, "POST", `${PREFIX}/body`, { form: "name=a+b&tag=c&tag=d" });
    expect(JSON.parse(form.text)).toEqual({ body: { name: "a b", tag: ["c", "d"] } });
    const chunks = Array.from({ length: 20 }, (_, index) => Buffer.alloc(10_000, index));
    expect((await call(app, "POST", `${PREFIX}/echo`, { chunks })).body).toEqual(Buffer.concat(chunks));
  });

  it("responds with its errors: its 404, an HTTPError, and an unhandled error without details", async () => {
    const h3 = new H3({ silent: true })
      .get(`${PREFIX}/teapot`, () => {
        throw new HTTPError({ status: 418, message: "short and stout" });
      })
      .get(`${PREFIX}/broken`, () => {
        throw new Error("secret");
      });
    const app = mounting(h3);
    expect((await call(app, "GET", `${PREFIX}/none`)).status).toBe(404);
    expect(await call(app, "GET", `${PREFIX}/teapot`)).toMatchObject({
      status: 418,
      text: expect.stringContaining("short and stout"),
    });
    expect(await call(app, "GET", `${PREFIX}/broken`)).toMatchObject({
      status: 500,
      text: expect.not.stringContaining("secret"),
    });
  });

  it("keeps several Set-Cookie apart", async () => {
    const h3 = new H3().get(PREFIX, (event) => {
      setCookie(event, "a", "1", { path: "/" });
      setCookie(event, "b", "2", { path: "/" });
      return getCookie(event, "session");
    });
    const { text, headerLines } = await call(mounting(h3), "GET", PREFIX, { headers: [["cookie", "session=s"]] });
    expect(text).toBe("s");
    expect(headerLines.filter(([name]) => name === "set-cookie")).toEqual([
      ["set-cookie", "a=1; Path=/"],
      ["set-cookie", "b=2; Path=/"],
    ]);
  });

  it("responds to HEAD, and with 204 for no result", async () => {
    const h3 = new H3().get(`${PREFIX}/text`, () => "text").head(`${PREFIX}/text`, () => "text");
    h3.delete(`${PREFIX}/text`, ({ res }) => void (res.status = 204));
    const app = mounting(h3);
    const [head, removed] = [await call(app, "HEAD", `${PREFIX}/text`), await call(app, "DELETE", `${PREFIX}/text`)];
    expect([head.status, head.text, removed.status, removed.text]).toEqual([200, "", 204, ""]);
  });
});

describe("a mounted h3 app on the Node server", () => {
  it("sends its events one by one, and is notified if the client disconnects", async () => {
    const [next, closed] = [new Deferred<void>(), new Deferred<void>()];
    const h3 = new H3().get(PREFIX, (event) => {
      const events = new EventStream(event);
      events.onClosed(() => closed.resolve());
      void events
        .push("one")
        .then(() => next.promise)
        .then(() => events.push("two"));
      return events;
    });
    const server = await serve(mounting(h3), { port: 0, signals: false, logger: new KeptLog() });
    try {
      const controller = new AbortController();
      const { body } = await fetch(server.url + PREFIX, { signal: controller.signal });
      const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
      expect(await reader.read()).toEqual({ done: false, value: "data: one\n\n" });
      next.resolve();
      expect(await reader.read()).toEqual({ done: false, value: "data: two\n\n" });
      controller.abort();
      await expect(closed.promise).resolves.toBeUndefined();
      await expect(reader.read()).rejects.toThrow("aborted");
    } finally {
      await server.close();
    }
  });

  it("has no address of the client, which the platform's Request does not contain", async () => {
    const h3 = new H3().get(PREFIX, (event) => ({ ip: getRequestIP(event) ?? null }));
    const server = await serve(mounting(h3), { port: 0, signals: false, logger: new KeptLog() });
    try {
      expect(await (await fetch(server.url + PREFIX)).json()).toEqual({ ip: null });
    } finally {
      await server.close();
    }
  });
});
