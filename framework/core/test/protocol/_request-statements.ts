/** The statements about requests: their scopes and their bodies. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { HTTPScope, ReceiveMessage } from "../../src/protocol/asgi.js";
import { Deferred } from "../../src/common/promises.js";
import { body, bytes, errorOf, type HTTPCall, partsOf, readBody, received, start, text, toText } from "./_calls.js";
import type { Request } from "./_driver.js";
import { exchange, type Stage } from "./_stage.js";
import type { Statement } from "./_statement.js";

const SCOPE = "ASGI www#http-connection-scope";
const REQUEST = "ASGI www#request-receive-event";
const DISCONNECT = "ASGI www#disconnect-receive-event";

async function respond({ send }: HTTPCall): Promise<void> {
  await send(start(200));
  await send(body("ok"));
}

/** Looks at one call, and responds. */
async function look<Value>(
  stage: Stage,
  request: Request,
  at: (call: HTTPCall) => Promise<Value> | Value,
): Promise<Value> {
  const { value } = await exchange(stage, request, async (call) => {
    const seen = await at(call);
    await respond(call);
    return seen;
  });
  return value;
}

const scopeOf = (stage: Stage, request: Request = {}): Promise<HTTPScope> => look(stage, request, ({ scope }) => scope);

/** Target, path, `raw_path` and query. */
const targets: readonly (readonly [string, string, string, string])[] = [
  ["/", "/", "/", ""],
  ["/a%20b/%C3%A9", "/a b/\u00e9", "/a%20b/%C3%A9", ""],
  ["/a%2Fb%2fc", "/a/b/c", "/a%2Fb%2fc", ""],
  ["/%ff/%c3%a9", "/\ufffd/\u00e9", "/%ff/%c3%a9", ""],
  ["/a+b;c=d,e", "/a+b;c=d,e", "/a+b;c=d,e", ""],
  ["/a//b/", "/a//b/", "/a//b/", ""],
  ["/a?", "/a", "/a", ""],
  ["/a?b=%20+c&d=%C3%A9", "/a", "/a", "b=%20+c&d=%C3%A9"],
  ["/a?b?c=/d", "/a", "/a", "b?c=/d"],
];

const scopes: readonly Statement[] = [
  {
    title: "The scope of a request has each field of ASGI in its type",
    source: SCOPE,
    run: async (stage) => {
      const {
        headers,
        raw_path: _raw,
        query_string: query,
        client,
        ...fields
      } = await scopeOf(stage, { method: "DELETE" });
      expect(Object.fromEntries(Object.entries(fields))).toEqual({
        type: "http",
        asgi: { version: "3.0", spec_version: expect.stringMatching(/^2\.\d$/) },
        http_version: stage.driver.httpVersion,
        method: "DELETE",
        scheme: "http",
        path: "/",
        root_path: "",
        server: [expect.any(String), expect.any(Number)],
        state: {},
        extensions: expect.any(Object),
      });
      expect(text(query)).toBe("");
      expect(Symbol.iterator in (headers ?? {})).toBe(true);
      if (client)
        expect([typeof client[0], client[1] === null || Number.isInteger(client[1])]).toEqual(["string", true]);
    },
  },
  {
    title: "`client` has the address of the client",
    source: SCOPE,
    keeps: ["Bun fetch", "Deno fetch"],
    differs: { fetch: "the platform passes the address next to the request" },
    run: async (stage) => {
      expect(await look(stage, {}, ({ scope }) => scope.client?.[0])).toBe("127.0.0.1");
    },
  },
  {
    title: "`client` has the port of the client",
    source: SCOPE,
    keeps: ["Bun fetch", "Deno fetch"],
    differs: {
      fetch: "the platform passes the address next to the request",
      "uWebSockets.js": "its responses have the address of the client, and not the port",
    },
    run: async (stage) => {
      expect(await look(stage, {}, ({ scope }) => scope.client?.[1])).toEqual(expect.any(Number));
    },
  },
  ...targets.map(([target, path, rawPath, query]): Statement => ({
    title: `The target ${target} is path, \`raw_path\` and query`,
    source: SCOPE,
    run: async (stage) => {
      const scope = await scopeOf(stage, { target });
      // `raw_path` may be absent if it equals the path.
      expect([scope.path, text(scope.raw_path ?? bytes(scope.path)), text(scope.query_string)]).toEqual([
        path,
        rawPath,
        query,
      ]);
    },
  })),
  {
    title: "`headers` has names in lower case and values as bytes, each time that it is read",
    source: SCOPE,
    run: async (stage) => {
      const scope = await scopeOf(stage, {
        headers: [
          ["X-Test", "a b"],
          ["x-empty", ""],
        ],
      });
      for (let round = 0; round < 2; round++) {
        expect(toText(scope.headers)).toEqual(
          expect.arrayContaining([
            ["x-test", "a b"],
            ["x-empty", ""],
          ]),
        );
      }
    },
  },
  {
    title: "`headers` keeps bytes beyond ASCII",
    source: "RFC 9110 §5.5",
    differs: {
      "uWebSockets.js": "it reads values as UTF-8, and drops other bytes",
      workerd: "it reads values as UTF-8",
    },
    run: async (stage) => {
      const scope = await scopeOf(stage, { headers: [["x-test", "caf\u00e9"]] });
      expect(toText(scope.headers)).toEqual(expect.arrayContaining([["x-test", "caf\u00e9"]]));
    },
  },
  {
    title: "`headers` has the host once, before other headers, and no pseudo-header",
    source: SCOPE,
    run: async (stage) => {
      const names = toText((await scopeOf(stage, { headers: [["x-test", "a"]] })).headers).map(([name]) => name);
      expect(names.filter((name) => name === "host")).toEqual(["host"]);
      expect(names.filter((name) => name.startsWith(":"))).toEqual([]);
      expect(names[0]).toBe("host");
    },
  },
  {
    title: "Each request has a scope of its own, which the application may change",
    source: "ASGI main#middleware",
    needs: ["in process"],
    run: async (stage) => {
      const scopesSeen: HTTPScope[] = [];
      const server = await stage.start({
        http: async (call) => {
          scopesSeen.push({ ...call.scope });
          Object.assign(call.scope, { path: "/changed", mark: 1 });
          await respond(call);
        },
      });
      await server.whole();
      await server.whole();
      expect(scopesSeen.map((scope) => [scope.path, "mark" in scope])).toEqual([
        ["/", false],
        ["/", false],
      ]);
    },
  },
  {
    title: "A response to HEAD has no body if the application changes the method of its scope",
    source: "RFC 9110 §9.3.2",
    needs: ["in process"],
    run: async (stage) => {
      const { response } = await exchange(stage, { method: "HEAD" }, async (call) => {
        call.scope.method = "GET";
        await respond(call);
      });
      expect(response).toMatchObject({ status: 200, body: "", end: "whole" });
    },
  },
  {
    title: "`state` is a shallow copy of the lifespan's state for each request",
    source: "ASGI lifespan#lifespan-state",
    needs: ["in process"],
    run: async (stage) => {
      const shared = { count: 0 };
      const seen: unknown[] = [];
      const http = async (call: HTTPCall): Promise<void> => {
        const { state = {} } = call.scope;
        seen.push([state["shared"], state["own"]]);
        state["own"] = 1;
        (state["shared"] as { count: number }).count++;
        await respond(call);
      };
      const server = await stage.start({ http }, { state: { shared } });
      await server.whole();
      await server.whole();
      expect(seen).toEqual([
        [{ count: 2 }, undefined],
        [{ count: 2 }, undefined],
      ]);
    },
  },
];

async function* gated(gate: Promise<void>): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes("first,");
  await gate;
  yield bytes("last");
}

const bodies: readonly Statement[] = [
  {
    title: "A request without a body is one empty message",
    source: REQUEST,
    run: async (stage) => {
      const message = await look(stage, {}, ({ receive }) => received(receive));
      expect(message).toEqual({ type: "http.request", body: "", more_body: false });
    },
  },
  {
    title: "A body of length 0 is one empty message",
    source: REQUEST,
    run: async (stage) => {
      const request = { method: "POST", headers: [["content-length", "0"]] as const };
      const message = await look(stage, request, ({ receive }) => received(receive));
      expect(message).toEqual({ type: "http.request", body: "", more_body: false });
    },
  },
  {
    title: "A body with a length arrives as messages, and the last has no `more_body`",
    source: REQUEST,
    run: async (stage) => {
      const headers = [["content-length", "13"]] as const;
      const request = { method: "POST", headers, body: partsOf("one,", "two,", "three") };
      const { parts, last } = await look(stage, request, ({ receive }) => readBody(receive));
      expect([parts.join(""), last]).toEqual(["one,two,three", "http.request"]);
    },
  },
  {
    title: "A part of the body arrives before the client has sent the next",
    source: REQUEST,
    run: async (stage) => {
      const gate = new Deferred<void>();
      const request = { method: "POST", body: gated(gate.promise) };
      const [first, rest] = await look(stage, request, async ({ receive }) => {
        const message = await received(receive);
        gate.resolve();
        return [message, await readBody(receive)];
      });
      expect([first, rest]).toEqual([
        { type: "http.request", body: "first,", more_body: true },
        { parts: ["last"], last: "http.request" },
      ]);
    },
  },
  {
    title: "`receive` waits after the body, until the response is complete",
    source: DISCONNECT,
    run: async (stage) => {
      const messages = await look(stage, { method: "POST", body: partsOf("a") }, async ({ receive, send }) => {
        await readBody(receive);
        const order: unknown[] = [];
        const next = received(receive).then((message) => void order.push(message));
        await send(start(200));
        await send({ type: "http.response.body", body: bytes("o"), more_body: true });
        order.push("before the end");
        await send(body("k"));
        await next;
        return [...order, await received(receive)];
      });
      expect(messages).toEqual(["before the end", { type: "http.disconnect" }, { type: "http.disconnect" }]);
    },
  },
  {
    title: "`receive` returns a disconnect after the response, if the application has not read the body",
    source: DISCONNECT,
    run: async (stage) => {
      const { value, response } = await exchange(stage, { method: "POST", body: partsOf("unread") }, async (call) => {
        await respond(call);
        return [await received(call.receive), await received(call.receive)];
      });
      expect(await value).toEqual([{ type: "http.disconnect" }, { type: "http.disconnect" }]);
      expect(response).toMatchObject({ body: "ok", end: "whole" });
    },
  },
  {
    title: "A second `receive` throws while the first one waits, and the first one gets its message",
    source: REQUEST,
    run: async (stage) => {
      const gate = new Deferred<void>();
      const request = { method: "POST", body: gated(gate.promise) };
      const [error, message] = await look(stage, request, async ({ receive }) => {
        await receive();
        const first = received(receive);
        const second = errorOf(() => receive());
        await stage.isWaiting(second);
        gate.resolve();
        return [await second, await first];
      });
      expect([error, message]).toEqual(["ProtocolError", expect.objectContaining({ type: "http.request" })]);
    },
  },
  {
    title: "A body that the application does not read makes the client wait",
    source: "RFC 9110 §7.7",
    run: async (stage) => {
      const [partBytes, count] = [524_288, 64];
      let sent = 0;
      async function* large(): AsyncGenerator<Uint8Array, void, undefined> {
        for (; sent < count; sent++) yield new Uint8Array(partBytes);
      }
      let length = 0;
      const entered = new Deferred<void>();
      const gate = new Deferred<void>();
      const server = await stage.start({
        http: async (call) => {
          entered.resolve();
          await gate.promise;
          for (let message: ReceiveMessage = await call.receive(); message.type === "http.request";) {
            length += message.body?.length ?? 0;
            if (message.more_body !== true) break;
            message = await call.receive();
          }
          await respond(call);
        },
      });
      const response = server.whole({ method: "POST", body: large() });
      await entered.promise;
      for (let round = 0; round < 20; round++) await server.fence();
      const ahead = sent;
      gate.resolve();
      expect(await response).toMatchObject({ status: 200, body: "ok" });
      expect([length, ahead < count]).toEqual([partBytes * count, true]);
    },
  },
];

export const requestStatements: readonly Statement[] = [...scopes, ...bodies];
