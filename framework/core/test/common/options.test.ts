import { describe, expect, it } from "@jest/globals";
import {
  App,
  Body,
  Depends,
  File,
  FileResponse,
  Path,
  Query,
  Response,
  Router,
  Security,
  StaticFiles,
  t,
  type AppOptions,
  type RouteOptions,
} from "../../src/index.js";
import { cors, compress, httpsRedirect, securityHeaders, sessions } from "../../src/middleware/index.js";
import { serve, toNodeHandler } from "../../src/node.js";
import { APIKeyHeader } from "../../src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../src/parameters/security/http.js";
import { OAuth2PasswordBearer } from "../../src/parameters/security/oauth2.js";
import { TestClient } from "../../src/platforms/testing/index.js";

const handler = async () => null;

/** Values that plain JavaScript can pass. */
const wrong = (options: unknown) => options as never;

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** Longer than a message shows. */
const LONG = "x".repeat(100);

const UNKNOWN: [what: string, place: string, meant: string, work: () => unknown][] = [
  ["of an App", "new App()", "title", () => new App(wrong({ tittle: "Items" }))],
  ["of a pool", "pool", "timeoutMs", () => new App({ pool: wrong({ timeoutms: 5 }) })],
  ["of a route", "GET /items", "tags", () => new App().get("/items", wrong({ tag: ["items"] }), handler)],
  [
    "of a route in snake case",
    "GET /items",
    "statusCode",
    () => new App().get("/items", wrong({ status_code: 201 }), handler),
  ],
  ["of a decorator", "POST /items", "summary", () => new App().post("/items", wrong({ sumary: "Items" }))],
  [
    "of several methods",
    "GET, PUT /items",
    "name",
    () => new App().route("/items", wrong({ methods: ["GET", "PUT"], nam: "a" }), handler),
  ],
  ["of a WebSocket", "WEBSOCKET /chat", "params", () => new App().websocket("/chat", wrong({ param: {} }), handler)],
  ["of a Router", "new Router()", "prefix", () => new Router(wrong({ prefx: "/users" }))],
  [
    "of includeRouter",
    "includeRouter()",
    "prefix",
    () => new App().includeRouter(new Router(), wrong({ prefx: "/a" })),
  ],
  ["of Query", "Query()", "default", () => Query(wrong({ defualt: null }))],
  ["of Query beside a schema", "Query()", "alias", () => Query(t.Integer(), wrong({ aliass: "n" }))],
  ["of Path", "Path()", "description", () => Path(wrong({ descripton: "Which" }))],
  ["of Body", "Body()", "embed", () => Body(t.Object({}), wrong({ embedd: true }))],
  ["of File", "File()", "mediaTypes", () => File(wrong({ mediaType: ["image/*"] }))],
  ["of Depends", "Depends()", "useCache", () => Depends(handler, wrong({ use_cache: false }))],
  ["of Security", "Security()", "scopes", () => Security(handler, wrong({ scope_s: [] }))],
  ["of StaticFiles", "new StaticFiles()", "dotfiles", () => new StaticFiles("public", wrong({ dotFile: true }))],
  ["of a middleware", "cors()", "allowOrigins", () => cors(wrong({ allowOrigin: "*" }))],
  ["of HTTPBearer", "new HTTPBearer()", "autoError", () => new HTTPBearer(wrong({ auto_error: false }))],
  ["of HTTPBasic", "new HTTPBasic()", "realm", () => new HTTPBasic(wrong({ realms: "Office" }))],
  ["of an API key", "new APIKeyHeader()", "name", () => new APIKeyHeader(wrong({ nam: "X-Key" }))],
  [
    "of a password bearer",
    "new OAuth2PasswordBearer()",
    "tokenUrl",
    () => new OAuth2PasswordBearer(wrong({ token_url: "/token" })),
  ],
  ["of toNodeHandler", "toNodeHandler()", "logger", () => toNodeHandler(new App(), wrong({ loger: null }))],
];

describe("a word that an option does not take", () => {
  it("of serve is rejected before anything is started", async () => {
    const served = serve(new App(), wrong({ loop: "libvu", port: 0 }));
    await expect(served).rejects.toThrow('serve(): loop should be "libuv" or "uwebsockets", not "libvu".');
  });

  it.each<[option: string, words: string, work: () => unknown]>([
    ["scope of Depends", '"function" or "request"', () => Depends(handler, wrong({ scope: "fuction" }))],
    ["scope of Security", '"function" or "request"', () => Security(handler, wrong({ scope: "Request" }))],
    ["stream", '"jsonl" or "sse"', () => new App().get("/", wrong({ stream: "json" }), handler)],
    ["pool.kind", '"process", "thread" or "inline"', () => new App({ pool: wrong({ kind: "procces" }) })],
    ["pool of a route", "endOnDisconnect: true", () => new App().get("/", wrong({ pool: "inline" }), handler)],
    [
      "sameSite of sessions",
      '"strict", "lax" or "none"',
      () => sessions(wrong({ secret: "x".repeat(32), sameSite: "laxx" })),
    ],
    ["frameOptions", '"DENY"', () => securityHeaders(wrong({ frameOptions: "DENI" }))],
    ["encodings of gzip", '"gzip" and "br"', () => compress(wrong({ encodings: ["deflate"] }))],
    ["statusCode of httpsRedirect", "307", () => httpsRedirect(wrong({ statusCode: 301 }))],
    [
      "sameSite of a cookie",
      '"strict", "lax" or "none"',
      () => new Response().setCookie("a", "b", wrong({ sameSite: "laxx" })),
    ],
    [
      "disposition of a file",
      '"attachment" or "inline"',
      () => new FileResponse("a", { filename: "a", disposition: wrong("attachement") }),
    ],
  ])("%s is rejected with the allowed ones", (_option, words, work) => {
    expect(work).toThrow(words);
  });
});

describe("an unknown option", () => {
  it.each(UNKNOWN)(
    "%s is rejected with its place and the option that was probably intended",
    (_what, place, meant, work) => {
      expect(work).toThrow(
        expect.objectContaining({
          name: "ConfigurationError",
          code: "TSGI_UNKNOWN_OPTION",
          message: expect.stringMatching(/^[^"]+ has no option "\w+"\. It has: [\w, ]+\. Did you mean "\w+"\?$/),
        }),
      );
      expect(work).toThrow(`${place} has no option`);
      expect(work).toThrow(`Did you mean "${meant}"?`);
    },
  );

  it.each<[what: string, options: object, message: string]>([
    ["of serve", { prot: 8000 }, 'serve() has no option "prot"'],
    [
      "of its limits",
      { connectionLimits: { headersBytes: 1 } },
      'serve(): connectionLimits has no option "headersBytes"',
    ],
    ["of its timeouts", { timeouts: { headerMs: 1 } }, 'serve(): timeouts has no option "headerMs"'],
  ])("%s is rejected before anything is started", async (_what, options, message) => {
    let started = false;
    const app = new App();
    app.onStartup(() => void (started = true));
    await expect(serve(app, wrong(options))).rejects.toThrow(message);
    expect(started).toBe(false);
  });

  it("of a TestClient is rejected before anything is started", async () => {
    await expect(TestClient.open(new App(), wrong({ header: {} }))).rejects.toThrow(
      'TestClient.open() has no option "header"',
    );
  });

  it("is rejected without a suggestion if no option is similar", () => {
    expect(() => new App().get("/items", wrong({ response_model: {} }), handler)).toThrow(
      /^GET \/items has no option "response_model"\. It has: params, returns, [\w, ]+\.$/,
    );
  });

  it("is rejected if a keyword of a schema is used instead of a schema", () => {
    expect(() => Query(wrong({ minimum: 1 }))).toThrow('Query() has no option "minimum"');
    expect(() => Query(t.Integer({ minimum: 1 }))).not.toThrow();
  });

  it("is also reported in limits", () => {
    expect(() => new App({ limits: wrong({ bodybytes: 1 }) })).toThrow(
      'limits has no option "bodybytes". It has: bodyBytes,',
    );
    expect(() => new App({ limits: wrong({ bodybytes: 1 }) })).toThrow('Did you mean "bodyBytes"?');
  });
});

const VALUES: [message: string, work: () => unknown][] = [
  ['new App(): debug should be true or false, not "false".', () => new App(wrong({ debug: "false" }))],
  ["new App(): title should be a string, not null.", () => new App(wrong({ title: null }))],
  ["new App(): logger should be an object, not a function.", () => new App(wrong({ logger: () => {} }))],
  ['new Router(): prefix should be a string, not ["/users"].', () => new Router(wrong({ prefix: ["/users"] }))],
  [
    "GET /items: pool should be true, false or { endOnDisconnect: true }, not 2.",
    () => new App().get("/items", wrong({ pool: 2 }), handler),
  ],
  [
    'GET /items: pool: endOnDisconnect should be true or false, not "yes".',
    () => new App().get("/items", wrong({ pool: { endOnDisconnect: "yes" } }), handler),
  ],
  ["Query(): alias should be a string, not 5.", () => Query(wrong({ alias: 5 }))],
  ['File(): mediaTypes should be a list, not "image/*".', () => File(wrong({ mediaTypes: "image/*" }))],
  [
    'Depends(): scope should be "app", "function" or "request", not "module".',
    () => Depends(handler, wrong({ scope: "module" })),
  ],
  ["new StaticFiles(): html should be true or false, not 1.", () => new StaticFiles("public", wrong({ html: 1 }))],
  [
    "new HTTPBearer(): autoError should be true, false or a function, not 0.",
    () => new HTTPBearer(wrong({ autoError: 0 })),
  ],
  ["cors(): allowCredentials should be true or false, not a string.", () => cors(wrong({ allowCredentials: LONG }))],
];

const OF_SERVE: [message: string, options: object][] = [
  ["serve(): host should be a string, not 5.", { host: 5 }],
  ['serve(): port should be a whole number from 0 to 65535, not "8000".', { port: "8000" }],
  ["serve(): path should be a string, not null.", { path: null }],
  ['serve(): tls should be an object, not "key".', { tls: "key" }],
  ['serve(): http2 should be true or false, not "on".', { http2: "on" }],
  ["serve(): signals should be true or false, not 0.", { signals: 0 }],
  ["serve(): shutdownTimeoutMs should be milliseconds from 0 on, not -1.", { shutdownTimeoutMs: -1 }],
  ['serve(): trustedProxies should be a list, not "loopback".', { trustedProxies: "loopback" }],
  ['serve(): allowedHosts should be a list, not "a.example".', { allowedHosts: "a.example" }],
  ['serve(): timeouts: headersMs should be milliseconds from 0 on, not "20s".', { timeouts: { headersMs: "20s" } }],
  [
    "serve(): connectionLimits: headerBytes should be a number from 0 on, not NaN.",
    { connectionLimits: { headerBytes: Number.NaN } },
  ],
];

const OF_HANDLER: [message: string, options: object][] = [
  ["toNodeHandler(): logger should be an object, not null.", { logger: null }],
  ["toNodeHandler(): state should be an object, not a list.", { state: LONG.split("") }],
  [
    'toNodeHandler(): allowedOrigins should be a list, not "https://a.example".',
    { allowedOrigins: "https://a.example" },
  ],
];

describe("a value that an option cannot have", () => {
  it.each(OF_SERVE)("is rejected before anything is started: %s", async (message, options) => {
    await expect(serve(new App(), wrong({ port: 0, ...options }))).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "TSGI_INVALID_OPTION",
      message,
    });
  });

  it.each(OF_HANDLER)("is rejected: %s", (message, options) => {
    expect(() => toNodeHandler(new App(), wrong(options))).toThrow(
      expect.objectContaining({ name: "ConfigurationError", code: "TSGI_INVALID_OPTION", message }),
    );
  });

  it.each(VALUES)("is rejected: %s", (message, work) => {
    expect(work).toThrow(expect.objectContaining({ name: "ConfigurationError", code: "TSGI_INVALID_OPTION", message }));
  });
});

describe("options", () => {
  it("have their defaults if they are undefined", async () => {
    const limits = { headerBytes: undefined, connections: undefined };
    const options = { port: 0, host: undefined, signals: undefined, connectionLimits: limits, logger: SILENT };
    await using server = await serve(new App(), options);
    const response = await fetch(`${server.url}/`);
    expect([response.status, new URL(server.url).hostname]).toEqual([404, "127.0.0.1"]);
  });

  it("may have symbols for keys, which come back with the route", () => {
    const ROLES = Symbol("roles");
    const app = new App();
    app.get("/items", { tags: ["items"], [ROLES]: ["admin"] } as RouteOptions, handler);
    expect(app.routes[0]?.metadata).toMatchObject({ tags: ["items"], [ROLES]: ["admin"] });
  });

  it("can be shared with another route and another App", () => {
    const app = new App({ title: "Items", docsUrl: null });
    app.get("/items", { tags: ["items"], summary: "All" }, handler);
    const options = app.routes[0]?.metadata as RouteOptions;
    const other = new App(app.settings);
    other.get("/things", options, handler);
    expect(other.routes[0]?.metadata).toEqual(options);
  });

  it.each<[what: string, options: unknown, message: string]>([
    ["null", null, "new App() takes an object with the options openapiVersion, title"],
    ["text", "Items", "Received a string."],
    ["a list", [], "Received a list."],
  ])("are rejected as %s", (_what, options, message) => {
    expect(() => new App(options as AppOptions)).toThrow(message);
  });
});

describe("a value in place of a handler", () => {
  it("is rejected if it is the promise that an async function returned", () => {
    expect(() => new App().get("/items", handler() as never)).toThrow(
      expect.objectContaining({
        code: "TSGI_HANDLER_NOT_A_FUNCTION",
        message: expect.stringMatching(
          /^GET \/items: the handler should be a function, not a Promise\. Pass the function/,
        ),
      }),
    );
  });

  it.each<[what: string, options: unknown, shown: string]>([
    ["a promise", Promise.resolve({}), "a Promise"],
    ["a list", [], "a list"],
    ["null", null, "null"],
    ["text", "All items", "a string"],
  ])("is rejected after %s in place of the options", (_what, options, shown) => {
    expect(() => new App().get("/items", options as never, handler)).toThrow(
      `GET /items: the options should be an object and the handler a function. Received ${shown}.`,
    );
  });

  it("is rejected as the options of several methods, for which it would not be called", () => {
    expect(() => new App().route("/items", handler as never)).toThrow(
      "route /items: the options should be an object and the handler a function. Received a function.",
    );
  });

  it.each([
    ["text", "GET"],
    ["an empty list", []],
    ["a number", 1],
  ])("is rejected if methods are %s", (_what, methods) => {
    expect(() => new App().route("/items", { methods: methods as never }, handler)).toThrow(
      `/items: \`methods\` should be a list of at least one, such as ["GET", "POST"]. Received ${JSON.stringify(methods)}.`,
    );
  });
});
