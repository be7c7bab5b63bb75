/** The parsers that a request reaches: middleware, parameters, responses that depend on a header, and packages. @module */
import { toLambda } from "@tsgi/lambda";
import { prometheus } from "@tsgi/metrics";
import { JWTBearer } from "@tsgi/oauth";
import {
  App,
  Body,
  Cookie,
  Depends,
  FileResponse,
  Form,
  Header,
  lastEventId,
  type Middleware,
  type Params,
  Query,
  Request,
  StaticFiles,
  t,
} from "tsgi";
import * as layers from "tsgi/middleware";
import { Page } from "tsgi/pagination";
import { HTTPBasic, HTTPBearer, OAuth2PasswordRequestForm } from "tsgi/security";
import { call, type Sent } from "../support/call.js";
import { KeptLog } from "../support/kept-log.js";
import type { Parser } from "./_functions.js";

type Frames = Parser["frames"];

const SECRET = "0123456789abcdef0123456789abcdef";

const silent = (options: ConstructorParameters<typeof App>[0] = {}) => new App({ logger: new KeptLog(), ...options });

/** An App whose route at any path of one segment has these params. */
function routed(params: Params, options: ConstructorParameters<typeof App>[0] = {}): App {
  const app = silent(options);
  const handler = async () => "a";
  app.get("/", { params, etag: true }, handler);
  app.post("/", { params }, handler);
  app.get("/{segment}", handler);
  return app;
}

interface Place {
  readonly method?: string;
  readonly frames?: Frames;
  readonly headers?: Sent["headers"];
}

/** The text is the value of a header. */
function inHeader(header: string, of: string, app: App, { method = "GET", frames, headers = [] }: Place = {}): Parser {
  return {
    name: `the header ${header}, ${of}`,
    parse: (text) => call(app, method, "/", { headers: [["host", "a"], ...headers, [header, text]] }),
    ...(frames && { frames }),
  };
}

const behind = (...middleware: readonly Middleware[]) => routed({}, { middleware });
const write = () => {};
const log = routed(
  {},
  {
    middleware: [layers.requestId({ trustIncoming: true })],
    instrumentation: [layers.logContext(), layers.serverTiming(), layers.accessLog({ format: "combined", write })],
  },
);
const cors = behind(layers.cors({ allowOrigins: [/https:\/\/[a-z]+\.example\.com/], allowHeaders: ["x-a"] }));
const LIST: Frames = [
  ["", ""],
  ["a;q=", ""],
  ["a,", ",b"],
];
const TAGS: Frames = [
  ["", ""],
  ['"', '"'],
  ['"b",', ""],
];
const SIGNED: Frames = [
  ["", ""],
  ["__Host-session=", ""],
  ["__Host-session=a.", ""],
];

const MIDDLEWARE: readonly Parser[] = [
  ...["traceparent", "x-request-id", "user-agent", "referer"].map((name) => inHeader(name, "to logs", log)),
  inHeader("origin", "to cors", cors),
  inHeader("access-control-request-headers", "to cors", cors, {
    method: "OPTIONS",
    headers: [
      ["origin", "https://a.example.com"],
      ["access-control-request-method", "GET"],
    ],
  }),
  inHeader("origin", "to csrf", behind(layers.csrf({ trustedOrigins: ["https://example.com"] })), {
    method: "POST",
    frames: [
      ["", ""],
      ["https://", ""],
    ],
  }),
  inHeader("host", "to trustedHost", behind(layers.trustedHost({ allowedHosts: ["*.example.com"] }))),
  inHeader("host", "to httpsRedirect", behind(layers.httpsRedirect())),
  inHeader("accept-encoding", "to compress", behind(layers.compress({ minimumSize: 0 })), { frames: LIST }),
  inHeader("cookie", "to sessions", behind(layers.sessions({ secret: SECRET })), { frames: SIGNED }),
  inHeader("cookie", "to stored sessions", behind(layers.sessions({ store: layers.memoryStore() })), {
    frames: SIGNED,
  }),
  inHeader("idempotency-key", "to idempotency", behind(layers.idempotency({ store: layers.memoryStore() })), {
    method: "POST",
  }),
  inHeader("accept-language", "to translate", routed({ n: Query(t.Integer()) }, { translate: () => undefined }), {
    frames: LIST,
  }),
  {
    name: "an address, to rateLimit",
    parse: layers.clientNetwork,
    frames: [
      ["", ""],
      ["::", ""],
      ["fe80::1%", ""],
    ],
  },
];

const CREDENTIALS: Frames = [
  ["", ""],
  ["Bearer ", ""],
  ["Basic ", ""],
  ["Bearer a.", ".b"],
];
const jwt = new JWTBearer({ issuer: "https://login.example.com", audience: "https://api.example.com" });
const files = silent();
files.get("/", async () => new FileResponse(import.meta.filename));
const folder = silent();
folder.mount("/", new StaticFiles(import.meta.dirname, { html: true }));
const events = silent();
events.get("/", { params: { request: Request } }, async ({ request }) => lastEventId(request));

const HEADERS: readonly Parser[] = [
  inHeader("authorization", "to HTTPBasic", routed({ user: Depends(new HTTPBasic()) }), { frames: CREDENTIALS }),
  inHeader("authorization", "to HTTPBearer", routed({ user: Depends(new HTTPBearer()) }), { frames: CREDENTIALS }),
  inHeader("authorization", "to JWTBearer", routed({ user: Depends(jwt) }), { frames: CREDENTIALS }),
  inHeader("if-none-match", "to a tagged result", routed({}), { frames: TAGS }),
  inHeader("if-match", "to a file", files, { frames: TAGS }),
  inHeader("if-modified-since", "to a file", files),
  inHeader("if-range", "to a file", files, { headers: [["range", "bytes=0-1"]] }),
  inHeader("range", "to a file", files, {
    frames: [
      ["", ""],
      ["bytes=", ""],
      ["bytes=0-", ""],
      ["bytes=0-1,", ",2-3"],
    ],
  }),
  inHeader("accept-encoding", "to a folder", folder, { frames: LIST }),
  inHeader("last-event-id", "to a stream", events),
  { ...inHeader("x-a", "to a parameter", routed({ "x-a": Header(t.Array(t.Integer())) })), constant: 20_000 },
  inHeader("cookie", "to a parameter", routed({ a: Cookie(t.Integer()) }), {
    frames: [
      ["", ""],
      ["a=", ""],
    ],
  }),
  inHeader("content-type", "of a body", routed({ a: Body(t.Unknown()) }), {
    method: "POST",
    frames: [
      ["", ""],
      ["application/json;", ""],
      ["multipart/form-data; boundary=", ""],
      ['a/b; c="', '"'],
    ],
  }),
];

/** The text is part of the target or the body. */
function sending(name: string, app: App, [method, send]: readonly [string, (text: string) => [string, Sent]]): Parser {
  return { name, parse: (text) => call(app, method, ...send(text)) };
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
const pages = silent();
const { page, returns } = Page(t.Integer(), { cursor: t.Object({ id: t.Integer() }) });
pages.get("/", { params: { page }, returns }, async ({ page: asked }) => asked.of<number>([], (id) => ({ id })));

const form = (type: string) => [["content-type", type] as const];
const part = (text: string) => `--b\r\ncontent-disposition: form-data; name=a\r\n\r\n${text}\r\n--b--\r\n`;

const CONTENT: readonly Parser[] = [
  sending("a path", routed({}), ["GET", (text) => [`/${text.replaceAll("?", "/")}`, {}]]),
  sending("an encoded path", routed({}), ["GET", (text) => [`/${encoded(text)}`, {}]]),
  sending("a path of files", folder, ["GET", (text) => [`/${text.replaceAll("?", "/")}`, {}]]),
  sending("a query", routed({ a: Query(t.Array(t.Integer())) }), ["GET", (text) => [`/?${text}`, {}]]),
  sending("a value of a query", routed({ a: Query(t.Integer()) }), ["GET", (text) => [`/?a=${text}`, {}]]),
  sending("a cursor", pages, ["GET", (text) => [`/?cursor=${encoded(text)}`, {}]]),
  sending("a form", routed({ a: Form(t.Array(t.Integer())) }), ["POST", (text) => ["/", { form: text }]]),
  sending("a login", routed({ login: Depends(OAuth2PasswordRequestForm) }), [
    "POST",
    (text) => ["/", { form: `username=a&password=b&scope=${encoded(text)}` }],
  ]),
  sending("the content of a part", routed({ a: Form() }), [
    "POST",
    (text) => ["/", { body: Buffer.from(part(text)), headers: form("multipart/form-data; boundary=b") }],
  ]),
  sending("a multipart body", routed({ a: Form() }), [
    "POST",
    (text) => ["/", { body: Buffer.from(`--b${text}`), headers: form("multipart/form-data; boundary=b") }],
  ]),
  sending("JSON", routed({ a: Body(t.Object({ b: t.Integer() }, { additionalProperties: false })) }), [
    "POST",
    (text) => ["/", { json: { [text]: 1 } }],
  ]),
  sending("text for JSON", routed({ a: Body(t.Unknown()) }), ["POST", (text) => ["/", { text }]]),
];

const metrics = silent();
metrics.includeRouter(prometheus().router("/", { privateOnly: true }));

const lambda = toLambda(routed({}), { logger: new KeptLog() });
const inLambda = (name: string, frames?: Frames): Parser => ({
  name: `the header ${name}, of Lambda`,
  parse: (text) =>
    lambda(
      {
        httpMethod: "GET",
        path: "/",
        requestContext: { elb: {} },
        headers: { host: "a", "x-forwarded-for": "192.0.2.1", "x-forwarded-proto": "https", [name]: text },
      },
      {},
    ),
  ...(frames && { frames }),
});

const PACKAGES: readonly Parser[] = [
  inHeader("x-forwarded-for", "to metrics", metrics, {
    frames: [
      ["", ""],
      ["[", "]"],
    ],
  }),
  inLambda("host", [
    ["", ""],
    ["[", "]"],
    ["a:", ""],
  ]),
  inLambda("x-forwarded-for", [
    ["", ""],
    ["[", "]:1"],
  ]),
  inLambda("cookie"),
];

/** Every request. */
export const REQUESTS: readonly Parser[] = [...MIDDLEWARE, ...HEADERS, ...CONTENT, ...PACKAGES];
