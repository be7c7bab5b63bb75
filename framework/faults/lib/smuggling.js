/** Requests that two parsers may read in two ways: a second one, for /smuggled, is hidden in each. */
const HIDDEN = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
const CHUNKED = `0\r\n\r\n${HIDDEN}`;

const post = (headers, body) => `POST /shape HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
const both = (coding) => post(`Content-Length: ${CHUNKED.length}\r\n${coding}\r\n`, CHUNKED);

/** Each shape under a name; it must not make the application receive more than the proxy has seen. */
export const SHAPES = Object.entries({
  "Content-Length, then Transfer-Encoding": both("Transfer-Encoding: chunked"),
  "Transfer-Encoding, then Content-Length": post(
    `Transfer-Encoding: chunked\r\nContent-Length: ${CHUNKED.length}\r\n`,
    CHUNKED,
  ),
  "a short Content-Length with chunks": post(
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
    `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`,
  ),
  "a space before the colon": both("Transfer-Encoding : chunked"),
  "a tab for the space": both("Transfer-Encoding:\tchunked"),
  "a vertical tab": both("Transfer-Encoding: \x0bchunked"),
  "a folded line": both("Transfer-Encoding:\r\n chunked"),
  "another letter case": both("tRANSFER-eNCODING: ChUnKeD"),
  "two codings": both("Transfer-Encoding: identity, chunked"),
  "two codings, chunked first": both("Transfer-Encoding: chunked, identity"),
  "two lines of codings": both("Transfer-Encoding: identity\r\nTransfer-Encoding: chunked"),
  "an unknown coding": both("Transfer-Encoding: xchunked"),
  "quotes around the coding": both('Transfer-Encoding: "chunked"'),
  "a comma behind the coding": both("Transfer-Encoding: chunked,"),
  "a parameter of the coding": both("Transfer-Encoding: chunked;a=b"),
  "NUL in the coding": both("Transfer-Encoding: chunked\0"),
  "a bare CR before the coding": both("X: y\rTransfer-Encoding: chunked"),
  "a bare LF before the coding": both("X: y\nTransfer-Encoding: chunked"),
  "an underscore in the name": both("Transfer_Encoding: chunked"),
  "two Content-Lengths": post(`Content-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n`, HIDDEN),
  "two Content-Lengths the other way round": post(`Content-Length: ${HIDDEN.length}\r\nContent-Length: 0\r\n`, HIDDEN),
  "a list of Content-Lengths": post(`Content-Length: 0, ${HIDDEN.length}\r\n`, HIDDEN),
  "a Content-Length with a sign": post(`Content-Length: +${HIDDEN.length}\r\n`, HIDDEN),
  "a negative Content-Length": post("Content-Length: -1\r\n", HIDDEN),
  "a Content-Length in hexadecimal": post(`Content-Length: 0x${HIDDEN.length.toString(16)}\r\n`, HIDDEN),
  "a Content-Length with leading zeros": post(`Content-Length: 000${HIDDEN.length}\r\n`, HIDDEN),
  "a Content-Length beyond 64 bits": post(`Content-Length: 18446744073709551616\r\n`, HIDDEN),
  "a Content-Length with a space inside": post("Content-Length: 1 0\r\n", HIDDEN),
  "a GET with a body": `GET /shape HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  "a GET with chunks": `GET /shape HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  "a HEAD with a body": `HEAD /shape HTTP/1.1\r\nHost: a\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  "chunks on HTTP/1.0": `POST /shape HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
  "a chunk size with a sign": post("Transfer-Encoding: chunked\r\n", `+0\r\n\r\n${HIDDEN}`),
  "a chunk size with 0x": post("Transfer-Encoding: chunked\r\n", `0x0\r\n\r\n${HIDDEN}`),
  "a chunk size beyond 64 bits": post("Transfer-Encoding: chunked\r\n", `10000000000000000\r\n\r\n${HIDDEN}`),
  "a chunk size without digits": post("Transfer-Encoding: chunked\r\n", `\r\n\r\n${HIDDEN}`),
  "a chunk size line that ends with LF": post("Transfer-Encoding: chunked\r\n", `0\n\r\n${HIDDEN}`),
  "a chunk without its end": post("Transfer-Encoding: chunked\r\n", `3\r\nabc0\r\n\r\n${HIDDEN}`),
  "a chunk extension with LF": post("Transfer-Encoding: chunked\r\n", `0;a=b\nc\r\n\r\n${HIDDEN}`),
  "a chunk extension in quotes": post("Transfer-Encoding: chunked\r\n", `2;a="\r\n";\r\nxx\r\n${CHUNKED}`),
  "trailers that frame": post(
    "Transfer-Encoding: chunked\r\n",
    `0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  ),
  "Expect with a hidden request": post(`Expect: 100-continue\r\nContent-Length: ${HIDDEN.length}\r\n`, HIDDEN),
  "an upgrade to cleartext HTTP/2": `GET /shape HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n${HIDDEN}`,
  "a WebSocket that is refused": `GET /shape HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n${HIDDEN}`,
  "Content-Length named in Connection": post(
    `Connection: Content-Length\r\nContent-Length: ${HIDDEN.length}\r\n`,
    HIDDEN,
  ),
  "Transfer-Encoding named in Connection": both("Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked"),
  "an absolute target with another Host": `GET http://other/shape HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`,
  "two Hosts": `GET /shape HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${HIDDEN}`,
  "two spaces in the request line": `GET  /shape HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`,
  "a space in the target": `GET /shape HTTP/1.1 x HTTP/1.1\r\nHost: a\r\n\r\n${HIDDEN}`,
});
