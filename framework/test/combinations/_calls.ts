/** The calls of the tool library: each request with its whole response, on any server. @module */
import type { Answer, Sent } from "../support/call.js";

/** A part of a platform that a row needs; a driver may lack it. */
export type Need =
  /** The method TRACE, which Fetch §2.2.1 forbids. */
  | "trace"
  /** The address of the client, which no platform's `Request` has. */
  | "client"
  /** Two header lines of one name where RFC 9110 knows one: Node's client of HTTP/2 refuses to send them. */
  | "twice"
  /** The process and the settings of this test. */
  | "process"
  /** Workers for plain handlers. */
  | "workers"
  /** Files on the disk. */
  | "files"
  /** Memory that later requests find: two workers have two. */
  | "memory"
  /** Names of functions, which minified code has lost. */
  | "names"
  /** A hash of passwords, whose native part no bundle holds. */
  | "passwords";

/** The response of a row. */
export interface Expected {
  readonly status: number;
  /** In addition to the headers of every response; `null` for a header that is missing here. */
  readonly headers?: Readonly<Record<string, string | RegExp | null>>;
  /** JSON as a value, text as a string, other bytes as a list of numbers. */
  readonly body: unknown;
}

export interface Row {
  /** A sentence. */
  readonly title: string;
  readonly method: string;
  readonly target: string;
  readonly sent: Sent;
  readonly expected: Expected;
  readonly needs: readonly Need[];
}

/** Sends one request to the library. */
export type Send = (method: string, target: string, sent?: Sent) => Promise<Answer>;

/** The headers that the middleware of the App adds to every response. */
export const EVERYWHERE = {
  "content-security-policy": "frame-ancestors 'self'",
  "permissions-policy": "camera=()",
  "referrer-policy": "strict-origin-when-cross-origin",
  vary: "Accept-Encoding, Origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "x-request-id": "made-here",
} as const;

/** A row by its title, its request line and what it sends. */
export const row = (title: string, request: string, sent: Sent, expected: Expected, ...needs: Need[]): Row => {
  const [method = "", target = ""] = request.split(" ");
  return { title, method, target, sent, expected, needs };
};

/** A whole response of JSON. */
export function json(status: number, body: unknown, headers: Expected["headers"] = {}): Expected {
  const length = String(Buffer.byteLength(JSON.stringify(body)));
  return { status, body, headers: { "content-type": "application/json", "content-length": length, ...headers } };
}

/** A whole response of text or bytes. */
export function whole(
  status: number,
  body: string | readonly number[],
  type: string | null,
  headers: Expected["headers"] = {},
): Expected {
  const length = String(typeof body === "string" ? Buffer.byteLength(body) : body.length);
  return { status, body, headers: { "content-type": type, "content-length": length, ...headers } };
}

/** A stream with an unknown length. */
export function streamed(body: string | readonly number[], type: string, headers: Expected["headers"] = {}): Expected {
  return { status: 200, body, headers: { "content-type": type, ...headers } };
}

/** A response of `HTTPException`, by the App's own handler. */
export function error(method: string, status: number, detail: unknown, headers: Expected["headers"] = {}): Expected {
  return json(status, { detail }, { "x-error": `${status} ${method}`, ...headers });
}

interface FaultText {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: unknown;
}

export function faults(list: readonly FaultText[], headers: Expected["headers"] = {}): Expected {
  return json(422, { detail: list }, { "x-faults": list.map(({ loc }) => loc.join(".")).join(" "), ...headers });
}

export const as = (value: string, ...others: [string, string][]): Sent => ({
  headers: [["authorization", value], ...others],
});
export const ADA = as("Bearer token-of-ada");
export const BOB = as("Bearer token-of-bob");
const basic = (name: string, password: string) => as(`Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`);
export const CLERK = basic("ada", "password-of-ada");

const TOOLS = { "x-served-by": "tools" };
const LOANS = { "x-served-by": "loans" };
const added = "2026-01-02T03:04:05.000Z";
export const drill = { id: 1, name: "Drill", kind: "power", tags: ["wood", "metal"], price: 4.5, added };
export const saw = { id: 2, name: "Saw", kind: "hand", tags: ["wood"], price: null, added };
const ladder = { id: 3, name: "Ladder", kind: "hand", tags: [], price: 2, added };
const NO_STORE = { "cache-control": "no-store" };
/** Content that is never compressed. */
export const PLAIN = { vary: "Origin" };
export const EVENTS = { ...PLAIN, ...NO_STORE, "x-accel-buffering": "no" };
/** A response of the outermost middleware. */
const NOWHERE = Object.fromEntries(Object.keys(EVERYWHERE).map((name) => [name, null]));
const LINES = [drill, saw, ladder].map((tool) => `${JSON.stringify(tool)}\n`).join("");

/** A multipart body: fields as texts, files with a name and a type. */
export function multipart(
  ...parts: (readonly [name: string, value: string] | readonly [name: string, file: File])[]
): Sent {
  const chunks = parts.flatMap(([name, value]) => {
    const isText = typeof value === "string";
    const about = isText ? "" : `; filename="${value.name}"\r\nContent-Type: ${value.type}`;
    return [
      Buffer.from(`--AaB03x\r\nContent-Disposition: form-data; name="${name}"${about}\r\n\r\n`),
      isText ? Buffer.from(value) : value.content,
      Buffer.from("\r\n"),
    ];
  });
  const body = Buffer.concat([...chunks, Buffer.from("--AaB03x--\r\n")]);
  return { body, headers: [["content-type", "multipart/form-data; boundary=AaB03x"]] };
}

interface File {
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

const png = (name: string, ...content: number[]): File => ({
  name,
  type: "image/png",
  content: Uint8Array.from(content),
});
export const adding = (sent: Sent, ...headers: [string, string][]): Sent => ({
  ...sent,
  headers: [...(sent.headers ?? []), ...headers],
});

const ofTools: Row[] = [
  row(
    "lists a page with a cursor and a link to the next one",
    "GET /v1/tools",
    {},
    json(200, { items: [drill, saw], next: "eyJpZCI6Mn0" }, { ...TOOLS, link: '<?cursor=eyJpZCI6Mn0>; rel="next"' }),
  ),
  row(
    "lists the last page without a link",
    "GET /v1/tools?cursor=eyJpZCI6Mn0",
    {},
    json(200, { items: [ladder], next: null }, TOOLS),
  ),
  row(
    "refuses a cursor that it did not make",
    "GET /v1/tools?cursor=x",
    {},
    faults(
      [{ type: "value_error", loc: ["query", "cursor"], msg: "Input should be the cursor of a page", input: "x" }],
      TOOLS,
    ),
  ),
  row(
    "counts all items of a page by offset",
    "GET /v1/tools/by-offset?offset=1&limit=1",
    {},
    json(200, { items: [saw], total: 3, limit: 1, offset: 1 }, { ...TOOLS, link: /rel="next"/ }),
  ),
  row(
    "prefers a static segment to a parameter",
    "GET /v1/tools/search?search-text=dr&tags=wood&tags=metal&kind=power&free=yes",
    {},
    json(200, { count: 1, items: [{ id: 1, name: "Drill" }] }, TOOLS),
  ),
  row(
    "lists all faults of a query at once",
    "GET /v1/tools/search?search-text=d&kind=x&since=now&limit=0&free=maybe",
    {},
    faults(
      [
        {
          type: "string_too_short",
          loc: ["query", "search-text"],
          msg: "String should have at least 2 characters",
          input: "d",
        },
        { type: "enum", loc: ["query", "kind"], msg: "Input should be 'hand' or 'power'", input: "x" },
        {
          type: "datetime_parsing",
          loc: ["query", "since"],
          msg: "Input should be an RFC 3339 date-time with an offset",
          input: "now",
        },
        {
          type: "greater_than_equal",
          loc: ["query", "limit"],
          msg: "Input should be greater than or equal to 1",
          input: 0,
        },
        { type: "bool_parsing", loc: ["query", "free"], msg: "Input should be a valid boolean", input: "maybe" },
      ],
      TOOLS,
    ),
  ),
  row(
    "reads objects from the query, the headers and the cookies",
    "GET /v1/tools/filter?kind=hand",
    {
      headers: [
        ["x-size", "4"],
        ["cookie", "a=b%20c; n=7"],
      ],
    },
    json(
      200,
      {
        filter: { kind: "hand", max_price: 10 },
        wanted: { "x-color": "any", "x-size": 4 },
        cookies: { a: "b c", n: 7 },
      },
      TOOLS,
    ),
  ),
  row(
    "refuses a name that an object of the query lacks",
    "GET /v1/tools/filter?color=red",
    {},
    faults([{ type: "extra_forbidden", loc: ["query", "color"], msg: "Extra inputs are not permitted" }], TOOLS),
  ),
  row(
    "serves anonymous visitors where credentials are optional",
    "GET /v1/tools/1",
    {},
    json(200, drill, { ...TOOLS, "x-visitor": "nobody" }),
  ),
  row(
    "knows a visitor by optional credentials",
    "GET /v1/tools/1",
    as("tOKEN token-of-ada"),
    json(200, drill, { ...TOOLS, "x-visitor": "ada" }),
  ),
  row(
    "refuses optional credentials that nobody has",
    "GET /v1/tools/1",
    as("Token x"),
    error("GET", 401, "Unknown credentials", { ...TOOLS, "www-authenticate": "Token" }),
  ),
  row(
    "authenticates before it looks for the tool",
    "GET /v1/tools/99",
    as("Token"),
    error("GET", 401, "Not authenticated", { ...TOOLS, "www-authenticate": "Token" }),
  ),
  row(
    "ignores credentials of another scheme where they are optional",
    "GET /v1/tools/1",
    ADA,
    json(200, drill, { ...TOOLS, "x-visitor": "nobody" }),
  ),
  row(
    "answers 404 inside the middleware of the router",
    "GET /v1/tools/99",
    {},
    error("GET", 404, "There is no tool 99", { ...TOOLS, ...NO_STORE }),
  ),
  row(
    "answers 422 for a path that does not fit",
    "GET /v1/tools/abc",
    {},
    faults(
      [{ type: "int_parsing", loc: ["path", "tool_id"], msg: "Input should be a valid integer", input: "abc" }],
      TOOLS,
    ),
  ),
  row(
    "answers HEAD with the head of GET",
    "HEAD /v1/tools/1",
    {},
    { status: 200, body: "", headers: { ...json(200, drill).headers, ...TOOLS, "x-visitor": "nobody" } },
  ),
  row(
    "answers 405 with the methods of all routes of a path",
    "DELETE /v1/tools",
    {},
    error("DELETE", 405, "Method Not Allowed", { allow: "GET, HEAD, OPTIONS, POST" }),
  ),
  row(
    "answers 404 outside the middleware of routers if no route matches",
    "GET /v1/nothing",
    {},
    error("GET", 404, "Not Found"),
  ),
  row(
    "lets middleware of a router answer without the route",
    "GET /v1/tools?closed",
    {},
    whole(503, "Closed", "text/plain; charset=utf-8"),
  ),
  row(
    "adds a tool: status and headers of the draft, scopes, a body that middleware has read",
    "POST /v1/tools",
    adding({ json: { name: "Plane", kind: "hand", x: 1 } }, ["authorization", "Bearer token-of-bob"]),
    json(
      201,
      { id: 4, name: "Plane", kind: "hand", tags: [], price: null, added },
      { ...TOOLS, location: "/v1/tools/4", "x-body-bytes": "36" },
    ),
    "memory",
  ),
  row(
    "asks for credentials before it reads a body that does not fit",
    "POST /v1/tools",
    { json: { name: "" } },
    error("POST", 401, "Not authenticated", { ...TOOLS, "www-authenticate": "Bearer", "x-body-bytes": "11" }),
  ),
  row(
    "refuses an exception after a change, with nothing of the draft",
    "POST /v1/tools",
    adding({ json: { name: "Saw", kind: "hand", tags: ["refused"] } }, ["authorization", "Bearer token-of-bob"]),
    error("POST", 409, "We have enough of these", { ...TOOLS, "x-body-bytes": /\d+/ }),
    "memory",
  ),
  row(
    "lists the faults of a body by their places",
    "POST /v1/tools",
    adding({ json: { name: "", kind: "x", tags: [1], price: -1 } }, ["authorization", "Bearer token-of-bob"]),
    faults(
      [
        { type: "string_too_short", loc: ["body", "name"], msg: "String should have at least 1 character", input: "" },
        { type: "enum", loc: ["body", "kind"], msg: "Input should be 'hand' or 'power'", input: "x" },
        { type: "string_type", loc: ["body", "tags", 0], msg: "Input should be a valid string", input: 1 },
        {
          type: "greater_than_equal",
          loc: ["body", "price"],
          msg: "Input should be greater than or equal to 0",
          input: -1,
        },
      ],
      { ...TOOLS, "x-body-bytes": "44" },
    ),
  ),
  row(
    "refuses a body beyond the limit of the App",
    "POST /v1/tools/categories",
    { json: { name: "a".repeat(5000) } },
    error("POST", 413, "The body is larger than 4096 bytes", TOOLS),
  ),
  row(
    "refuses JSON that is nested deeper than the limit of the App",
    "POST /v1/tools/categories",
    { text: `${"[".repeat(11)}${"]".repeat(11)}` },
    faults([{ type: "json_invalid", loc: ["body"], msg: "JSON should be nested at most 10 levels deep" }], TOOLS),
  ),
  row(
    "replaces a tool that a dependency has found",
    "PUT /v1/tools/3",
    { json: { name: "Step", kind: "hand", tags: ["a"], price: 1 } },
    json(200, { ...ladder, name: "Step", tags: ["a"], price: 1 }, TOOLS),
    "memory",
  ),
  row(
    "takes two members of a body, and cuts the result",
    "PATCH /v1/tools/2",
    { json: { name: "Fretsaw" } },
    json(200, { id: 2, name: "Fretsaw", kind: "hand", tags: [], added, was: "Saw" }, TOOLS),
  ),
  row(
    "takes one member of a body that is embedded",
    "PUT /v1/tools/1/price",
    { json: { price: 3 } },
    json(200, 3, TOOLS),
  ),
  row(
    "removes a tool for those who have the scope",
    "DELETE /v1/tools/2",
    ADA,
    {
      status: 204,
      body: "",
      headers: { ...TOOLS, ...PLAIN },
    },
    "memory",
  ),
  row(
    "refuses to remove a tool without the scope",
    "DELETE /v1/tools/2",
    BOB,
    error("DELETE", 403, "Not enough permissions", {
      ...TOOLS,
      "www-authenticate": 'Bearer error="insufficient_scope", scope="desk"',
    }),
  ),
  row(
    "sends the member of a union that fits, and nothing that it does not name",
    "GET /v1/tools/1/availability",
    {},
    json(200, { state: "borrowed", by: "bob", until: added }, TOOLS),
  ),
  row("sends the other member of the union", "GET /v1/tools/2/availability", {}, json(200, { state: "free" }, TOOLS)),
  row(
    "checks, converts and cuts by a schema of Zod",
    "POST /v1/tools/1/reviews",
    { json: { stars: 5, text: " good ", by: { name: "ada" }, x: 1 } },
    json(201, { stars: 5, text: "good", by: { name: "ada" } }, TOOLS),
  ),
  row(
    "lists the issues of Zod",
    "POST /v1/tools/1/reviews",
    { json: { stars: 6, by: {} } },
    faults(
      [
        { type: "value_error", loc: ["body", "stars"], msg: "Too big: expected number to be <=5", input: 6 },
        {
          type: "missing",
          loc: ["body", "by", "name"],
          msg: "Invalid input: expected string, received undefined",
          input: null,
        },
      ],
      TOOLS,
    ),
  ),
  row(
    "fills in defaults by a schema of Valibot",
    "POST /v1/tools/1/notes",
    { json: { text: "rusty" } },
    json(200, { text: "rusty", pinned: false }, TOOLS),
  ),
  row("converts a path by a transform", "GET /v1/tools/places/3,14", {}, json(200, { row: 3, shelf: 14 }, TOOLS)),
  row(
    "reads a schema that contains itself",
    "POST /v1/tools/categories",
    { json: { name: "a", parts: [{ name: "b", x: 1 }] } },
    json(200, { name: "a", parts: [{ name: "b", parts: [] }] }, TOOLS),
  ),
  row(
    "serves one handler for two methods",
    "PUT /v1/tools/7/status",
    {},
    json(200, { tool_id: 7, method: "PUT" }, TOOLS),
  ),
  row(
    "answers OPTIONS by its own route if it is not a preflight",
    "OPTIONS /v1/tools",
    {},
    { status: 200, body: "", headers: { ...TOOLS, allow: "GET, POST", "content-length": "0" } },
  ),
  row(
    "answers a preflight before the routes",
    "OPTIONS /v1/tools",
    {
      headers: [
        ["origin", "https://tools.example"],
        ["access-control-request-method", "DELETE"],
        ["access-control-request-headers", "x-desk-key"],
      ],
    },
    {
      status: 204,
      body: "",
      headers: {
        "access-control-allow-credentials": "true",
        "access-control-allow-headers": "Accept, Accept-Language, Content-Language, Content-Type, x-desk-key",
        "access-control-allow-methods": "GET, HEAD, PUT, PATCH, POST, DELETE",
        "access-control-allow-origin": "https://tools.example",
        "access-control-max-age": "600",
        vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Access-Control-Request-Private-Network",
      },
    },
  ),
  row(
    "answers HEAD by a route of its own",
    "HEAD /v1/tools/stock/count",
    {},
    { status: 200, body: "", headers: { ...TOOLS, "x-count": "3", "content-length": "0" } },
  ),
  row("answers TRACE by a route of its own", "TRACE /v1/tools/echo/hello", {}, json(200, "hello", TOOLS), "trace"),
  row(
    "calls a handler that was registered as a decorator",
    "GET /v1/tools/decorated/ab?times=2",
    {},
    json(200, "abab", TOOLS),
  ),
  row("keeps an encoded slash inside its segment", "GET /v1/tools/decorated/a%2Fb", {}, json(200, "a/b", TOOLS)),
];

const ofLoans: Row[] = [
  row(
    "lends a tool, and goes on after a background task that fails",
    "POST /v1/loans/1?days=2",
    BOB,
    json(201, { id: 1, tool: drill, by: "bob", until: "2026-01-04T03:04:05.000Z" }, LOANS),
    "memory",
  ),
  row(
    "asks the route's handler for a class before the App's for its parent",
    "POST /v1/loans/3",
    BOB,
    whole(423, "Repair the Ladder first", "text/plain; charset=utf-8", LOANS),
  ),
  row(
    "lists a fault of the query beside credentials that fit",
    "POST /v1/loans/1?days=15&callback_url=x",
    BOB,
    faults(
      [
        { type: "less_than_equal", loc: ["query", "days"], msg: "Input should be less than or equal to 14", input: 15 },
        { type: "string_format", loc: ["query", "callback_url"], msg: "String should be a valid uri", input: "x" },
      ],
      LOANS,
    ),
  ),
  row(
    "gives an exception's headers to the App's handler",
    "GET /v1/loans/77",
    {},
    error("GET", 404, "There is no such loan", { ...LOANS, "x-loan": "77" }),
  ),
  row(
    "asks the router's handler for a status before the App's for its class",
    "GET /v1/loans/pots/tea",
    {},
    json(418, { detail: "A handler of this status answers" }, LOANS),
  ),
  row(
    "answers 500 for a result that does not fit, without a word of it",
    "GET /v1/loans/pots/broken",
    {},
    json(500, { detail: "Internal Server Error" }, LOANS),
  ),
  row(
    "answers 500 for an error that nobody expects, without a word of it",
    "GET /v1/loans/pots/thrown",
    {},
    json(500, { detail: "Internal Server Error" }, LOANS),
  ),
  row(
    "guards a router inside a router, below a prefix with a name",
    "GET /v1/loans/inner/desks/north/state",
    CLERK,
    json(200, { desk: "north", state: "open" }, { "x-served-by": /^desk(?:, |\n)loans$/ }),
  ),
  row(
    "answers a guard's refusal by the handler of the inclusion",
    "GET /v1/loans/inner/desks/north/state",
    basic("ada", "wrong"),
    json(
      401,
      { desk: "Unknown credentials" },
      { "x-served-by": /^desk(?:, |\n)loans$/, "www-authenticate": 'Basic realm="Desk", charset="UTF-8"' },
    ),
  ),
  row(
    "answers an exception of a route by the handler of the inclusion",
    "GET /v1/loans/inner/desks/north/closed",
    CLERK,
    json(409, { desk: "The desk is closed" }, { "x-served-by": /^desk(?:, |\n)loans$/ }),
  ),
];

const ofPhotos: Row[] = [
  row(
    "takes files and fields behind a bearer",
    "POST /v1/photos",
    adding(
      multipart(
        ["title", "Front"],
        ["photo", png("a.png", 1, 2, 3)],
        ["others", png("b.png", 4)],
        ["others", png("c.png")],
      ),
      ["authorization", "Bearer x"],
    ),
    json(201, { title: "Front", stars: 1, bytes: [3, 1, 0], type: "image/png" }),
  ),
  row(
    "asks for credentials before it reads an upload",
    "POST /v1/photos",
    multipart(["title", "Front"]),
    error("POST", 401, "Not authenticated", { "www-authenticate": "Bearer" }),
  ),
  row(
    "lists the faults of a form with files",
    "POST /v1/photos",
    adding(multipart(["title", ""], ["stars", "x"], ["photo", "text"]), ["authorization", "Bearer x"]),
    faults([
      { type: "missing", loc: ["form", "title"], msg: "Field required", input: null },
      { type: "int_parsing", loc: ["form", "stars"], msg: "Input should be a valid integer", input: "x" },
      { type: "file_type", loc: ["file", "photo"], msg: "Input should be a file, not text", input: "text" },
    ]),
  ),
  row(
    "refuses an upload beyond the limit of the App",
    "POST /v1/photos",
    adding(multipart(["title", "a"], ["photo", { name: "a", type: "image/png", content: new Uint8Array(17_000) }]), [
      "authorization",
      "Bearer x",
    ]),
    error("POST", 413, "The files of the form are larger than 16384 bytes"),
  ),
  row(
    "gives back the bytes of a file",
    "POST /v1/photos/turned",
    multipart(["photo", png("a.png", 0, 128, 255, 10, 13)]),
    whole(200, [13, 10, 255, 128, 0], "image/png", {
      ...PLAIN,
      "content-disposition": 'attachment; filename="turned-a.png"',
    }),
  ),
  row(
    "reads an object from a form",
    "POST /v1/photos/contact",
    {
      form: [
        ["name", "ada"],
        ["answers", "1"],
        ["answers", "2"],
        ["note", ""],
      ],
    },
    json(200, { name: "ada", answers: [1, 2] }),
  ),
  row(
    "reads the same object from multipart",
    "POST /v1/photos/contact",
    multipart(["name", "ada"], ["answers", "3"]),
    json(200, { name: "ada", answers: [3] }),
  ),
  row(
    "gives the fields of a form one by one",
    "POST /v1/photos/fields",
    multipart(["a", "1"], ["a", "2"], ["f", png("x.png", 1)]),
    json(200, {
      all: [
        ["a", "1"],
        ["a", "2"],
        ["f", "x.png of 1"],
      ],
      texts: ["1", "2"],
    }),
  ),
  row(
    "refuses a length beyond that of the route's middleware before the application sees it",
    "POST /v1/photos/measured",
    { body: new Uint8Array(65), headers: [["x-desk-key", "k"]] },
    json(413, { detail: "The body is larger than 64 bytes" }),
  ),
  row(
    "reads a body in chunks that the middleware allows",
    "POST /v1/photos/measured",
    { chunks: [new Uint8Array(60), new Uint8Array(4)], headers: [["x-desk-key", "k"]] },
    json(200, { bytes: 64 }),
  ),
  row(
    "refuses chunks as soon as they are more than the middleware allows",
    "POST /v1/photos/measured",
    { chunks: [new Uint8Array(60), new Uint8Array(5)], headers: [["x-desk-key", "k"]] },
    error("POST", 413, "The body is larger than 64 bytes"),
  ),
  row(
    "decodes a body before the handler reads it",
    "POST /v1/photos/measured",
    {
      body: Buffer.from("H4sIAAAAAAAAA0tMJB8AACm9mB88AAAA", "base64"),
      headers: [
        ["x-desk-key", "k"],
        ["content-encoding", "gzip"],
      ],
    },
    json(200, { bytes: 60 }),
  ),
  row(
    "gives the stream of a request to a platform's Response",
    "POST /v1/photos/echo",
    { chunks: [Uint8Array.of(0, 255), Uint8Array.of(10)], headers: [["content-type", "image/x-own"]] },
    streamed([0, 255, 10], "image/x-own", PLAIN),
  ),
  row(
    "sends an upload that the application has made itself",
    "GET /v1/photos/cover",
    {},
    whole(200, [1, 2, 3], "image/png", PLAIN),
  ),
  row(
    "compresses by the middleware of the route, once",
    "GET /v1/photos/page",
    { headers: [["accept-encoding", "gzip"]] },
    {
      status: 200,
      body: `<h1>Photos</h1>${"<img>".repeat(100)}`,
      headers: { "content-encoding": "gzip", "content-length": /^\d{2}$/, "content-type": "text/html; charset=utf-8" },
    },
  ),
  row(
    "compresses nothing for a client that accepts nothing",
    "GET /v1/photos/page",
    {},
    whole(200, `<h1>Photos</h1>${"<img>".repeat(100)}`, "text/html; charset=utf-8"),
  ),
];

const borrowed = JSON.stringify({ id: 1, tool: drill, by: "somebody", until: added });

const ofFeeds: Row[] = [
  row("streams lines of JSON, each cut by the schema", "GET /v1/feeds/tools", {}, streamed(LINES, "application/jsonl")),
  row(
    "streams what a plain generator yields",
    "GET /v1/feeds/countdown/3",
    {},
    streamed('{"n":3}\n{"n":2}\n{"n":1}\n', "application/jsonl"),
  ),
  row(
    "checks the parameters of a stream before its head",
    "GET /v1/feeds/countdown/101",
    {},
    faults([
      { type: "less_than_equal", loc: ["path", "from"], msg: "Input should be less than or equal to 100", input: 101 },
    ]),
  ),
  row(
    "streams named events, notices and comments",
    "GET /v1/feeds/loans",
    {},
    streamed(
      `retry: 5000\n\nevent: borrowed\nid: 7\ndata: ${borrowed}\n\nevent: returned\ndata: {"tool":1}\n\n: nothing more\n\nevent: end\ndata: null\n\n`,
      "text/event-stream",
      EVENTS,
    ),
  ),
  row(
    "streams events to a visitor with credentials",
    "GET /v1/feeds/loans",
    as("Token token-of-bob"),
    streamed(
      `retry: 5000\n\nevent: borrowed\nid: 7\ndata: ${borrowed.replace("somebody", "bob")}\n\nevent: returned\ndata: {"tool":1}\n\n: nothing more\n\nevent: end\ndata: null\n\n`,
      "text/event-stream",
      EVENTS,
    ),
  ),
  row(
    "refuses a stream to a visitor whose credentials nobody has",
    "GET /v1/feeds/loans",
    as("Token x"),
    error("GET", 401, "Unknown credentials", { "www-authenticate": "Token" }),
  ),
  row(
    "tells events from data that look like them",
    "GET /v1/feeds/ticks",
    {},
    streamed('data: {"at":1}\n\nevent: tick\nid: 2\ndata: {"at":2}\n\n', "text/event-stream", EVENTS),
  ),
  row(
    "sends what an async function returns as data, whatever their names",
    "GET /v1/feeds/messages",
    {},
    streamed('data: {"event":"admin","retry":1}\n\ndata: {"data":"x"}\n\n', "text/event-stream", EVENTS),
  ),
  row(
    "goes on behind the last event that the client has",
    "GET /v1/feeds/numbers",
    { headers: [["last-event-id", "1"]] },
    streamed(
      "event: number\nid: 2\ndata: line 2\ndata: more\n\nevent: number\nid: 3\ndata: line 3\ndata: more\n\n",
      "text/event-stream",
      { ...EVENTS, "x-feed": "numbers" },
    ),
  ),
  row(
    "streams text of a media type of its own",
    "GET /v1/feeds/tools.csv",
    {},
    streamed("id,name\n1,Drill\n2,Saw\n3,Ladder\n", "text/csv; charset=utf-8", {
      "content-disposition": 'attachment; filename="tools.csv"',
    }),
  ),
  row(
    "streams bytes",
    "GET /v1/feeds/bytes/3",
    {},
    streamed([0, 255, 1, 254, 2, 253], "application/octet-stream", PLAIN),
  ),
  row("streams nothing at all", "GET /v1/feeds/empty", {}, streamed("", "application/jsonl")),
  row(
    "answers HEAD for a stream without starting it",
    "HEAD /v1/feeds/endless",
    {},
    { status: 200, body: "", headers: { "content-type": "application/jsonl" } },
  ),
  row(
    "answers 500 if the first item does not fit",
    "GET /v1/feeds/unfit",
    {},
    json(500, { detail: "Internal Server Error" }),
  ),
];

const ofAccount: Row[] = [
  row(
    "logs in with the form of OAuth2, and sets a cookie",
    "POST /v1/login",
    {
      form: [
        ["username", "ada"],
        ["password", "password-of-ada"],
        ["grant_type", "password"],
      ],
      headers: [["x-account", "1"]],
    },
    json(
      200,
      { access_token: "token-of-ada", token_type: "bearer" },
      { "ratelimit-policy": '"login";q=3;w=3600', ratelimit: /^"login";r=2;t=\d+$/, "set-cookie": /^badge=ada; / },
    ),
    "passwords",
  ),
  row(
    "refuses a wrong password, and counts it",
    "POST /v1/login",
    {
      form: [
        ["username", "ada"],
        ["password", "x"],
      ],
      headers: [["x-account", "2"]],
    },
    error("POST", 401, "Wrong name or password", {
      "ratelimit-policy": '"login";q=3;w=3600',
      ratelimit: /^"login";r=2;t=\d+$/,
      "www-authenticate": "Bearer",
    }),
    "passwords",
  ),
  row(
    "lists the faults of the form, and counts it",
    "POST /v1/login",
    {
      form: [
        ["username", "ada"],
        ["username", "bob"],
      ],
      headers: [["x-account", "3"]],
    },
    faults(
      [
        { type: "too_long", loc: ["form", "username"], msg: "List should have at most 1 item, not 2" },
        { type: "missing", loc: ["form", "password"], msg: "Field required" },
      ],
      { "ratelimit-policy": '"login";q=3;w=3600', ratelimit: /r=2/ },
    ),
  ),
  row(
    "deletes a cookie with a 204",
    "POST /v1/logout",
    {},
    { status: 204, body: "", headers: { ...PLAIN, "set-cookie": /^badge=; / } },
  ),
  row(
    "redirects for good",
    "GET /v1/signin",
    {},
    { status: 308, body: "", headers: { location: "/v1/login?from=signin", "content-length": "0" } },
  ),
  row(
    "knows a member by OAuth2 with a scope",
    "GET /v1/who/oauth2",
    ADA,
    json(200, { name: "ada", scopes: ["tools", "desk"] }),
  ),
  row(
    "refuses a member without the scope",
    "GET /v1/who/oauth2",
    BOB,
    error("GET", 403, "Not enough permissions", {
      "www-authenticate": 'Bearer error="insufficient_scope", scope="desk"',
    }),
  ),
  row(
    "refuses two headers of credentials",
    "GET /v1/who/oauth2",
    {
      headers: [
        ["authorization", "Bearer token-of-ada"],
        ["authorization", "Bearer token-of-ada"],
      ],
    },
    error("GET", 401, "Not authenticated", { "www-authenticate": "Bearer" }),
    "twice",
  ),
  row("knows a bearer", "GET /v1/who/bearer", as("Bearer abc"), json(200, { scheme: "Bearer", credentials: "abc" })),
  row(
    "knows a word of its own instead of Bearer",
    "GET /v1/who/token",
    as("Token token-of-bob"),
    json(200, { name: "bob", scopes: ["tools"] }),
  ),
  row(
    "refuses Bearer where it has a word of its own",
    "GET /v1/who/token",
    as("Bearer token-of-bob"),
    error("GET", 401, "Not authenticated", { "www-authenticate": "Token" }),
  ),
  row("knows a clerk by name and password", "GET /v1/who/basic", CLERK, json(200, "ada")),
  row(
    "knows a ticket in the query",
    "GET /v1/who/ticket?ticket=t1",
    { headers: [["cookie", "theme=dark"]] },
    json(200, { ticket: "t1", theme: "dark" }),
  ),
  row("gives null for a ticket that is missing", "GET /v1/who/ticket", {}, json(200, { ticket: null, theme: "light" })),
  row("knows a badge in a cookie", "GET /v1/who/badge", { headers: [["cookie", "badge=ada"]] }, json(200, "ada")),
  row(
    "refuses two badges",
    "GET /v1/who/badge",
    { headers: [["cookie", "badge=ada; badge=bob"]] },
    error("GET", 404, "There is no /v1/who/badge"),
  ),
  row(
    "knows a card by a scheme of the application's own",
    "GET /v1/who/card",
    { headers: [["x-card", "Card 42"]] },
    json(200, 42),
  ),
  row(
    "refuses a card that the scheme does not read",
    "GET /v1/who/card",
    { headers: [["x-card", "42"]] },
    error("GET", 401, "Not authenticated", { "www-authenticate": "Card" }),
  ),
  row("serves nobody where two logins are optional", "GET /v1/who/any", {}, json(200, { visitor: null, clerk: null })),
  row("knows one of two optional logins", "GET /v1/who/any", CLERK, json(200, { visitor: null, clerk: "ada" })),
  row("starts with an empty session", "GET /v1/basket", {}, json(200, {}, { vary: "Cookie, Accept-Encoding, Origin" })),
  row(
    "refuses a change that another site asks for",
    "POST /v1/basket/saw",
    { headers: [["origin", "https://evil.example"]] },
    json(403, { detail: "Cross-site request refused" }),
  ),
  row(
    "keeps a session in a signed cookie, for a page of its own",
    "POST /v1/basket/saw",
    { headers: [["origin", "https://tools.example"]] },
    json(
      200,
      { tools: ["saw"] },
      {
        "set-cookie": /^session=[\w.-]+; .*HttpOnly/i,
        "access-control-allow-origin": "https://tools.example",
        "access-control-allow-credentials": "true",
        "access-control-expose-headers": "x-error",
        vary: "Cookie, Accept-Encoding, Origin",
      },
    ),
  ),
  row(
    "takes no session that somebody else has signed",
    "GET /v1/basket",
    { headers: [["cookie", "session=e30.aaaa"]] },
    json(200, {}, { vary: "Cookie, Accept-Encoding, Origin" }),
  ),
];

const ofReports: Row[] = [
  row("computes in the pool", "GET /v1/reports/primes/12", {}, json(200, [2, 3, 5, 7, 11])),
  row(
    "checks parameters before it asks the pool",
    "GET /v1/reports/primes/x",
    {},
    faults([{ type: "int_parsing", loc: ["path", "below"], msg: "Input should be a valid integer", input: "x" }]),
  ),
  row(
    "gives dates and data of dependencies to the pool, and cuts its result",
    "GET /v1/reports/newest?kind=hand&since=2026-01-01T00:00:00Z",
    {},
    json(200, saw),
  ),
  row("gives null from the pool", "GET /v1/reports/newest?since=2027-01-01T00:00:00Z", {}, json(200, null)),
  row(
    "takes bytes to the pool and back",
    "POST /v1/reports/turned",
    { body: Uint8Array.of(0, 1, 128, 255) },
    whole(200, [255, 128, 1, 0], "application/octet-stream", { ...PLAIN, "x-bytes": "4" }),
  ),
  row(
    "takes no bytes to the pool and back",
    "POST /v1/reports/turned",
    {},
    whole(200, "", "application/octet-stream", { ...PLAIN, "x-bytes": "0" }),
  ),
  row(
    "takes a body and the member to the pool",
    "POST /v1/reports/summed",
    adding({ json: [{ n: 1 }, { n: 2.5 }] }, ["authorization", "Bearer token-of-ada"]),
    json(202, { sum: 3.5, by: "ada" }),
  ),
  row(
    "answers with an exception of the pool, its headers and its detail",
    "GET /v1/reports/refused",
    {},
    error("GET", 402, { costs: 5 }, { "x-price": "5" }),
  ),
  row(
    "runs a plain handler on the loop where the route says it",
    "GET /v1/reports/here",
    {},
    json(200, { process: process.pid }),
    "process",
  ),
];

const ofTheKiosk: Row[] = [
  row(
    "calls a handler that is written apart, with its types",
    "GET /v1/kiosk/slots/3?amount=2",
    { headers: [["language", "en"]] },
    json(200, { text: "en: 2 × slot 3", raw: "3" }),
  ),
  row(
    "lists the faults of a dependency that is written apart",
    "GET /v1/kiosk/slots/0?amount=0",
    {},
    faults([
      {
        type: "greater_than_equal",
        loc: ["path", "slot"],
        msg: "Input should be greater than or equal to 1",
        input: 0,
      },
      { type: "missing", loc: ["header", "language"], msg: "Field required", input: null },
      {
        type: "greater_than_equal",
        loc: ["query", "amount"],
        msg: "Input should be greater than or equal to 1",
        input: 0,
      },
    ]),
  ),
  row("serves a route of several methods that a helper has registered", "POST /v1/kiosk/help", {}, json(200, true)),
  row(
    "counts pages by offset in a router without middleware",
    "GET /v1/kiosk/pages?offset=2",
    {},
    json(200, { items: [ladder], total: 3, limit: 1, offset: 2 }, { link: /rel="prev"/ }),
  ),
  row(
    "lists the rest behind a cursor",
    "GET /v1/kiosk/rest?cursor=eyJpZCI6Mn0",
    {},
    json(200, { items: [ladder], next: null }),
  ),
  row(
    "streams a sign between events",
    "GET /v1/kiosk/signs",
    {},
    streamed(": wet floor\n\ndata: slot 1\n\n", "text/event-stream", EVENTS),
  ),
  row(
    "checks the format of a query",
    "POST /v1/kiosk/subscriptions?url=x&by=ada",
    {},
    faults([{ type: "string_format", loc: ["query", "url"], msg: "String should be a valid uri", input: "x" }]),
  ),
  row(
    "gives back what a route with a callback was asked",
    "POST /v1/kiosk/subscriptions?url=https://a.example/&by=ada",
    {},
    json(200, { url: "https://a.example/", by: "ada" }),
  ),
];

const ofMounts: Row[] = [
  row(
    "mounts an App with guards, state and dependencies of the application",
    "GET /partner/tools",
    ADA,
    json(200, [drill, saw, ladder], { "x-served-by": "partner/partner" }),
  ),
  row(
    "answers errors of a mounted App by its own handlers",
    "GET /partner/missing",
    ADA,
    json(404, { partner: "Nothing for partners" }, { "x-served-by": "partner/partner" }),
  ),
  row(
    "answers a path that a mounted App lacks by its own handlers",
    "GET /partner/none",
    {},
    json(404, { partner: "Not Found" }, { "x-served-by": "partner/partner" }),
  ),
  row(
    "guards a mounted App",
    "GET /partner/tools",
    {},
    json(401, { partner: "Not authenticated" }, { "x-served-by": "partner/partner", "www-authenticate": "Bearer" }),
  ),
  row(
    "mounts an application of Hono, which sees the whole path",
    "GET /blog/posts/7?q=a%20b",
    {},
    json(200, { post: "7", q: "a b" }, { "content-length": null }),
  ),
  row(
    "streams a body to an application of Hono",
    "POST /blog/posts",
    { chunks: [Buffer.from("hel"), Buffer.from("lo")], headers: [["content-type", "text/plain"]] },
    whole(201, "HELLO", "text/plain; charset=UTF-8", { "x-blog": "hono", "content-length": null }),
  ),
  row(
    "answers what an application of Hono throws as an error of the App",
    "GET /blog/broken",
    {},
    json(500, { detail: "Internal Server Error" }),
  ),
  row(
    "mounts an application on the protocol itself",
    "GET /clock/time/UTC",
    {},
    whole(200, "/clock 12:00 UTC", "text/plain", { "x-clock": "1", "x-segments": "2", "content-length": null }),
  ),
  row(
    "gives a body to an application on the protocol itself",
    "POST /clock/time",
    { chunks: [new Uint8Array(3), new Uint8Array(4)] },
    whole(200, "7 bytes, string", "text/plain", { "x-clock": "1", "x-segments": "2", "content-length": null }),
    "client",
  ),
];

const ofOperators: Row[] = [
  row("names the first route at the root", "GET /", {}, json(200, { tools: "/v1/tools" })),
  row("is alive", "GET /health/live", {}, json(200, { status: "ok" }, NO_STORE)),
  row(
    "is ready if the checks of the application and of its dependencies pass",
    "GET /health/ready",
    {},
    json(200, { status: "ok", checks: { locks: "ok", openLibrary: "ok", opened: "ok" } }, NO_STORE),
    "names",
  ),
  row(
    "shows no secret of the settings",
    "GET /admin/settings",
    {},
    json(200, {
      title: "Tool library",
      openapiVersion: "3.0",
      poolKind: "inline",
      ownOrigins: ["https://tools.example"],
      sessionSecret: "***",
      deskKey: "***",
    }),
    "process",
  ),
  row("writes the path of a route by its name", "GET /admin/path/7", {}, json(200, "/v1/tools/7")),
  row(
    "lists a route with the libraries of its schemas",
    "GET /admin/routes?path=/v1/tools/{tool_id}/reviews",
    {},
    json(200, [
      {
        method: "POST",
        path: "/v1/tools/{tool_id}/reviews",
        tags: ["tools", "reviews"],
        deprecated: false,
        vendors: ["typebox", "zod"],
      },
    ]),
  ),
  row(
    "names the source of each parameter of a route",
    "GET /admin/sources?path=/v1/tools/search",
    {},
    json(200, [
      {
        text: "QUERY",
        tags: "QUERY",
        kind: "QUERY",
        since: "QUERY",
        limit: "QUERY",
        isFree: "QUERY",
        userAgent: "HEADER",
        theme: "COOKIE",
        trace: "QUERY",
        library: "DEPENDS",
      },
    ]),
  ),
  row("gives codes of errors to programs", "GET /admin/errors", {}, json(200, ["TSGI_UNKNOWN_LOOP", null, null])),
  row("counts in a store", "GET /admin/visits/ada", {}, json(200, 1)),
  row("has figures of its pool", "GET /admin/figures", {}, json(200, { pool: null, replaceable: 3 }), "process"),
  row("changes something for each verb of the App", "PUT /switch/half", {}, json(200, "half")),
  row("deletes by the App's own verb", "DELETE /switch", {}, json(200, "off")),
  row(
    "sends http to https",
    "GET /secured?a=b",
    { headers: [["host", "tools.example"]] },
    { status: 308, body: "", headers: { location: "https://tools.example:8443/secured?a=b", "content-length": "0" } },
  ),
  row(
    "refuses a host that is not its own",
    "GET /",
    { headers: [["host", "evil.example"]] },
    json(400, { detail: "Invalid host header" }, NOWHERE),
  ),
  row(
    "keeps the id of a request that its proxy has made",
    "GET /",
    { headers: [["x-request-id", "abc-1"]] },
    json(200, { tools: "/v1/tools" }, { "x-request-id": "abc-1" }),
  ),
  row(
    "compresses a stream line by line",
    "GET /v1/feeds/tools",
    { headers: [["accept-encoding", "gzip"]] },
    streamed(LINES, "application/jsonl", { "content-encoding": "gzip" }),
  ),
];

export const rows: readonly Row[] = [
  ...ofTools,
  ...ofLoans,
  ...ofPhotos,
  ...ofFeeds,
  ...ofAccount,
  ...ofReports,
  ...ofTheKiosk,
  ...ofMounts,
  ...ofOperators,
];
