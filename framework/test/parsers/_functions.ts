/** The parsers that are functions: each takes a text of a client. @module */
import { parseCookies } from "../../core/src/http/request/cookies.js";
import { boundaryOf, parseURLEncoded } from "../../core/src/http/request/form.js";
import { parseJSON } from "../../core/src/http/request/json.js";
import { parsePartHead } from "../../core/src/http/request/multipart.js";
import { listsTag } from "../../core/src/http/response/conditions.js";
import { HeaderList } from "../../core/src/protocol/header-list.js";
import * as grammar from "../../core/src/protocol/http-grammar.js";
import { canonicalPath } from "../../core/src/protocol/scope.js";
import { shorten, isSecretName } from "../../core/src/schema/faults.js";
import { parseHeaderSection } from "../../core/src/platforms/node/header-section.js";
import { ChunkedDecoder } from "../../core/src/platforms/node/http1/parse-chunked.js";
import { parseHead } from "../../core/src/platforms/node/http1/parse-head.js";
import { readHead } from "../../core/src/platforms/node/http2/stream.js";
import { createHead } from "../../core/src/platforms/node/request-head.js";
import { TrustedProxies } from "../../core/src/platforms/node/trusted-proxies.js";
import { parseHandshake, toRules } from "../../core/src/platforms/node/websocket/handshake-rules.js";
import type { HTTPScope } from "../../core/src/protocol/asgi.js";
import { ErrorResponse } from "../../core/src/protocol/error-response.js";

/** A reader of a client's bytes. */
export interface Parser {
  readonly name: string;
  readonly parse: (text: string) => unknown;
  /** Beginnings and ends between which a text reaches further parts of the reader. */
  readonly frames?: readonly (readonly [begin: string, end: string])[];
  /** Further steps that it may take for any length: a hundred errors have some. */
  readonly constant?: number;
}

/** No limit ends a reader early. */
const LIMITS = { targetBytes: 100_000, headerBytes: 100_000, headerCount: 100 };

const framing = (name: string): Parser => ({
  name: `the field ${name} of HTTP/1.1`,
  parse: (text) => parseHeaderSection(["host", "a", name, text], 1, LIMITS),
});

const http1 = (name: string, write: (text: string) => string): Parser => ({
  name,
  parse: (text) => parseHead(Buffer.from(write(text), "latin1"), 0, LIMITS),
});

const http2 = (name: string): Parser => ({
  name: `the field ${name} of HTTP/2`,
  parse: (text) => {
    const fields = { ":method": "GET", ":path": "/", ":scheme": "https", ":authority": "a", cookie: "a", [name]: text };
    return readHead(Object.entries(fields).flat(), LIMITS);
  },
});

const RULES = toRules({ allowedHosts: ["*.example.com"], allowedOrigins: ["https://example.com"] }, 0, null);

const handshake = (name: string, frames?: Parser["frames"]): Parser => ({
  name: `the field ${name} of a WebSocket handshake`,
  parse: (text) => {
    const fields = {
      host: "a.example.com",
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      [name]: text,
    };
    const head = createHead("GET", "/", 1, Object.entries(fields).flat(), LIMITS);
    return head instanceof ErrorResponse ? head : parseHandshake(head, RULES, true);
  },
  ...(frames && { frames }),
});

const proxies = new TrustedProxies(["loopback"]);

const forwarded = (name: string, frames?: Parser["frames"]): Parser => ({
  name: `${name} of a trusted proxy`,
  parse: (text) => {
    const headers = new HeaderList([name, text]);
    const scope: HTTPScope = { type: "http", method: "GET", path: "/", client: ["127.0.0.1", 1], headers };
    proxies.apply(scope);
  },
  ...(frames && { frames }),
});

const bytesOf = (text: string) => new TextEncoder().encode(text);

const HTTP: readonly Parser[] = [
  ...["connection", "upgrade", "expect", "host", "content-length", "transfer-encoding", "content-type"].map(framing),
  http1("a request line", (text) => `${text}\r\nhost: a\r\n\r\n`),
  http1("a target", (text) => `GET /${text} HTTP/1.1\r\nhost: a\r\n\r\n`),
  http1("an absolute target", (text) => `GET http://${text} HTTP/1.1\r\nhost: a\r\n\r\n`),
  http1("a header line", (text) => `GET / HTTP/1.1\r\nhost: a\r\n${text}\r\n\r\n`),
  http1("a header value", (text) => `GET / HTTP/1.1\r\nhost: a\r\nx: ${text}\r\n\r\n`),
  http1("a part of a head", (text) => `GET / HTTP/1.1\r\nhost: a\r\n${text}`),
  {
    name: "the size of a chunk",
    parse: (text) => new ChunkedDecoder(LIMITS).decode(Buffer.from(`${text}\r\n`, "latin1"), 0, () => {}),
    frames: [
      ["", ""],
      ["1;", ""],
      ["1;a=", ""],
      ['1;a="', '"'],
      ["1;a=b", ";"],
    ],
  },
  {
    name: "a trailer",
    parse: (text) => new ChunkedDecoder(LIMITS).decode(Buffer.from(`0\r\n${text}\r\n\r\n`, "latin1"), 0, () => {}),
    frames: [
      ["", ""],
      ["a:", ""],
    ],
  },
  ...[":path", ":scheme", ":authority", "host", "cookie", "connection", "content-length", "x"].map(http2),
  handshake("host"),
  handshake("origin"),
  handshake("sec-websocket-key"),
  handshake("sec-websocket-protocol"),
  handshake("sec-websocket-extensions", [
    ["", ""],
    ["permessage-deflate;", ""],
    ["a; b=", ""],
    ['a; b="', '"'],
    ["a; b", ";"],
  ]),
  forwarded("x-forwarded-proto"),
  forwarded("x-forwarded-for", [
    ["", ""],
    ["[", "]"],
    ["", ", 127.0.0.1"],
  ]),
];

const FIELDS: readonly Parser[] = [
  { name: "a token", parse: grammar.isToken },
  { name: "a field value", parse: grammar.isFieldValue },
  {
    name: "a list",
    parse: grammar.parseList,
    frames: [
      ["", ""],
      ['"', '"'],
      ["a,", ""],
    ],
  },
  {
    name: "a weighted list",
    parse: grammar.parseWeighted,
    frames: [
      ["", ""],
      ["a;q=", ""],
      ["a;", ",b"],
    ],
  },
  { name: "a media type", parse: grammar.parseMediaType },
  {
    name: "parameters",
    parse: grammar.parseParameters,
    frames: [
      ["x;", ""],
      ["x; a=", ""],
      ['x; a="', '"'],
      ["x; a=b", ";"],
    ],
  },
  { name: "a host", parse: grammar.parseHost },
  {
    name: "an authority",
    parse: grammar.isAuthority,
    frames: [
      ["", ""],
      ["[", "]"],
      ["a:", ""],
    ],
  },
  {
    name: "an origin",
    parse: grammar.isOrigin,
    frames: [
      ["", ""],
      ["https://", ""],
    ],
  },
  {
    name: "entity tags",
    parse: (text) => listsTag(text, '"a"', "weak"),
    frames: [
      ["", ""],
      ['"', '"'],
      ['"b",', ""],
      ['W/"', ""],
    ],
  },
  {
    name: "a path",
    parse: (text) => canonicalPath(text, bytesOf(text)),
    frames: [
      ["/", ""],
      ["/%41", ""],
    ],
  },
];

const BODIES: readonly Parser[] = [
  {
    name: "a Cookie header",
    parse: parseCookies,
    frames: [
      ["", ""],
      ["a=", ""],
      ["a=%", ";"],
    ],
  },
  { name: "the boundary of a form", parse: (text) => boundaryOf(`multipart/form-data; boundary=${text}`) },
  {
    name: "the head of a part",
    parse: (text) => parsePartHead([text]),
    frames: [
      ["", ""],
      ["content-disposition: form-data;", ""],
      ['content-disposition: form-data; name="', '"'],
      ['content-disposition: form-data; name=a; filename="', '"'],
      ["content-disposition: form-data; name=a; filename*=utf-8''", ""],
    ],
  },
  {
    name: "an urlencoded form",
    parse: (text) => parseURLEncoded(bytesOf(text), 100_000),
    frames: [
      ["", ""],
      ["a=", ""],
    ],
  },
  {
    name: "JSON",
    parse: (text) => parseJSON(bytesOf(text), 100),
    frames: [
      ["", ""],
      ['"', '"'],
      ['{"', '":1}'],
    ],
  },
  { name: "a name in an error", parse: (text) => [isSecretName(text), shorten(text)] },
];

/** Every function. */
export const FUNCTIONS: readonly Parser[] = [...HTTP, ...FIELDS, ...BODIES];
