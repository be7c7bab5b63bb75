/** The requests to both applications. */
import type { Sent } from "../support/call.js";

/** One request, with a unique name. */
export interface Asked {
  readonly name: string;
  readonly method: string;
  readonly target: string;
  readonly sent?: Sent;
}

type Headers = Readonly<Record<string, string>>;

const get = (name: string, target: string, headers: Headers = {}): Asked =>
  ask(name, "GET", target, { headers: Object.entries(headers) });
const ask = (name: string, method: string, target: string, sent: Sent = {}): Asked => ({ name, method, target, sent });
const json = (name: string, target: string, value: unknown, method = "POST"): Asked =>
  ask(name, method, target, { json: value });
const text = (name: string, target: string, body: string, type?: string): Asked =>
  ask(name, "POST", target, { text: body, headers: type === undefined ? [] : [["content-type", type]] });
const form = (name: string, target: string, pairs: readonly (readonly [string, string])[]): Asked =>
  ask(name, "POST", target, { form: pairs });

interface Part {
  readonly name: string;
  readonly value: string;
  readonly filename?: string;
  readonly type?: string;
}

function multipart(name: string, target: string, parts: readonly Part[]): Asked {
  const boundary = "comparison";
  const body = parts.map(({ name: field, value, filename, type }) => {
    const file = filename === undefined ? "" : `; filename="${filename}"`;
    const kind = type === undefined ? "" : `Content-Type: ${type}\r\n`;
    return `--${boundary}\r\nContent-Disposition: form-data; name="${field}"${file}\r\n${kind}\r\n${value}\r\n`;
  });
  const headers = [["content-type", `multipart/form-data; boundary=${boundary}`]] as const;
  return ask(name, "POST", target, { body: Buffer.from(`${body.join("")}--${boundary}--\r\n`), headers });
}

const values: Asked[] = [
  get("a dictionary", "/json"),
  get("null", "/null"),
  get("whole and large floats", "/float"),
  get("a text as JSON", "/string"),
  get("plain text", "/plain"),
  get("HTML", "/html"),
  ask("a status of its own", "POST", "/created"),
  ask("204", "DELETE", "/gone"),
  get("a response model", "/public"),
  get("an error with a handler of its own", "/teapot"),
  get("an HTTPException with detail and headers", "/refused"),
  get("an HTTPException without detail", "/phrase"),
  get("an unexpected error", "/boom"),
];

const routing: Asked[] = [
  get("no route", "/missing"),
  ask("another method", "POST", "/json"),
  ask("another method where several are known", "DELETE", "/items/1"),
  ask("HEAD of a GET route", "HEAD", "/json"),
  ask("OPTIONS without an origin", "OPTIONS", "/json"),
  get("a static path before a parameter", "/users/me"),
  get("a parameter beside it", "/users/you"),
  get("an extra slash at the end", "/json/"),
  get("a missing slash at the end", "/v1/slash"),
  get("a doubled slash", "//json"),
  get("a router's prefix", "/v1/things"),
  get("a mounted application", "/inner/here"),
  get("no route in a mounted application", "/inner/missing"),
  get("a path that is not UTF-8", "/names/%FF"),
  get("an escaped slash in a parameter", "/names/a%2Fb"),
  get("an escaped blank and a letter beyond ASCII", "/names/a%20%C3%A9"),
  get("path, query and method of the request", "/state?a=1&b=%20"),
];

const parameters: Asked[] = [
  get("an integer in the path", "/items/5"),
  get("text for an integer in the path", "/items/abc"),
  get("a fraction for an integer in the path", "/items/1.5"),
  get("a negative integer", "/items/-3"),
  get("an integer beyond 2^53", "/items/9007199254740993"),
  get("an integer with blanks", "/items/%205%20"),
  get("an integer with underscores", "/items/1_000"),
  get("a float in the path", "/prices/1.5"),
  get("a whole number for a float", "/prices/2"),
  get("inf for a float", "/prices/inf"),
  get("text for a float", "/prices/x"),
  get("a boolean", "/flags/on"),
  get("a boolean in capitals", "/flags/TRUE"),
  get("a boolean of one letter", "/flags/t"),
  get("text for a boolean", "/flags/maybe"),
  get("a member of an enumeration", "/colors/red"),
  get("a value that is not in an enumeration", "/colors/blue"),
  get("a number within its bound", "/positive/1"),
  get("a number at its exclusive bound", "/positive/0"),
  get("a date", "/days/2024-02-29"),
  get("an invalid date", "/days/2023-02-29"),
  get("a required query parameter alone", "/search?q=x"),
  get("a required query parameter missing", "/search"),
  get("every query parameter", "/search?q=x&skip=2&note=n&tags=a&tags=b"),
  get("an empty query parameter", "/search?q="),
  get("a scalar twice in the query", "/search?q=1&q=2"),
  get("two errors in the query", "/search?skip=x"),
  get("plus and escapes in the query", "/search?q=a+b%2B%C3%A9"),
  get("text within its bounds", "/bounds?n=10&s=abcde"),
  get("every bound broken", "/bounds?n=11&s=A"),
  get("an alias in the query", "/alias?item-query=x"),
  get("the name in addition to its alias", "/alias?q=x"),
  get("headers with underscores in their names", "/headers", { "X-Token": "t", "User-Agent": "u" }),
  get("a required header missing", "/headers", { "User-Agent": "u" }),
  ask("a header twice, for a list", "GET", "/header-list", {
    headers: [
      ["X-Many", "a"],
      ["X-Many", "b"],
    ],
  }),
  get("a cookie", "/cookies", { Cookie: "session=abc; other=1" }),
  get("a quoted cookie", "/cookies", { Cookie: 'session="a b"' }),
  get("no cookie", "/cookies"),
  get("two cookies of one name", "/cookies", { Cookie: "session=a; session=b" }),
  get("a key in a cookie", "/cookie-key", { Cookie: "key=a" }),
  get("two keys in cookies of one name", "/cookie-key", { Cookie: "key=a; key=b" }),
];

const ITEM = { name: "a", price: 1.5 };

const bodies: Asked[] = [
  json("a body", "/item", ITEM),
  json("a body with a key too many", "/item", { ...ITEM, other: 1 }),
  json("a body with a field missing", "/item", { name: "a" }),
  json("a body with a field of another type", "/item", { name: "a", price: "cheap" }),
  json("text of digits for a number in a body", "/item", { name: "a", price: "1.5" }),
  json("a number for text in a body", "/item", { name: 5, price: 1 }),
  json("null for a field in a body", "/item", { name: null, price: 1 }),
  json("a list for a body", "/item", [ITEM]),
  ask("no body although it is required", "POST", "/item"),
  text("a body that is not JSON", "/item", "{"),
  text("a body of another content type", "/item", '{"name":"a","price":1}', "text/plain"),
  text("a body of a +json content type", "/item", '{"name":"a","price":1}', "application/vnd.a+json"),
  text("NaN in a body", "/item", '{"name":"a","price":NaN}'),
  json("an embedded body", "/embedded", { item: ITEM }),
  json("an embedded body without its name", "/embedded", ITEM),
  json("two bodies and a value", "/two", { item: ITEM, user: { username: "u" }, importance: 5 }),
  json("two bodies with one missing", "/two", { item: ITEM, importance: 5 }),
  json("a list of bodies", "/list", [ITEM, { ...ITEM, tags: ["t"] }]),
  json("an error in a list of bodies", "/list", [ITEM, { name: "b" }]),
  json("defaults in a body", "/strict", { count: 1 }),
  json("a fraction for an integer in a body", "/strict", { count: 1.5 }),
  json("a whole float for an integer in a body", "/strict", { count: 2 }),
  json("1 for true in a body", "/strict", { count: 1, flag: 1 }),
  json("a date and time in a body", "/strict", { count: 1, when: "2024-01-02T03:04:05Z" }),
  json("a number for a date and time in a body", "/strict", { count: 1, when: 0 }),
  ask("no body where one is optional", "POST", "/optional"),
  json("path, query and body", "/items/3?q=x", ITEM, "PUT"),
  form("a form", "/form", [
    ["username", "ada"],
    ["age", "36"],
  ]),
  form("a form with a field missing", "/form", [["age", "36"]]),
  form("a form with a field of another type", "/form", [
    ["username", "a"],
    ["age", "x"],
  ]),
  form("an empty field in a form", "/form", [["username", ""]]),
  json("JSON for a form", "/form", { username: "ada" }),
  multipart("a multipart form", "/form", [{ name: "username", value: "ada" }]),
  form("a password form", "/login", [
    ["username", "u"],
    ["password", "p"],
    ["scope", "a b"],
  ]),
  form("a password form with another grant", "/login", [
    ["grant_type", "x"],
    ["username", "u"],
    ["password", "p"],
  ]),
  multipart("an upload", "/file", [{ name: "upload", value: "hello", filename: "a é.txt", type: "text/plain" }]),
  multipart("an upload without a type", "/file", [{ name: "upload", value: "", filename: "empty" }]),
  multipart("an upload under another name", "/file", [{ name: "other", value: "x", filename: "a" }]),
  multipart("text for an upload", "/file", [{ name: "upload", value: "x" }]),
  form("an urlencoded form for an upload", "/file", [["upload", "x"]]),
  multipart("two uploads and a field", "/files", [
    { name: "note", value: "n" },
    { name: "uploads", value: "1", filename: "one" },
    { name: "uploads", value: "2", filename: "two" },
  ]),
  multipart("an upload as bytes", "/bytes", [{ name: "upload", value: "12345", filename: "a" }]),
  text(
    "a multipart body without its end",
    "/file",
    "--x\r\nContent-Disposition: form-data; name=upload; filename=a\r\n\r\nx",
    "multipart/form-data; boundary=x",
  ),
  text("a multipart body without a boundary", "/file", "x", "multipart/form-data"),
  ask("a body in chunks", "POST", "/raw", { chunks: [Buffer.from("ab"), Buffer.from("cde")] }),
];

const ORIGIN = { Origin: "https://a.example" };

const responses: Asked[] = [
  get("a redirect", "/redirect"),
  get("a redirect with 303 and letters beyond ASCII", "/redirect/303"),
  get("a cookie that is set", "/set-cookie"),
  get("a cookie that is deleted", "/delete-cookie"),
  get("a status on the draft", "/draft-status"),
  get("a stream", "/stream"),
  ask("HEAD of a stream", "HEAD", "/stream"),
  get("a background task", "/background"),
  get("a file with a name", "/download"),
  get("a range of a file", "/download", { Range: "bytes=0-3" }),
  get("a range past the end of a file", "/download", { Range: "bytes=9999-" }),
  ask("HEAD of a file", "HEAD", "/download"),
  get("a static file", "/static/data.txt"),
  get("a range of a static file", "/static/data.txt", { Range: "bytes=-4" }),
  get("a static file that is not there", "/static/none"),
  get("a static file above the folder", "/static/%2e%2e/secret.txt"),
  get("a folder of static files without its slash", "/static/sub"),
  get("a folder of static files", "/static/sub/"),
  ask("POST to a static file", "POST", "/static/data.txt"),
  get("a large response for gzip", "/big", { "Accept-Encoding": "gzip" }),
  get("a small response for gzip", "/json", { "Accept-Encoding": "gzip" }),
  get("a large response for a client that rejects gzip", "/big", { "Accept-Encoding": "gzip;q=0" }),
  get("a cross-origin response", "/json", ORIGIN),
  get("a cross-origin response for an origin that is not allowed", "/json", { Origin: "https://evil.example" }),
  get("a cross-origin error", "/missing", ORIGIN),
  ask("a preflight", "OPTIONS", "/item", {
    headers: Object.entries({
      ...ORIGIN,
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "x-token",
    }),
  }),
  ask("a preflight of another origin", "OPTIONS", "/item", {
    headers: [
      ["Origin", "https://evil.example"],
      ["Access-Control-Request-Method", "POST"],
    ],
  }),
  ask("a preflight for another method", "OPTIONS", "/item", {
    headers: [
      ["Origin", "https://a.example"],
      ["Access-Control-Request-Method", "DELETE"],
    ],
  }),
];

const basic = (pair: string): Headers => ({ Authorization: `Basic ${Buffer.from(pair).toString("base64")}` });

const structure: Asked[] = [
  get("a nested dependency", "/depends?q=x&skip=1"),
  get("an error in a nested dependency", "/depends?skip=x"),
  get("a guard that lets in", "/guarded?n=1", { "X-Token": "good" }),
  get("a guard that refuses", "/guarded?n=1", { "X-Token": "bad" }),
  get("a guard and a parameter that are both at fault", "/guarded?n=x", { "X-Token": "bad" }),
  get("a guard whose header is missing", "/guarded?n=1"),
  get("an OAuth2 token", "/bearer", { Authorization: "Bearer abc" }),
  get("no OAuth2 token", "/bearer"),
  get("another scheme for an OAuth2 token", "/bearer", basic("a:b")),
  get("a bearer token", "/http-bearer", { Authorization: "bearer abc" }),
  get("no bearer token", "/http-bearer"),
  get("another scheme for a bearer token", "/http-bearer", basic("a:b")),
  get("basic credentials", "/basic", basic("ada:pass:word")),
  get("no basic credentials", "/basic"),
  get("basic credentials that are not base64", "/basic", { Authorization: "Basic !" }),
];

/** Every request over HTTP. */
export const REQUESTS: readonly Asked[] = [...values, ...routing, ...parameters, ...bodies, ...responses, ...structure];

/** A conversation over a WebSocket: the client's messages, after which it reads to the end. */
export interface Talk {
  readonly name: string;
  readonly path: string;
  readonly headers?: Headers;
  readonly subprotocols?: readonly string[];
  readonly says?: readonly (string | Uint8Array)[];
  /** The code that the client closes with when it has heard as much as it has said. */
  readonly closes?: number;
}

export const TALKS: readonly Talk[] = [
  { name: "an echo over a WebSocket", path: "/ws/echo", says: ["a", "é"], closes: 1000 },
  { name: "bytes for text over a WebSocket", path: "/ws/echo", says: [Uint8Array.of(1)] },
  { name: "a subprotocol and a header", path: "/ws/protocol", subprotocols: ["v2", "v1"] },
  { name: "bytes and a close code of its own", path: "/ws/bytes", says: [Uint8Array.of(0, 255)] },
  { name: "parameters of a WebSocket", path: "/ws/typed/5?q=x" },
  { name: "invalid parameters of a WebSocket", path: "/ws/typed/x" },
  { name: "a WebSocket that is rejected", path: "/ws/refused" },
  { name: "a WebSocket that is rejected with a custom code", path: "/ws/early" },
  { name: "a guard of a WebSocket that lets in", path: "/ws/guarded", headers: { "X-Token": "good" } },
  { name: "a guard that rejects a WebSocket", path: "/ws/guarded", headers: { "X-Token": "bad" } },
  { name: "a WebSocket without a route", path: "/ws/none" },
  { name: "a WebSocket's path with a slash at the end", path: "/ws/echo/" },
  { name: "a WebSocket whose handler fails", path: "/ws/boom" },
  { name: "JSON over a WebSocket", path: "/ws/json", says: ['{"a": 1}'] },
  { name: "text that is not JSON over a WebSocket", path: "/ws/json", says: ["{"] },
  { name: "a WebSocket whose handler ends", path: "/ws/end" },
];
