/** Requests to the application of `http-app.mjs` and their responses, which are the same on every runtime. */
import { expect } from "@jest/globals";
import type { Answer, CallApp, Sent } from "../support/call.js";
import { faultLines } from "../support/probe.js";

type Matcher = ReturnType<typeof expect.stringContaining>;

/** The parts of a response that a row specifies. */
export interface Expected {
  /** Defaults to 200. */
  readonly status?: number;
  readonly json?: unknown;
  readonly text?: string | Matcher;
  /** Headers by name; `null` if the header must be missing. */
  readonly headers?: Readonly<Record<string, string | Matcher | null>>;
  /** Errors of a 422: type and location. */
  readonly faults?: readonly string[];
  /** The values of `set-cookie`. */
  readonly cookies?: readonly (string | Matcher)[];
  /** A request to be sent next. */
  readonly next?: readonly [request: string, expected: Expected];
}

export type Row = readonly [title: string, request: string, expected: Expected, sent?: Sent];

const detail = (text: unknown) => ({ detail: text });
const json = (value: unknown): Sent => ({ json: value });
const header = (...headers: readonly (readonly [string, string])[]): Sent => ({ headers });
const invalid = (...faults: readonly string[]): Expected => ({ status: 422, faults });
const bytes = (text: string) => Buffer.from(text);

const NOT_FOUND = { status: 404, json: detail("Not Found") };
const FAILED = { status: 500, json: detail("Internal Server Error") };

const routing: readonly Row[] = [
  ["the root", "GET /", { json: "root", headers: { "content-type": "application/json", "content-length": "6" } }],
  ["HEAD has the head of GET alone", "HEAD /", { text: "", headers: { "content-type": "application/json" } }],
  ["a static route beats a parameter", "GET /users/me", { json: "me" }],
  ["a parameter becomes a number", "GET /users/7", { json: { id: 7 } }],
  ["a parameter that is none", "GET /users/x", invalid("int_parsing path.id")],
  ["several parameters", "GET /users/a/posts/b-c", { json: ["a", "b-c"] }],
  ["slashes at the end and in a row do not count", "GET //users///7/", { json: { id: 7 } }],
  ["escaped letters are letters", "GET /%75sers/7", { json: { id: 7 } }],
  ["UTF-8 in a pattern and in a value", "GET /caf%C3%A9/%E2%98%83%20x", { json: "☃ x" }],
  ["an escaped slash stays in its segment", "GET /users/a%2Fb/posts/c%252Fd", { json: ["a/b", "c%2Fd"] }],
  ["a percent sign is one", "GET /users/100%25/posts/%2B+", { json: ["100%", "++"] }],
  ["bytes that are not UTF-8", "GET /users/%ff/posts/x", { status: 400 }],
  ["an escape that is none", "GET /users/%zz/posts/x", { status: 400 }],
  [
    "names of Object.prototype are text",
    "GET /users/__proto__/posts/constructor",
    { json: ["__proto__", "constructor"] },
  ],
  ["an unknown path", "GET /none", NOT_FOUND],
  ["an unknown path below a known one", "GET /users/7/none", NOT_FOUND],
  ["an unknown path for HEAD", "HEAD /none", { status: 404, text: "" }],
  ["a name of Object.prototype is no route", "GET /constructor", NOT_FOUND],
  [
    "another method",
    "POST /users/7",
    { status: 405, json: detail("Method Not Allowed"), headers: { allow: "DELETE, GET, HEAD" } },
  ],
  ["a long path", `GET /users/${"a".repeat(4000)}/posts/b`, { json: ["a".repeat(4000), "b"] }],
  ["a path of many segments", `GET ${"/a".repeat(1000)}`, NOT_FOUND],
  ...["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method): Row => [
    `the method ${method}`,
    `${method} /verb`,
    { json: method },
  ]),
  [
    "a mounted application, which sees its prefix",
    "GET /raw/a/b",
    { text: "/raw /raw/a/b", headers: { "x-raw": "1" } },
  ],
  [
    "the scope of a request",
    "GET /scope?a=%20b&c",
    {
      json: {
        path: "/scope",
        query: "a=%20b&c",
        method: "GET",
        scheme: "http",
        http: "1.1",
        pathname: "/scope",
        host: expect.stringMatching(/^(?:string|undefined)$/),
      },
    },
  ],
  ["an empty query", "GET /scope?", { json: expect.objectContaining({ query: "" }) }],
  ["a query with question marks", "GET /scope?a=?&b=/?", { json: expect.objectContaining({ query: "a=?&b=/?" }) }],
];

const texts: readonly Row[] = (
  [
    ["integer", "7", 7],
    ["integer", "%2B7", 7],
    ["integer", "1000", 1000],
    ["integer", "1001", "less_than_equal"],
    ["integer", "-1", "greater_than_equal"],
    ["integer", "7.5", "int_parsing"],
    ["integer", "9007199254740993", "int_parsing"],
    ["integer", "0x10", "int_parsing"],
    ["number", "-1.5e3", -1500],
    ["number", ".5", 0.5],
    ["number", "Infinity", "float_parsing"],
    ["number", "NaN", "float_parsing"],
    ["number", "1e999", "finite_number"],
    ["boolean", "yes", true],
    ["boolean", "OFF", false],
    ["boolean", "maybe", "bool_parsing"],
    ["date", "2024-02-29T12:00:00%2B02:00", "2024-02-29T10:00:00.000Z"],
    ["date", "2023-02-29T12:00:00Z", "datetime_parsing"],
    ["date", "2024-02-29", "datetime_parsing"],
    ["choice", "green", "green"],
    ["choice", "blue", "enum"],
    ["uuid", "123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"],
    ["uuid", "123", "string_format"],
    ["pattern", "abc", "abc"],
    ["pattern", "ABC", "string_pattern_mismatch"],
  ] as const
).flatMap(([kind, text, value]) => {
  const isFault = typeof value === "string" && /^[a-z]+_|^enum$/.test(value);
  const expected = (place: string): Expected => (isFault ? invalid(`${value} ${place}.value`) : { json: { value } });
  return [
    [`${kind} ${text} in a path`, `GET /path/${kind}/${text}`, expected("path")],
    [`${kind} ${text} in a query`, `GET /query/${kind}?value=${text}`, expected("query")],
  ] satisfies Row[];
});

const DEFAULTS = { page: 1, size: null, tag: [], at: "today" };

/** A row that workerd cannot pass: it decodes header values as UTF-8, and other bytes are U+FFFD there. */
export const LATIN1 = "bytes beyond ASCII in a header are Latin-1";

/** UTF-8 as header values have it here: a character a byte. */
const SNOW = bytes("é \u2603").toString("latin1");

const queries: readonly Row[] = [
  ["defaults of a query", "GET /query/defaults", { json: DEFAULTS }],
  [
    "values of a query",
    "GET /query/defaults?page=2&size=3&sort=up&tag=a&tag=b&from-date=now",
    {
      json: { page: 2, size: 3, sort: "up", tag: ["a", "b"], at: "now" },
    },
  ],
  ["a plus sign is a space", "GET /query/defaults?sort=a+b%2Bc", { json: { ...DEFAULTS, sort: "a b+c" } }],
  ["an empty value is a value", "GET /query/defaults?sort=", { json: { ...DEFAULTS, sort: "" } }],
  ["the last of a repeated key", "GET /query/defaults?page=2&page=3", { json: { ...DEFAULTS, page: 3 } }],
  ["UTF-8 in a query", "GET /query/defaults?sort=%E2%98%83", { json: { ...DEFAULTS, sort: "☃" } }],
  ["every fault at once", "GET /query/required?a=x", invalid("int_parsing query.a", "missing query.b")],
  ["names of Object.prototype in a query", "GET /proto?__proto__=a&constructor=b", { json: { own: "a", made: "b" } }],
  [
    "names of Object.prototype that are missing",
    "GET /proto",
    invalid("missing query.__proto__", "missing query.constructor"),
  ],
  ["an object of a query", "GET /query/object?a=1", { json: { filter: { a: 1, b: "x" } } }],
  ["a closed object of a query", "GET /query/object?a=1&c=2", invalid("extra_forbidden query.c")],
  [
    "many keys of a query",
    `GET /query/defaults?${"tag=a&".repeat(500)}`,
    {
      json: { ...DEFAULTS, tag: Array.from({ length: 500 }, () => "a") },
    },
  ],
  [
    "headers",
    "GET /headers",
    { json: { userAgent: "table", count: 5 } },
    header(["User-Agent", "table"], ["x-count", "5"]),
  ],
  [
    "headers that do not fit",
    "GET /headers",
    invalid("int_parsing header.x-count"),
    header(["User-Agent", "t"], ["X-COUNT", "x"]),
  ],
  [
    "an empty header",
    "GET /headers/all",
    { json: expect.objectContaining({ "x-empty": "" }) },
    header(["x-empty", ""]),
  ],
  [LATIN1, "GET /headers/all", { json: expect.objectContaining({ "x-a": "caf\xe9" }) }, header(["x-a", "caf\xe9"])],
  [
    "UTF-8 in a header are its bytes",
    "GET /headers/all",
    { json: expect.objectContaining({ "x-a": SNOW }) },
    header(["x-a", SNOW]),
  ],
  ["UTF-8 of a header in an answer", "GET /headers/echo", { headers: { "x-echo": SNOW } }, header(["x-given", SNOW])],
  [
    "UTF-8 of a header in the platform's objects",
    "GET /headers/web",
    { headers: { "x-echo": SNOW } },
    header(["x-given", SNOW]),
  ],
  [
    "repeated headers are one list",
    "GET /headers/all",
    { json: expect.objectContaining({ "x-a": "1, 2" }) },
    header(["x-a", "1"], ["X-A", "2"]),
  ],
  [
    "a header of 4000 bytes",
    "GET /headers/all",
    { json: expect.objectContaining({ "x-a": "a".repeat(4000) }) },
    header(["x-a", "a".repeat(4000)]),
  ],
  [
    "the header __proto__",
    "GET /headers/all",
    { text: expect.stringContaining('"__proto__":"a"') },
    header(["__proto__", "a"]),
  ],
  ["cookies", "GET /cookies", { json: { a: "1 2", n: 7 } }, header(["cookie", "a=1%202; n=7; b=x"])],
  ["a missing cookie", "GET /cookies", invalid("missing cookie.a"), header(["cookie", "b=1"])],
  ["the first of two cookies", "GET /cookies", { json: { a: "1", n: 0 } }, header(["cookie", "a=1; a=2"])],
  ["a malformed cookie", "GET /cookies", { json: { a: "%zz", n: 0 } }, header(["cookie", ";;=x; a=%zz"])],
];

const ITEM = { name: "Lamp", price: 9.5 };
const WHOLE = { ...ITEM, tags: [] };
const JSON_TYPE = header(["content-type", "application/json"]);
const text = (content: string, type = "application/json"): Sent => ({
  text: content,
  headers: [["content-type", type]],
});
const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;

const bodies: readonly Row[] = [
  ["a body with defaults", "POST /items", { status: 201, json: WHOLE }, json(ITEM)],
  ["an unknown key is dropped", "POST /items", { status: 201, json: WHOLE }, json({ ...ITEM, secret: 1 })],
  [
    "__proto__ is dropped",
    "POST /items",
    { status: 201, json: WHOLE },
    text('{"__proto__":{"price":1},"name":"Lamp","price":9.5}'),
  ],
  [
    "__proto__ in escapes is dropped",
    "POST /items",
    { status: 201, json: WHOLE },
    text('{"__pr\\u006fto__":{},"name":"Lamp","price":9.5}'),
  ],
  [
    "the last of a key that comes twice",
    "POST /items",
    { status: 201, json: WHOLE },
    text('{"name":"x","name":"Lamp","price":9.5}'),
  ],
  [
    "faults of a body, all at once",
    "POST /items",
    invalid("string_too_short body.name", "missing body.price", "too_long body.tags"),
    json({ name: "", tags: ["a", "b", "c", "d"] }),
  ],
  [
    "a fault deep in a body",
    "POST /items",
    invalid("int_type body.owner.id", "string_format body.owner.email"),
    json({ ...ITEM, owner: { id: "7", email: "x" } }),
  ],
  [
    "JSON is not converted",
    "POST /items",
    invalid("string_type body.name", "float_type body.price"),
    json({ name: 1, price: "2" }),
  ],
  ["a body beside path and query", "PUT /items/5?dry=1", { json: { id: 5, item: WHOLE, dry: true } }, json(ITEM)],
  [
    "faults of path, query and body in order",
    "PUT /items/x?dry=x",
    invalid("int_parsing path.id", "bool_parsing query.dry", "missing body.price"),
    json({ name: "a" }),
  ],
  ["a closed object", "POST /closed", invalid("extra_forbidden body.b"), json({ a: 1, b: 2 })],
  ["a list", "POST /list", { json: { list: [{ n: 1 }, { n: 2 }] } }, json([{ n: 1 }, { n: 2, x: 3 }])],
  ["an empty list", "POST /list", invalid("too_short body"), json([])],
  ["a union", "POST /union", { json: { animal: { kind: "dog", bark: true } } }, json({ kind: "dog", bark: true })],
  ["a union's unknown tag", "POST /union", invalid("union_tag_invalid body.kind"), json({ kind: "cow" })],
  ["no body", "POST /items", invalid("missing body"), JSON_TYPE],
  ["no content type", "POST /items", { status: 422 }],
  ["another content type", "POST /items", invalid("content_type body"), text("{}", "text/plain")],
  [
    "a content type that ends in +json",
    "POST /items",
    { status: 201, json: WHOLE },
    text(JSON.stringify(ITEM), "application/problem+json; charset=utf-8"),
  ],
  ["text that is not JSON", "POST /items", invalid("json_invalid body"), text("{a:1}")],
  ["JSON that is cut off", "POST /items", invalid("json_invalid body"), text('{"name":"La')],
  ["null for an object", "POST /items", invalid("object_type body"), text("null")],
  [
    "JSON that is not UTF-8",
    "POST /items",
    invalid("json_invalid body"),
    { ...JSON_TYPE, body: new Uint8Array([34, 255, 34]) },
  ],
  ["a lone surrogate", "POST /closed", { status: 422 }, text('{"a":"\\ud800"}')],
  ["JSON nested too deeply", "POST /list", invalid("json_invalid body"), text(nested(101))],
  ["JSON nested 50,000 levels deep", "POST /list", invalid("json_invalid body"), text(nested(50_000))],
  [
    "a body in parts",
    "POST /items",
    { status: 201, json: WHOLE },
    { ...JSON_TYPE, chunks: ['{"na', 'me":"Lam', 'p","price":9.5}'].map(bytes) },
  ],
  [
    "a character cut in two",
    "POST /text",
    { json: "é☃" },
    { chunks: [bytes("é☃").subarray(0, 1), bytes("é☃").subarray(1, 3), bytes("é☃").subarray(3)] },
  ],
  ["a body over the route's limit", "POST /small", { status: 413 }, json({ a: "a".repeat(20) })],
  [
    "a body over the limit, in parts",
    "POST /small",
    { status: 413 },
    { ...JSON_TYPE, chunks: ['{"a":"', "a".repeat(20), '"}'].map(bytes) },
  ],
  [
    "a body over the default limit",
    "POST /text",
    { status: 413, json: detail(expect.stringContaining("1048576")) },
    { body: new Uint8Array(1_048_577) },
  ],
  ["a body that is not UTF-8", "POST /text", { status: 400 }, { body: new Uint8Array([255]) }],
  ["an empty body as text", "POST /text", { json: "" }],
  [
    "a body as a stream, beyond the limit",
    "POST /count",
    { json: 3_000_000 },
    { chunks: Array.from({ length: 30 }, () => new Uint8Array(100_000)) },
  ],
  ["a body streamed back", "POST /stream", { text: "one two three" }, { chunks: ["one ", "two ", "three"].map(bytes) }],
  ["a body that nobody reads", "POST /verb", { json: "POST" }, { body: new Uint8Array(100_000) }],
  [
    "a platform's request with its body",
    "POST /web/echo",
    { json: { method: "POST", path: "/web/echo", a: "b", text: "héllo" } },
    { headers: [["x-a", "b"]], body: bytes("héllo") },
  ],
];

const MULTIPART = "multipart/form-data; boundary=edge";
const multipart = (...parts: readonly string[]): Sent => ({
  headers: [["content-type", MULTIPART]],
  body: bytes(`${parts.map((part) => `--edge\r\n${part}\r\n`).join("")}--edge--\r\n`),
});
const field = (name: string, value: string) => `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;
const file = (name: string, filename: string, content: string) =>
  `content-disposition: form-data; name="${name}"; filename="${filename}"\r\ncontent-type: text/plain\r\n\r\n${content}`;

const forms: readonly Row[] = [
  ["a form", "POST /form", { json: { name: "Ada Lovelace", age: 36 } }, { form: "name=Ada+Lovelace&age=36" }],
  ["a form with a default", "POST /form", { json: { name: "é&", age: 18 } }, { form: [["name", "é&"]] }],
  ["a blank field counts as absent", "POST /form", invalid("missing form.name"), { form: "name=&age=" }],
  ["a field that does not fit", "POST /form", invalid("int_parsing form.age"), { form: "name=a&age=x" }],
  [
    "a multipart form",
    "POST /form",
    { json: { name: "Ada", age: 36 } },
    multipart(field("name", "Ada"), field("age", "36")),
  ],
  ["the field __proto__", "POST /form", { json: { name: "a", age: 18 } }, { form: "__proto__=x&name=a" }],
  ["JSON for a form", "POST /form", invalid("content_type form"), json({ name: "a" })],
  [
    "a multipart form that is cut off",
    "POST /form",
    invalid("form_invalid form"),
    { headers: [["content-type", MULTIPART]], body: bytes("--edge\r\ncontent-disp") },
  ],
  [
    "a multipart form without a boundary",
    "POST /form",
    { status: 422 },
    { headers: [["content-type", "multipart/form-data"]], body: bytes("x") },
  ],
  [
    "an upload",
    "POST /upload",
    { json: { title: "t", filename: "a.txt", type: "text/plain", size: 7, text: "content" } },
    multipart(field("title", "t"), file("file", "a.txt", "content")),
  ],
  [
    "a file's name is no path",
    "POST /upload",
    { json: expect.objectContaining({ filename: "passwd" }) },
    multipart(field("title", "t"), file("file", "../../etc/passwd", "")),
  ],
  [
    "an upload over 1 MiB",
    "POST /upload",
    { json: expect.objectContaining({ size: 1_200_000 }) },
    multipart(field("title", "t"), file("file", "a.txt", "a".repeat(1_200_000))),
  ],
  ["several files", "POST /files", { json: ["a", "b"] }, multipart(file("files", "a", "1"), file("files", "b", "2"))],
  ["a missing file", "POST /upload", invalid("missing file.file"), multipart(field("title", "t"))],
  [
    "text for a file",
    "POST /upload",
    invalid("file_type file.file"),
    multipart(field("title", "t"), field("file", "x")),
  ],
];

const responses: readonly Row[] = [
  [
    "JSON",
    "GET /json",
    {
      json: { text: "héllo ☃", none: null, list: [1, 2.5, true], nested: { a: {} } },
      headers: { "content-type": "application/json" },
    },
  ],
  ["JSON null", "GET /json/null", { text: "null" }],
  ["a JSON number", "GET /json/number", { text: "1.5" }],
  ["JSON text", "GET /json/text", { text: '"text"' }],
  ["an empty JSON list", "GET /json/list", { text: "[]" }],
  ["no result", "GET /json/nothing", { text: "null" }],
  ["a result that JSON cannot write", "GET /json/bigint", FAILED],
  [
    "text",
    "GET /text",
    { text: "héllo", headers: { "content-type": "text/plain; charset=utf-8", "content-length": "6" } },
  ],
  ["text for HEAD", "HEAD /text", { text: "", headers: { "content-type": "text/plain; charset=utf-8" } }],
  ["HTML", "GET /html", { text: "<p>hi</p>", headers: { "content-type": "text/html; charset=utf-8" } }],
  ["bytes", "GET /bytes", { headers: { "content-type": "application/octet-stream", "content-length": "3" } }],
  ["nothing", "GET /empty", { text: "", headers: { "content-length": "0" } }],
  ["a status and headers", "GET /own", { status: 418, json: { a: 1 }, headers: { "x-a": "b" } }],
  ["a redirect", "GET /redirect", { status: 307, text: "", headers: { location: "/json?a=b%20c" } }],
  [
    "204 without a body and a length",
    "GET /status/204",
    { status: 204, text: "", headers: { "content-length": null } },
  ],
  ["304", "GET /status/304", { status: 304, text: "", headers: { etag: '"a"' } }],
  [
    "several cookies",
    "GET /cookies/set",
    {
      cookies: [
        "a=1%20%C3%BC%3B; Path=/; HttpOnly; SameSite=Lax",
        "b=2; Path=/x; SameSite=Strict",
        expect.stringContaining("c="),
      ],
    },
  ],
  [
    "a draft",
    "GET /draft",
    { status: 202, json: { drafted: true }, headers: { "x-draft": "yes" }, cookies: ["d=1; Path=/; SameSite=Lax"] },
  ],
  ["a header that a client injects", "GET /injection?value=a%0D%0Aset-cookie:%20b", { ...FAILED, cookies: [] }],
  ["NUL in a header", "GET /injection?value=%00", FAILED],
  ["a stream", "GET /stream", { text: "1\n2\n3\n4\n5\n", headers: { "content-type": "text/plain; charset=utf-8" } }],
  ["a stream for HEAD", "HEAD /stream", { text: "" }],
  ["a stream of 4 MiB", "GET /stream/large", { text: "q".repeat(64 * 65_536) }],
  ["a stream with its length", "GET /stream/length", { text: "123", headers: { "content-length": "3" } }],
  ["a stream of nothing", "GET /stream/empty", { text: "" }],
  ["a stream that fails before its first part", "GET /stream/early", { status: 409 }],
  [
    "JSON Lines, cut to their schema",
    "GET /lines",
    { text: '{"n":1}\n{"n":2}\n{"n":3}\n', headers: { "content-type": "application/jsonl" } },
  ],
  [
    "server-sent events",
    "GET /events",
    {
      text: 'event: tick\nid: 7\ndata: {"n":1}\n\ndata: two\ndata: lines\n\n',
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    },
  ],
  [
    "events that resume",
    "GET /events/resume",
    { text: "data: 7é\u2603\n\n" },
    header(["last-event-id", bytes("7é\u2603").toString("latin1")]),
  ],
  ["a platform's Response", "GET /web", { status: 201, text: "web", headers: { "x-a": "b" }, cookies: ["a=1", "b=2"] }],
  ["a platform's Response for HEAD", "HEAD /web", { status: 201, text: "", headers: { "x-a": "b" } }],
  ["a platform's JSON", "GET /web/json", { json: { a: 1 } }],
  ["a platform's 204", "GET /web/null", { status: 204, text: "" }],
  ["a platform's stream", "GET /web/stream", { text: "1 2 3 " }],
];

const errors: readonly Row[] = [
  ...[401, 403, 404, 409, 410, 429, 451, 500, 503].map((status): Row => [
    `an HTTPException ${status}`,
    `GET /error/${status}`,
    { status, json: detail(expect.any(String)), headers: { "x-why": "b" } },
  ]),
  ["an HTTPException with details", "GET /error/400", { status: 400, json: detail({ reason: ["a"] }) }],
  ["an unknown error says nothing", "GET /throw", FAILED],
  ["a text that is thrown", "GET /throw/text", FAILED],
  ["an error for HEAD", "HEAD /throw", { status: 500, text: "" }],
  ["a result that does not fit", "GET /misfit", FAILED],
  ["a result is cut to its schema", "GET /cut", { json: { a: 1 } }],
  ["an exception handler", "GET /sold-out", { status: 409, json: detail("No lamp is left") }],
];

const dependencies: readonly Row[] = [
  ["a dependency is called once", "GET /depends/once", { json: true }],
  [
    "a dependency that yields, and its cleanup",
    "GET /depends/open",
    { json: "resource", next: ["GET /notes/open?count=2", { json: ["open", "closed"] }] },
  ],
  [
    "a dependency that yields to an error, and its cleanup",
    "GET /depends/fail",
    { status: 410, next: ["GET /notes/fail?count=2", { json: ["open", "closed"] }] },
  ],
  ["a guard", "GET /guarded/1", { status: 403 }],
  ["a guard that lets pass", "GET /guarded/1?key=let-me-in", { json: "1" }],
  [
    "the state of the lifespan, a copy for each request",
    "GET /state",
    { json: { region: "eu", count: 1 }, next: ["GET /state", { json: { region: "eu", count: 1 } }] },
  ],
  ["a background task", "GET /tasks", { json: "accepted", next: ["GET /notes/task?count=1", { json: ["ran"] }] }],
  ["a plain handler", "GET /plain/7", { json: { n: 7, isPlain: true } }],
  ["a plain handler's fault", "GET /plain/x", invalid("int_parsing path.n")],
];

const BASIC = `Basic ${bytes("ada:pässword").toString("base64")}`;

const security: readonly Row[] = [
  ["a bearer token", "GET /auth/bearer", { json: "abc" }, header(["authorization", "bearer abc"])],
  [
    "no bearer token",
    "GET /auth/bearer",
    { status: 401, json: detail("Not authenticated"), headers: { "www-authenticate": "Bearer" } },
  ],
  ["another scheme", "GET /auth/bearer", { status: 401 }, header(["authorization", BASIC])],
  [
    "two Authorization lines",
    "GET /auth/bearer",
    { status: 401 },
    header(["authorization", "Bearer a"], ["authorization", "Bearer b"]),
  ],
  ["basic credentials", "GET /auth/basic", { json: { name: "ada", fits: true } }, header(["authorization", BASIC])],
  [
    "malformed basic credentials",
    "GET /auth/basic",
    { status: 401, headers: { "www-authenticate": 'Basic realm="Table", charset="UTF-8"' } },
    header(["authorization", "Basic ?"]),
  ],
  ["optional credentials", "GET /auth/maybe", { json: null }],
  ["a key in a header", "GET /auth/header", { json: { key: "k" } }, header(["x-key", "k"])],
  ["a key in the query", "GET /auth/query?key=k", { json: { key: "k" } }],
  ["a key twice in the query", "GET /auth/query?key=k&key=l", { status: 401 }],
  ["a key in a cookie", "GET /auth/cookie", { json: { key: "k" } }, header(["cookie", "key=k"])],
];

const ORIGIN = ["origin", "https://page.test"] as const;

const middleware: readonly Row[] = [
  ["httpMiddleware changes headers", "GET /middle", { json: "inner", headers: { "x-path": "/middle" } }],
  [
    "httpMiddleware sees an error's answer",
    "GET /middle/error",
    { status: 404, json: detail("Gone fishing"), headers: { "x-path": "/middle/error" } },
  ],
  ["httpMiddleware answers itself", "GET /middle/own", { status: 503, text: "own GET" }],
  [
    "httpMiddleware reads the body first",
    "POST /middle/body",
    { json: "Lamp", headers: { "x-length": "27" } },
    json(ITEM),
  ],
  ["bodyLimit", "POST /limited", { json: "0123456789" }, { body: bytes("0123456789") }],
  ["bodyLimit refuses a length", "POST /limited", { status: 413 }, { body: bytes("0123456789a") }],
  ["bodyLimit refuses parts", "POST /limited", { status: 413 }, { chunks: ["012345", "6789a"].map(bytes) }],
  ["timeLimit", "GET /slow", { status: 504 }],
  ["requestId keeps an id", "GET /id", { headers: { "x-request-id": "abc-1" } }, header(["x-request-id", "abc-1"])],
  ["requestId makes an id", "GET /id", { headers: { "x-request-id": expect.stringMatching(/^[\da-f-]{36}$/) } }],
  ["trustedHost serves", "GET /hosts", { json: "served" }, header(["host", "example.com"])],
  [
    "trustedHost refuses",
    "GET /hosts",
    { status: 400, json: detail("Invalid host header") },
    header(["host", "example.net"]),
  ],
  ["securityHeaders", "GET /strict", { headers: { "x-content-type-options": "nosniff", "x-frame-options": "DENY" } }],
  [
    "a preflight",
    "OPTIONS /cors",
    {
      status: 204,
      headers: {
        "access-control-allow-origin": "https://page.test",
        "access-control-allow-headers": "Accept, Accept-Language, Content-Language, Content-Type, x-a",
      },
    },
    header(ORIGIN, ["access-control-request-method", "PUT"], ["access-control-request-headers", "x-a"]),
  ],
  [
    "a preflight of another origin",
    "OPTIONS /cors",
    { status: 400 },
    header(["origin", "https://else.test"], ["access-control-request-method", "GET"]),
  ],
  [
    "an answer to another origin",
    "GET /cors",
    {
      json: "shared",
      headers: {
        "access-control-allow-origin": "https://page.test",
        "access-control-expose-headers": "x-b",
        vary: "Origin",
      },
    },
    header(ORIGIN),
  ],
  [
    "an answer to an origin that is not listed",
    "GET /cors",
    { json: "shared", headers: { "access-control-allow-origin": null } },
    header(["origin", "https://else.test"]),
  ],
  ["a session is set", "GET /session/set", { cookies: [expect.stringMatching(/^__Host-session=.*; Secure/)] }],
  ["idempotency, the first request", "POST /paid", { json: 1 }, header(["idempotency-key", "k"], ["cookie", "id=ada"])],
  [
    "idempotency, a repeat",
    "POST /paid",
    { json: 1, headers: { "idempotency-replayed": "true" } },
    header(["idempotency-key", "k"], ["cookie", "id=ada"]),
  ],
  ["csrf, a trusted origin", "POST /checked", { json: "changed" }, header(ORIGIN, ["sec-fetch-site", "cross-site"])],
  ["csrf, another site", "POST /checked", { status: 403 }, header(["sec-fetch-site", "cross-site"])],
  ["a session in a store", "GET /stored", { cookies: [expect.stringMatching(/^__Host-session=[\w-]{43}; .*Secure/)] }],
  ["no session", "GET /session/get", { json: {}, cookies: [] }],
  ["a session that was changed", "GET /session/get", { json: {} }, header(["cookie", "__Host-session=eyJ9.x.y"])],
];

const others: readonly Row[] = [
  [
    "the document",
    "GET /openapi.json",
    { json: expect.objectContaining({ info: expect.objectContaining({ title: "Table" }) }) },
  ],
  ["the page of the document", "GET /docs", { headers: { "content-type": "text/html; charset=utf-8" } }],
  [
    "a mounted handler sees the whole URL",
    "GET /other/a%2Fb//c/?q=%20",
    {
      json: { pathname: "/other/a%2Fb//c/", search: "?q=%20", method: "GET", body: null, a: null },
    },
  ],
  [
    "a mounted handler gets body and headers",
    "POST /other",
    {
      json: { pathname: "/other", search: "", method: "POST", body: "héllo", a: "b" },
    },
    { headers: [["x-a", "b"]], chunks: ["hé", "llo"].map(bytes) },
  ],
  ["a mounted handler that throws", "GET /other/throw", FAILED],
  ["a mounted handler that answers 204", "GET /other/status", { status: 204, text: "", headers: { "x-a": "b" } }],
  [
    "a mounted handler and a backslash",
    "GET /other/%5c..%5cadmin",
    { json: expect.objectContaining({ pathname: "/other/%5c..%5cadmin" }) },
  ],
];

const FILE = { text: "0123456789", headers: { "content-type": "text/plain; charset=utf-8", "content-length": "10" } };
const RANGE = { "content-range": "bytes 2-4/10", "content-length": "3" };

/** Requests for the files of `http-server.mjs`. */
const fileRows: readonly Row[] = [
  ["a file", "GET /file", FILE],
  ["a file for HEAD", "HEAD /file", { ...FILE, text: "" }],
  ["a range of a file", "GET /file", { status: 206, text: "234", headers: RANGE }, header(["range", "bytes=2-4"])],
  ["the end of a file", "GET /file", { status: 206, text: "89" }, header(["range", "bytes=-2"])],
  [
    "a range after the end of a file",
    "GET /file",
    { status: 416, headers: { "content-range": "bytes */10" } },
    header(["range", "bytes=10-"]),
  ],
  ["a static file", "GET /static/digits.txt", FILE],
  ["a static file that is missing", "GET /static/letters.txt", NOT_FOUND],
  ["a path out of the folder of static files", "GET /static/..%2fhttp-app.mjs", NOT_FOUND],
];

const complete = ([title, request, expected, sent]: Row): Row => [title, request, { status: 200, ...expected }, sent];

export const files: readonly Row[] = fileRows.map(complete);

/** All rows, in an order in which they can be sent one after the other. */
export const table: readonly Row[] = [
  ...routing,
  ...texts,
  ...queries,
  ...bodies,
  ...forms,
  ...responses,
  ...errors,
  ...dependencies,
  ...security,
  ...middleware,
  ...others,
].map(complete);

/** Sends one request. */
type Ask = (...sent: Parameters<CallApp> extends [unknown, ...infer Rest] ? Rest : never) => Promise<Answer>;

/** Sends the request of a row with this function, and returns the parts that its expectation specifies. */
export async function observe(request: string, expected: Expected, sent: Sent | undefined, ask: Ask): Promise<object> {
  const [method = "", target = ""] = request.split(" ");
  const answer = await ask(method, target, sent);
  const observed = {
    status: answer.status,
    json: answer.json,
    text: answer.text,
    headers: Object.fromEntries(
      Object.keys(expected.headers ?? {}).map((name) => [name, answer.headers[name] ?? null]),
    ),
    faults: faultLines(answer),
    cookies: valuesOf(answer, "set-cookie"),
    next: expected.next && [expected.next[0], await observe(...expected.next, undefined, ask)],
  };
  return Object.fromEntries(Object.entries(observed).filter(([name]) => name in expected));
}

function valuesOf({ headerLines }: Answer, wanted: string): string[] {
  return headerLines.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value);
}
