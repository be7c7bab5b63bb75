import { describe, expect, it } from "@jest/globals";
import { App } from "../../../src/app/app.js";
import type { ASGIApp } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { serve } from "../../../src/node.js";
import { fromFetchHandler } from "../../../src/platforms/web/index.js";
import { collectGarbage } from "../../../../test/support/garbage.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

const PREFIX = "/mounted";

/** An App with a handler of the platform's requests below the prefix. */
function mounting(handler: Parameters<typeof fromFetchHandler>[0], logger = new KeptLog()): App {
  const app = new App({ logger });
  app.mount(PREFIX, fromFetchHandler(handler));
  return app;
}

describeMatrix("a mounted handler of the platform's requests", ({ call, keeps }) => {
  it("sees the URL as the client wrote it, method and headers", async () => {
    const app = mounting(({ url, method, headers }) =>
      Response.json([new URL(url).pathname + new URL(url).search, method, headers.get("x-a")]),
    );
    const { json } = await call(app, "PUT", `${PREFIX}//caf%C3%A9/a%2Fb/?q=%20`, { headers: [["x-a", "b"]] });
    expect(json).toEqual([`${PREFIX}//caf%C3%A9/a%2Fb/?q=%20`, "PUT", "b"]);
  });

  it("gets the whole body as a stream, beyond the limits of the App", async () => {
    const app = new App({ limits: { bodyBytes: 1 } });
    app.mount(
      PREFIX,
      fromFetchHandler(async (request) => new Response(String((await request.arrayBuffer()).byteLength))),
    );
    const chunks = Array.from({ length: 40 }, () => Buffer.alloc(50_000));
    expect((await call(app, "POST", PREFIX, { chunks })).text).toBe("2000000");
  });

  it("responds with its status, its headers, several Set-Cookie, and its stream", async () => {
    const app = mounting(() => {
      const headers = new Headers({ "content-type": "text/x" });
      headers.append("set-cookie", "a=1");
      headers.append("set-cookie", "b=2");
      return new Response(ReadableStream.from(["a", "b"].map((text) => Buffer.from(text))), { status: 418, headers });
    });
    const { status, headerLines, text } = await call(app, "GET", PREFIX);
    expect([status, text]).toEqual([418, "ab"]);
    expect(headerLines).toEqual([
      ["content-type", "text/x"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ]);
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 304],
  ])("responds to %s with %i without a body", async (method, status) => {
    const app = mounting(() => new Response(status === 200 ? "text" : null, { status }));
    const answer = await call(app, method, PREFIX);
    expect([answer.status, answer.text]).toEqual([status, ""]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
    ["returns something else", () => ({ status: 200 }) as Response],
    [
      "returns a body that has been read",
      async () => {
        const response = new Response("a");
        await response.text();
        return response;
      },
    ],
    ["returns Response.error()", () => Response.error()],
  ])("is a 500 and a line in the log when it %s", async (_what, handler) => {
    const logger = new KeptLog();
    const answer = await call(mounting(handler, logger), "GET", PREFIX);
    expect([answer.status, answer.json]).toEqual([500, { detail: "Internal Server Error" }]);
    expect(logger.lines).toHaveLength(1);
  });

  it.each(["/../admin", "/%2e%2E/admin", "/a/./b", "/..", "\\..\\admin"])(
    "sees no other path than the App around it: %s",
    async (path) => {
      const seen: string[] = [];
      const app = mounting(({ url }) => new Response(seen.push(new URL(url).pathname).toString()));
      const { status } = await call(app, "GET", PREFIX + path);
      if (keeps.dotSegments) expect(status).toBeGreaterThanOrEqual(400);
      expect(seen).toEqual(status === 200 ? [`${PREFIX}/a/b`] : []);
    },
  );
});

describe("a handler of the platform's requests", () => {
  it.each(["/b:c@d", "/b:c@d/", "//b+c=d!,e", "/|[b]"])(
    "sees %s below a mount as the client wrote it",
    async (rest) => {
      const app = mounting(({ url }) => new Response(new URL(url).pathname));
      expect(await (await app.fetch(new Request(`http://localhost${PREFIX}${rest}`))).text()).toBe(PREFIX + rest);
    },
  );

  it("is served by itself, without a lifespan and without WebSockets", async () => {
    const app: ASGIApp = fromFetchHandler(({ url }) => new Response(new URL(url).pathname));
    const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
    try {
      expect(await (await fetch(`${server.url}/a/b`)).text()).toBe("/a/b");
      const sent: unknown[] = [];
      await app(
        { type: "websocket", path: "/" },
        () => new Promise(() => {}),
        (message) => void sent.push(message),
      );
      expect(sent).toEqual([{ type: "websocket.close", code: 4004, reason: "No route" }]);
    } finally {
      await server.close();
    }
  });

  it("is notified of a disconnect by request.signal, and its rejection is not logged", async () => {
    const logger = new KeptLog();
    const began = new Deferred<void>();
    const controller = new AbortController();
    const app = mounting(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          began.resolve();
        }),
      logger,
    );
    const answer = app.fetch(new Request(`http://localhost${PREFIX}`, { signal: controller.signal }));
    await began.promise;
    controller.abort();
    expect((await answer).status).toBe(499);
    await app.fetch.close();
    expect(logger.lines).toEqual([]);
  });

  it("is still notified after a garbage collection, by fetch and by the Node server", async () => {
    for (const isServed of [false, true]) {
      const began = new Deferred<void>();
      const told = new Deferred<void>();
      const app = mounting(({ signal }) => {
        began.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            told.resolve();
            reject(signal.reason);
          });
        });
      });
      const server = isServed ? await serve(app, { port: 0, signals: false, logger: new KeptLog() }) : null;
      const controller = new AbortController();
      const request = new Request(`${server?.url ?? "http://localhost"}${PREFIX}`, { signal: controller.signal });
      const answer = (server === null ? app.fetch(request) : fetch(request)).catch(() => {});
      await began.promise;
      await collectGarbage();
      controller.abort();
      await expect(told.promise).resolves.toBeUndefined();
      await answer;
      await (server ?? app.fetch).close();
    }
  });

  it("is canceled through its response stream if the client disconnects", async () => {
    const cancelled = new Deferred<void>();
    const app = mounting(
      () =>
        new Response(
          new ReadableStream({
            pull: (controller) => controller.enqueue(Buffer.from("x")),
            cancel: () => cancelled.resolve(),
          }),
        ),
    );
    const answer = await app.fetch(new Request(`http://localhost${PREFIX}`));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    await expect(cancelled.promise).resolves.toBeUndefined();
  });

  /** A stream of parts that counts how often it is asked for one. */
  function counted(parts: number) {
    const source = { pulls: 0 };
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if (source.pulls++ < parts) controller.enqueue(new Uint8Array(65_536));
      else controller.close();
    };
    return { source, stream: new ReadableStream<Uint8Array>({ pull }, { highWaterMark: 0 }) };
  }
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  };

  it("is asked for at most two chunks of its response more than the client reads", async () => {
    const { source, stream } = counted(1000);
    const app = mounting(() => new Response(stream));
    const answer = await app.fetch(new Request(`http://localhost${PREFIX}`));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    for (const taken of [1, 2, 3]) {
      await reader.read();
      await settle();
      expect(source.pulls).toBeLessThanOrEqual(taken + 2);
    }
    while (!(await reader.read()).done);
    expect(source.pulls).toBe(1001);
  });

  it("reads ahead at most 1 MiB of the body, to detect a disconnect", async () => {
    const { source, stream } = counted(1000);
    const pulls: number[] = [];
    const app = mounting(async ({ body }) => {
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      for (let taken = 1; taken <= 3; taken++) {
        await reader.read();
        await settle();
        pulls.push(source.pulls - taken);
      }
      while (!(await reader.read()).done);
      return new Response(String(source.pulls));
    });
    const request = new Request(`http://localhost${PREFIX}`, { method: "POST", body: stream, duplex: "half" });
    expect(await (await app.fetch(request)).text()).toBe("1001");
    expect(Math.max(...pulls)).toBeLessThanOrEqual(16 + 2);
  });

  it("gets an error for a body that was read before, and responds to later requests", async () => {
    const logger = new KeptLog();
    const app = mounting(async (request) => new Response(await request.text()), logger);
    const used = new Request(`http://localhost${PREFIX}`, { method: "POST", body: "a" });
    await used.text();
    expect((await app.fetch(used)).status).toBe(500);
    expect(logger.lines).toHaveLength(1);
    const next = new Request(`http://localhost${PREFIX}`, { method: "POST", body: "b" });
    expect(await (await app.fetch(next)).text()).toBe("b");
  });

  it("does not see its signal abort after a complete response", async () => {
    let signal: AbortSignal | null = null;
    const app = mounting((request) => {
      ({ signal } = request);
      return new Response("a");
    });
    expect(await (await app.fetch(new Request(`http://localhost${PREFIX}`))).text()).toBe("a");
    await app.fetch.close();
    expect((signal as AbortSignal | null)?.aborted).toBe(false);
  });
});
