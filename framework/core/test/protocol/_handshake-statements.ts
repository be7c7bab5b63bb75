/** The statements about WebSockets until the handshake is completed or rejected. @module */
/* oxlint-disable jest/no-standalone-expect -- the rows are run by the tests of _statement.ts */
import { expect } from "@jest/globals";
import type { WebSocketScope } from "../../src/protocol/asgi.js";
import type { TextHeaders } from "@tsgi/conformance";
import { Deferred } from "../../src/common/promises.js";
import { errorOf, received, sendEach, text, toPairs, toText, type WebSocketCall } from "./_calls.js";
import type { Handshake } from "./_driver.js";
import type { Stage } from "./_stage.js";
import type { Statement } from "./_statement.js";
import { ACCEPT, close, endOf, opened, refusal, refuse, say, talk } from "./_websocket-calls.js";

const SCOPE = "ASGI www#websocket-connection-scope";
const CONNECT = "ASGI www#connect-receive-event";
const ACCEPTING = "ASGI www#accept-send-event";
const CLOSING = "ASGI www#close-send-event";
const DENIAL = "ASGI extensions#websocket-denial-response";
const ERRORS = "ASGI main#error-handling";

const websocket = ["websocket"] as const;
const FORBIDDEN = { status: 403, body: '{"detail":"Forbidden"}' };
const FAILED = { status: 500, body: '{"detail":"Internal Server Error"}' };
/** The message after a handshake that was not completed. */
const ABNORMAL = { type: "websocket.disconnect", code: 1006, reason: "" };

/** The scope of one handshake. */
async function scopeOf(stage: Stage, handshake: Handshake = {}): Promise<WebSocketScope> {
  const { value } = await talk(
    stage,
    async ({ scope }) => scope,
    () => {},
    handshake,
  );
  return value;
}

const targets: readonly (readonly [string, string, string, string])[] = [
  ["/", "/", "/", ""],
  ["/a%20b/%C3%A9?c=%20d?e", "/a b/\u00e9", "/a%20b/%C3%A9", "c=%20d?e"],
  ["/a%2Fb?", "/a/b", "/a%2Fb", ""],
  ["/%ff", "/\ufffd", "/%ff", ""],
];

const scopes: readonly Statement[] = [
  {
    title: "The scope of a WebSocket has each field of ASGI in its type, and no method",
    source: SCOPE,
    needs: websocket,
    run: async (stage) => {
      const scope = await scopeOf(stage);
      expect(scope).toMatchObject({
        type: "websocket",
        asgi: { version: "3.0", spec_version: expect.stringMatching(/^2\.\d$/) },
        http_version: "1.1",
        scheme: "ws",
        path: "/",
        root_path: "",
        server: [expect.any(String), expect.any(Number)],
        subprotocols: [],
        state: {},
        extensions: { "websocket.http.response": {} },
      });
      expect("method" in scope).toBe(false);
    },
  },
  {
    title: "`client` of a handshake has the address of the client",
    source: SCOPE,
    needs: websocket,
    differs: { workerd: "the platform has no address of the client" },
    run: async (stage) => {
      expect((await scopeOf(stage)).client?.[0]).toBe("127.0.0.1");
    },
  },
  {
    title: "The scope of a WebSocket has the extension for a limit of messages",
    source: "docs/websockets.md",
    needs: websocket,
    run: async (stage) => {
      expect((await scopeOf(stage)).extensions).toMatchObject({ "tsgi.websocket.message_limit": {} });
    },
  },
  ...targets.map(([target, path, rawPath, query]): Statement => ({
    title: `The target ${target} of a handshake is path, \`raw_path\` and query`,
    source: SCOPE,
    needs: websocket,
    run: async (stage) => {
      const scope = await scopeOf(stage, { target });
      expect([scope.path, text(scope.raw_path ?? Buffer.from(scope.path)), text(scope.query_string)]).toEqual([
        path,
        rawPath,
        query,
      ]);
    },
  })),
  {
    title: "`headers` of a handshake has those of the upgrade, and the host once, in lower case, as bytes",
    source: SCOPE,
    needs: websocket,
    run: async (stage) => {
      const headers = toText((await scopeOf(stage, { headers: [["X-Test", "a b"]] })).headers);
      expect(headers.map(([name, value]) => `${name}: ${value.toLowerCase()}`)).toEqual(
        expect.arrayContaining([
          "connection: upgrade",
          "upgrade: websocket",
          "sec-websocket-version: 13",
          "x-test: a b",
        ]),
      );
      expect(headers.filter(([name]) => name === "host")).toHaveLength(1);
    },
  },
  {
    title: "`headers` of a handshake keeps repeated headers in their order",
    source: SCOPE,
    needs: websocket,
    differs: { workerd: "`Headers` of the platform joins repeated ones" },
    run: async (stage) => {
      const { headers } = await scopeOf(stage, { headers: ["1", "2", "1"].map((value) => ["x-test", value]) });
      expect(
        toText(headers)
          .filter(([name]) => name === "x-test")
          .map(([, value]) => value),
      ).toEqual(["1", "2", "1"]);
    },
  },
  {
    title: "`subprotocols` has the offers of one header in their order",
    source: "RFC 6455 §4.1",
    needs: websocket,
    run: async (stage) => {
      const headers: TextHeaders = [["sec-websocket-protocol", "first,  second"]];
      expect((await scopeOf(stage, { headers })).subprotocols).toEqual(["first", "second"]);
    },
  },
  {
    title: "`state` is a shallow copy of the lifespan's state for each WebSocket",
    source: "ASGI lifespan#lifespan-state",
    needs: ["websocket", "in process"],
    run: async (stage) => {
      const shared = { count: 0 };
      const seen: unknown[] = [];
      const run = async ({ scope: { state = {} } }: WebSocketCall): Promise<void> => {
        seen.push([state["shared"], state["own"]]);
        state["own"] = 1;
        (state["shared"] as { count: number }).count++;
      };
      const server = await stage.start({ websocket: run }, { state: { shared } });
      await server.websocket();
      await server.websocket();
      expect(seen).toEqual([
        [{ count: 2 }, undefined],
        [{ count: 2 }, undefined],
      ]);
    },
  },
];

const accepts: readonly Statement[] = [
  {
    title: "The first message is the connect, also after the accept",
    source: CONNECT,
    needs: websocket,
    run: async (stage) => {
      const { value } = await talk(
        stage,
        async ({ receive, send }) => {
          await send(ACCEPT);
          return received(receive);
        },
        () => {},
      );
      expect(await value).toEqual({ type: "websocket.connect" });
    },
  },
  {
    title: "The client gets the subprotocol and the headers of the accept",
    source: ACCEPTING,
    needs: websocket,
    run: async (stage) => {
      const headers = toPairs([
        ["x-test", "1"],
        ["x-test", "2"],
      ]);
      const { seen } = await talk(
        stage,
        async ({ send }) => send({ ...ACCEPT, subprotocol: "second", headers }),
        async (answer) => answer,
        { subprotocols: ["first", "second"] },
      );
      const values = seen.headers.filter(([name]) => name.toLowerCase() === "x-test").map(([, value]) => value);
      expect([seen.status, seen.webSocket?.subprotocol, values.join(", ")]).toEqual([101, "second", "1, 2"]);
    },
  },
  {
    title: "The client gets bytes beyond ASCII in a header of the accept",
    source: "RFC 9110 §5.5",
    needs: websocket,
    differs: { workerd: "it writes values as UTF-8" },
    run: async (stage) => {
      const headers = toPairs([["x-test", "caf\u00e9"]]);
      const { seen } = await talk(
        stage,
        async ({ send }) => send({ ...ACCEPT, headers }),
        async (answer) => answer.headers,
      );
      expect(seen.map(([, value]) => value)).toContain("caf\u00e9");
    },
  },
  ...([{}, { subprotocol: null }, { subprotocol: null, headers: new Set<never>() }] as const).map(
    (fields, index): Statement => ({
      title: `An accept ${["without keys", "with `null` as subprotocol", "with any iterable of headers"][index]} chooses no subprotocol`,
      source: ACCEPTING,
      needs: websocket,
      run: async (stage) => {
        const { seen } = await talk(
          stage,
          async ({ send }) => send({ ...ACCEPT, ...fields }),
          async ({ status, webSocket }) => [status, webSocket?.subprotocol],
          { subprotocols: ["first"] },
        );
        expect(seen).toEqual([101, null]);
      },
    }),
  ),
  {
    title: "Headers of the accept that are those of the handshake are ignored",
    source: "RFC 6455 §4.2.2",
    needs: websocket,
    run: async (stage) => {
      const names = [
        "connection",
        "upgrade",
        "content-length",
        "transfer-encoding",
        "sec-websocket-accept",
        "Sec-WebSocket-Protocol",
      ];
      const headers = toPairs([...names.map((name) => [name, "wrong"] as const), ["x-test", "a"]]);
      const { seen } = await talk(
        stage,
        async ({ receive, send }) => {
          await send({ ...ACCEPT, headers });
          await receive();
          await send(say("works"));
        },
        async (answer) => [answer.headers, await opened(answer).receive()] as const,
      );
      expect(seen[0].map(([, value]) => value)).not.toContain("wrong");
      expect(seen[1]).toBe("works");
    },
  },
  {
    title: "An accept of a subprotocol that the client did not offer throws, and another can follow",
    source: "RFC 6455 §4.2.2",
    needs: websocket,
    run: (stage) => checkRefusedAccepts(stage, [{ ...ACCEPT, subprotocol: "other" }]),
  },
  {
    title: "An accept with a header that HTTP does not allow throws, and another can follow",
    source: "RFC 9110 §5.1, §5.5",
    needs: websocket,
    run: (stage) => {
      const wrong = [
        ["x test", "a"],
        ["", "a"],
        ["x-test", "a\r\nb: c"],
        ["x-test", "a\0"],
        ["x-test", "\x1b[2J"],
      ] as const;
      return checkRefusedAccepts(
        stage,
        wrong.map((pair) => ({ ...ACCEPT, headers: toPairs([pair]) })),
      );
    },
  },
  {
    title: "A message of another type throws before the accept, and the accept can follow",
    source: ERRORS,
    needs: websocket,
    run: (stage) =>
      checkRefusedAccepts(stage, [
        { type: "websocket.unknown" },
        { type: "http.response.start", status: 200 },
        { type: "lifespan.startup.complete" },
        {},
      ]),
  },
  {
    title: "A message for the client throws before the accept, and the accept can follow",
    source: CONNECT,
    needs: websocket,
    run: (stage) => checkRefusedAccepts(stage, [say("early"), { type: "websocket.send", bytes: new Uint8Array(1) }]),
  },
  {
    title: "A second accept throws, and the WebSocket goes on",
    source: ACCEPTING,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [ACCEPT, { ...ACCEPT, subprotocol: "first" }, say("on")]),
        async (answer) => opened(answer).receive(),
        { subprotocols: ["first"] },
      );
      expect([await value, seen]).toEqual([[null, "ProtocolError", null], "on"]);
    },
  },
];

/** Messages that throw before the accept, without another effect. */
async function checkRefusedAccepts(stage: Stage, wrong: readonly object[]): Promise<void> {
  const { value, seen } = await talk(
    stage,
    async ({ receive, send }) => {
      await receive();
      return sendEach(send, [...wrong, { ...ACCEPT, subprotocol: "first" }, say("works")]);
    },
    async (answer) => [answer.webSocket?.subprotocol, await opened(answer).receive()],
    { subprotocols: ["first"] },
  );
  expect(await value).toEqual([...wrong.map(() => "ProtocolError"), null, null]);
  expect(seen).toEqual(["first", "works"]);
}

const closes: readonly Statement[] = [
  ...[[], [1000], [1001, "going"], [1008], [3000], [3999, "private"]].map(([code, reason]): Statement => ({
    title: `A close with ${code ?? "no code"} before the accept is a 403`,
    source: CLOSING,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talk(
        stage,
        async ({ send }) => send(close(code as number | undefined, reason as string | undefined)),
        endOf,
      );
      expect(seen).toEqual(FORBIDDEN);
      expect(log).toEqual([]);
    },
  })),
  ...[4000, 4004, 4999].map((code): Statement => ({
    title: `A close with ${code} before the accept completes the handshake, and closes with the code`,
    source: "docs/conformance.md#differences",
    needs: websocket,
    run: async (stage) => {
      const { value, seen, log } = await talk(
        stage,
        async ({ receive, send }) => {
          await receive();
          await send(close(code, "no route"));
          return received(receive);
        },
        endOf,
      );
      expect(seen).toEqual({ status: 101, code, reason: "no route" });
      expect(await value).toMatchObject({ type: "websocket.disconnect", code });
      expect(log).toEqual([]);
    },
  })),
  {
    title: "`receive` returns a disconnect with 1006 after a 403, again and again",
    source: "ASGI www#disconnect-receive-event-ws",
    needs: websocket,
    run: async (stage) => {
      const { value } = await talk(
        stage,
        async ({ receive, send }) => {
          await receive();
          await send(close(1008, "no"));
          return [await received(receive), await received(receive)];
        },
        () => {},
      );
      expect(await value).toEqual([ABNORMAL, ABNORMAL]);
    },
  },
  {
    title: "After a close before the accept, an accept and a message throw, and another close is ignored",
    source: CLOSING,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [close(), ACCEPT, say("late"), close(4004)]),
        endOf,
      );
      expect(await value).toEqual([null, "ClientDisconnect", "ClientDisconnect", null]);
      expect(seen).toEqual(FORBIDDEN);
    },
  },
  {
    title: "A close before the accept whose code must not be sent throws, and the accept can follow",
    source: "RFC 6455 §7.4",
    needs: websocket,
    run: (stage) => {
      const codes = [-1, 0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65_536, 1000.5, Number.NaN];
      return checkRefusedAccepts(stage, [...codes.map((code) => close(code)), close(4000, "x".repeat(124))]);
    },
  },
];

const refusals: readonly Statement[] = [
  {
    title: "A response of the application rejects the handshake",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const { value, seen, log } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(401, [["www-authenticate", "Bearer"]]), refusal("who are you?")]),
        async (answer) => answer,
      );
      expect(await value).toEqual([null, null]);
      expect(seen).toMatchObject({ status: 401, body: "who are you?", webSocket: null });
      expect(seen.headers.map(([name, field]) => [name.toLowerCase(), field])).toContainEqual([
        "www-authenticate",
        "Bearer",
      ]);
      expect(log).toEqual([]);
    },
  },
  {
    title: "The body of such a response may have parts",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(418), refusal("short ", true), refusal("", true), refusal("and stout")]),
        endOf,
      );
      expect([await value, seen]).toEqual([[null, null, null, null], { status: 418, body: "short and stout" }]);
    },
  },
  {
    title: "`receive` returns a disconnect with 1006 after such a response, again and again",
    source: "ASGI www#disconnect-receive-event-ws",
    needs: websocket,
    run: async (stage) => {
      const { value } = await talk(
        stage,
        async ({ receive, send }) => {
          await receive();
          await sendEach(send, [refuse(401), refusal("no")]);
          return [await received(receive), await received(receive)];
        },
        () => {},
      );
      expect(await value).toEqual([ABNORMAL, ABNORMAL]);
    },
  },
  {
    title: "Messages after the end of such a response are ignored, whatever they are",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const after = [
        refuse(500),
        refusal("more"),
        ACCEPT,
        say("late"),
        close(),
        close(4004),
        { type: "websocket.unknown" },
      ];
      const { value, seen, log } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(401), refusal("no"), ...after]),
        endOf,
      );
      expect(await value).toEqual([null, null, ...after.map(() => null)]);
      expect([seen, log]).toEqual([{ status: 401, body: "no" }, []]);
    },
  },
  {
    title: "A second start of such a response throws, and the first one stands",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(401), refuse(402), refusal("no")]),
        endOf,
      );
      expect([await value, seen]).toEqual([[null, "ProtocolError", null], { status: 401, body: "no" }]);
    },
  },
  {
    title: "An accept, a message and a close throw after the start of such a response, and it goes on",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const others = [ACCEPT, say("late"), close(), close(4004), { type: "websocket.unknown" }];
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(401), ...others, refusal("no")]),
        endOf,
      );
      expect(await value).toEqual([null, ...others.map(() => "ProtocolError"), null]);
      expect(seen).toEqual({ status: 401, body: "no" });
    },
  },
  {
    title: "A body of such a response before its start throws, and the response can follow",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [refusal("early"), refuse(401), refusal("no")]),
        endOf,
      );
      expect([await value, seen]).toEqual([["ProtocolError", null, null], { status: 401, body: "no" }]);
    },
  },
  {
    title: "A body of such a response before its start throws, and an accept can follow",
    source: DENIAL,
    needs: websocket,
    run: (stage) => checkRefusedAccepts(stage, [refusal("early"), refusal("early", true)]),
  },
  {
    title: "A start of such a response that HTTP does not allow throws, and an accept can follow",
    source: DENIAL,
    needs: websocket,
    run: (stage) => checkRefusedAccepts(stage, [refuse(101), refuse(600), refuse(401, [["x test", "a"]])]),
  },
  {
    title: "A start of such a response that HTTP does not allow throws, and another can follow",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const wrong = [
        refuse(100),
        refuse(199),
        refuse(600),
        refuse(401, [["x test", "a"]]),
        refuse(401, [["x-test", "a\nb"]]),
        refuse(401, [["content-length", "x"]]),
      ];
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [...wrong, refuse(401), refusal("no")]),
        endOf,
      );
      expect(await value).toEqual([...wrong.map(() => "ProtocolError"), null, null]);
      expect(seen).toEqual({ status: 401, body: "no" });
    },
  },
  {
    title: "A body of such a response that is text throws, and bytes can follow",
    source: DENIAL,
    needs: websocket,
    run: async (stage) => {
      const words = { type: "websocket.http.response.body", body: "text", more_body: true };
      const { value, seen } = await talk(
        stage,
        ({ send }) => sendEach(send, [refuse(401), words, refusal("no")]),
        endOf,
      );
      expect([await value, seen]).toEqual([[null, "ProtocolError", null], { status: 401, body: "no" }]);
    },
  },
  ...[204, 205, 304].map((status): Statement => ({
    title: `Such a response with ${status} has no body`,
    source: "RFC 9110 §6.4.1",
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(stage, ({ send }) => sendEach(send, [refuse(status), refusal("no")]), endOf);
      expect([await value, seen]).toEqual([[null, null], { status, body: "" }]);
    },
  })),
  {
    title: "A body of such a response that is not as long as its length throws, and the client gets a 500",
    source: "RFC 9112 §6.3",
    needs: websocket,
    run: async (stage) => {
      const { value, seen } = await talk(
        stage,
        async ({ send }) => {
          await send(refuse(401, [["content-length", "5"]]));
          await send(refusal("four"));
        },
        endOf,
      );
      expect(await errorOf(() => value)).toBe("ProtocolError");
      expect(seen).toEqual(FAILED);
    },
  },
  ...(
    [
      ["returns", null],
      ["throws", new Error("on purpose")],
    ] as const
  ).map(([how, error]): Statement => ({
    title: `An application that ${how} after the start of such a response is a 500`,
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen } = await talk(
        stage,
        async ({ send }) => {
          await send(refuse(401, [["x-test", "a"]]));
          if (error) throw error;
        },
        endOf,
      );
      expect(seen).toEqual(FAILED);
    },
  })),
  ...(
    [
      ["returns", null],
      ["throws", new Error("on purpose")],
    ] as const
  ).map(([how, error]): Statement => ({
    title: `An application that ${how} after a part of such a response cuts it`,
    source: ERRORS,
    needs: websocket,
    differs: { TestClient: "its client gets the part of the response, with the error as its cause" },
    run: async (stage) => {
      const server = await stage.start({
        websocket: async ({ send }) => {
          await send(refuse(401));
          await send(refusal("half", true));
          if (error) throw error;
        },
      });
      expect(await errorOf(() => server.websocket())).toBe("Lost");
    },
  })),
  {
    title: "An application that throws after such a response does not change it, with an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talk(
        stage,
        async ({ send }) => {
          await sendEach(send, [refuse(401), refusal("no")]);
          throw new Error("on purpose");
        },
        endOf,
      );
      expect(seen).toEqual({ status: 401, body: "no" });
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
  {
    title:
      "An application that throws after a close before the accept does not change the 403, with an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talk(
        stage,
        async ({ send }) => {
          await send(close());
          throw new Error("on purpose");
        },
        endOf,
      );
      expect(seen).toEqual(FORBIDDEN);
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
];

/** The ends of an application that has not responded. */
const failures: readonly Statement[] = [
  {
    title: "An application that returns before the accept is a 500, and an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talk(stage, async () => {}, endOf);
      expect(seen).toEqual(FAILED);
      expect(log).toEqual(["error The application returned without a response: WebSocket /"]);
    },
  },
  {
    title: "An application that throws before the accept is a 500, and an error in the log",
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen, log } = await talk(stage, () => Promise.reject(new Error("on purpose")), endOf);
      expect(seen).toEqual(FAILED);
      expect(log).toEqual(["error The application threw: WebSocket / | Error: on purpose"]);
    },
  },
  ...[
    ["text", "text"],
    ["null", null],
    ["undefined", undefined],
  ].map(([what, error]): Statement => ({
    title: `An application that throws ${String(what)} before the accept is a 500`,
    source: ERRORS,
    needs: websocket,
    run: async (stage) => {
      const { seen } = await talk(stage, () => Promise.reject(error), endOf);
      expect(seen).toEqual(FAILED);
    },
  })),
  {
    title: "An application of WebSockets that throws before it returns a promise is a 500",
    source: ERRORS,
    needs: ["websocket", "in process"],
    run: async (stage) => {
      const server = await stage.start({
        websocket: () => {
          throw new Error("on purpose");
        },
      });
      expect(await endOf(await server.websocket())).toEqual(FAILED);
    },
  },
];

/** A client that disconnects before the handshake is completed. */
async function leaveEarly<Value>(
  stage: Stage,
  first: readonly object[],
  after: (call: WebSocketCall, message: unknown) => Promise<Value>,
): Promise<{ value: Promise<Value>; log: readonly string[] }> {
  const client = new AbortController();
  const waits = new Deferred<void>();
  const value = new Deferred<Value>();
  const server = await stage.start({
    websocket: async (call) => {
      await call.receive();
      await sendEach(call.send, first);
      const message = received(call.receive);
      waits.resolve();
      const result = after(call, await message);
      void result.then(value.resolve, value.reject);
      await result;
    },
  });
  void server.websocket({ signal: client.signal }).catch(() => {});
  await waits.promise;
  client.abort();
  await value.promise.catch(() => {});
  return { value: value.promise, log: await server.log() };
}

const early = ["websocket", "early disconnect"] as const;

const disconnects: readonly Statement[] = [
  ...(
    [
      ["before the accept", []],
      ["after the start of a response", [refuse(401)]],
      ["during a response", [refuse(401), refusal("half", true)]],
    ] as const
  ).flatMap(([when, first]): Statement[] => [
    {
      title: `\`receive\` returns a disconnect with 1006, again and again, if the client disconnects ${when}`,
      source: "ASGI www#disconnect-receive-event-ws",
      needs: early,
      run: async (stage) => {
        const { value, log } = await leaveEarly(stage, first, async ({ receive }, message) => [
          message,
          await received(receive),
        ]);
        expect(await value).toEqual([ABNORMAL, ABNORMAL]);
        expect(log).toEqual([]);
      },
    },
    {
      title: `An application of WebSockets that throws after the client has disconnected ${when} is a line for debugging`,
      source: ERRORS,
      needs: early,
      run: async (stage) => {
        const { log } = await leaveEarly(stage, first, () => Promise.reject(new Error("on purpose")));
        expect(log).toEqual([
          "debug The application threw after its client had disconnected: WebSocket / | Error: on purpose",
        ]);
      },
    },
  ]),
  {
    title: "An accept and a response throw after the client has disconnected before the accept",
    source: "ASGI www#disconnected-client-send-exception",
    needs: early,
    run: async (stage) => {
      const { value } = await leaveEarly(stage, [], ({ send }) => sendEach(send, [ACCEPT, refuse(401), refusal("no")]));
      expect(await value).toEqual(["ClientDisconnect", "ClientDisconnect", "ClientDisconnect"]);
    },
  },
  {
    title: "A close is ignored after the client has disconnected before the accept",
    source: "docs/websockets.md",
    needs: early,
    run: async (stage) => {
      const { value, log } = await leaveEarly(stage, [], ({ send }) => sendEach(send, [close(), close(4004)]));
      expect([await value, log]).toEqual([[null, null], []]);
    },
  },
];

export const handshakeStatements: readonly Statement[] = [
  ...scopes,
  ...accepts,
  ...closes,
  ...refusals,
  ...failures,
  ...disconnects,
];
