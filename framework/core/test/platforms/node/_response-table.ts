/** Responses as applications send them, and the bytes that leave for them. */
import type { SendMessage } from "../../../src/protocol/asgi.js";
import { HeaderList } from "../../../src/protocol/header-list.js";
import { pair } from "./_http.js";

export const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/** A request after it, whose response is `next`. */
export const NEXT = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n";

/** The start of a response. */
export const start = (status: number, headers: Record<string, string> = {}): SendMessage => ({
  type: "http.response.start",
  status,
  headers: Object.entries(headers).map(([name, value]) => pair(name, value)),
});
/** A part of its body. */
export const body = (text: string, more = false): SendMessage => ({
  type: "http.response.body",
  body: Buffer.from(text),
  more_body: more,
});

/** A request, the messages of its response, and the bytes that the client reads, without their date. */
export const written: [rule: string, request: string, messages: SendMessage[], answer: string][] = [
  [
    "adds Content-Length to a body that is whole",
    GET,
    [start(200, { "content-type": "text/plain" }), body("hello")],
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello",
  ],
  [
    "sends a Content-Length that was given twice once",
    GET,
    [
      {
        type: "http.response.start",
        status: 200,
        headers: new HeaderList(["Content-Length", "2", "content-length", "2"]),
      },
      body("hi"),
    ],
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
  ],
  ["sends an empty body as one", GET, [start(200), body("")], "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
  [
    "sends a body without bytes as an empty one",
    GET,
    [start(200), { type: "http.response.body" }],
    "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
  ],
  [
    "takes headers as HeaderList without a detour over bytes",
    GET,
    [{ type: "http.response.start", status: 200, headers: new HeaderList(["X-Case", "caf\xe9"]) }, body("")],
    "HTTP/1.1 200 OK\r\nX-Case: caf\xe9\r\ncontent-length: 0\r\n\r\n",
  ],
  [
    "takes headers from any iterable",
    GET,
    [{ type: "http.response.start", status: 200, headers: new Set([pair("a", "1"), pair("a", "2")]) }, body("x")],
    "HTTP/1.1 200 OK\r\na: 1\r\na: 2\r\ncontent-length: 1\r\n\r\nx",
  ],
  [
    "sends parts as chunks",
    GET,
    [start(200), body("one", true), body("two", true), body("")],
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n",
  ],
  [
    "sends parts under the Content-Length that was given",
    GET,
    [start(200, { "content-length": "6" }), body("one", true), body("two")],
    "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nonetwo",
  ],
  [
    "sends a large body as bytes",
    GET,
    [start(200), body("\xff".repeat(5000))],
    `HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n${Buffer.from("\xff".repeat(5000)).toString("latin1")}`,
  ],
  [
    "sends bytes beyond US-ASCII as they are",
    GET,
    [start(200), { type: "http.response.body", body: new Uint8Array([0, 128, 255]) }],
    "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n\x00\x80\xff",
  ],
  [
    "drops the application's own Transfer-Encoding (ASGI)",
    GET,
    [start(200, { "transfer-encoding": "chunked", "content-length": "2" }), body("hi")],
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
  ],
  [
    "drops Trailer, as it sends none",
    GET,
    [start(200, { trailer: "x" }), body("hi")],
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi",
  ],
  [
    "ignores a second end",
    GET,
    [start(200), body("one"), body("two")],
    "HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\none",
  ],
  [
    "gives HEAD the head alone (RFC 9110 §9.3.2)",
    "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    [start(200), body("hello")],
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n",
  ],
  [
    "gives HEAD the Content-Length of the application",
    "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    [start(200, { "content-length": "7" }), body("")],
    "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n",
  ],
  [
    "gives HEAD no part of a stream",
    "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
    [start(200, { "content-length": "6" }), body("one", true), body("two")],
    "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n",
  ],
  [
    "sends no content with 204 (RFC 9110 §15.3.5)",
    GET,
    [start(204, { "content-length": "5" }), body("hello")],
    "HTTP/1.1 204 No Content\r\n\r\n",
  ],
  [
    "sends no content with 304 (RFC 9110 §15.4.5)",
    GET,
    [start(304, { etag: '"a"' }), body("hello")],
    'HTTP/1.1 304 Not Modified\r\netag: "a"\r\n\r\n',
  ],
  [
    "sends no content with 205, and says so (RFC 9110 §15.3.6)",
    GET,
    [start(205, { "content-length": "5" }), body("hello")],
    "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n",
  ],
  [
    "sends no content with 205 in parts (RFC 9110 §15.3.6)",
    GET,
    [start(205), body("one", true), body("two")],
    "HTTP/1.1 205 Reset Content\r\ncontent-length: 0\r\n\r\n",
  ],
  [
    "keeps an HTTP/1.0 connection that asks for it",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    [start(200), body("hello")],
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
  ],
];
