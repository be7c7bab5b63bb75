/** Requests that an HTTP/1.1 server must reject, and those that it must accept, each with its rule. */

export const HOST = "Host: example.org\r\n";
const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: a\r\n`).join("");

/** Rejected requests: the request as it is sent, and the status. */
export const refused: [rule: string, request: string, status: number][] = [
  ["RFC 9112 §3.2: no Host", "GET / HTTP/1.1\r\n\r\n", 400],
  ["RFC 9112 §3.2: two Host lines", `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
  ["RFC 9112 §3.2: two Host lines in different cases", `GET / HTTP/1.1\r\n${HOST}hOST: b\r\n\r\n`, 400],
  ["RFC 9112 §3.2: two Host lines on HTTP/1.0", `GET / HTTP/1.0\r\n${HOST}${HOST}\r\n`, 400],
  ["RFC 9110 §4.2.1: an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", 400],
  ["RFC 9110 §7.2: a space in Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
  ["RFC 9110 §7.2: a path in Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400],
  ["RFC 9110 §7.2: user information in Host", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", 400],
  ["RFC 9110 §7.2: a port that is no number", "GET / HTTP/1.1\r\nHost: a:x\r\n\r\n", 400],
  ["RFC 9110 §7.2: a port that does not exist", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", 400],
  ["RFC 3986 §3.2.2: an IP literal that is none", "GET / HTTP/1.1\r\nHost: [::1::2]\r\n\r\n", 400],
  ["RFC 3986 §3.2.2: an IP literal without its end", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", 400],
  ["RFC 3986 §2.1: a broken escape in Host", "GET / HTTP/1.1\r\nHost: a%2\r\n\r\n", 400],
  ["bytes beyond US-ASCII in Host", "GET / HTTP/1.1\r\nHost: a\xe9\r\n\r\n", 400],

  [
    "RFC 9112 §6.1: gzip before chunked",
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
    501,
  ],
  ["RFC 9112 §6.1: gzip alone", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`, 501],
  ["RFC 9112 §6.1: identity", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: identity\r\n\r\n`, 501],
  ["RFC 9112 §6.1: chunked twice", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked, chunked\r\n\r\n`, 501],
  [
    "RFC 9112 §6.1: two lines of chunked",
    `POST / HTTP/1.1\r\n${HOST}${"Transfer-Encoding: chunked\r\n".repeat(2)}\r\n`,
    501,
  ],
  ["RFC 9112 §6.1: an empty Transfer-Encoding", `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding:\r\n\r\n`, 501],
  [
    "RFC 9112 §6.1: a parameter on chunked",
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n`,
    501,
  ],
  [
    "RFC 9112 §6.1: Transfer-Encoding on HTTP/1.0",
    `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    "RFC 9112 §6.1: Transfer-Encoding beside Content-Length",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    "RFC 9112 §6.3: two Content-Lengths",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc`,
    400,
  ],
  ["RFC 9112 §6.3: a list of Content-Lengths", `POST / HTTP/1.1\r\n${HOST}Content-Length: 3, 3\r\n\r\nabc`, 400],
  ["RFC 9110 §8.6: a sign in Content-Length", `POST / HTTP/1.1\r\n${HOST}Content-Length: +3\r\n\r\nabc`, 400],
  [
    "RFC 9110 §8.6: a Content-Length beyond 64 bits",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: 99999999999999999999\r\n\r\n`,
    400,
  ],

  ["RFC 9112 §3: two spaces before the target", `GET  / HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: two spaces after the target", `GET /  HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: a space in the target", `GET /a b HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: a space behind the version", `GET / HTTP/1.1 \r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: a tab for a space", `GET\t/ HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: a method that nobody knows", `FOO / HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: that, and a long target", `FOO /${"a".repeat(100)} HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: no target", `GET HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3: no version, and not HTTP/0.9 either", "POST /\r\n", 400],
  ["RFC 9112 §3: a method in lower case", `get / HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §2.2: a bare LF", "GET / HTTP/1.1\nHost: a\n\n", 400],
  ["RFC 9112 §2.2: a line that begins with a space", `GET / HTTP/1.1\r\n ${HOST}\r\n`, 400],
  ["RFC 9112 §3.2.4: the asterisk on another method than OPTIONS", `GET * HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3.2: a target that begins with an asterisk", `OPTIONS *a HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3.2: a target without its slash", `GET a HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9110 §7.1: a fragment", `GET /a#b HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9110 §7.1: a fragment alone", `GET # HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 3986 §2: a byte beyond US-ASCII in the target", `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 3986 §2: NUL in the target", `GET /\0 HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 3986 §2.1: a broken escape in the path", `GET /%zz HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 3986 §2.1: an escape cut short", `GET /%4 HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9110 §4.2.4: user information in an absolute target", `GET http://u@a/ HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3.2.2: an absolute target without a host", `GET http:///a HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9112 §3.2.2: an absolute target of another scheme", `GET ftp://a/ HTTP/1.1\r\n${HOST}\r\n`, 400],
  ["RFC 9110 §9.3.6: CONNECT", `CONNECT example.org:443 HTTP/1.1\r\n${HOST}\r\n`, 405],

  ["RFC 9110 §15.6.6: HTTP/2.0", `GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
  ["RFC 9110 §15.6.6: HTTP/1.2", `GET / HTTP/1.2\r\n${HOST}\r\n`, 505],
  ["RFC 9110 §15.6.6: HTTP/3", `GET / HTTP/3\r\n${HOST}\r\n`, 505],
  ["RFC 9113 §3.4: the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505],
  ["RFC 1945 §4.1: HTTP/0.9", "GET /\r\n", 505],
  ["RFC 1945 §4.1: HTTP/0.9 by name", `GET / HTTP/0.9\r\n${HOST}\r\n`, 505],
  ["RFC 9112 §2.3: the name of HTTP in lower case", `GET / http/1.1\r\n${HOST}\r\n`, 400],

  ["RFC 9112 §5.1: a space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400],
  ["RFC 9112 §5: a header line without a colon", `GET / HTTP/1.1\r\n${HOST}foo\r\n\r\n`, 400],
  ["RFC 9112 §5: a header line without a name", `GET / HTTP/1.1\r\n${HOST}: b\r\n\r\n`, 400],
  ["RFC 9112 §5.2: a folded line", `GET / HTTP/1.1\r\n${HOST}X: a\r\n b\r\n\r\n`, 400],
  ["RFC 9112 §2.2: a bare CR in a header line", `GET / HTTP/1.1\r\n${HOST}X: a\rY: b\r\n\r\n`, 400],
  ["RFC 9110 §5.5: NUL in a value", `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, 400],

  [
    "RFC 9110 §10.1.1: an expectation beside 100-continue",
    `POST / HTTP/1.1\r\n${HOST}Expect: 100-continue, x\r\nContent-Length: 1\r\n\r\n`,
    417,
  ],
  ["RFC 9110 §10.1.1: another expectation", `POST / HTTP/1.1\r\n${HOST}Expect: tea\r\nContent-Length: 1\r\n\r\n`, 417],

  ["RFC 6585 §5: more than 100 header lines", `GET / HTTP/1.1\r\n${HOST}${many(100)}\r\n`, 431],
  ["RFC 6585 §5: more than 2,000 header lines", `GET / HTTP/1.1\r\n${HOST}${many(2500)}\r\n`, 431],
  ["RFC 6585 §5: more than 16 KiB of header lines", `GET / HTTP/1.1\r\n${HOST}X: ${"a".repeat(16_384)}\r\n\r\n`, 431],
  ["RFC 6585 §5: far more than that", `GET / HTTP/1.1\r\n${HOST}X: ${"a".repeat(300_000)}\r\n\r\n`, 431],
  ["RFC 9110 §15.5.15: a target of more than 8 KiB", `GET /${"a".repeat(8192)} HTTP/1.1\r\n${HOST}\r\n`, 414],
  ["RFC 9110 §15.5.15: far more than that", `GET /${"a".repeat(300_000)} HTTP/1.1\r\n${HOST}\r\n`, 414],
  ["RFC 9110 §15.5.15: that, and no end of the line", `GET /${"a".repeat(300_000)}`, 414],

  ["no HTTP: a TLS handshake", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400],
  ["no HTTP: a line without an end and without a space", "A".repeat(200), 400],
  ["no HTTP: NULs", "\0\0\0\0\r\n\r\n", 400],
  ["no HTTP: empty lines without end", "\r\n".repeat(200), 400],
];

/** Accepted requests, and the values that the application receives. */
export const accepted: [rule: string, request: string, told: object][] = [
  ["a Host with a port", "GET / HTTP/1.1\r\nHost: a:8000\r\n\r\n", { headers: [["host", "a:8000"]] }],
  ["a Host that is an IPv6 literal", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", { headers: [["host", "[::1]:80"]] }],
  ["a Host with a port that is empty", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", { headers: [["host", "a:"]] }],
  ["HTTP/1.0 without a Host", "GET / HTTP/1.0\r\n\r\n", { headers: [] }],
  ["RFC 9112 §2.2: an empty line before the request line", `\r\nGET /a HTTP/1.1\r\n${HOST}\r\n`, { path: "/a" }],
  ["exactly 100 header lines", `GET /a HTTP/1.1\r\n${HOST}${many(99)}\r\n`, { path: "/a" }],
  [
    "RFC 9112 §3.2.2: an absolute target, whose authority counts",
    `GET http://other:81/a?b=c HTTP/1.1\r\nX: y\r\n${HOST}\r\n`,
    {
      path: "/a",
      query: "b=c",
      headers: [
        ["host", "other:81"],
        ["x", "y"],
      ],
    },
  ],
  ["an absolute target without a path", `GET http://other?b HTTP/1.1\r\n${HOST}\r\n`, { path: "/", query: "b" }],
  [
    "a query with broken escapes, which are the application's to judge",
    `GET /?a=%zz HTTP/1.1\r\n${HOST}\r\n`,
    { query: "a=%zz" },
  ],
  [
    "Transfer-Encoding: Chunked",
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    { body: "abc" },
  ],
  [
    "RFC 9110 §8.6: zeros before a Content-Length",
    `POST / HTTP/1.1\r\n${HOST}Content-Length: ${"0".repeat(40)}3\r\n\r\nabc`,
    { body: "abc" },
  ],
  [
    "RFC 9112 §5.1: blanks around a Content-Length",
    `POST / HTTP/1.1\r\n${HOST}Content-Length:\t 3 \t\r\n\r\nabc`,
    { body: "abc" },
  ],
  [
    "RFC 9112 §7.1.1: blanks around the ; and = of chunk extensions, and text in quotes",
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3 \t;\ta = "b ;\\"" ; c\r\nabc\r\n0 ; d\r\n\r\n`,
    { body: "abc" },
  ],
  [
    "RFC 9112 §7.1.2: trailers",
    `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nVary: *\r\nX:\r\n\r\n`,
    { body: "abc" },
  ],
  ["a Content-Length of 0", `POST / HTTP/1.1\r\n${HOST}Content-Length: 0\r\n\r\n`, { body: "" }],
  [
    "RFC 9110 §10.1.1: an expectation of an HTTP/1.0 client",
    "POST / HTTP/1.0\r\nExpect: tea\r\nContent-Length: 1\r\n\r\na",
    { body: "a" },
  ],
  [
    "an upgrade that is not offered",
    `GET /a HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    { path: "/a" },
  ],
];
