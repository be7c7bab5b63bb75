/** The statements about servers and requests. @module */
import type { Address, HTTPScope, Receive, Scope, WebSocketScope } from "tsgi";
import { Deferred } from "tsgi/internals";
import { bytesOf, textOf, toText, valuesOf } from "./bytes.js";
import { type ClientRequest, type ServerFeature, type StartServer, withServer } from "./client.js";
import { application, fetchWhole, inspect, respond } from "./server-calls.js";
import { isResolvedInTime, must, mustEqual, type Row, type Statement, toStatements } from "./statement.js";

/** A check of the scope of one request. */
function scopeOf(request: ClientRequest, look: (scope: HTTPScope) => void) {
  return (start: StartServer): Promise<void> => inspect(start, request, ({ scope }) => look(scope));
}

/** @throws ConformanceError unless the scope says which version of ASGI it is of. */
export function mustHaveVersion({ asgi }: Scope): void {
  must(typeof asgi?.version === "string", `Expected scope.asgi.version to be text, not ${String(asgi?.version)}.`);
}

/** The rows about the parts of the target, which HTTP and WebSockets share. */
export function targetRows(
  area: "http" | "websocket",
  section: string,
  check: (
    request: { target: string },
    look: (scope: HTTPScope | WebSocketScope) => void,
  ) => (start: StartServer) => Promise<void>,
): Row<StartServer>[] {
  return [
    [
      `${area}.scope.path`,
      "must",
      section,
      "`path` has no query, and is decoded from percent-encoding and from UTF-8.",
      check({ target: "/a%20b/%C3%A9?c=d" }, ({ path }) => mustEqual(path, "/a b/é", "scope.path")),
    ],
    [
      `${area}.scope.raw-path`,
      "should",
      section,
      "`raw_path` is the path as it was received, without the query, and may be absent if it equals `path`.",
      async (start) => {
        for (const sent of ["/a%20b/%c3%A9", "//a/b:c@d/"]) {
          const look = ({ path, raw_path: raw }: HTTPScope | WebSocketScope) =>
            mustBeBytes(path === sent ? (raw ?? bytesOf(path)) : raw, sent, "raw_path");
          await check({ target: `${sent}?c=d` }, look)(start);
        }
      },
    ],
    [
      `${area}.scope.query-string`,
      "must",
      section,
      "`query_string` is the part after `?`, percent-encoded, as bytes.",
      check({ target: "/?a=%20&b=c+d" }, ({ query_string: query }) =>
        mustBeBytes(query, "a=%20&b=c+d", "query_string"),
      ),
    ],
  ];
}

/** @throws ConformanceError unless the headers are pairs of bytes, however often they are read. */
export function mustBePairs({ headers }: HTTPScope | WebSocketScope): void {
  for (let round = 0; round < 2; round++) {
    const pairs = Array.from(headers ?? []);
    must(pairs.length > 0, "Expected scope.headers to have the headers of the request, each time that they are read.");
    for (const [name, value, ...more] of pairs as Iterable<readonly unknown[]>) {
      const isPair = name instanceof Uint8Array && value instanceof Uint8Array && more.length === 0;
      must(isPair, "Expected each header to be a name and a value, both bytes.");
    }
  }
}

/** @throws ConformanceError unless an address is left out, or has a host and a port. */
export function mustBeAddress(address: Address | null | undefined, name: string): void {
  if (address === undefined || address === null) return;
  const [host, port, ...more] = Array.from<unknown>(address);
  const isAddress = typeof host === "string" && (port === null || Number.isInteger(port)) && more.length === 0;
  must(isAddress, `Expected scope.${name} to be a host and a port, not ${JSON.stringify(address)}.`);
}

/** @throws ConformanceError unless the value is bytes that are this text. */
export function mustBeBytes(value: unknown, text: string, name: string): void {
  must(value instanceof Uint8Array, `Expected ${name} to be bytes.`);
  mustEqual(textOf(value), text, name);
}

async function* partsOf(...parts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const part of parts) yield bytesOf(part);
}

async function readBody(receive: Receive): Promise<string> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const message = await receive();
    must(message.type === "http.request", `Expected http.request, not ${message.type}, before the end of the body.`);
    const { body = new Uint8Array(0) } = message;
    must(body instanceof Uint8Array, "Expected the body of http.request to be bytes.");
    parts.push(body);
    if (message.more_body !== true) return textOf(...parts);
  }
}

async function checkOwnScope(start: StartServer): Promise<void> {
  const scopes: HTTPScope[] = [];
  const http = async ({ scope, send }: { scope: HTTPScope; send: Parameters<typeof respond>[0] }): Promise<void> => {
    scopes.push(scope);
    await respond(send);
  };
  await withServer(start, application({ http }), async (server) => {
    await fetchWhole(server);
    await fetchWhole(server);
  });
  must(scopes.length === 2 && scopes[0] !== scopes[1], "Expected each request to have a separate scope.");
}

async function checkStreamedBody(start: StartServer): Promise<void> {
  const received = new Deferred<void>();
  let wasReceived = false;
  async function* body(): AsyncGenerator<Uint8Array, void, undefined> {
    yield bytesOf("first");
    wasReceived = await isResolvedInTime(received.promise);
    yield bytesOf("last");
  }
  await inspect(start, { method: "POST", body: body() }, async ({ receive }) => {
    const first = await receive();
    received.resolve();
    if (first.type === "http.request" && first.more_body === true) await readBody(receive);
  });
  must(wasReceived, "Expected a part of the body before the client has sent the last.");
}

const SCOPE = "www#http-connection-scope";
const REQUEST = "www#request-receive-event";

export const httpRequestStatements: readonly Statement<StartServer, ServerFeature>[] = toStatements(
  "http",
  [],
  [
    [
      "http.scope.asgi-version",
      "must",
      "main#applications",
      "`asgi.version` of the scope is text.",
      scopeOf({}, mustHaveVersion),
    ],
    [
      "http.scope.http-version",
      "must",
      SCOPE,
      '`http_version` is `"1.0"`, `"1.1"` or `"2"`.',
      scopeOf({}, ({ http_version: version }) => {
        must(["1.0", "1.1", "2"].includes(version ?? ""), `Expected "1.0", "1.1" or "2", not ${String(version)}.`);
      }),
    ],
    [
      "http.scope.method",
      "must",
      SCOPE,
      "`method` is the name of the method in upper case.",
      scopeOf({ method: "DELETE" }, ({ method }) => mustEqual(method, "DELETE", "scope.method")),
    ],
    [
      "http.scope.scheme",
      "must",
      SCOPE,
      "`scheme` is left out, or text that is not empty.",
      scopeOf({}, ({ scheme = "http" }) => must(scheme === "http" || scheme === "https", "Expected http or https.")),
    ],
    ...targetRows("http", SCOPE, scopeOf),
    [
      "http.scope.no-query-string",
      "must",
      SCOPE,
      "`query_string` is empty for a target without a query.",
      scopeOf({}, ({ query_string: query }) => mustBeBytes(query, "", "query_string")),
    ],
    [
      "http.scope.root-path",
      "must",
      SCOPE,
      "`root_path` is omitted or empty if the application is mounted at the root.",
      scopeOf({}, ({ root_path: root = "" }) => mustEqual(root, "", "scope.root_path")),
    ],
    [
      "http.scope.headers",
      "must",
      SCOPE,
      "`headers` is an iterable of names and values, both bytes.",
      scopeOf({ headers: [["x-test", "a b"]] }, (scope) => {
        mustBePairs(scope);
        mustEqual(valuesOf(toText(scope.headers), "x-test"), ["a b"], "the header x-test");
      }),
    ],
    [
      "http.scope.header-names",
      "should",
      SCOPE,
      "The names of `headers` are in lower case.",
      scopeOf({ headers: [["x-test", "a"]] }, ({ headers }) => {
        for (const [name] of toText(headers)) mustEqual(name, name.toLowerCase(), "the name of a header");
      }),
    ],
    [
      "http.scope.repeated-headers +raw-headers",
      "must",
      SCOPE,
      "Repeated headers stay several, and their values in order.",
      scopeOf({ headers: ["1", "2", "1"].map((value) => ["x-test", value]) }, ({ headers }) =>
        mustEqual(valuesOf(toText(headers), "x-test"), ["1", "2", "1"], "the headers x-test"),
      ),
    ],
    [
      "http.scope.host",
      "must",
      SCOPE,
      "`headers` has the host once, and no pseudo header of HTTP/2.",
      scopeOf({}, ({ headers }) => {
        const names = toText(headers).map(([name]) => name);
        mustEqual(names.filter((name) => name.toLowerCase() === "host").length, 1, "the number of hosts");
        must(!names.some((name) => name.startsWith(":")), "Expected no pseudo header.");
      }),
    ],
    [
      "http.scope.client",
      "must",
      SCOPE,
      "`client` is left out, or a host and a port.",
      scopeOf({}, ({ client }) => mustBeAddress(client, "client")),
    ],
    [
      "http.scope.server",
      "must",
      SCOPE,
      "`server` is left out, or a host and a port.",
      scopeOf({}, ({ server }) => mustBeAddress(server, "server")),
    ],
    [
      "http.scope.extensions",
      "must",
      "main#extensions",
      "`extensions` is left out, or has an object for each extension.",
      scopeOf({}, ({ extensions = {} }) => {
        for (const [name, value] of Object.entries(extensions)) {
          must(typeof value === "object" && value !== null, `Expected the extension ${name} to be an object.`);
        }
      }),
    ],
    ["http.scope.own", "must", "www#http", "Each request has a separate scope.", checkOwnScope],
    [
      "http.request.empty",
      "must",
      REQUEST,
      "A request without a body is one `http.request` without content, and without `more_body`.",
      (start) => inspect(start, {}, async ({ receive }) => mustEqual(await readBody(receive), "", "the body")),
    ],
    [
      "http.request.body",
      "must",
      REQUEST,
      "The bodies of `http.request` are the content together, without the coding of the transfer.",
      (start) =>
        inspect(start, { method: "POST", body: partsOf("one,", "two,", "three") }, async ({ receive }) =>
          mustEqual(await readBody(receive), "one,two,three", "the body"),
        ),
    ],
    [
      "http.request.streamed",
      "should",
      REQUEST,
      "A part of the body is given before the client has sent the last one.",
      checkStreamedBody,
    ],
  ],
);
