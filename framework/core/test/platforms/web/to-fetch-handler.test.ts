import { once } from "node:events";
import { Readable } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { App } from "../../../src/app/app.js";
import type { ASGIApp, HTTPScope, ReceiveMessage, SendMessage } from "../../../src/protocol/asgi.js";
import { BackgroundTasks } from "../../../src/http/background.js";
import { HeaderList, headerValues } from "../../../src/protocol/header-list.js";
import { ClientDisconnect, ConfigurationError } from "../../../src/common/exceptions.js";
import { Deferred } from "../../../src/common/promises.js";
import { Request as OwnRequest } from "../../../src/http/request.js";
import { Response as OwnResponse } from "../../../src/http/response/response.js";
import { StreamingResponse } from "../../../src/http/response/streaming.js";
import { fromFetchHandler, toFetchHandler } from "../../../src/platforms/web/index.js";
import { aliveBytes, collectGarbage } from "../../../../test/support/garbage.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

const HOST = "http://example.com";
const isSlow = process.env["TSGI_SLOW"] !== undefined;
/** Bytes of a large body. */
const TOTAL = (isSlow ? 1024 : 64) << 20;
const bytes = (text: string) => new TextEncoder().encode(text);
const START = { type: "http.response.start", status: 200, headers: [] } as const;
const part = (text: string, more = true) =>
  ({ type: "http.response.body", body: bytes(text), more_body: more }) as const;

/** An application only for HTTP. */
const http =
  (
    serve: (...call: [HTTPScope, ...rest: [Parameters<ASGIApp>[1], Parameters<ASGIApp>[2]]]) => Promise<void>,
  ): ASGIApp =>
  async (scope, receive, send) => {
    if (scope.type === "http") await serve(scope, receive, send);
  };

/** An application that sends these messages. */
const sending = (...messages: readonly SendMessage[]) =>
  http(async (_scope, _receive, send) => {
    for (const message of messages) await send(message);
  });

/** The scope that the application of a handler gets for a request. */
async function scopeOf(request: Request, ...passed: readonly unknown[]): Promise<HTTPScope> {
  let seen: HTTPScope | null = null;
  const handler = toFetchHandler(
    http(async (scope, _receive, send) => {
      seen = scope;
      await send(START);
      await send(part("", false));
    }),
  );
  await Reflect.apply(handler, undefined, [request, ...passed]);
  return seen as unknown as HTTPScope;
}

describe("the arguments of a handler", () => {
  const app = new App({ logger: new KeptLog() });
  app.get("/{text}", async ({ text }) => text);

  it.each([
    ["an event of SvelteKit, Astro, React Router or TanStack Start", { request: new Request(`${HOST}/a`), params: {} }],
    ["a request and the parameters of Next.js", new Request(`${HOST}/a`), { params: Promise.resolve({ path: ["a"] }) }],
    ["a request and a context that it does not know", new Request(`${HOST}/a`), { context: 1 }],
  ])("may be %s", async (_what, ...given) => {
    const response = (await Reflect.apply(app.fetch, undefined, given)) as Response;
    expect([response.status, await response.json()]).toEqual([200, "a"]);
  });
});

describe("the scope of a request", () => {
  it("has raw_path and query_string of the URL unchanged, and path decoded", async () => {
    const scope = await scopeOf(new Request(`${HOST}/caf%C3%A9/a%2Fb%20c?q=%20x&r=1#fragment`));
    expect(scope.path).toBe("/café/a/b c");
    expect(Buffer.from(scope.raw_path ?? []).toString()).toBe("/caf%C3%A9/a%2Fb%20c");
    expect(Buffer.from(scope.query_string ?? []).toString()).toBe("q=%20x&r=1");
    expect(scope).toMatchObject({ type: "http", http_version: "1.1", method: "GET", scheme: "http", root_path: "" });
    expect(scope.asgi).toEqual({ version: "3.0", spec_version: "2.4" });
  });

  it.each([
    ["http://example.com/", ["example.com", 80], "example.com"],
    ["https://example.com/", ["example.com", 443], "example.com"],
    ["http://127.0.0.1:8080/", ["127.0.0.1", 8080], "127.0.0.1:8080"],
    ["http://[::1]:81/", ["::1", 81], "[::1]:81"],
    ["https://[::1]/", ["::1", 443], "[::1]"],
  ])("has server and a missing Host of the URL: %s", async (url, server, host) => {
    const scope = await scopeOf(new Request(url));
    expect(scope.server).toEqual(server);
    expect(new OwnRequest(scope, () => new Promise(() => {})).headers["host"]).toBe(host);
  });

  it("keeps the Host and every received header", async () => {
    const scope = await scopeOf(new Request(HOST, { headers: { host: "other.test", "X-A": "b" } }));
    expect(new OwnRequest(scope, () => new Promise(() => {})).headers).toEqual({ host: "other.test", "x-a": "b" });
  });

  it.each(["a/admin?", "a#", "u@a", "a\\b", "a, b", "", "a:99999"])(
    "is rejected with 400 when the application reads the Host %j",
    async (host) => {
      for (const read of [
        ({ headers }: HTTPScope) => headerValues(headers ?? [], "host"),
        ({ headers }: HTTPScope) => [...(headers ?? [])],
      ]) {
        const hosts: unknown[] = [];
        const handler = toFetchHandler(http(async (scope) => void hosts.push(read(scope))));
        const answer = await handler(new Request(`${HOST}/public`, { headers: { host } }));
        const detail = "Expected exactly one well-formed Host header.";
        expect([answer.status, await answer.json(), hosts]).toEqual([400, { detail }, []]);
      }
    },
  );

  it("is created with a malformed Host that the application does not read, unless the URL could have a part of it as its path", async () => {
    const app = new App();
    app.get("/public", async () => 1);
    app.get("/public/{id}", async ({ id }) => id);
    app.get("/host", { params: { request: OwnRequest } }, async ({ request }) => request.url);
    const headers = { host: "a, b" };
    const statuses: number[] = [];
    for (const path of ["/public", "/public/1", "/public?next=/", "/public#", "/host"]) {
      statuses.push((await app.fetch(new Request(HOST + path, { headers }))).status);
    }
    expect(statuses).toEqual([200, 400, 400, 400, 400]);
  });

  it("keeps a response that has begun when the application reads a malformed Host after it", async () => {
    const hosts: unknown[] = [];
    const handler = toFetchHandler(
      http(async (scope, _receive, send) => {
        await send(START);
        await send(part("a", false));
        hosts.push(...headerValues(scope.headers ?? [], "host"));
      }),
    );
    const answer = await handler(new Request(HOST, { headers: { host: "a, b" } }));
    expect([answer.status, await answer.text(), hosts]).toEqual([200, "a", ["a, b"]]);
  });

  it("has a path with U+FFFD for bytes that are not UTF-8, and an App responds with 400", async () => {
    const target = `${HOST}/%ff`;
    expect((await scopeOf(new Request(target))).path).toBe("/\uFFFD");
    expect((await new App().fetch(new Request(target))).status).toBe(400);
  });

  it("has the request and env in extensions, and the client of the context", async () => {
    const request = new Request(HOST);
    const env = { KEY: "value" };
    const scope = await scopeOf(request, { env, client: ["192.0.2.1", 5] });
    expect(scope.extensions).toEqual({ "tsgi.web": { request, env } });
    expect(Object.values(scope.extensions?.["tsgi.web"] ?? {})[0]).toBe(request);
    expect(scope.client).toEqual(["192.0.2.1", 5]);
    expect((await scopeOf(request)).client).toBeNull();
  });

  it("asks Bun for the client if the application reads it, once, and lets the application replace it", async () => {
    let calls = 0;
    const bun = { requestIP: () => ({ address: "192.0.2.2", port: ++calls }) };
    const scope = await scopeOf(new Request(HOST), bun);
    expect(calls).toBe(0);
    expect(Object.keys(scope)).toContain("client");
    expect({ ...scope }.client).toEqual(["192.0.2.2", 1]);
    expect(scope.client).toEqual(["192.0.2.2", 1]);
    scope.client = ["192.0.2.3", 2];
    expect(scope.client).toEqual(["192.0.2.3", 2]);
    const unix = await scopeOf(new Request(HOST), { requestIP: () => (calls++, null) });
    expect([unix.client, unix.client, calls]).toEqual([null, null, 2]);
  });

  it("has the client after the response, with which Bun drops it, as long as the application runs", async () => {
    let isSent = false;
    const bun = { requestIP: () => (isSent ? null : { address: "192.0.2.2", port: 7 }) };
    const client = new Deferred<unknown>();
    const ended = new Deferred<void>();
    const handler = toFetchHandler(
      http(async (scope, _receive, send) => {
        await send(START);
        await send(part("", false));
        await ended.promise;
        client.resolve(scope.client);
      }),
    );
    await handler(new Request(HOST), bun);
    isSent = true;
    ended.resolve();
    await expect(client.promise).resolves.toEqual(["192.0.2.2", 7]);
  });

  it("accepts the arguments that Bun, Deno, Netlify and Cloudflare pass to the fetch of a default export", async () => {
    const request = new Request(HOST);
    const bun = { requestIP: () => ({ address: "192.0.2.2", port: 7, family: "IPv4" }) };
    expect((await scopeOf(request, bun)).client).toEqual(["192.0.2.2", 7]);
    const deno = { remoteAddr: { transport: "tcp", hostname: "192.0.2.3", port: 8 }, completed: Promise.resolve() };
    expect((await scopeOf(request, deno)).client).toEqual(["192.0.2.3", 8]);
    const kept: Promise<unknown>[] = [];
    const execution = { waitUntil: (promise: Promise<unknown>) => void kept.push(promise) };
    expect((await scopeOf(request, { ip: "192.0.2.4", ...execution })).client).toEqual(["192.0.2.4", null]);
    expect((await scopeOf(request, { ip: "", ...execution })).client).toBeNull();
    expect(kept.splice(0)).toHaveLength(2);
    const scope = await scopeOf(request, { client: "a binding" }, execution);
    expect(scope.extensions?.["tsgi.web"]).toMatchObject({ env: { client: "a binding" } });
    expect(scope.client).toBeNull();
    await expect(Promise.all(kept)).resolves.toEqual([undefined]);
  });
});

describe("clientAddressHeader", () => {
  const clientOf = async (value: readonly string[], ...passed: readonly unknown[]) => {
    const request = new Request(`${HOST}/`, {
      headers: value.map((one): [string, string] => ["CF-Connecting-IP", one]),
    });
    const seen: HTTPScope["client"][] = [];
    const app = http(async (scope, _receive, send) => {
      seen.push(scope.client);
      for (const message of [START, part("", false)]) await send(message);
    });
    const handler = toFetchHandler(app, { clientAddressHeader: "CF-Connecting-IP", lifespan: "off" });
    await Reflect.apply(handler, null, [request, ...passed]);
    return seen;
  };

  it("is the client of a Worker, whose other arguments have no address", async () => {
    const context = { waitUntil: (promise: Promise<unknown>) => void promise };
    expect(await clientOf(["203.0.113.7"], { KEY: "1" }, context)).toEqual([["203.0.113.7", null]]);
    expect(await clientOf(["2001:db8::1"], {}, context)).toEqual([["2001:db8::1", null]]);
  });

  it("takes precedence over the address that the platform passes to the function", async () => {
    expect(await clientOf(["203.0.113.7"], { client: ["192.0.2.1", 5] })).toEqual([["203.0.113.7", null]]);
  });

  it.each([[[]], [["unknown"]], [["203.0.113.7", "198.51.100.7"]]])(
    "leaves the client to the platform if it is not one address: %j",
    async (values) => {
      expect(await clientOf(values, { client: ["192.0.2.1", 5] })).toEqual([["192.0.2.1", 5]]);
      expect(await clientOf(values)).toEqual([null]);
    },
  );
});

describe("the response", () => {
  it("has no body, and the length zero, if the application sends an empty one", async () => {
    const app = new App();
    app.get("/", async () => new OwnResponse("", { headers: { "content-type": "text/csv" } }));
    const { status, body, headers } = await app.fetch(new Request(HOST));
    expect([status, body, headers.get("content-length"), headers.get("content-type")]).toEqual([
      200,
      null,
      "0",
      "text/csv",
    ]);
  });

  it("settles with the head and the first body message", async () => {
    const next = new Deferred<void>();
    const handler = toFetchHandler(
      http(async (_scope, _receive, send) => {
        await send({ ...START, status: 201 });
        await send(part("a"));
        await next.promise;
        await send(part("b", false));
      }),
    );
    const answer = await handler(new Request(HOST));
    expect(answer.status).toBe(201);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    expect((await reader.read()).value).toEqual(bytes("a"));
    next.resolve();
    expect((await reader.read()).value).toEqual(bytes("b"));
    expect((await reader.read()).done).toBe(true);
  });

  it("settles with a first part that is empty, and skips it", async () => {
    const handler = toFetchHandler(sending(START, part(""), part("a"), part("", false)));
    const answer = await handler(new Request(HOST));
    const parts: string[] = [];
    for await (const chunk of answer.body as ReadableStream<Uint8Array>) parts.push(Buffer.from(chunk).toString());
    expect(parts).toEqual(["a"]);
  });

  it.each([
    ["HEAD", 200],
    ["GET", 204],
    ["GET", 205],
    ["GET", 304],
  ])("has no body: %s %i", async (method, status) => {
    const handler = toFetchHandler(sending({ ...START, status }, part("a"), part("b", false)));
    const answer = await handler(new Request(HOST, { method }));
    expect([answer.status, answer.body]).toEqual([status, null]);
  });

  it("keeps the length that HEAD would have", async () => {
    const app = new App();
    app.get("/", async () => "hello");
    const answer = await app.fetch(new Request(HOST, { method: "HEAD" }));
    expect([answer.headers.get("content-length"), answer.body]).toEqual(["7", null]);
  });

  it("keeps several Set-Cookie as several, and leaves the connection's headers to the platform", async () => {
    const pair = (name: string, value: string) => [bytes(name), bytes(value)] as const;
    const headers = [pair("set-cookie", "a=1"), pair("set-cookie", "b=2"), pair("connection", "close")];
    const answer = await toFetchHandler(sending({ ...START, headers }, part("", false)))(new Request(HOST));
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(answer.headers.has("connection")).toBe(false);
  });

  it("does not modify an array of headers that several responses share", async () => {
    const headers = new HeaderList(Object.freeze(["content-length", "1", "x-a", "b"]));
    const answers: (string | null)[][] = [];
    for (const status of [200, 204, 200]) {
      const answer = await toFetchHandler(sending({ ...START, status, headers }, part("a", false)))(new Request(HOST));
      answers.push([answer.headers.get("content-length"), answer.headers.get("x-a")]);
      if (status === 200) answer.headers.set("x-a", "changed");
    }
    expect(answers).toEqual([
      ["1", "b"],
      [null, "b"],
      ["1", "b"],
    ]);
  });

  it("ignores messages after the last body message", async () => {
    const answer = await toFetchHandler(sending(START, part("a", false), START, part("b", false)))(new Request(HOST));
    expect(await answer.text()).toBe("a");
  });

  const length = (value: string) => ({ ...START, headers: [[bytes("content-length"), bytes(value)]] as const });
  it.each<readonly [string, readonly SendMessage[], string]>([
    ["nothing", [], "returned without a response"],
    ["a head alone", [START], "returned without a response"],
    ["a body before its head", [part("a")], "before"],
    ["two heads", [START, START], "twice"],
    ["a status that is none", [{ ...START, status: 99 }], "200 to 599"],
    ["a message of another protocol", [{ type: "websocket.accept" }], '"websocket.accept"'],
    ["a header that HTTP does not allow", [{ ...START, headers: [[bytes("a b"), bytes("c")]] }], "a b"],
    ["a body longer than its Content-Length", [length("1"), part("ab", false)], "Content-Length said 1"],
    ["a body shorter than its Content-Length", [length("3"), part("ab", false)], "Content-Length said 3"],
    ["a Content-Length that is no number", [length("x"), part("ab", false)], "Content-Length"],
  ])("is a 500 and a line in the log for an application that sends %s", async (_what, messages, said) => {
    const logger = new KeptLog();
    const failures: unknown[] = [];
    const app: ASGIApp = (...call) =>
      sending(...messages)(...call).catch((error: unknown) => {
        failures.push(error);
        throw error;
      });
    const answer = await toFetchHandler(app, { logger })(new Request(HOST));
    expect([answer.status, await answer.json()]).toEqual([500, { detail: "Internal Server Error" }]);
    expect(logger.lines.filter((line) => line.startsWith("error"))).toHaveLength(1);
    expect(`${logger.lines.join()} ${failures.join()}`).toContain(said);
  });

  it("is a 500 and one line in the log for an error before it has settled, and an error of the stream after it", async () => {
    const logger = new KeptLog();
    const failing = (...messages: readonly SendMessage[]) =>
      toFetchHandler(
        http(async (...call) => {
          await sending(...messages)(...call);
          throw new Error("secret");
        }),
        { logger },
      );
    const early = await failing(START)(new Request(HOST));
    expect([early.status, await early.text()]).toEqual([500, '{"detail":"Internal Server Error"}']);
    expect(logger.lines).toEqual(["error The application threw: GET /"]);
    const late = await failing(START, part("a"))(new Request(HOST));
    expect(late.status).toBe(200);
    await expect(late.text()).rejects.toThrow("secret");
    expect(logger.lines).toHaveLength(2);
  });

  it("is an error of the stream, too, if the application returns without its end", async () => {
    const logger = new KeptLog();
    const answer = await toFetchHandler(sending(START, part("a")), { logger })(new Request(HOST));
    await expect(answer.text()).rejects.toThrow("without the end of its response");
    expect(logger.lines).toEqual(["error The application returned without the end of its response: GET /"]);
  });

  it("logs an error of a route once", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    app.get("/", async () => {
      throw new Error("broken");
    });
    expect((await app.fetch(new Request(HOST))).status).toBe(500);
    expect(logger.lines).toEqual(["error GET / failed: Error: broken"]);
  });
});

describe("a body", () => {
  /** A source that counts how often it is asked for a part. */
  function counted(parts: number) {
    const source = { pulls: 0, cancelled: new Deferred<void>() };
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (source.pulls++ < parts) controller.enqueue(new Uint8Array(1024));
          else controller.close();
        },
        cancel: () => source.cancelled.resolve(),
      },
      { highWaterMark: 0 },
    );
    return { source, stream };
  }

  const upload = (body: ReadableStream<Uint8Array>, signal?: AbortSignal) =>
    new Request(HOST, { method: "POST", body, duplex: "half", ...(signal && { signal }) });

  it("of a request is pulled, a part for each receive", async () => {
    const { source, stream } = counted(1000);
    const step = new Deferred<void>();
    const counts: number[] = [];
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        counts.push(source.pulls);
        for (let n = 0; n < 3; n++) await receive();
        counts.push(source.pulls);
        await step.promise;
        counts.push(source.pulls);
        await send(START);
        await send(part("", false));
      }),
    );
    const answer = handler(upload(stream));
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    step.resolve();
    await answer;
    // The platform's own Request may hold one part ahead.
    expect(counts[0]).toBeLessThanOrEqual(1);
    expect(counts[1]).toBeLessThanOrEqual(4);
    expect(counts[2]).toBe(counts[1]);
    await handler.close();
    await expect(source.cancelled.promise).resolves.toBeUndefined();
  });

  // Node throws into the process if such a stream is canceled between a pull and its next chunk.
  it("of Node's Readable.toWeb is released if the application reads only a part of it", async () => {
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        for (let n = 0; n < 9; n++) await receive();
        await send(START);
        await send(part("", false));
      }),
    );
    for (let run = 0; run < 5; run++) {
      const source = new Readable({ highWaterMark: 65_536, read: () => void source.push(new Uint8Array(16_384)) });
      const closed = once(source, "error");
      expect((await handler(upload(Readable.toWeb(source)))).status).toBe(200);
      await expect(closed).resolves.toMatchObject([{ name: "AbortError" }]);
    }
    await handler.close();
  });

  it("of a response has no Content-Type unless the application sends one, even if it is text", async () => {
    const handler = toFetchHandler(sending({ ...START, headers: [] }, { type: "http.response.body", ascii: "text" }));
    const answer = await handler(new Request(HOST));
    expect(answer.headers.get("content-type")).toBeNull();
    await expect(answer.text()).resolves.toBe("text");
  });

  it("of a response is pulled: the application waits until a chunk is read", async () => {
    let sent = 0;
    const handler = toFetchHandler(
      http(async (_scope, _receive, send) => {
        await send(START);
        for (; sent < 1000; sent++) await send(part("x"));
        await send(part("", false));
      }),
    );
    const answer = await handler(new Request(HOST));
    const settle = async () => {
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    };
    await settle();
    expect(sent).toBeLessThanOrEqual(1);
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    for (const taken of [1, 2, 3]) {
      await reader.read();
      await settle();
      expect(sent).toBeLessThanOrEqual(taken + 1);
    }
    while (!(await reader.read()).done);
    expect(sent).toBe(1000);
  });

  it(`of ${TOTAL >> 20} MiB is transferred in constant memory, in both directions concurrently`, async () => {
    const PART = 256 * 1024;
    const chunk = new Uint8Array(PART);
    let pulled = 0;
    let ahead = 0;
    let peak = 0;
    const stream = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if ((pulled += PART) <= TOTAL) controller.enqueue(chunk.slice());
          else controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const app = new App();
    app.post(
      "/echo",
      { params: { request: OwnRequest } },
      async ({ request }) => new StreamingResponse(request.stream()),
    );
    const answer = await app.fetch(new Request(`${HOST}/echo`, { method: "POST", body: stream, duplex: "half" }));
    const before = isSlow ? await aliveBytes() : 0;
    let read = 0;
    for await (const { length } of answer.body as ReadableStream<Uint8Array>) {
      read += length;
      ahead = Math.max(ahead, pulled - read);
      // Collects the garbage of all tests of this process.
      if (isSlow && read % (TOTAL / 4) < length) peak = Math.max(peak, (await aliveBytes()) - before);
    }
    expect(read).toBe(TOTAL);
    expect(ahead).toBeLessThan(4 << 20);
    expect(peak).toBeLessThan(16 << 20);
  });

  it("fails the receive if it is not bytes, or was read before", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    app.post("/", { params: { request: OwnRequest } }, async ({ request }) => request.text());
    const words = new ReadableStream({ start: (controller) => (controller.enqueue("text"), controller.close()) });
    expect((await app.fetch(upload(words))).status).toBe(500);
    const used = new Request(HOST, { method: "POST", body: "a" });
    await used.text();
    expect((await app.fetch(used)).status).toBe(500);
    expect(logger.lines).toHaveLength(2);
  });

  describe("of at most 64 KiB, by its Content-Length", () => {
    const small = (init: RequestInit = {}) =>
      new Request(HOST, { method: "POST", body: "ab", headers: { "content-length": "2" }, ...init });

    it("is one chunk, after which receive waits for the end of the exchange", async () => {
      const seen: ReceiveMessage[] = [];
      const over = new Deferred<void>();
      const handler = toFetchHandler(
        http(async (_scope, receive, send) => {
          seen.push(await receive());
          const last = receive();
          await send(START);
          await send(part("", false));
          seen.push(await last);
          over.resolve();
        }),
      );
      await handler(small());
      await over.promise;
      expect(seen).toEqual([
        { type: "http.request", body: Buffer.from("ab"), more_body: false },
        { type: "http.disconnect" },
      ]);
    });

    it("fails the receive if other code reads it", async () => {
      const logger = new KeptLog();
      const app = new App({ logger });
      app.post("/", { params: { request: OwnRequest } }, async ({ request }) => request.text());
      const used = small();
      const reader = used.body?.getReader();
      expect((await app.fetch(used)).status).toBe(500);
      reader?.releaseLock();
      await used.text();
      expect((await app.fetch(used)).status).toBe(500);
      expect(logger.lines.filter((line) => line.includes("already read"))).toHaveLength(2);
    });

    it("results in http.disconnect if the client disconnects in the middle of it", async () => {
      const seen: ReceiveMessage[] = [];
      const handler = toFetchHandler(
        http(async (_scope, receive) => {
          seen.push(await receive());
        }),
      );
      const left = new ReadableStream({
        start: (controller) => (controller.enqueue(bytes("a")), controller.error(new Error("reset"))),
      });
      await handler(small({ body: left, duplex: "half" }));
      expect(seen).toEqual([{ type: "http.disconnect" }]);
    });
  });

  it("ends with an empty chunk, after which receive waits for the end of the exchange", async () => {
    const seen: ReceiveMessage[] = [];
    const over = new Deferred<void>();
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        seen.push(await receive(), await receive());
        const last = receive();
        await send(START);
        await send(part("", false));
        seen.push(await last, await receive());
        over.resolve();
      }),
    );
    await handler(new Request(HOST, { method: "POST", body: "ab" }));
    await over.promise;
    expect(seen.map((message) => [message.type, "more_body" in message ? message.more_body : null])).toEqual([
      ["http.request", true],
      ["http.request", false],
      ["http.disconnect", null],
      ["http.disconnect", null],
    ]);
  });
});

describe("the body of a request", () => {
  it("is read over empty parts of its stream", async () => {
    const parts = ["", "a", "", "", "b", ""].map((text) => new TextEncoder().encode(text));
    const handler = toFetchHandler(
      http(async (scope, receive, send) => {
        let text = "";
        for (let more = true; more;) {
          const message = await receive();
          if (message.type !== "http.request") throw new Error(message.type);
          text += Buffer.from(message.body ?? []).toString();
          more = message.more_body === true;
        }
        await sending(START, part(text, false))(scope, receive, send);
      }),
    );
    const body = new ReadableStream({ pull: (to) => (parts.length > 0 ? to.enqueue(parts.shift()) : to.close()) });
    const request = new Request("http://localhost/", { method: "POST", body, duplex: "half" });
    expect(await (await handler(request)).text()).toBe("ab");
    await handler.close();
  });
});

describe("a client that disconnects", () => {
  it("before the response causes http.disconnect, and later sends are rejected", async () => {
    const logger = new KeptLog();
    const asked = new Deferred<void>();
    const thrown = new Deferred<unknown>();
    const controller = new AbortController();
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        await receive();
        const next = receive();
        asked.resolve();
        expect(await next).toEqual({ type: "http.disconnect" });
        try {
          await send(START);
        } catch (error) {
          thrown.resolve(error);
          throw error;
        }
      }),
      { logger },
    );
    const answer = handler(new Request(HOST, { signal: controller.signal }));
    await asked.promise;
    controller.abort();
    expect((await answer).status).toBe(499);
    expect(await thrown.promise).toBeInstanceOf(ClientDisconnect);
    await handler.close();
    expect(logger.lines).toEqual(["debug The application threw after its client had disconnected: GET /"]);
  });

  it("before the request is passed on gets no stream", async () => {
    const thrown = new Deferred<unknown>();
    const handler = toFetchHandler(
      http(async (...call) => sending(START, part("a"))(...call).catch((error: unknown) => thrown.resolve(error))),
      { logger: new KeptLog() },
    );
    const answer = await handler(new Request(HOST, { signal: AbortSignal.abort() }));
    expect([answer.status, answer.body]).toEqual([499, null]);
    expect(await thrown.promise).toBeInstanceOf(ClientDisconnect);
  });

  it("by canceling the body of the response causes http.disconnect, and closes the source of a stream", async () => {
    const closed = new Deferred<void>();
    async function* endless() {
      try {
        for (;;) yield "x";
      } finally {
        closed.resolve();
      }
    }
    const app = new App();
    app.get("/", async () => new StreamingResponse(endless()));
    const answer = await app.fetch(new Request(HOST));
    const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    await expect(closed.promise).resolves.toBeUndefined();
    await app.fetch.close();
  });

  it.each(["cancels", "aborts"])(
    "after the head reaches an application that waits in receive(): it %s",
    async (how) => {
      const told = new Deferred<string>();
      const handler = toFetchHandler(
        http(async (_scope, receive, send) => {
          await receive();
          await send(START);
          await send(part("a"));
          told.resolve((await receive()).type);
          throw new ClientDisconnect();
        }),
      );
      const controller = new AbortController();
      let answer: Response | null = await handler(new Request(HOST, { signal: controller.signal }));
      const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
      await reader.read();
      if (how === "cancels") await reader.cancel();
      answer = null; // a caller that does not keep the response, so that only the application refers to the request
      await collectGarbage();
      if (how === "aborts") controller.abort();
      expect(await told.promise).toBe("http.disconnect");
      await handler.close();
    },
  );

  it("before its response is used aborts, and notifies an application that waits in receive()", async () => {
    const told = new Deferred<string>();
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        await receive();
        await send(START);
        void send(part("a"))?.catch(() => {});
        told.resolve((await receive()).type);
        throw new ClientDisconnect();
      }),
    );
    const controller = new AbortController();
    await handler(new Request(HOST, { signal: controller.signal }));
    await collectGarbage();
    controller.abort();
    expect(await told.promise).toBe("http.disconnect");
    await handler.close();
  });

  it("in the middle of the response causes an error of its body, and aborts request.signal", async () => {
    const aborted = new Deferred<void>();
    const controller = new AbortController();
    const app = new App();
    app.get("/", { params: { request: OwnRequest } }, async ({ request }) => {
      request.signal.addEventListener("abort", () => aborted.resolve());
      async function* endless() {
        for (;;) yield "x";
      }
      return new StreamingResponse(endless());
    });
    const answer = await app.fetch(new Request(HOST, { signal: controller.signal }));
    controller.abort(new Error("enough"));
    await expect(answer.text()).rejects.toThrow("enough");
    await expect(aborted.promise).resolves.toBeUndefined();
  });

  it("in the middle of its body is http.disconnect, and no error", async () => {
    const seen: string[] = [];
    const logger = new KeptLog();
    const handler = toFetchHandler(
      http(async (_scope, receive) => {
        for (let n = 0; n < 2; n++) seen.push((await receive()).type);
      }),
      { logger },
    );
    let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (given) => {
          controller = given;
          given.enqueue(bytes("a"));
        },
        pull: () => controller?.error(new Error("reset")),
      },
      { highWaterMark: 0 },
    );
    const answer = await handler(new Request(HOST, { method: "POST", body, duplex: "half" }));
    await handler.close();
    expect(seen).toContain("http.disconnect");
    expect([answer.status, logger.lines]).toEqual([499, []]);
  });

  describe("a client whose request the platform has closed, as Deno does,", () => {
    /** A request whose members throw after its client has disconnected. */
    function closing(headers: Record<string, string> = {}) {
      const request = new Request(HOST, { method: "POST", body: "hello", headers });
      const close = (): void => {
        for (const name of ["body", "bodyUsed", "arrayBuffer"]) {
          const get = () => {
            throw new TypeError("Request closed");
          };
          Object.defineProperty(request, name, { get });
        }
      };
      return { request, close };
    }

    it("does not affect an application that has responded", async () => {
      const { request, close } = closing();
      const kept: Promise<unknown>[] = [];
      const handler = toFetchHandler(
        http(async (_scope, _receive, send) => {
          await send(START);
          await send(part("", false));
          close();
        }),
      );
      await handler(request, { waitUntil: (promise) => void kept.push(promise) });
      expect(await Promise.allSettled(kept)).toEqual([{ status: "fulfilled", value: undefined }]);
    });

    it.each([[{}], [{ "content-length": "5" }]])("is http.disconnect, with the headers %j", async (headers) => {
      const { request, close } = closing(headers);
      const received = new Deferred<ReceiveMessage>();
      const handler = toFetchHandler(
        http(async (_scope, receive) => {
          close();
          received.resolve(await receive());
        }),
      );
      await handler(request);
      expect(await received.promise).toEqual({ type: "http.disconnect" });
    });
  });

  it("after the whole response does not affect the application", async () => {
    const controller = new AbortController();
    const answer = await toFetchHandler(sending(START, part("a", false)))(
      new Request(HOST, { signal: controller.signal }),
    );
    controller.abort();
    expect(await answer.text()).toBe("a");
  });
});

describe("the lifespan", () => {
  it("is started once for all that wait, before the first request, and ended by close()", async () => {
    const events: string[] = [];
    const app = new App();
    app.onStartup(async () => {
      events.push("start");
      await new Promise(setImmediate);
      return () => void events.push("stop");
    });
    app.get("/", async () => events.push("request"));
    await Promise.all([1, 2, 3].map(() => app.fetch(new Request(HOST))));
    expect(events).toEqual(["start", "request", "request", "request"]);
    await app.fetch.close();
    expect(events.at(-1)).toBe("stop");
    await app.fetch.close();
    expect(events.filter((event) => event === "stop")).toHaveLength(1);
    await app.fetch(new Request(HOST));
    expect(events.slice(-2)).toEqual(["start", "request"]);
  });

  it("responds with 503 to all waiting requests if it fails, and the next request tries it again", async () => {
    const logger = new KeptLog();
    let starts = 0;
    const app = new App({ logger });
    app.onStartup(async () => {
      if (++starts === 1) throw new Error("no database");
    });
    app.get("/", async () => "ok");
    const answers = await Promise.all([1, 2].map(() => app.fetch(new Request(HOST))));
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    expect([(await app.fetch(new Request(HOST))).status, starts]).toEqual([200, 2]);
    expect(logger.lines.join()).toContain("no database");
  });

  it("responds with problem details to a start that fails, if the App has them, even with a function around it", async () => {
    const app = new App({ logger: new KeptLog(), problemDetails: true });
    app.onStartup(() => Promise.reject(new Error("no database")));
    const handlers = [app.fetch, toFetchHandler((...call) => app(...call), { logger: new KeptLog() })];
    for (const handler of handlers) {
      const response = await handler(new Request(HOST));
      expect(response.headers.get("content-type")).toBe("application/problem+json");
      expect(await response.json()).toMatchObject({ status: 503, title: "Service Unavailable" });
    }
  });

  it("passes a copy of its state and the state of the options to each request", async () => {
    const app = new App({
      lifespan: async function* () {
        yield { started: true };
      },
    });
    app.get("/", { params: { request: OwnRequest } }, async ({ request }) => {
      request.state["mine"] = 1;
      return request.state;
    });
    const handler = toFetchHandler(app, { state: { region: "eu" } });
    for (let n = 0; n < 2; n++) {
      expect(await (await handler(new Request(HOST))).json()).toEqual({ region: "eu", started: true, mine: 1 });
    }
    await handler.close();
  });

  it("is not touched with lifespan: off", async () => {
    const types: string[] = [];
    const app: ASGIApp = async (scope, receive, send) => {
      types.push(scope.type);
      await sending(START, part("", false))(scope, receive, send);
    };
    const handler = toFetchHandler(app, { lifespan: "off", state: { a: 1 } });
    await handler(new Request(HOST));
    await handler.close();
    expect(types).toEqual(["http"]);
  });

  it("is optional for an application", async () => {
    const handler = toFetchHandler(sending(START, part("a", false)));
    expect(await (await handler(new Request(HOST))).text()).toBe("a");
    await handler.close();
  });
});

describe("close()", () => {
  it("cuts responses and rejects when its time has passed, and starts again for the next request", async () => {
    const [events, entered] = [[] as string[], new Deferred<void>()];
    const app = new App({
      logger: new KeptLog(),
      lifespan: async function* () {
        events.push("start");
        yield;
        events.push("stop");
      },
    });
    app.get("/stuck", async () => {
      entered.resolve();
      return new Promise<never>(() => {});
    });
    app.get("/stream", async function* () {
      yield 1;
      await new Promise(() => {});
    });
    const { body } = await app.fetch(new Request(`${HOST}/stream`));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const stuck = app.fetch(new Request(`${HOST}/stuck`));
    await entered.promise;
    const closing = { timeoutMs: 50 };
    await expect(Promise.all([app.fetch.close(closing), app.fetch.close(closing)])).rejects.toMatchObject({
      name: "ShutdownTimeoutError",
      running: ["GET /stream", "GET /stuck"],
    });
    await expect(reader.read()).rejects.toThrow("The server stopped before the end of the response.");
    expect((await stuck).status).toBe(503);
    expect((await app.fetch(new Request(HOST))).status).toBe(404);
    await app.fetch.close();
    expect(events).toEqual(["start", "stop", "start", "stop"]);
  });

  it("cuts a stream that is not read, and tells its application, before its time has passed", async () => {
    const told = new Deferred<string>();
    const handler = toFetchHandler(
      http(async (_scope, receive, send) => {
        await receive();
        await send(START);
        void (async () => send(part("one")))().catch(() => {});
        told.resolve((await receive()).type);
      }),
    );
    const { body } = await handler(new Request(HOST));
    await handler.close({ timeoutMs: 2000 });
    expect(await told.promise).toBe("http.disconnect");
    await expect((body as ReadableStream<Uint8Array>).getReader().read()).rejects.toThrow("The server stopped");
  });

  it("accepts only a time in milliseconds", async () => {
    const handler = toFetchHandler(sending());
    const options: object = { timeoutMs: "10" };
    await expect(handler.close(options)).rejects.toThrow(ConfigurationError);
  });

  it.each([
    ["a listener of signals", ["SIGTERM", 15]],
    ["a hook of node:test", [{ name: "after", signal: AbortSignal.abort() }]],
  ])("ignores the arguments that %s gets", async (_what, args) => {
    const app = new App();
    await app.fetch(new Request(HOST));
    await expect(Reflect.apply(app.fetch.close, undefined, args)).resolves.toBeUndefined();
  });
});

describe("background tasks", () => {
  it("run after the response, and are in waitUntil", async () => {
    const events: string[] = [];
    const gate = new Deferred<void>();
    const app = new App();
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(async () => {
        events.push("begun");
        await gate.promise;
        events.push("done");
      });
      return "ok";
    });
    const kept: Promise<unknown>[] = [];
    const answer = await app.fetch(new Request(HOST), { waitUntil: (promise) => void kept.push(promise) });
    events.push("answered");
    expect(await answer.json()).toBe("ok");
    gate.resolve();
    await Promise.all(kept);
    expect(events).toEqual(["answered", "begun", "done"]);
  });

  it("are in waitUntil after a stream that fails in its middle", async () => {
    let done = false;
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { tasks: BackgroundTasks } }, async function* ({ tasks }) {
      tasks.addTask(async () => {
        await new Promise(setImmediate);
        done = true;
      });
      yield "part";
      throw new Error("broken");
    });
    const kept: Promise<unknown>[] = [];
    const answer = await app.fetch(new Request(HOST), { waitUntil: (promise) => void kept.push(promise) });
    await expect(answer.text()).rejects.toThrow("broken");
    await Promise.all(kept);
    expect(done).toBe(true);
  });

  it("do not delay the response, even if they block the event loop", async () => {
    const events: string[] = [];
    const app = new App();
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => events.push("begun"));
      return "ok";
    });
    const answer = await app.fetch(new Request(HOST));
    await answer.text();
    events.push("read");
    await app.fetch.close();
    expect(events).toEqual(["read", "begun"]);
  });

  it("are in waitUntil together with the startup, even if the client does not wait for it", async () => {
    const started = new Deferred<void>();
    const app = new App();
    app.onStartup(() => started.promise);
    app.get("/", async () => "ok");
    const kept: Promise<unknown>[] = [];
    const answer = app.fetch(new Request(HOST), { waitUntil: (promise) => void kept.push(promise) });
    expect(kept).toHaveLength(1);
    started.resolve();
    expect((await answer).status).toBe(200);
    await expect(Promise.all(kept)).resolves.toHaveLength(1);
  });

  it("are waited for by close()", async () => {
    let done = false;
    const app = new App();
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(async () => {
        await new Promise(setImmediate);
        done = true;
      });
    });
    await app.fetch(new Request(HOST));
    await app.fetch.close();
    expect(done).toBe(true);
  });

  it("are waited for by close(), in any order", async () => {
    const tasks = [new Deferred<void>(), new Deferred<void>(), new Deferred<void>()] as const;
    const handler = toFetchHandler(
      http(async (scope, _receive, send) => {
        await send(START);
        await send(part("", false));
        await tasks[Number(scope.path.slice(1)) as 0 | 1 | 2].promise;
      }),
    );
    for (const index of tasks.keys()) await handler(new Request(`${HOST}/${index}`));
    let isClosed = false;
    const closed = handler.close().then(() => (isClosed = true));
    for (const index of [0, 2, 1] as const) {
      await new Promise(setImmediate);
      expect(isClosed).toBe(false);
      tasks[index].resolve();
    }
    await closed;
  });

  it("run after the last part of a stream", async () => {
    const events: string[] = [];
    const tasks = new BackgroundTasks();
    tasks.addTask(() => void events.push("task"));
    const app = new App();
    app.get("/", async () => new StreamingResponse(["a", "b"], { background: tasks }));
    const answer = await app.fetch(new Request(HOST));
    expect(await answer.text()).toBe("ab");
    await app.fetch.close();
    expect(events).toEqual(["task"]);
  });
});

describe("app.fetch", () => {
  it("is made at its first use, is the same each time, and works without the App", async () => {
    const app = new App();
    app.get("/", async () => new OwnResponse("hi"));
    const { fetch } = app;
    expect(app.fetch).toBe(fetch);
    expect(await (await fetch(new Request(HOST))).text()).toBe("hi");
  });
});

describe("an invalid application or option", () => {
  it("is rejected by name", () => {
    expect(() => toFetchHandler({} as never)).toThrow("toFetchHandler() takes an ASGI application");
    expect(() => toFetchHandler(new App(), { lifespan: "on" } as never)).toThrow('lifespan should be "auto" or "off"');
    expect(() => toFetchHandler(new App(), { log: 1 } as never)).toThrow("log");
    expect(() => fromFetchHandler({} as never)).toThrow("handler should be a function");
  });
});
