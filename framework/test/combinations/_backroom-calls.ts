/** The calls of the back room and of the yard: features that meet in one request. @module */
import {
  ADA,
  adding,
  as,
  BOB,
  CLERK,
  drill,
  error,
  EVENTS,
  type Expected,
  faults,
  json,
  PLAIN,
  row,
  type Row,
  saw,
  streamed,
  whole,
} from "./_calls.js";

/** Set by the guard of the router, on every response that is not an error. */
const MARK = { "x-mark": "1" };
const SEEN = { ...MARK, "set-cookie": "seen=yes; Path=/; SameSite=Lax" };
const marked = (status: number, body: unknown, headers: Expected["headers"] = {}) =>
  json(status, body, { ...SEEN, ...headers });
const drafted = (form: string, headers: Expected["headers"] = {}) => ({
  ...MARK,
  "set-cookie": `seen=yes; Path=/; SameSite=Lax\n${form}; Path=/; SameSite=Lax`,
  ...headers,
});

const plane = { name: "Plane", kind: "hand" };
const missing = (...loc: string[]) => ({ type: "missing", loc, msg: "Field required", input: null });
const TEXT = "text/plain; charset=utf-8";
const FAILED = json(500, { detail: "Internal Server Error" });
const bodyOf = (length: number) => ({ body: new Uint8Array(length) });
const SESSION =
  /^seen=yes; Path=\/; SameSite=Lax\nsession=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/;
const ONE_SESSION = /^session=[\w.-]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Strict$/;
const COOKIE = { vary: "Cookie, Accept-Encoding, Origin" };
const CORS = {
  "access-control-allow-origin": "https://tools.example",
  "access-control-allow-credentials": "true",
  "access-control-expose-headers": "x-error",
};
const HEAD = (expected: Expected): Expected => ({ ...expected, body: "" });

export const backroomRows: readonly Row[] = [
  row(
    "streams what a handler of errors gives",
    "GET /v1/back/leaks/stream",
    {},
    { ...streamed("drip drop", TEXT), status: 503 },
  ),
  row(
    "sends a platform's Response that a handler of errors gives",
    "GET /v1/back/leaks/platform",
    {},
    json(502, { drip: true }, { "x-own": "1", "content-length": null }),
  ),
  row(
    "redirects by a handler of errors",
    "GET /v1/back/leaks/redirect",
    {},
    { status: 303, body: "", headers: { location: "/v1/tools", "content-length": "0" } },
  ),
  row(
    "answers 404 for a file that a handler of errors gives and that is not there",
    "GET /v1/back/leaks/missing",
    {},
    json(404, { detail: "Not Found" }),
    "files",
  ),
  row(
    "answers what a handler of errors throws, by the default handlers",
    "GET /v1/back/leaks/again",
    {},
    json(507, { detail: "The handler fails, too" }),
  ),
  row(
    "sends null with the status of the error for a handler that gives nothing",
    "GET /v1/back/leaks/nothing",
    {},
    json(500, null),
  ),
  row("answers 500 for a handler of errors that fails", "GET /v1/back/leaks/other", {}, FAILED),

  row(
    "adds a draft of a guard and of the handler to JSON",
    "GET /v1/back/draft/json",
    {},
    json(202, { form: "json" }, drafted("draft=json")),
  ),
  row(
    "lets the status and headers of a Response win over the draft",
    "GET /v1/back/draft/response",
    {},
    json(203, { form: "response" }, drafted("draft=response", { "x-own": "1" })),
  ),
  row(
    "adds the cookies of the draft to a platform's Response",
    "GET /v1/back/draft/platform",
    {},
    json(299, { form: "platform" }, drafted("draft=platform", { "content-length": null })),
  ),
  row(
    "adds the cookies of the draft to a stream",
    "GET /v1/back/draft/stream",
    {},
    streamed("ab", TEXT, drafted("draft=stream")),
  ),
  row(
    "adds the cookies of the draft to a page",
    "GET /v1/back/draft/html",
    {},
    whole(200, "<p>", "text/html; charset=utf-8", drafted("draft=html")),
  ),
  row("sends nothing of the draft with an error", "GET /v1/back/draft/error", {}, error("GET", 400, "error")),
  row(
    "takes the draft of a generator as it is at the first item",
    "GET /v1/back/draft-of-items",
    {},
    { ...streamed("1\n2\n", "application/jsonl", { ...PLAIN, "x-first": "yes", ...drafted("items=1") }), status: 206 },
  ),

  row("ends a dependency of the function before the response", "GET /v1/back/counted", {}, marked(200, 3)),
  row(
    "answers with the error of a dependency that fails at its end",
    "GET /v1/back/counted?fail=1",
    {},
    error("GET", 409, "The count is wrong"),
  ),
  row(
    "ends a dependency of a plain handler before its response",
    "GET /v1/back/pooled-counted",
    {},
    marked(200, { count: 3, list: ["1970-01-01T00:00:00.000Z", null, null] }),
  ),
  row(
    "answers with the error of a dependency of a plain handler that fails at its end",
    "GET /v1/back/pooled-counted?fail=true",
    {},
    error("GET", 409, "The count is wrong"),
  ),
  row(
    "calls a plain handler for HEAD, and leaves its body out",
    "HEAD /v1/back/pooled-counted",
    {},
    HEAD(marked(200, { count: 3, list: ["1970-01-01T00:00:00.000Z", null, null] })),
  ),

  row(
    "gives one body to two dependencies and the handler",
    "POST /v1/back/halves",
    { json: { tool: plane, note: "n" } },
    marked(200, ["Plane", "hand", "n"]),
  ),
  row(
    "gives one form to a dependency and the handler",
    "POST /v1/back/forms",
    { form: "name=ada&age=3" },
    marked(200, { loud: "ADA", name: "ada", age: 3 }),
  ),
  row("lets a route allow a larger body than the App", "POST /v1/back/larger", bodyOf(5000), marked(200, 5000)),
  row(
    "bounds a body of chunks by the limit of its route",
    "POST /v1/back/larger",
    { chunks: [new Uint8Array(5000), new Uint8Array(5000)] },
    error("POST", 413, "The body is larger than 8000 bytes"),
  ),
  row(
    "lets a route allow a smaller body than the App",
    "POST /v1/back/smaller",
    { json: "0123456789" },
    error("POST", 413, "The body is larger than 10 bytes"),
  ),
  row(
    "gives a body to a middleware, a parameter and the request",
    "POST /v1/back/read-twice",
    { json: plane },
    marked(200, ["Plane", 30], { "x-body-bytes": "30" }),
  ),
  row(
    "bounds a body by the middleware of the route before its parameters",
    "POST /v1/back/bounded",
    { json: { ...plane, tags: ["a".repeat(40)] } },
    json(413, { detail: "The body is larger than 64 bytes" }),
  ),
  row(
    "takes a body, a dependency and an optional login to the pool",
    "POST /v1/back/pooled",
    adding({ json: plane }, ["authorization", "Bearer token-of-bob"]),
    marked(200, { name: "Plane", tool: { ...plane, tags: [], price: null }, by: "bob" }),
  ),
  row(
    "takes an optional login that is missing to the pool as null",
    "POST /v1/back/pooled",
    { json: plane },
    marked(200, { name: "Plane", tool: { ...plane, tags: [], price: null }, by: null }),
  ),

  row("answers in the time that the route has", "GET /v1/back/slow/0", {}, marked(200, "in time")),
  row(
    "ends a handler that takes longer than its route allows",
    "GET /v1/back/slow/60000",
    {},
    error("GET", 504, "Gateway Timeout"),
  ),
  row("lets a response through the middleware of its route", "GET /v1/back/rewritten/x", {}, marked(200, "x")),
  row(
    "replaces a response by a platform's Response of a middleware",
    "GET /v1/back/rewritten/missing",
    {},
    whole(410, "gone for good", "text/plain;charset=UTF-8", { "x-was": "404", "content-length": null }),
  ),
  row(
    "answers what a middleware throws behind the response, without what the draft had",
    "GET /v1/back/rewritten/x?late",
    {},
    error("GET", 418, "late"),
  ),
  row(
    "leaves out the body of a middleware's response for HEAD",
    "HEAD /v1/back/rewritten/missing",
    {},
    { status: 410, body: "", headers: { "content-type": "text/plain;charset=UTF-8", "x-was": "404" } },
  ),
  row(
    "keeps a session beside the cookies of a draft",
    "GET /v1/back/session",
    {},
    json(200, "kept", { ...MARK, ...COOKIE, "set-cookie": SESSION }),
  ),
  row(
    "keeps a session with an error",
    "GET /v1/back/session?fail=on",
    {},
    error("GET", 409, "but the session is kept", { ...COOKIE, "set-cookie": ONE_SESSION }),
  ),
  row(
    "keeps a session for HEAD",
    "HEAD /v1/back/session",
    {},
    HEAD(json(200, "kept", { ...MARK, ...COOKIE, "set-cookie": SESSION })),
  ),

  row(
    "reads parameters with the names of every object's properties",
    "GET /v1/back/proto?__proto__=x",
    {
      headers: [
        ["cookie", "constructor=c"],
        ["to-string", "t"],
      ],
    },
    marked(200, { own: "x", made: "c", to: "t" }),
  ),
  row(
    "takes a required login, an optional one that is missing, and a ticket",
    "GET /v1/back/both-ways?ticket=t",
    BOB,
    marked(200, ["bob", null, "t"]),
  ),
  row(
    "refuses a request that has the optional login of two, and not the required one",
    "GET /v1/back/both-ways",
    CLERK,
    error("GET", 401, "Not authenticated", { "www-authenticate": "Bearer" }),
  ),
  row(
    "includes a router in two places, the second behind a login",
    "GET /v1/back/locked/shelf/3",
    ADA,
    marked(200, 3, { "x-served-by": /^shelf(?:, |\n)lock$/ }),
  ),
  row(
    "guards only the second place of a router that is included twice",
    "GET /v1/back/shelf/3",
    {},
    marked(200, 3, { "x-served-by": "shelf" }),
  ),
  row(
    "refuses the second place of a router without the scope",
    "GET /v1/back/locked/shelf/3",
    BOB,
    error("GET", 403, "Not enough permissions", {
      "x-served-by": /^shelf(?:, |\n)lock$/,
      "www-authenticate": 'Bearer error="insufficient_scope", scope="desk"',
    }),
  ),

  row("sends null for a handler that gives nothing", "GET /v1/back/nothing", {}, marked(200, null)),
  row(
    "sends no body with a 204, whatever the handler gives",
    "GET /v1/back/status/204",
    {},
    { status: 204, body: "", headers: { ...SEEN, ...PLAIN } },
  ),
  row(
    "sends no body with a 205",
    "GET /v1/back/status/205",
    {},
    { status: 205, body: "", headers: { ...SEEN, ...PLAIN } },
  ),
  row("answers 500 for a result that JSON cannot write", "GET /v1/back/big", {}, FAILED),
  row("answers 500 for a result that contains itself", "GET /v1/back/circle", {}, FAILED),
  row(
    "lets a page of its own read an error that nobody expects",
    "GET /v1/loans/pots/thrown",
    { headers: [["origin", "https://tools.example"]] },
    json(500, { detail: "Internal Server Error" }, { "x-served-by": "loans", ...CORS }),
  ),

  row(
    "mounts an application on the protocol itself in a router",
    "GET /v1/yard/clock/time/UTC",
    {},
    whole(200, "/v1/yard/clock 12:00 UTC", "text/plain", {
      "x-clock": "1",
      "x-segments": "2",
      "x-served-by": "yard/v1/yard/clock",
      "content-length": null,
    }),
  ),
  row(
    "keeps the cookies of a mounted fetch handler apart",
    "GET /v1/yard/fetched/a%20b/c",
    { headers: [["x-a", "b"]] },
    json(
      200,
      { url: "/v1/yard/fetched/a%20b/c", a: "b" },
      { "set-cookie": "a=1\nb=2", "x-served-by": "yard/v1/yard/fetched", "content-length": null },
    ),
  ),
  row(
    "answers HEAD by a mounted fetch handler",
    "HEAD /v1/yard/fetched/x",
    {},
    {
      status: 200,
      body: "",
      headers: { "content-type": "application/json", "set-cookie": "a=1\nb=2", "x-served-by": "yard/v1/yard/fetched" },
    },
  ),

  row(
    "drops empty segments of a path before it looks for a route",
    "GET /v1//tools//1",
    {},
    json(200, drill, { "x-served-by": "tools", "x-visitor": "nobody" }),
  ),
  row(
    "finds a route whose path is written in escapes",
    "GET /v1/%74ools/1",
    {},
    json(200, drill, { "x-served-by": "tools", "x-visitor": "nobody" }),
  ),
  row(
    "refuses a path that is not UTF-8",
    "GET /v1/tools/%ff",
    {},
    error("GET", 400, "The path is not valid percent-encoded UTF-8"),
  ),
  row(
    "answers HEAD for a stream of events",
    "HEAD /v1/feeds/loans",
    {},
    { status: 200, body: "", headers: { ...EVENTS, "content-type": "text/event-stream" } },
  ),
  row("answers HEAD by the pool", "HEAD /v1/reports/newest?kind=hand", {}, HEAD(json(200, saw))),
  row(
    "leaves out the body of a 401 for HEAD",
    "HEAD /v1/who/oauth2",
    {},
    HEAD(error("HEAD", 401, "Not authenticated", { "www-authenticate": "Bearer" })),
  ),
  row("leaves out the body of a 404 for HEAD", "HEAD /v1/nothing", {}, HEAD(error("HEAD", 404, "Not Found"))),
  row(
    "takes the last of two members of a body, and none called __proto__",
    "POST /v1/tools",
    adding({ text: '{"name":"P","name":"Q","kind":"hand","__proto__":{"x":1}}' }, [
      "authorization",
      "Bearer token-of-bob",
    ]),
    json(
      201,
      { id: 4, name: "Q", kind: "hand", tags: [], price: null, added: drill.added },
      { "x-served-by": "tools", "x-body-bytes": "57", location: "/v1/tools/4" },
    ),
    "memory",
  ),
  row(
    "misses a body that is empty",
    "POST /v1/tools",
    adding({ text: "" }, ["authorization", "Bearer token-of-bob"]),
    faults([missing("body")], { "x-served-by": "tools", "x-body-bytes": "0" }),
  ),
  row(
    "refuses a form where it reads JSON",
    "POST /v1/tools",
    adding({ form: "name=a&kind=hand" }, ["authorization", "Bearer token-of-bob"]),
    faults(
      [
        {
          type: "content_type",
          loc: ["body"],
          msg: "Content-Type should be application/json",
          input: "application/x-www-form-urlencoded",
        },
      ],
      { "x-served-by": "tools", "x-body-bytes": "16" },
    ),
  ),
  row(
    "refuses JSON where it reads a form",
    "POST /v1/photos/contact",
    { json: { name: "a" } },
    faults([
      {
        type: "content_type",
        loc: ["form"],
        msg: "Content-Type should be application/x-www-form-urlencoded or multipart/form-data",
        input: "application/json",
      },
    ]),
  ),
  row(
    "refuses two words of credentials in one header",
    "GET /v1/who/bearer",
    as("Bearer a, Bearer b"),
    error("GET", 401, "Not authenticated", { "www-authenticate": "Bearer" }),
  ),
  row(
    "serves the same handler for the other method",
    "GET /v1/tools/7/status",
    {},
    json(200, { tool_id: 7, method: "GET" }, { "x-served-by": "tools" }),
  ),
  row("answers 500 for an error of a class that no worker knows", "GET /v1/reports/lost", {}, FAILED, "workers"),
  row("sends text of its own encoding", "GET /v1/back/text", {}, whole(200, "ü", TEXT, SEEN)),
  row(
    "lets a middleware of the route answer before the guards",
    "GET /v1/back/text?closed",
    {},
    whole(503, "Closed", TEXT),
  ),
  row("serves a route of several methods by GET", "GET /v1/kiosk/help", {}, json(200, true)),
  row("reads by the App's own verb", "GET /switch", {}, json(200, "off"), "memory"),
  row("creates by the App's own verb", "POST /switch", {}, json(200, "on"), "memory"),
  row("changes by the App's own verb", "PATCH /switch", {}, json(200, "dimmed"), "memory"),
  row("answers HEAD by a route that a helper has registered", "HEAD /v1/kiosk/closed", {}, HEAD(json(200, null))),
];
