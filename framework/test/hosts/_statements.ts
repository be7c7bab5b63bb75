/** Statements about an application in another server, each checked over a socket. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { get, type IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { WebSocket } from "ws";
import { assertJSON, assertStatus, type SendRequest } from "../anywhere/_statement.js";
import type { Answer } from "../support/call.js";
import { multipart } from "../support/multipart.js";
import type { Mounts } from "./_application.js";
import type { Host, HostFeature } from "./_host.js";

/** The arguments of a check. */
export interface HostCheck {
  readonly url: string;
  readonly send: SendRequest;
  readonly mounts: Mounts;
  /** A key that no other run of a statement uses. */
  readonly key: string;
}

export interface HostStatement {
  /** A sentence of behavior in the present tense. */
  readonly title: string;
  /** A host that lacks one of them is not checked. */
  readonly needs?: readonly HostFeature[];
  check(context: HostCheck): Promise<void>;
}

/** Returns why a statement does not apply to a host, or `null`. */
export function lackOf({ lacks }: Host, { needs = [] }: HostStatement): string | null {
  for (const feature of needs) if (lacks[feature] !== undefined) return lacks[feature];
  return null;
}

const JSON_TYPE = ["content-type", "application/json"] as const;
const FORM_TYPE = ["content-type", "application/x-www-form-urlencoded"] as const;

function valuesOf({ headerLines }: Answer, name: string): string[] {
  return headerLines.filter(([field]) => field.toLowerCase() === name).map(([, value]) => value);
}

const places: readonly HostStatement[] = [
  {
    title: "the prefix becomes root_path, and the path stays whole",
    check: async ({ send }) => {
      const answer = await send("GET", "/api/where?a=1&b=%2F");
      assertJSON(answer, { path: "/api/where", root_path: "/api", query: "a=1&b=%2F" });
    },
  },
  {
    title: "the prefix itself is the path / of the application, with and without a query",
    check: async ({ send }) => {
      assertJSON(await send("GET", "/api"), { path: "/api", root_path: "/api", query: "" });
      assertJSON(await send("GET", "/api?x=1"), { path: "/api", root_path: "/api", query: "x=1" });
      assertJSON(await send("GET", "/api/"), { path: "/api", root_path: "/api", query: "" });
    },
  },
  {
    title: "prefixes of nested routers are joined",
    check: async ({ send }) => {
      const answer = await send("GET", "/outer/inner/where");
      assertJSON(answer, { path: "/outer/inner/where", root_path: "/outer/inner", query: "" });
    },
  },
  {
    title: "letters and slashes in percent-encoding are decoded once",
    check: async ({ send }) => {
      assertJSON(await send("GET", "/api/text/caf%C3%A9%20a%2Fb%2525?q=%26"), { text: "café a/b%25", q: "&" });
    },
  },
  {
    title: "the OpenAPI document lists the prefix as its server, and /docs leads to it",
    check: async ({ send }) => {
      const { servers } = (await send("GET", "/api/openapi.json")).json as { servers: { url: string }[] };
      assert.equal(servers[0]?.url, "/api");
      assert.match((await send("GET", "/api/docs")).text, /openapi\.json/);
    },
  },
];

const bodies: readonly HostStatement[] = [
  {
    title: "a JSON body is validated",
    check: async ({ send }) => {
      const sent = { headers: [JSON_TYPE], text: '{"name":"a","tags":["b"]}' };
      assertJSON(await send("POST", "/api/json", sent), { name: "a", tags: ["b"] });
      assertStatus(await send("POST", "/api/json", { ...sent, text: '{"name":""}' }), 422);
    },
  },
  {
    title: "a JSON body that a parser has read is validated",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [JSON_TYPE], text: '{ "name": "caf\u00e9", "tags": ["b"] }' };
      assertJSON(await send("POST", "/parsed/json", sent), { name: "café", tags: ["b"] });
      assertStatus(await send("POST", "/parsed/json", { ...sent, text: '{"name":""}' }), 422);
    },
  },
  {
    title: "a chunked JSON body that a parser has read has a length",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [JSON_TYPE], chunks: [Buffer.from('{"name":'), Buffer.from('"a"}')] };
      assertJSON(await send("POST", "/parsed/json", sent), { name: "a", tags: [] });
    },
  },
  {
    title: "a urlencoded form is parsed",
    check: async ({ send }) => {
      const sent = { headers: [FORM_TYPE], text: "name=caf%C3%A9+%26&tags=1&tags=2" };
      assertJSON(await send("POST", "/api/form", sent), { name: "café &", tags: ["1", "2"] });
    },
  },
  {
    title: "a urlencoded form that a parser has read is parsed",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [FORM_TYPE], text: "name=caf%C3%A9+%26&tags=1&tags=2" };
      assertJSON(await send("POST", "/parsed/form", sent), { name: "café &", tags: ["1", "2"] });
    },
  },
  {
    title: "a text that a parser has read arrives",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [["content-type", "text/plain"]] as const, text: "café" };
      assertJSON(await send("POST", "/parsed/echo", sent), { type: "text/plain", length: "5", text: "café" });
    },
  },
  {
    title: "a body that no parser has read is read from the stream",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [["content-type", "application/x-other"]] as const, text: "other" };
      assertJSON(await send("POST", "/parsed/echo", sent), { type: "application/x-other", length: "5", text: "other" });
    },
  },
  {
    title: "an empty body stays empty behind parsers",
    needs: ["parsers"],
    check: async ({ send }) => {
      const sent = { headers: [["content-type", "text/plain"]] as const };
      assertJSON(await send("POST", "/parsed/echo", sent), { type: "text/plain", length: "0", text: "" });
    },
  },
  {
    title: "a compressed body is passed on as it is, and the App rejects it with 415",
    check: async ({ send }) => {
      const headers = [JSON_TYPE, ["content-encoding", "gzip"]] as const;
      assertStatus(await send("POST", "/api/json", { headers, body: gzipSync('{"name":"a"}') }), 415);
    },
  },
  {
    title: "an upload of 10 MB arrives byte for byte",
    check: async ({ send }) => {
      const content = Buffer.alloc(10 << 20, "0123456789");
      const { headers, body } = multipart(["file", { filename: "a.bin", content }]);
      assertJSON(await send("POST", "/api/upload", { headers, body }), { size: content.length, name: "a.bin" });
    },
  },
  {
    title: "a client that expects 100-continue sends its body after it",
    check: async ({ url }) => {
      const headers = { "content-type": "application/json", "content-length": 12, expect: "100-continue" };
      const sending = sendRequest(`${url}/api/json`, { method: "POST", headers, agent: false });
      sending.flushHeaders();
      await once(sending, "continue");
      sending.end('{"name":"a"}');
      const [response] = (await once(sending, "response")) as [IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
    },
  },
  {
    title: "a connection is kept after a body that the handler has not read",
    check: async ({ url }) => {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      let received = "";
      socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
      const post = `POST /api/unread HTTP/1.1\r\nHost: a\r\nContent-Length: 30000\r\n\r\n${"a".repeat(30_000)}`;
      socket.write(post);
      while (!received.includes("unread")) await once(socket, "data");
      received = "";
      socket.write("GET /api/user HTTP/1.1\r\nHost: a\r\n\r\n");
      while (!received.includes("ada")) await once(socket, "data");
      socket.destroy();
      assert.match(received, /^HTTP\/1\.1 200 /);
    },
  },
];

const responses: readonly HostStatement[] = [
  {
    title: "HEAD has the head of GET and no body",
    check: async ({ send }) => {
      const answer = await send("HEAD", "/api/user");
      assertStatus(answer, 200);
      assert.equal(answer.headers["content-length"], "5");
      assert.equal(answer.body.length, 0);
    },
  },
  {
    title: "a 204 has no body",
    check: async ({ send }) => {
      const answer = await send("GET", "/api/created");
      assertStatus(answer, 204);
      assert.equal(answer.body.length, 0);
    },
  },
  {
    title: "headers of the host stay, unless the application sends the same name",
    check: async ({ send }) => {
      const { headers } = await send("GET", "/api/headers");
      assert.deepEqual([headers["x-host"], headers["x-both"]], ["host", "application"]);
    },
  },
  {
    title: "cookies of the host and of the application are all set",
    check: async ({ send }) => {
      const cookies = valuesOf(await send("GET", "/api/headers"), "set-cookie");
      assert.deepEqual(
        cookies.map((cookie) => cookie.split(";")[0]),
        ["host=1", "a=1", "b=2"],
      );
    },
  },
  {
    title: "Vary and Link of both are sent",
    check: async ({ send }) => {
      const answer = await send("GET", "/api/headers");
      assert.deepEqual(valuesOf(answer, "vary"), ["Origin", "Accept"]);
      assert.deepEqual(valuesOf(answer, "link"), ["</h>; rel=up", "</a>; rel=next"]);
    },
  },
  {
    title: "a download of 10 MB arrives byte for byte",
    check: async ({ send }) => {
      const { body } = await send("GET", "/api/download");
      assert.equal(body.length, 10 << 20);
      assert.deepEqual([body[0], body.at(-1)], [0, 9]);
    },
  },
  {
    title: "server-sent events arrive",
    check: async ({ send }) => {
      const { headers, text } = await send("GET", "/api/events");
      assert.match(headers["content-type"] ?? "", /^text\/event-stream/);
      assert.deepEqual(text.match(/(?<=data: ).*/g), ["one", "two", "three"]);
    },
  },
];

async function noted({ send, key }: HostCheck, text: string): Promise<void> {
  for (let tries = 0; tries < 2000; tries++) {
    if ((await send("GET", `/api/notes/${key}`)).json === text) return;
  }
  throw new Error(`The application has not noted "${text}".`);
}

function open(url: string): Promise<string> {
  const client = new WebSocket(url.replace("http", "ws"), { headers: { "x-client": "ada" } });
  return new Promise((resolve) => {
    client.on("error", (error) => resolve(error.message));
    client.on("open", () => client.send("hello"));
    client.on("message", (data: Buffer) => resolve(data.toString()));
    client.on("close", (code) => resolve(String(code)));
  }).finally(() => client.terminate()) as Promise<string>;
}

const connections: readonly HostStatement[] = [
  {
    title: "the application reads the user that the middleware of the host has added to the request",
    check: async ({ send }) => assertJSON(await send("GET", "/api/user"), "ada"),
  },
  {
    title: "a client that disconnects aborts the signal of its request",
    check: async (context) => {
      const sending = get(`${context.url}/api/waits/${context.key}`, { agent: false });
      sending.on("error", () => {});
      await noted(context, "waits");
      sending.destroy();
      await noted(context, "aborted");
    },
  },
  {
    title: "a WebSocket opens below the prefix, and knows the request of the host",
    check: async ({ url }) => assert.equal(await open(`${url}/api/ws`), "hello ada /api"),
  },
  {
    title: "each WebSocket reaches the application of its prefix",
    check: async ({ url }) => assert.equal(await open(`${url}/outer/inner/ws`), "hello ada /outer/inner"),
  },
];

const errors: readonly HostStatement[] = [
  {
    title: "a path that the application does not have goes to the next handler of the host",
    needs: ["fallthrough"],
    check: async ({ send }) => {
      assertJSON(await send("GET", "/api/none"), { host: "no route" }, 404);
      assertJSON(await send("POST", "/api/none", { json: ["unread"] }), { host: "no route" }, 404);
    },
  },
  {
    title: "a path that only begins with the prefix is not the application's",
    check: async ({ send }) => assertJSON(await send("GET", "/apiary/where"), { host: "no route" }, 404),
  },
  {
    title: "a method that the path does not have is a 405 of the application",
    check: async ({ send }) => {
      const answer = await send("DELETE", "/api/where");
      assertJSON(answer, { detail: "Method Not Allowed" }, 405);
      assert.equal(answer.headers["allow"], "GET, HEAD");
    },
  },
  {
    title: "a 404 of a handler is a response",
    check: async ({ send }) => assertJSON(await send("GET", "/api/missing"), { detail: "no such item" }, 404),
  },
  {
    title: "an unexpected error goes to the error middleware of the host",
    needs: ["error middleware"],
    check: async ({ send }) => assertJSON(await send("GET", "/api/throws"), { host: "broken" }, 500),
  },
  {
    title: "an invalid parameter is a 422",
    check: async ({ send }) => assertStatus(await send("POST", "/api/json", { headers: [JSON_TYPE], text: "{" }), 422),
  },
];

const lifespans: readonly HostStatement[] = [
  {
    title: "the lifespan starts once, before the first request",
    check: async ({ send }) => {
      assertJSON(await send("GET", "/api/starts"), 1);
      assertJSON(await send("GET", "/api/starts"), 1);
    },
  },
  {
    title: "a failed start is a 503, the next request tries it again, and close ends the lifespan",
    check: async ({ send, mounts: { failing, ends } }) => {
      assertJSON(await send("GET", "/failing"), { detail: "Service Unavailable" }, 503);
      assertJSON(await send("GET", "/failing"), 2);
      assert.deepEqual(ends, []);
      await failing.close();
      assert.deepEqual(ends, ["ended"]);
      assertStatus(await send("GET", "/failing"), 503);
      await assert.rejects(failing.start());
    },
  },
];

export const hostStatements: readonly HostStatement[] = [
  ...places,
  ...bodies,
  ...responses,
  ...connections,
  ...errors,
  ...lifespans,
];
