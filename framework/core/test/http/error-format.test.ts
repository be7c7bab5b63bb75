/** `errorFormat()`: one body for every error of an App, of its middleware, and of the server that serves it. */
import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { json } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import {
  App,
  type ASGIApp,
  Depends,
  errorFormat,
  type ErrorFacts,
  EventSourceResponse,
  HTTPException,
  httpExceptionHandler,
  type Middleware,
  Query,
  Request,
  RequestValidationError,
  requestValidationExceptionHandler,
  Router,
  StaticFiles,
  t,
} from "../../src/index.js";
import { FAILURE } from "../../src/internals.js";
import {
  bodyLimit,
  cors,
  csrf,
  decompress,
  httpsRedirect,
  idempotency,
  memoryStore,
  rateLimit,
  sessions,
  timeLimit,
  trustedHost,
} from "../../src/middleware/index.js";
import { HTTPBearer } from "../../src/parameters/security/http.js";
import { TestClient, WebSocketRefusedError } from "../../src/platforms/testing/index.js";
import type { Sent } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { served, Wire } from "../platforms/node/_http.js";

const Body = t.Object(
  { error: t.Object({ status: t.Integer(), message: t.String(), issues: t.Integer() }) },
  { title: "ErrorResponse" },
);
const write = ({ status, detail, issues }: ErrorFacts) => ({
  error: {
    status,
    message: typeof detail === "string" ? detail : JSON.stringify(detail),
    issues: issues?.length ?? 0,
  },
});
const errors = errorFormat({ schema: Body, validationStatus: 400, write });
const create = (options: ConstructorParameters<typeof App>[0] = {}) =>
  new App({ errorFormat: errors, logger: new KeptLog(), ...options });

/** An App whose format keeps the facts that it was given. */
function watched(options: ConstructorParameters<typeof App>[0] = {}) {
  const facts: ErrorFacts[] = [];
  const format = errorFormat({
    schema: Body,
    write: (given) => {
      facts.push(given);
      return write(given);
    },
  });
  return { app: create({ errorFormat: format, ...options }), facts };
}

const bodyOf = (status: number, message: unknown, issues = 0) => ({ error: { status, message, issues } });
const text = expect.any(String) as unknown;

describeMatrix("an App with errorFormat", ({ call }) => {
  it.each<[string, () => unknown, object]>([
    ["an HTTPException", () => new HTTPException(404, "No such item"), bodyOf(404, "No such item")],
    ["an HTTPException without a text", () => new HTTPException(409), bodyOf(409, "Conflict")],
    ["an HTTPException with members", () => new HTTPException(402, { balance: 3 }), bodyOf(402, '{"balance":3}')],
    ["an unexpected error", () => new Error("secret"), bodyOf(500, "Internal Server Error")],
  ])("writes the body of %s", async (_what, error, body) => {
    const app = create();
    app.get("/", async () => {
      throw error();
    });
    expect(await call(app, "GET", "/")).toMatchObject({ headers: { "content-type": "application/json" }, json: body });
  });

  it("writes 404, 405 and 401 with their headers", async () => {
    const app = create();
    app.get("/items", { params: { token: Depends(new HTTPBearer()) } }, async () => null);
    expect(await call(app, "GET", "/none")).toMatchObject({ status: 404, json: bodyOf(404, "Not Found") });
    const notAllowed = await call(app, "DELETE", "/items");
    expect(notAllowed).toMatchObject({ headers: { allow: "GET, HEAD" }, json: bodyOf(405, "Method Not Allowed") });
    const anonymous = await call(app, "GET", "/items");
    expect(anonymous).toMatchObject({ headers: { "www-authenticate": "Bearer" }, json: bodyOf(401, text) });
  });

  it("writes validation errors with its status, even for JSON that is too deep", async () => {
    const app = create();
    app.post("/{id}", { params: { id: t.Integer(), n: Query(t.Integer()), item: t.Object({}) } }, async () => null);
    const invalid = await call(app, "POST", "/x?n=y", { json: {} });
    expect(invalid).toMatchObject({ status: 400, json: bodyOf(400, "The request is invalid", 2) });
    const deep = await call(app, "POST", "/1?n=1", { text: "[".repeat(2000) + "]".repeat(2000) });
    expect(deep).toMatchObject({ status: 400, json: bodyOf(400, "The request is invalid", 1) });
  });

  it("writes the 504 of a handler that takes too long", async () => {
    const app = create();
    app.get("/", { limits: { handlerMs: 1 }, params: { request: Request } }, async ({ request }) => {
      await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 504, json: bodyOf(504, "Gateway Timeout") });
  });

  it("sets Content-Type and Content-Length of the body, and keeps the other headers of an HTTPException", async () => {
    const headers = { "Content-Length": "3", "Content-Type": "text/plain", "Retry-After": "9" };
    const exceptionHandlers = { 409: () => ({ own: true }) };
    for (const app of [create(), new App({ logger: new KeptLog() }), create({ exceptionHandlers })]) {
      app.get("/", async () => {
        throw new HTTPException(409, "xyz", { headers });
      });
      const { headers: sent, text: body } = await call(app, "GET", "/");
      expect(sent).toMatchObject({ "content-type": "application/json", "retry-after": "9" });
      expect([sent["content-length"], JSON.parse(body)]).toEqual([String(body.length), expect.any(Object)]);
    }
  });

  it("does not send a body to HEAD", async () => {
    const app = create();
    expect(await call(app, "HEAD", "/none")).toMatchObject({ status: 404, text: "" });
  });
});

/** A store that is unavailable. */
const away = {
  get: () => Promise.reject(new Error("away")),
  set: () => Promise.reject(new Error("away")),
  add: () => Promise.reject(new Error("away")),
  delete: () => Promise.reject(new Error("away")),
  increment: () => Promise.reject(new Error("away")),
};

const REFUSALS: readonly [name: string, middleware: () => Middleware, status: number, method: string, sent?: Sent][] = [
  ["rateLimit", () => rateLimit({ limit: 0, windowSeconds: 60, key: () => "all" }), 429, "GET"],
  ["rateLimit without its store", () => rateLimit({ limit: 1, windowSeconds: 60, store: away, whenStoreFails: "refuse", key: () => "all" }), 503, "GET"],
  ["bodyLimit", () => bodyLimit(1), 413, "POST", { headers: [["content-length", "4"]], body: Buffer.from("long") }],
  ["timeLimit", () => timeLimit(1), 504, "PUT"],
  ["cors", () => cors({ allowOrigins: ["https://a.test"] }), 400, "OPTIONS", { headers: [["origin", "https://b.test"], ["access-control-request-method", "GET"]] }],
  ["csrf", () => csrf(), 403, "POST", { headers: [["sec-fetch-site", "cross-site"]] }],
  ["trustedHost", () => trustedHost({ allowedHosts: ["a.test"] }), 400, "GET", { headers: [["host", "b.test"]] }],
  ["idempotency", () => idempotency({ store: memoryStore() }), 400, "POST", { headers: [["idempotency-key", "a"], ["idempotency-key", "b"]] }],
  ["sessions without its store", () => sessions({ secret: "s".repeat(32), store: away }), 503, "GET", { headers: [["cookie", `__Host-session=${"a".repeat(43)}`]] }],
  ["httpsRedirect", () => httpsRedirect(), 400, "GET", { headers: [["host", "a"], ["host", "b"]] }],
  ["decompress", () => decompress(), 415, "POST", { headers: [["content-encoding", "zstd"]], body: Buffer.from("x") }],
]; // prettier-ignore

describe.each(REFUSALS)("the response of %s", (_name, middleware, status, method, sent) => {
  it.each<[string, (app: App, own: Middleware) => void]>([
    [
      "an App",
      (app, own) => {
        app.addMiddleware(own);
        app.includeRouter(createRoutes([]));
      },
    ],
    ["a Router", (app, own) => app.includeRouter(createRoutes([own]))],
  ])("has the format of the App if it is middleware of %s", async (_where, add) => {
    const { app, facts } = watched();
    add(app, middleware());
    const response = await callInMemory(app, method, "/", sent);
    expect(response).toMatchObject({ status, json: bodyOf(status, text) });
    expect(facts).toEqual([expect.objectContaining({ status, error: null, issues: null, scope: expect.any(Object) })]);
  });
});

function createRoutes(middleware: readonly Middleware[]): Router {
  const router = new Router({ middleware });
  router.get("/", async () => null);
  router.post("/", { params: { request: Request } }, async ({ request }) => request.text());
  router.options("/", async () => null);
  router.put("/", { params: { request: Request } }, async ({ request }) => {
    await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
  });
  return router;
}

describe("the facts for `write`", () => {
  it("are the thrown value, the original scope, and the phrase of the status", async () => {
    const { app, facts } = watched();
    const error = new HTTPException(404, { missing: "lamp" });
    app.get("/lamp", async () => {
      throw error;
    });
    await callInMemory(app, "GET", "/lamp?n=1");
    const [{ scope, ...others }] = facts as [ErrorFacts];
    expect(others).toEqual({ status: 404, title: "Not Found", detail: { missing: "lamp" }, issues: null, error });
    expect(scope).toMatchObject({ type: "http", path: "/lamp", app });
  });

  it("have no message of an unexpected error, but the error itself", async () => {
    const { app, facts } = watched();
    const bug = new TypeError("secret");
    app.get("/", async () => Promise.reject(bug));
    await callInMemory(app, "GET", "/");
    expect(facts).toEqual([expect.objectContaining({ status: 500, detail: "Internal Server Error", error: bug })]);
  });

  it("have the lines of the stack if the App has the option debug", async () => {
    const { app, facts } = watched({ debug: true });
    app.get("/", async () => Promise.reject(new TypeError("shown")));
    await callInMemory(app, "GET", "/");
    expect(facts[0]?.debug?.[0]).toBe("TypeError: shown");
  });

  it("have translated issues and one sentence for a validation error", async () => {
    const { app, facts } = watched({ translate: () => "Zahl" });
    app.get("/", { params: { n: Query(t.Integer()) } }, async () => null);
    const { headers } = await callInMemory(app, "GET", "/?n=x", { headers: [["accept-language", "de"]] });
    expect(headers["vary"]).toBe("Accept-Language");
    expect(facts).toEqual([
      expect.objectContaining({
        detail: "The request is invalid",
        issues: [{ type: "int_parsing", loc: ["query", "n"], msg: "Zahl", input: "x" }],
        error: expect.any(RequestValidationError),
      }),
    ]);
  });
});

describe("a `write` that fails", () => {
  it.each<[string, () => unknown]>([
    ["throws", () => Promise.reject(new Error("never"))],
    ["returns a promise", async () => ({ error: "late" })],
    ["returns a promise that rejects", async () => Promise.reject(new Error("late"))],
    ["returns nothing", () => undefined],
    ["returns a bigint", () => 1n],
    ["returns a cycle", () => cycle],
  ])("makes the body the default one, with one line of log: it %s", async (what, result) => {
    const logger = new KeptLog();
    const failing = () => {
      if (what === "throws") throw new Error("in write");
      return result() as never;
    };
    const app = new App({ logger, errorFormat: errorFormat({ schema: t.Any(), write: failing }) });
    expect(await callInMemory(app, "GET", "/none")).toMatchObject({
      status: 404,
      headers: { "content-type": "application/json" },
      json: { detail: "Not Found" },
    });
    expect(logger.lines).toEqual([expect.stringMatching(/^error .*errorFormat\(\).* 404/)]);
  });

  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
});

describe("a mounted application", () => {
  it("follows its own option if it is an App, and the App around it otherwise", async () => {
    const app = create();
    const plain = new App({ logger: new KeptLog() });
    plain.mount("/inner", create());
    app.mount("/plain", plain);
    app.mount("/files", new StaticFiles(import.meta.dirname));
    const bodies = await Promise.all(
      ["/none", "/plain/none", "/plain/inner/none", "/files/none"].map(
        async (target) => (await callInMemory(app, "GET", target)).json,
      ),
    );
    const own = bodyOf(404, "Not Found");
    expect(bodies).toEqual([own, { detail: "Not Found" }, own, own]);
  });

  it("keeps its own responses", async () => {
    const app = create();
    const foreign: ASGIApp = async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 418, headers: [] });
      await send({ type: "http.response.body", body: Buffer.from("teapot") });
    };
    app.mount("/foreign", foreign);
    expect(await callInMemory(app, "GET", "/foreign")).toMatchObject({ status: 418, text: "teapot" });
  });
});

describe("exception handlers", () => {
  it("can use the default responses, which have the format", async () => {
    const app = create();
    app.exceptionHandler(HTTPException, (error, request) => httpExceptionHandler(error, request));
    app.exceptionHandler(RequestValidationError, (error, request) => requestValidationExceptionHandler(error, request));
    app.get("/{id}", { params: { id: t.Integer() } }, async () => {
      throw new HTTPException(410);
    });
    expect(await callInMemory(app, "GET", "/7")).toMatchObject({ status: 410, json: bodyOf(410, "Gone") });
    expect(await callInMemory(app, "GET", "/x")).toMatchObject({ status: 400, json: bodyOf(400, text, 1) });
  });

  it("for `validationStatus` receive validation errors, and their values have that status", async () => {
    const app = create();
    app.exceptionHandler(400, () => ({ bad: true }));
    app.get("/{id}", { params: { id: t.Integer() } }, async () => null);
    expect(await callInMemory(app, "GET", "/x")).toMatchObject({ status: 400, json: { bad: true } });
  });
});

describe("validationStatus", () => {
  it.each<[string, ConstructorParameters<typeof App>[0], number]>([
    ["of the format", { errorFormat: errors }, 400],
    ["of the App, which takes precedence", { errorFormat: errors, validationStatus: 418 }, 418],
    ["of the App without a format", { validationStatus: 400 }, 400],
    ["of the App with problem details", { validationStatus: 400, problemDetails: true }, 400],
  ])("is the one %s, in responses and in the OpenAPI document", async (_whose, options, status) => {
    const app = new App({ logger: new KeptLog(), ...options });
    app.get("/{id}", { params: { id: t.Integer() } }, async () => null);
    expect((await callInMemory(app, "GET", "/x")).status).toBe(status);
    expect(Object.keys(app.openapi().paths["/{id}"]?.get?.responses ?? {})).toEqual(["200", String(status)]);
  });

  it("does not replace the schema of a route that declares it", () => {
    const app = create();
    const responses = { 400: { schema: t.Object({ own: t.String() }, { title: "Own" }) } };
    app.get("/{id}", { params: { id: t.Integer() }, responses }, async () => null);
    expect(app.openapi().paths["/{id}"]?.get?.responses?.["400"]).toMatchObject({
      content: { "application/json": { schema: { $ref: "#/components/schemas/Own" } } },
    });
  });
});

describe("the OpenAPI document", () => {
  const contentOf = (name: string, type = "application/json") => ({
    content: { [type]: { schema: { $ref: `#/components/schemas/${name}` } } },
  });

  it("has the schema of the format for each error without a schema", () => {
    const app = create();
    const route = {
      params: { id: t.Integer(), token: Depends(new HTTPBearer()) },
      middleware: [idempotency({ store: memoryStore() })],
      responses: { 404: { description: "No such item" }, 409: { schema: t.Object({ rival: t.String() }) } },
    };
    app.post("/{id}", route, async () => null);
    const { responses } = app.openapi().paths["/{id}"]?.post ?? {};
    const own = contentOf("ErrorResponse");
    expect(responses).toMatchObject({ 400: own, 401: own, 404: { ...own, description: "No such item" }, 422: own });
    expect(JSON.stringify(responses?.["409"])).toContain("rival");
    expect(Object.keys(app.openapi().components?.schemas ?? {})).toEqual(["ErrorResponse"]);
  });

  it("lists a schema without a name once, and has the media type of the format", () => {
    const format = errorFormat({
      schema: t.Object({ code: t.Integer() }),
      mediaType: "application/vnd.api+json",
      write: ({ status }) => ({ code: status }),
    });
    const app = new App({ errorFormat: format });
    app.get("/{id}", { params: { id: t.Integer() } }, async () => null);
    const { paths, components } = app.openapi();
    expect(paths["/{id}"]?.get?.responses?.["422"]).toMatchObject(contentOf("HTTPError", "application/vnd.api+json"));
    expect(components?.schemas?.["HTTPError"]).toMatchObject({ properties: { code: { type: "integer" } } });
  });
});

describe("a stream of events whose source fails", () => {
  it("ends with the error event in the format, with the status 500", async () => {
    const app = create();
    const lost = Object.assign(new Error("secret"), { [FAILURE]: "The source was lost" });
    app.get("/", async () => {
      async function* items() {
        yield { data: "one" };
        throw lost;
      }
      return new EventSourceResponse(items());
    });
    const { text: events } = await callInMemory(app, "GET", "/");
    expect(events).toBe(`data: one\n\nevent: error\ndata: ${JSON.stringify(bodyOf(500, "The source was lost"))}\n\n`);
  });
});

describe("a WebSocket that an App with errorFormat rejects", () => {
  it.each<[string, object]>([
    ["/refused", bodyOf(403, "No")],
    ["/invalid?n=x", bodyOf(400, "The request is invalid", 1)],
    ["/closed", bodyOf(403, "Forbidden")],
    ["/failed", bodyOf(500, "Internal Server Error")],
  ])("has the body of the format at %s", async (target, body) => {
    const { app, facts } = watched({ validationStatus: 400 });
    const refuse = async () => {
      throw new HTTPException(403, "No");
    };
    app.websocket("/refused", { dependencies: [Depends(refuse)] }, async ({ ws }) => ws.accept());
    app.websocket("/invalid", { params: { n: Query(t.Integer()) } }, async ({ ws }) => ws.accept());
    app.websocket("/closed", async ({ ws }) => ws.close(1008));
    app.websocket("/failed", async () => Promise.reject(new Error("secret")));
    await using client = await TestClient.open(app);
    const refused: unknown = await client.websocket(target).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WebSocketRefusedError);
    expect(JSON.parse((refused as WebSocketRefusedError).text())).toEqual(body);
    expect(facts).toEqual([expect.objectContaining({ scope: expect.objectContaining({ type: "websocket" }) })]);
  });

  it("keeps a close code from 4000 on, which has no body", async () => {
    const app = create();
    await using client = await TestClient.open(app);
    const refused: unknown = await client.websocket("/none").catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 4004 });
  });
});

const HOST = "Host: a\r\n";
/** Requests that the server rejects without the application. */
const REJECTED: readonly [what: string, request: string, status: number][] = [
  ["a malformed request line", "GET  / HTTP/1.1\r\n\r\n", 400],
  ["CONNECT", `CONNECT a:1 HTTP/1.1\r\n${HOST}\r\n`, 405],
  ["a target that is too long", `GET /${"x".repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 414],
  ["an unknown expectation", `GET / HTTP/1.1\r\n${HOST}Expect: x\r\n\r\n`, 417],
  ["another version of WebSockets", `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 12\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`, 426],
  ["too long headers", `GET / HTTP/1.1\r\n${HOST}X: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ["an unknown transfer coding", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`, 501],
  ["another version of HTTP", "GET / HTTP/2.0\r\n\r\n", 505],
]; // prettier-ignore

describe("the server of an App with errorFormat", () => {
  const receivedBy = async (port: number, request: string) => {
    await using wire = new Wire(port);
    wire.write(request);
    await wire.closed;
    const [head = "", body = ""] = wire.received.split("\r\n\r\n");
    return { head, body: JSON.parse(body) as unknown };
  };

  it.each(REJECTED)(
    "responds in the format to %s, even if a plain function is around the App",
    async (_what, request, status) => {
      const app = create();
      for (const application of [app, ((...args) => app(...args)) as ASGIApp]) {
        await using server = await served(application);
        const { head, body } = await receivedBy(server.port, request);
        expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(body).toEqual(bodyOf(status, text));
      }
    },
  );

  it("responds in the format over HTTP/2", async () => {
    await using server = await served(create(), { http2: true });
    const session = connect(server.url);
    const stream = session.request({ ":path": "/", "x-long": "x".repeat(20_000) });
    const [headers] = (await once(stream, "response")) as [IncomingHttpHeaders];
    expect([headers[":status"], await json(stream)]).toEqual([431, bodyOf(431, text)]);
    session.destroy();
  });

  it("calls `write` once for each status and text, without a scope and an error", async () => {
    const { app, facts } = watched();
    await using server = await served(app);
    const request = "GET / HTTP/1.1\r\n\r\n";
    const first = await receivedBy(server.port, request);
    expect(await receivedBy(server.port, request)).toEqual(first);
    expect(facts).toEqual([
      {
        status: 400,
        title: "Bad Request",
        detail: "Expected exactly one well-formed Host header.",
        issues: null,
        error: null,
        scope: null,
      },
    ]);
  });

  it("sends the default body if `write` fails, and logs it once", async () => {
    const logger = new KeptLog();
    const format = errorFormat({
      schema: t.Any(),
      write: () => {
        throw new Error("in write");
      },
    });
    await using server = await served(new App({ logger, errorFormat: format }));
    for (let count = 0; count < 2; count++) {
      const { body } = await receivedBy(server.port, "GET / HTTP/1.1\r\n\r\n");
      expect(body).toEqual({ detail: "Expected exactly one well-formed Host header." });
    }
    expect(logger.lines.filter((line) => line.includes("errorFormat()"))).toHaveLength(1);
  });
});

describe("an invalid format", () => {
  const format = { schema: t.Any(), write: () => null };

  it.each<[string, () => unknown, RegExp]>([
    ["an unknown option", () => errorFormat({ ...format, media: "a/b" } as never), /media/],
    ["no function", () => errorFormat({ ...format, write: "text" } as never), /write should be a function/],
    ["no write", () => errorFormat({ schema: t.Any() } as never), /write should be a function/],
    ["no schema", () => errorFormat({ write: () => null } as never), /schema should be a schema/],
    ["another schema", () => errorFormat({ ...format, schema: {} } as never), /schema should be a schema/],
    ["a media type that is none", () => errorFormat({ ...format, mediaType: "json" }), /media type/],
    ["a line break in the media type", () => errorFormat({ ...format, mediaType: "a/b\r\nX: 1" }), /media type/],
    ["a status of the server", () => errorFormat({ ...format, validationStatus: 500 }), /from 400 to 499/],
    ["another status in the App", () => new App({ validationStatus: 200 }), /from 400 to 499/],
    ["a format that is not made", () => new App({ errorFormat: format } as never), /errorFormat should be/],
    ["two formats", () => new App({ errorFormat: errors, problemDetails: true }), /problemDetails should be/],
  ])("is a ConfigurationError: %s", (_what, make, message) => {
    expect(make).toThrow(
      expect.objectContaining({ name: "ConfigurationError", message: expect.stringMatching(message) }),
    );
  });
});
