import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Receive, ReceiveMessage, Send, SendMessage } from "../../src/protocol/asgi.js";
import {
  App,
  BackgroundTasks,
  ClientDisconnect,
  ConfigurationError,
  Depends,
  HTTPException,
  JSONResponse,
  PlainTextResponse,
  type Request,
  Response,
  StreamingResponse,
  t,
} from "../../src/index.js";
import { Deferred } from "../../src/common/promises.js";
import { httpMiddleware, type HTTPMiddlewareFunction } from "../../src/middleware/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const Item = t.Object({ name: t.String() });

function create(fn: HTTPMiddlewareFunction) {
  const log = new KeptLog();
  const app = new App({ logger: log, middleware: [httpMiddleware(fn)] });
  app.get("/", async () => "inner");
  app.post("/items", { params: { item: Item } }, async ({ item }) => item);
  app.get("/refused", async () => {
    throw new HTTPException(403);
  });
  return { app, log };
}

describeMatrix("httpMiddleware", ({ call }) => {
  it("changes status and headers before they are sent", async () => {
    const { app } = create(async (_request, next) => {
      const response = await next();
      expect(response.statusCode).toBe(200);
      expect(response.headers.get("content-type")).toBe("application/json");
      response.statusCode = 202;
      response.headers.set("x-added", "yes");
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 202, json: "inner", headers: { "x-added": "yes" } });
  });

  it("sees error responses", async () => {
    const seen: number[] = [];
    const { app } = create(async (_request, next) => void seen.push((await next()).statusCode));
    await call(app, "GET", "/refused");
    await call(app, "GET", "/none");
    await call(app, "DELETE", "/items");
    expect(seen).toEqual([403, 404, 405]);
  });

  it("sends the Response that it returns instead, for HEAD without its body", async () => {
    const { app } = create((request) => new PlainTextResponse(`no ${request.path}`, { statusCode: 503 }));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 503, text: "no /" });
    expect(await call(app, "HEAD", "/")).toMatchObject({ status: 503, text: "", headers: { "content-length": "4" } });
  });

  it("runs the background tasks of that Response, and sends a stream", async () => {
    const notes: string[] = [];
    const background = new BackgroundTasks();
    background.addTask(async () => void notes.push("run"));
    const { app } = create(() => new StreamingResponse(["a", "b"], { background }));
    expect((await call(app, "GET", "/")).text).toBe("ab");
    expect(notes).toEqual(["run"]);
  });

  it("can return the result of next()", async () => {
    const { app } = create(async (_request, next) => next());
    expect((await call(app, "GET", "/")).json).toBe("inner");
  });

  it("need not wait for next()", async () => {
    const { app } = create((_request, next) => void next());
    expect((await call(app, "GET", "/")).json).toBe("inner");
  });

  it("replaces the response of the application with one that it returns after next(), and cleanup still runs", async () => {
    const notes: string[] = [];
    const { app, log } = create(async (_request, next) => {
      const { statusCode } = await next();
      notes.push(`inner ${statusCode}`);
      return new JSONResponse({ replaced: true }, { statusCode: 201 });
    });
    const open = async function* () {
      yield "open";
      notes.push("closed");
    };
    app.get("/open", { params: { it: Depends(open) } }, async () => "never seen");
    app.get("/stream", async () => new StreamingResponse(["never", "seen"]));
    for (const path of ["/open", "/stream", "/", "/none"]) {
      expect(await call(app, "GET", path)).toMatchObject({ status: 201, json: { replaced: true } });
    }
    expect(notes.toSorted()).toEqual(["closed", "inner 200", "inner 200", "inner 200", "inner 404"]);
    expect(log.lines).toEqual([]);
  });

  it("reads the body before the application, which can still read it", async () => {
    const bodies: unknown[] = [];
    const { app } = create(async (request, next) => {
      bodies.push(await request.json());
      await next();
      bodies.push(await request.json());
    });
    const answer = await call(app, "POST", "/items", { json: { name: "a" } });
    expect(answer).toMatchObject({ status: 200, json: { name: "a" } });
    expect(bodies).toEqual([{ name: "a" }, { name: "a" }]);
  });

  it("reads a body that arrives in chunks, as a stream", async () => {
    const parts = ['{"na', 'me":', '"a"}'].map((text) => Buffer.from(text));
    let length = 0;
    const { app } = create(async (request, next) => {
      for await (const part of request.stream()) length += part.length;
      await next();
    });
    const headers = [["content-type", "application/json"]] as const;
    expect((await call(app, "POST", "/items", { headers, chunks: parts })).json).toEqual({ name: "a" });
    expect(length).toBe(12);
  });

  it("has a signal that does not abort when all went well", async () => {
    const signals: AbortSignal[] = [];
    const { app } = create(async (request, next) => {
      signals.push(request.signal);
      if (request.method === "POST") return new Response("own");
      return next();
    });
    await call(app, "GET", "/");
    await call(app, "POST", "/");
    await new Promise((resolve) => setImmediate(resolve));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  it.each([
    ["an own response", () => new Response("own")],
    ["an own stream", () => new StreamingResponse(["own", " stream"])],
    ["an own response of the platform", () => new globalThis.Response("own")],
    ["an error", () => Promise.reject(new HTTPException(418))],
  ])("has a signal that does not abort for %s, sent while the client is watched", async (_what, answer) => {
    const watched = new Deferred<void>();
    const signals: AbortSignal[] = [];
    const { app } = create(async ({ signal }) => {
      signals.push(signal);
      await watched.promise;
      return answer();
    });
    let asked = 0;
    const counting: ASGIApp = (scope, receive, send) => {
      if (scope.type !== "http") return app(scope, receive, send);
      const counted: Receive = () => {
        if (++asked === 2) watched.resolve();
        return receive();
      };
      return app(scope, counted, send);
    };
    await call(counting, "GET", "/");
    await new Promise((resolve) => setImmediate(resolve));
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  });

  it("gets an error if it reads a consumed body after next(), instead of waiting indefinitely", async () => {
    const { app, log } = create(async (request, next) => {
      await next();
      await request.body();
    });
    expect((await call(app, "POST", "/items", { json: { name: "a" } })).status).toBe(500);
    expect(log.lines).toEqual([expect.stringContaining("A middleware must read it before it calls next()")]);
    const { app: lenient } = create(async (request, next) => {
      await next();
      expect(await request.text()).toBe("");
    });
    expect((await call(lenient, "GET", "/")).status).toBe(200);
  });

  it.each<[string, HTTPMiddlewareFunction, string]>([
    ["throws", () => Promise.reject(new Error("own")), "Error: own"],
    [
      "throws after next()",
      async (_request, next) => {
        await next();
        throw new Error("own");
      },
      "Error: own",
    ],
    ["returns nothing without next()", async () => {}, "returned without a response. Call next()"],
    [
      "returns something else",
      ((_request: Request, next: () => unknown) => [next(), "text"].pop()) as never,
      "a string",
    ],
    [
      "calls next() twice",
      async (_request, next) => {
        await next();
        await next();
      },
      "next() was called twice",
    ],
  ])("results in 500 and one log entry if it %s", async (_, fn, message) => {
    const { app, log } = create(fn);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(log.lines).toEqual([expect.stringContaining(message)]);
  });

  it("responds with an HTTPException that it throws", async () => {
    const { app } = create(() => {
      throw new HTTPException(429, "Slow down", { headers: { "Retry-After": "1" } });
    });
    expect(await call(app, "GET", "/")).toMatchObject({
      status: 429,
      json: { detail: "Slow down" },
      headers: { "retry-after": "1" },
    });
  });

  it("wraps a route, a router and another middleware of its kind", async () => {
    const notes: string[] = [];
    const noting = (name: string) =>
      httpMiddleware(async (request, next) => {
        notes.push(`${name} in ${JSON.stringify(request.pathParams)}`);
        const response = await next();
        response.headers.append("x-seen", name);
        notes.push(`${name} out`);
      });
    const app = new App({ logger: new KeptLog(), middleware: [noting("app")] });
    app.get("/{id}", { middleware: [noting("inner"), noting("outer")] }, async ({ id }) => id);
    const answer = await call(app, "GET", "/7");
    const seen = answer.headerLines.filter(([name]) => name === "x-seen").map(([, value]) => value);
    expect(seen.join(", ")).toBe("inner, outer, app");
    expect(notes).toEqual([
      "app in {}",
      'outer in {"id":"7"}',
      'inner in {"id":"7"}',
      "inner out",
      "outer out",
      "app out",
    ]);
  });
});

/** Calls an application through a function, in memory. */
async function run(fn: HTTPMiddlewareFunction, app: ASGIApp, send: Send = () => {}): Promise<void> {
  const messages: ReceiveMessage[] = [{ type: "http.request", body: Buffer.from("body") }];
  await httpMiddleware(fn)(app)(
    { type: "http", method: "GET", path: "/" },
    () => Promise.resolve(messages.shift() ?? { type: "http.disconnect" }),
    send,
  );
}

const start: SendMessage = { type: "http.response.start", status: 200, headers: [] };
const part = (text: string, more_body: boolean): SendMessage => ({
  type: "http.response.body",
  body: Buffer.from(text),
  more_body,
});

describe("httpMiddleware around any application", () => {
  it("hands the body on part by part, as fast as the server takes it", async () => {
    const notes: string[] = [];
    await run(
      async (_request, next) => {
        await next();
        notes.push("the function returns");
      },
      async (_scope, _receive, send) => {
        await send(start);
        for (const text of ["one", "two"]) {
          notes.push(`makes ${text}`);
          await send(part(text, text === "one"));
        }
      },
      async (message) => {
        if (message.type !== "http.response.body") return;
        await new Promise((resolve) => setImmediate(resolve));
        notes.push(`has sent ${String(message.body)}`);
      },
    );
    expect(notes).toEqual(["the function returns", "makes one", "has sent one", "makes two", "has sent two"]);
  });

  it("keeps the order of an application that does not await", async () => {
    const sent: string[] = [];
    await run(
      async (_request, next) => void (await next()),
      async (_scope, _receive, send) => {
        await Promise.all([start, part("one", true), part("two", false)].map(async (message) => send(message)));
      },
      (message) => void sent.push(message.type === "http.response.body" ? String(message.body) : message.type),
    );
    expect(sent).toEqual(["http.response.start", "one", "two"]);
  });

  it("throws the errors of the application from next(), so that the caller can respond instead", async () => {
    const sent: SendMessage[] = [];
    const app: ASGIApp = () => Promise.reject(new Error("inner"));
    const rescue: HTTPMiddlewareFunction = async (_request, next) => {
      try {
        return await next();
      } catch (error) {
        return new Response((error as Error).message, { statusCode: 502 });
      }
    };
    await expect(run((_request, next) => next(), app)).rejects.toThrow("inner");
    await expect(run((_request, next) => void next(), app)).rejects.toThrow("inner");
    await run(rescue, app, (message) => void sent.push(message));
    expect(sent).toEqual([
      expect.objectContaining({ type: "http.response.start", status: 502 }),
      expect.objectContaining({ body: Buffer.from("inner") }),
    ]);
  });

  it("reports a missing response if the application returns without one", async () => {
    await expect(
      run(
        async (_request, next) => void (await next()),
        () => Promise.resolve(),
      ),
    ).rejects.toThrow("The application returned without a response.");
  });

  it("lets callers catch an application that throws synchronously", () => {
    const app: ASGIApp = () => {
      throw new Error("at once");
    };
    return expect(run((_request, next) => next(), app)).rejects.toThrow("at once");
  });

  it("rejects with an error that is thrown after the head", async () => {
    const app: ASGIApp = async (_scope, _receive, send) => {
      await send(start);
      throw new Error("half way");
    };
    await expect(run((_request, next) => next(), app)).rejects.toThrow("half way");
  });

  it("rejects if the client has disconnected, for the function and the application", async () => {
    let seen: unknown;
    const app: ASGIApp = async (_scope, _receive, send) => {
      try {
        await send(start);
      } catch (error) {
        seen = error;
        throw error;
      }
    };
    const gone: Send = () => {
      throw new ClientDisconnect();
    };
    await expect(run((_request, next) => next(), app, gone)).rejects.toThrow(ClientDisconnect);
    expect(seen).toBeInstanceOf(ClientDisconnect);
  });

  it("also rejects if the client disconnects in the middle of the response body", async () => {
    const messages: ReceiveMessage[] = [{ type: "http.request", body: Buffer.from("half"), more_body: true }];
    const { app, log } = create(async (_request, next) => void (await next()));
    const running = app(
      {
        type: "http",
        method: "POST",
        path: "/items",
        headers: [[Buffer.from("content-type"), Buffer.from("application/json")]],
      },
      () => Promise.resolve(messages.shift() ?? { type: "http.disconnect" }),
      () => {},
    );
    await running;
    expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([]);
  });

  it("fails when its function fails, once the application has cleaned up", async () => {
    const notes: string[] = [];
    const app: ASGIApp = async (_scope, _receive, send) => {
      try {
        await send(start);
      } finally {
        await new Promise((resolve) => setImmediate(resolve));
        notes.push("cleaned up");
      }
    };
    const failing: HTTPMiddlewareFunction = async (_request, next) => {
      await next();
      throw new Error("own");
    };
    await expect(run(failing, app)).rejects.toThrow("own");
    expect(notes).toEqual(["cleaned up"]);
  });

  it("gets an error without waiting if it reads a body that the application has read", async () => {
    const messages = ["one", "two", "three"].map((text, index) => ({
      type: "http.request" as const,
      body: Buffer.from(text),
      more_body: index < 2,
    }));
    const seen: string[] = [];
    const reading: HTTPMiddlewareFunction = async (request, next) => {
      const parts = request.stream();
      seen.push(String((await parts.next()).value));
      await next();
      await parts.next();
    };
    const app: ASGIApp = async (_scope, receive, send) => {
      for (let more = true; more;) {
        const message = await receive();
        if (message.type !== "http.request") break;
        seen.push(String(message.body));
        more = message.more_body === true;
      }
      await send(start);
    };
    const running = httpMiddleware(reading)(app)(
      { type: "http", method: "POST", path: "/" },
      () => Promise.resolve(messages.shift() ?? { type: "http.disconnect" }),
      () => {},
    );
    await expect(running).rejects.toThrow("before it calls next()");
    expect(seen).toEqual(["one", "one", "two", "three"]);
  });

  it("reports a disconnect to both readers", async () => {
    const seen: string[] = [];
    await run(
      async (request, next) => {
        const { signal } = request;
        signal.addEventListener("abort", () => seen.push("aborted"));
        await next();
      },
      async (_scope, receive, send) => {
        for (let count = 0; count < 2; count++) seen.push((await receive()).type);
        await send(start);
        await send(part("", false));
      },
    );
    expect(seen.toSorted()).toEqual(["aborted", "http.disconnect", "http.request"]);
  });

  it("is rejected without a function when it is created", () => {
    expect(() => httpMiddleware({} as never)).toThrow(ConfigurationError);
    expect(() => httpMiddleware({} as never)).toThrow(/takes a function/);
  });
});
