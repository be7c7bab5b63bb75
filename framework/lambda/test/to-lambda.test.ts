import { gzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type {
  ALBEvent,
  ALBResult,
  APIGatewayProxyEvent,
  APIGatewayProxyEventV2,
  APIGatewayProxyResult,
  APIGatewayProxyStructuredResultV2,
  Context,
} from "aws-lambda";
import {
  App,
  type ASGIApp,
  BackgroundTasks,
  Body,
  type ErrorFacts,
  errorFormat,
  type HTTPScope,
  PlainTextResponse,
  Request,
  Response,
  StreamingResponse,
  t,
} from "tsgi";
import { decompress } from "tsgi/middleware";
import { type LambdaEvent, type LambdaResult, toLambda } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { requestOf } from "./_call.js";
import { FRONT_ENDS, type FrontEnd, toEvent } from "./_gateway.js";

const GET = (frontEnd: FrontEnd, target = "/", headers: readonly (readonly [string, string])[] = []) =>
  toEvent(frontEnd, requestOf("GET", target, { headers }));

/** Returns the scope that an application gets for an event. */
async function scopeOf(event: LambdaEvent, ...rest: readonly object[]): Promise<HTTPScope> {
  let seen: HTTPScope | null = null;
  const app: ASGIApp = async (scope, _receive, send) => {
    if (scope.type !== "http") return;
    seen = scope;
    await send({ type: "http.response.start", status: 204, headers: [] });
    await send({ type: "http.response.body" });
  };
  await Reflect.apply(toLambda(app, { logger: new KeptLog() }), undefined, [event, ...rest]);
  if (seen === null) throw new Error("The application was not called.");
  return seen;
}

/** Calls an application with an event, and closes it. */
async function resultOf(app: App, event: LambdaEvent): Promise<LambdaResult> {
  const handler = toLambda(app, { logger: new KeptLog() });
  const result = await handler(event);
  await handler.close();
  return result;
}

/** An App with one handler for `GET /`. */
function returning(result: () => unknown): App {
  const app = new App({ logger: new KeptLog() });
  app.get("/", async () => result());
  return app;
}

/** The base of events that are written by hand. */
const v2 = { version: "2.0", rawPath: "/", requestContext: { http: { method: "GET" } } };
const v1 = { path: "/", httpMethod: "GET", requestContext: {} };

describe("the scope of an event", () => {
  it.each(FRONT_ENDS)("has the source address of a %s as the client", async (frontEnd) => {
    const forged = [["x-forwarded-for", "203.0.113.9"]] as const;
    expect((await scopeOf(GET(frontEnd, "/", forged))).client).toEqual(["192.0.2.1", null]);
  });

  it.each([
    ["198.51.100.7:5678", "198.51.100.7"],
    ["[2001:db8::7]:5678", "2001:db8::7"],
    ["2001:db8::7", "2001:db8::7"],
    ["203.0.113.9, 198.51.100.7", "198.51.100.7"],
  ])("reads the client of a load balancer from X-Forwarded-For: %s", async (header, client) => {
    const requestContext = { elb: {} };
    const scope = await scopeOf({ ...v1, requestContext, headers: { "x-forwarded-for": header } });
    expect(scope.client).toEqual([client, null]);
  });

  it("has no client if a load balancer does not send its address", async () => {
    expect((await scopeOf({ ...v1, requestContext: { elb: {} } })).client).toBeNull();
    const headers = { "x-forwarded-for": "192.0.2.1, unknown" };
    expect((await scopeOf({ ...v1, requestContext: { elb: {} }, headers })).client).toBeNull();
  });

  it.each([
    [{ elb: {} }, "http", "http"],
    [{ elb: {} }, "https", "https"],
    [{ identity: {} }, "http", "https"],
  ])(
    "uses the scheme of X-Forwarded-Proto only with a load balancer: %j, %s",
    async (requestContext, proto, scheme) => {
      expect((await scopeOf({ ...v1, requestContext, headers: { "x-forwarded-proto": proto } })).scheme).toBe(scheme);
    },
  );

  it.each([
    ["REST API", "/prod/items", "/prod/items"],
    ["HTTP API", "/prod/items", "/prod/items"],
  ] as const)("keeps the prefix of a stage in the path: %s", async (frontEnd, target, path) => {
    expect((await scopeOf(GET(frontEnd, target))).path).toBe(path);
  });

  it.each([
    ["/caf%C3%A9", "/café"],
    ["/café", "/café"],
    ["/a b", "/a b"],
    ["/100%", "/100%"],
    ["/a?b", "/a?b"],
    ["/a#b", "/a#b"],
    ["", "/"],
    ["items", "/items"],
    ["//a//b", "//a//b"],
    ["/\ud800", "/\ufffd"],
  ])("reads an encoded and a decoded path: %j", async (rawPath, path) => {
    expect((await scopeOf({ ...v2, rawPath })).path).toBe(path);
  });

  it.each<[string, LambdaEvent, string]>([
    ["payload 2.0, as it is", { ...v2, rawQueryString: "a=%20b&c&d=?" }, "a=%20b&c&d=?"],
    ["payload 2.0, without the raw one", { ...v2, queryStringParameters: { a: " b" } }, "a=%20b"],
    [
      "payload 1.0, decoded",
      { ...v1, multiValueQueryStringParameters: { a: ["&", "+"], "b c": ["é"] } },
      "a=%26&a=%2B&b%20c=%C3%A9",
    ],
    ["payload 1.0, single values only", { ...v1, queryStringParameters: { a: "1" } }, "a=1"],
    [
      "a load balancer, encoded",
      { ...v1, requestContext: { elb: {} }, queryStringParameters: { a: "%20b+c" } },
      "a=%20b+c",
    ],
    [
      "a load balancer, with characters that need an escape",
      { ...v1, requestContext: { elb: {} }, queryStringParameters: { a: "b c\n" } },
      "a=b%20c%0A",
    ],
    ["none", { ...v1, queryStringParameters: null }, ""],
  ])("has the query of %s", async (_name, event, query) => {
    expect(new TextDecoder().decode((await scopeOf(event)).query_string)).toBe(query);
  });

  it("joins the cookies of payload 2.0 to one header", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { request: Request } }, async ({ request }) => request.cookies);
    const { body } = await resultOf(app, { ...v2, cookies: ["a=1", "b=2"], headers: { host: "a.test" } });
    expect(JSON.parse(body)).toEqual({ a: "1", b: "2" });
  });

  it("has the event and the context of Lambda", async () => {
    const context = { awsRequestId: "1" };
    const { extensions } = await scopeOf(v2, context);
    expect(extensions?.["tsgi.lambda"]).toEqual({ event: v2, context });
  });

  it.each([
    [{ host: "a.test:8443" }, ["a.test", 8443]],
    [{ host: "a.test", "x-forwarded-port": "444" }, ["a.test", 444]],
    [{ host: "[2001:db8::1]" }, ["2001:db8::1", 443]],
    [{}, ["localhost", 443]],
  ])("sets the server from the headers %j", async (headers, server) => {
    expect((await scopeOf({ ...v2, headers })).server).toEqual(server);
  });

  it("reads the length of the body from the event, not from a header", async () => {
    const app = new App({ logger: new KeptLog() });
    app.post("/", { params: { request: Request } }, async ({ request }) => [
      request.headers["content-length"],
      request.headers["transfer-encoding"] ?? null,
      await request.text(),
    ]);
    const headers = { "content-length": "999", "transfer-encoding": "chunked" };
    const event = { ...v2, requestContext: { http: { method: "POST" } }, headers, body: "aMOp", isBase64Encoded: true };
    expect(JSON.parse((await resultOf(app, event)).body)).toEqual(["3", null, "hé"]);
  });
});

describe("an encoded body", () => {
  const headers = { "content-type": "application/json", "content-encoding": "gzip" };
  const body = gzipSync('"hello"').toString("base64");
  const event = { ...v2, requestContext: { http: { method: "POST" } }, headers, body, isBase64Encoded: true };

  it.each([
    ["is a 415 that asks for identity", [], 415, "identity"],
    ["is decoded by decompress()", [decompress()], 200, undefined],
  ])("%s", async (_what, middleware, statusCode, accepted) => {
    const app = new App({ logger: new KeptLog(), middleware });
    app.post("/", { params: { item: Body(t.String()) } }, async ({ item }) => item);
    const result = await resultOf(app, event);
    expect([result.statusCode, result.headers?.["accept-encoding"]]).toEqual([statusCode, accepted]);
  });
});

describe("a malformed event", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "undefined"],
    ["null", null, "object"],
    ["text", "hello", "string"],
    ["an empty object", {}, "it is empty"],
    ["an event of a queue", { Records: [] }, "it has Records"],
    ["a schedule", { source: "aws.events", detail: {} }, "it has source, detail"],
    [
      "an opening WebSocket",
      { requestContext: { eventType: "CONNECT" }, headers: {} },
      "it has requestContext, headers",
    ],
    ["a method that is a number", { ...v1, httpMethod: 7 }, "it has path, httpMethod, requestContext"],
    ["no path", { version: "2.0", requestContext: v2.requestContext }, "it has version, requestContext"],
    ["an array", [v1], "object"],
  ])("is an error that lists its properties: %s", async (_name, event, text) => {
    const handler = toLambda(returning(() => null));
    await expect(handler(event as LambdaEvent)).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "TSGI_UNKNOWN_LAMBDA_EVENT",
      message: expect.stringContaining(text),
    });
  });

  it.each<[string, object]>([
    ["a method that is not a token", { ...v1, httpMethod: "GET /" }],
    ["an empty method", { ...v1, httpMethod: "" }],
    ["a line break in a header", { ...v1, headers: { "x-a": "b\r\nc: d" } }],
    ["a space in the name of a header", { ...v1, headers: { "x a": "b" } }],
    ["two hosts", { ...v1, multiValueHeaders: { host: ["a.test", "b.test"] } }],
    ["a host with a path", { ...v1, headers: { host: "a.test/admin?" } }],
    ["a line break in a cookie", { ...v2, cookies: ["a=1\r\nb: c"] }],
    ["a body that is a number", { ...v1, body: 7 }],
    ["a body that is an object", { ...v2, body: { a: 1 } }],
  ])("is a 400 that does not reach the application: %s", async (_name, event) => {
    let calls = 0;
    const result = await toLambda(returning(() => ++calls))(event);
    expect([result.statusCode, calls]).toEqual([400, 0]);
    expect(JSON.parse(result.body)).toEqual({ detail: expect.any(String) });
  });

  it.each<[string, number, object]>([
    ["a malformed event", 400, { ...v1, httpMethod: "" }],
    ["a response that is too large", 500, v1],
  ])("is a problem for an application with problemDetails: %s", async (_name, status, event) => {
    const app = new App({ logger: new KeptLog(), problemDetails: true });
    app.get("/", async () => new Response("x".repeat(7_000_000)));
    const { statusCode, headers, multiValueHeaders, body } = await resultOf(app, event);
    expect([statusCode, JSON.parse(body)]).toEqual([status, expect.objectContaining({ type: "about:blank", status })]);
    expect(JSON.stringify([headers, multiValueHeaders])).toContain("application/problem+json");
  });

  it.each<[string, number, object]>([
    ["a malformed event", 400, { ...v1, httpMethod: "" }],
    ["a response that is too large", 500, v1],
  ])("is an error in the format of an application with errorFormat: %s", async (_name, status, event) => {
    const write = (facts: ErrorFacts) => ({
      code: facts.status,
      isKnown: facts.scope !== null || facts.error !== null,
    });
    const schema = t.Object({ code: t.Integer(), isKnown: t.Boolean() });
    const app = new App({ logger: new KeptLog(), errorFormat: errorFormat({ schema, write }) });
    app.get("/", async () => new Response("x".repeat(7_000_000)));
    const { statusCode, body } = await resultOf(app, event);
    expect([statusCode, JSON.parse(body)]).toEqual([status, { code: status, isKnown: false }]);
  });

  it.each<[string, object]>([
    ["headers that are null", { ...v1, headers: null, multiValueHeaders: null }],
    ["headers that are text", { ...v1, headers: "a: b" }],
    ["values that are no text", { ...v1, headers: { a: 1, b: null }, multiValueHeaders: { c: "d", e: [1, null] } }],
    ["cookies that are no text", { ...v2, cookies: [1, null, {}] }],
    ["a query that is an array", { ...v1, queryStringParameters: ["a"] }],
    ["a requestContext that is null, with a method", { ...v1, requestContext: null }],
    [
      "names of Object.prototype",
      JSON.parse('{"path":"/","httpMethod":"GET","headers":{"__proto__":"a","constructor":"b"}}'),
    ],
    ["a body that is not base64", { ...v1, body: "%%%", isBase64Encoded: true }],
  ])("is served without the parts that cannot be read: %s", async (_name, event) => {
    expect((await toLambda(returning(() => "served"))(event)).body).toBe('"served"');
    expect({}).not.toHaveProperty("a");
  });
});

describe("the result of a handler", () => {
  const withCookies = () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { response: Response } }, async ({ response }) => {
      response.setCookie("a", "1");
      response.setCookie("b", "2");
      response.headers.append("vary", "accept");
      response.headers.append("vary", "origin");
      return "x";
    });
    return app;
  };
  const [a, b] = ["a=1; Path=/; SameSite=Lax", "b=2; Path=/; SameSite=Lax"];
  const json = { "content-length": "3", "content-type": "application/json" };

  it.each<[FrontEnd, object]>([
    ["REST API", { headers: json, multiValueHeaders: { vary: ["accept", "origin"], "set-cookie": [a, b] } }],
    [
      "HTTP API, payload 1.0",
      { headers: json, multiValueHeaders: { vary: ["accept", "origin"], "set-cookie": [a, b] } },
    ],
    ["HTTP API", { headers: { ...json, vary: "accept, origin" }, cookies: [a, b] }],
    ["function URL", { headers: { ...json, vary: "accept, origin" }, cookies: [a, b] }],
    ["ALB", { headers: { ...json, vary: "accept, origin", "set-cookie": a, "Set-cookie": b } }],
    [
      "ALB, multi-value",
      {
        multiValueHeaders: {
          "content-length": ["3"],
          "content-type": ["application/json"],
          vary: ["accept", "origin"],
          "set-cookie": [a, b],
        },
      },
    ],
  ])("has the headers and cookies in the form of a %s", async (frontEnd, head) => {
    const result = await resultOf(withCookies(), GET(frontEnd));
    expect(result).toEqual({ statusCode: 200, ...head, body: '"x"', isBase64Encoded: false });
  });

  it("spells the names of many cookies differently for a load balancer without multi-value headers", async () => {
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { response: Response } }, async ({ response }) => {
      for (let index = 0; index < 50; index++) response.setCookie(`c${index}`, "1");
    });
    const { headers = {} } = await resultOf(app, GET("ALB"));
    const cookies = Object.entries(headers).filter(([name]) => name.toLowerCase() === "set-cookie");
    expect(new Set(cookies.map(([, cookie]) => cookie)).size).toBe(50);
  });

  it.each([
    ["text/plain", "text"],
    ["text/html; charset=utf-8", "text"],
    ["text/csv; charset=iso-8859-1", "base64"],
    ["application/json", "text"],
    ["application/problem+json", "text"],
    ["application/xml", "text"],
    ["image/svg+xml", "text"],
    ["application/javascript; charset=UTF-8", "text"],
    ["application/x-www-form-urlencoded", "text"],
    ["application/jsonp", "base64"],
    ["application/octet-stream", "base64"],
    ["image/png", "base64"],
    ["application/pdf", "base64"],
  ])("has a body of the type %s as %s", async (type, form) => {
    const app = returning(() => new Response("h\u00e9", { headers: { "content-type": type } }));
    const { body, isBase64Encoded } = await resultOf(app, v2);
    expect([body, isBase64Encoded]).toEqual(form === "text" ? ["hé", false] : ["aMOp", true]);
  });

  it("has a text whose bytes are not UTF-8 as base64", async () => {
    const app = returning(() => new Response(Uint8Array.of(0xff, 0x41), { headers: { "content-type": "text/plain" } }));
    expect(await resultOf(app, v2)).toMatchObject({ body: "/0E=", isBase64Encoded: true });
  });

  it("has a compressed text as base64", async () => {
    const headers = { "content-type": "text/plain", "content-encoding": "br" };
    const app = returning(() => new Response("abc", { headers }));
    expect(await resultOf(app, v2)).toMatchObject({ body: "YWJj", isBase64Encoded: true });
  });

  it("keeps a byte order mark", async () => {
    const { body } = await resultOf(
      returning(() => new PlainTextResponse("\ufeffa")),
      v2,
    );
    expect(body).toBe("\ufeffa");
  });

  it("has no body for HEAD, and the length that GET has", async () => {
    const event = { ...v2, requestContext: { http: { method: "HEAD" } } };
    const { body, headers } = await resultOf(
      returning(() => "x"),
      event,
    );
    expect([body, headers?.["content-length"]]).toEqual(["", "3"]);
  });

  it("collects a stream whose generator uses one array again", async () => {
    const bytes = new Uint8Array(1);
    function* numbers() {
      for (let value = 1; value <= 3; value++) {
        bytes[0] = value;
        yield bytes;
      }
    }
    const { body } = await resultOf(
      returning(() => new StreamingResponse(numbers())),
      v2,
    );
    expect([...Buffer.from(body, "base64")]).toEqual([1, 2, 3]);
  });

  it("is a 500 if the application fails after it has begun its response", async () => {
    function* failing() {
      yield "begun";
      throw new Error("secret");
    }
    const result = await resultOf(
      returning(() => new StreamingResponse(failing())),
      v2,
    );
    expect([result.statusCode, result.body]).toEqual([500, '{"detail":"Internal Server Error"}']);
  });

  it("is a 500 if the application does not respond", async () => {
    const log = new KeptLog();
    const result = await toLambda(async () => {}, { logger: log })(v2);
    expect(result.statusCode).toBe(500);
    expect(log.lines).toContain("error The application returned without a response: GET /");
  });

  it.each<[FrontEnd, number]>([
    ["function URL", 6_291_556],
    ["ALB", 1_048_576],
  ])("is a 500 and one line in the log if it is larger than %s accepts: %i bytes", async (frontEnd, limit) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(65_536);
      } finally {
        isClosed = true;
      }
    }
    app.get("/stream", async () => new StreamingResponse(endless()));
    app.get("/whole", async () => new Response(Buffer.alloc(limit * 0.8))); // base64 takes a third more
    app.get("/text", async () => new PlainTextResponse("\n".repeat(limit * 0.6))); // JSON takes two characters
    app.get("/fits", async () => new PlainTextResponse("a".repeat(limit * 0.9)));
    const handler = toLambda(app, { logger: log });
    for (const path of ["/stream", "/whole", "/text"]) {
      expect((await handler(GET(frontEnd, path))).statusCode).toBe(500);
      expect(log.lines.filter((line) => line.startsWith("error"))).toEqual([
        expect.stringMatching(`^error The response to GET ${path} is larger than the ${limit} bytes .* toLambdaStream`),
      ]);
      log.lines.length = 0;
    }
    expect(isClosed).toBe(true);
    expect((await handler(GET(frontEnd, "/fits"))).statusCode).toBe(200);
  });

  it("is returned after the background tasks, because Lambda then freezes the process", async () => {
    let isDone = false;
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(async () => {
        await new Promise(setImmediate);
        isDone = true;
      });
    });
    await toLambda(app)(v2);
    expect(isDone).toBe(true);
  });
});

describe("the start of the application", () => {
  it("runs once, before the first event, even if two events are handled concurrently", async () => {
    const events: string[] = [];
    const app = new App({
      logger: new KeptLog(),
      lifespan: async function* () {
        await new Promise(setImmediate);
        events.push("started");
        yield { region: "eu" };
        events.push("stopped");
      },
    });
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      events.push("served");
      return request.state;
    });
    const handler = toLambda(app, { state: { given: 1 } });
    expect(events).toEqual([]);
    const results = await Promise.all([handler(v2), handler(v2)]);
    expect(results.map(({ body }) => JSON.parse(body))).toEqual([
      { region: "eu", given: 1 },
      { region: "eu", given: 1 },
    ]);
    await handler(v2);
    expect(events).toEqual(["started", "served", "served", "served"]);
    await handler.close();
    expect(events.at(-1)).toBe("stopped");
    await handler.close();
    expect(events.filter((event) => event === "stopped")).toHaveLength(1);
  });

  it("is tried again by the next event after a failure, which is a 503", async () => {
    let tries = 0;
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.onStartup(() => {
      if (++tries === 1) throw new Error("no database");
    });
    app.get("/", async () => "served");
    const handler = toLambda(app, { logger: log });
    expect(await handler(v1)).toMatchObject({ statusCode: 503, body: '{"detail":"Service Unavailable"}' });
    expect(log.lines.join("\n")).toContain("no database");
    expect((await handler(v1)).body).toBe('"served"');
  });

  it("requires an application and known options", () => {
    expect(() => toLambda({} as unknown as ASGIApp)).toThrow("toLambda()");
    expect(() => toLambda(new App(), { loger: 1 } as object)).toThrow(/loger/);
  });
});

describe("the types of a handler", () => {
  it("accept the events of @types/aws-lambda, and return its results", () => {
    const handler = toLambda(returning(() => null));
    const rest: (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult> = handler;
    const http: (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2> =
      handler;
    const balancer: (event: ALBEvent, context: Context) => Promise<ALBResult> = handler;
    expect([rest, http, balancer]).toEqual([handler, handler, handler]);
  });
});
