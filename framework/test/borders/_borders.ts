/** The places at which tsgi receives data from other programs or sends data to them, with one input for each row. */

/** One input at a border. */
export interface Border {
  /** The place, as on the page. */
  readonly place: string;
  /** The input, as on the page. */
  readonly input: string;
  /** The bytes of a request. */
  readonly request: Buffer;
  /** `true` if the input ends the process of the peer, so that it is not sent. */
  readonly endsPeer?: boolean;
}

const HOST = "Host: localhost";

/** A request with these header lines, and a body whose length is added. */
function request(line: string, headers: readonly string[] = [HOST], body?: string | Buffer): Buffer {
  const bytes = Buffer.from(body ?? "");
  const length = body === undefined ? [] : [`Content-Length: ${bytes.length}`];
  const head = [line, ...headers, ...length, "Connection: close", "", ""].join("\r\n");
  return Buffer.concat([Buffer.from(head, "latin1"), bytes]);
}

const get = (target: string, headers: readonly string[] = []) => request(`GET ${target} HTTP/1.1`, [HOST, ...headers]);
const post = (body: string | Buffer, type = "application/json", headers: readonly string[] = []) =>
  request("POST /body HTTP/1.1", [HOST, `Content-Type: ${type}`, ...headers], body);

const at =
  (place: string) =>
  (input: string, bytes: Buffer): Border => ({ place, input, request: bytes });

const [bytes, target, fields, body] = ["bytes", "target", "header fields", "body"].map(at) as [At, At, At, At];
const [errors, results, time] = ["thrown values", "results", "time"].map(at) as [At, At, At];
type At = ReturnType<typeof at>;

/** The rows of the page. */
export const BORDERS: readonly Border[] = [
  bytes("a space in the target", request("GET /items/a b HTTP/1.1")),
  bytes("lines that end with LF", Buffer.from("GET /items/a HTTP/1.1\nHost: localhost\nConnection: close\n\n")),
  bytes(
    "`Content-Length` and `Transfer-Encoding`",
    request("POST /body HTTP/1.1", [
      HOST,
      "Content-Length: 1",
      "Transfer-Encoding: chunked",
      "Content-Type: text/plain",
    ]),
  ),
  bytes(
    "two different `Content-Length`",
    request("POST /body HTTP/1.1", [HOST, "Content-Length: 1", "Content-Length: 2", "Content-Type: text/plain"]),
  ),
  target("`/items/%zz`", get("/items/%zz")),
  target("`/items/%ff`: not UTF-8", get("/items/%ff")),
  target("`/items/a%2fb`", get("/items/a%2fb")),
  target("`/x/../items/a`", get("/x/../items/a")),
  target("`?name=%ff`: not UTF-8", get("/query?name=%ff")),
  target("`?name=a&name=b`", get("/query?name=a&name=b")),
  target("`?name=a+b`", get("/query?name=a+b")),
  fields("no `Host`", request("GET /items/a HTTP/1.1", [])),
  fields("two `Host`", request("GET /items/a HTTP/1.1", [HOST, "Host: other"])),
  fields("`X-Forwarded-For` of an unknown client", get("/client", ["X-Forwarded-For: 192.0.2.1"])),
  fields("`X-Forwarded-Host` of an unknown client", get("/host", ["X-Forwarded-Host: evil.test"])),
  fields("two cookies of one name", get("/cookie", ["Cookie: id=first; id=second"])),
  fields("a cookie with a `%zz`", get("/cookie", ["Cookie: id=%zz"])),
  fields("`Expect: something`", get("/items/a", ["Expect: something"])),
  fields("bytes above 127", get("/header", ["X-Name: \u00e9"])),
  body("JSON with a BOM", post("\ufeff{}")),
  body("JSON that is not UTF-8", post(Buffer.from('{"a":"\u00ff"}', "latin1"))),
  body("JSON with `__proto__`", post('{"__proto__":{"admin":true}}')),
  body("JSON of length 0", post("")),
  body("JSON in `charset=latin1`", post(Buffer.from('{"a":"\u00e9"}', "latin1"), "application/json; charset=latin1")),
  body("JSON with `Content-Encoding: gzip`", post("{}", "application/json", ["Content-Encoding: gzip"])),
  body("an unknown media type", post("{}", "application/x-unknown")),
  errors('`throw "text"`', get("/throws/text")),
  errors("`throw null`", get("/throws/null")),
  errors("an error with `status: 404`, as of `http-errors`", get("/throws/http-errors")),
  errors("an error after the head was sent", get("/throws/late")),
  { ...results("a header with CR and LF", get("/result/crlf")), endsPeer: true },
  { ...results("a header beyond Latin-1", get("/result/unicode")), endsPeer: true },
  results("a `bigint`", get("/result/bigint")),
  results("`undefined`", get("/result/undefined")),
  results("a response of `fetch` that was compressed", get("/result/fetched")),
  time("an invalid `Date`", get("/result/date")),
  time("`If-Modified-Since` that is not a date", get("/items/a", ["If-Modified-Since: yesterday"])),
];
