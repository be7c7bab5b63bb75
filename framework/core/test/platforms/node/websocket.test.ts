import { once } from "node:events";
import { constants, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, ReceiveMessage, SendMessage, WebSocketScope } from "../../../src/protocol/asgi.js";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import { Deferred } from "../../../src/common/promises.js";
import { CALL } from "../../../src/protocol/server-context.js";
import { aliveBytes } from "../../../../test/support/garbage.js";
import { httpApp, pair, respond, served, Wire } from "./_http.js";
import { accept, Client, echo, GOOD, handshake, sending, socketApp } from "./_websocket.js";

describe("a WebSocket", () => {
  it("carries text and bytes both ways", async () => {
    await using server = await served(echo);
    await using client = new Client(server);
    await client.opened;
    client.socket.send("héllo");
    client.socket.send(Buffer.from([0, 255]));
    expect(await client.received(2)).toEqual(["héllo", Buffer.from([0, 255])]);
  });

  it("has every field of ASGI 3.0 in its scope", async () => {
    const scopes: WebSocketScope[] = [];
    await using server = await served(
      socketApp(async (scope, _receive, send) => {
        scopes.push(scope);
        await send(accept);
      }),
    );
    await using client = new Client(server, "/rooms/a%20b?x=1", ["chat", "v2.chat"]);
    await client.closed;
    expect(scopes).toEqual([
      {
        type: "websocket",
        [CALL]: expect.anything(), // for the signal of an App
        asgi: { version: "3.0", spec_version: "2.4" },
        http_version: "1.1",
        scheme: "ws",
        path: "/rooms/a b",
        raw_path: Buffer.from("/rooms/a%20b"),
        query_string: Buffer.from("x=1"),
        root_path: "",
        headers: expect.anything(),
        client: ["127.0.0.1", expect.any(Number)],
        server: ["127.0.0.1", expect.any(Number)],
        subprotocols: ["chat", "v2.chat"],
        state: {},
        extensions: { "websocket.http.response": {}, "tsgi.websocket.message_limit": {} },
      },
    ]);
  });

  it("uses the subprotocol and the headers of the application's accept", async () => {
    await using server = await served(
      sending({ type: "websocket.accept", subprotocol: "v2", headers: [pair("x-room", "7"), pair("upgrade", "x")] }),
    );
    await using client = new Client(server, "/", ["v1", "v2"]);
    const [response] = (await once(client.socket, "upgrade")) as [{ headers: Record<string, string> }];
    expect(response.headers).toMatchObject({ "x-room": "7", upgrade: "websocket", "sec-websocket-protocol": "v2" });
    await client.closed;
  });

  it("selects no subprotocol if the application does not specify one", async () => {
    await using server = await served(sending(accept));
    await using client = new Client(server, "/", ["v1"]);
    expect(await client.closed).toEqual([1006, ""]); // ws, as a client, insists on one; the handshake itself went out
    expect(client.socket.protocol).toBe("");
  });

  it("returns connect first, then the messages of the client, then the reason of the disconnect", async () => {
    const told: ReceiveMessage[] = [];
    const over = new Deferred<void>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        told.push(await receive());
        await send(accept);
        told.push(await receive(), await receive(), await receive());
        over.resolve();
      }),
    );
    await using client = new Client(server);
    await client.opened;
    client.socket.send("hi");
    client.socket.close(3001, "bye");
    await over.promise;
    expect(told).toEqual([
      { type: "websocket.connect" },
      { type: "websocket.receive", text: "hi" },
      { type: "websocket.disconnect", code: 3001, reason: "bye" },
      { type: "websocket.disconnect", code: 3001, reason: "bye" },
    ]);
  });

  it.each([
    ["without a status", (client: Client) => client.socket.close(), 1005],
    ["without a close frame", (client: Client) => client.socket.terminate(), 1006],
  ])("notifies a waiting application if the client disconnects %s", async (_how, leave, code) => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
    );
    await using client = new Client(server);
    await client.opened;
    leave(client);
    expect(await told.promise).toEqual({ type: "websocket.disconnect", code, reason: "" });
    expect(server.logger.at("error")).toEqual([]);
  });

  it("is closed with the application's code and reason", async () => {
    await using server = await served(sending(accept, { type: "websocket.close", code: 4321, reason: "enough" }));
    await using client = new Client(server);
    expect(await client.closed).toEqual([4321, "enough"]);
  });

  it("is closed with 1000 when the application returns", async () => {
    await using server = await served(sending(accept));
    await using client = new Client(server);
    expect((await client.closed)[0]).toBe(1000);
  });

  it("is closed with 1011 if the application throws, with the error only in the log", async () => {
    await using server = await served(
      socketApp(async (_scope, _receive, send) => {
        await send(accept);
        throw new Error("secret");
      }),
    );
    await using client = new Client(server);
    expect(await client.closed).toEqual([1011, ""]);
    expect(server.logger.at("error")).toMatchObject([{ message: "The application threw: WebSocket /" }]);
  });
});

describe("a handshake", () => {
  it("is rejected with 403 if the application closes before it accepts", async () => {
    await using server = await served(sending({ type: "websocket.close", code: 1008 }));
    await using client = new Client(server);
    expect(await client.refused).toEqual([403, '{"detail":"Forbidden"}']);
  });

  it.each([4000, 4004, 4999])(
    "is completed for the application's own code %i, which a browser then sees",
    async (code) => {
      await using server = await served(sending({ type: "websocket.close", code, reason: "no such room" }));
      await using client = new Client(server);
      await client.opened;
      expect(await client.closed).toEqual([code, "no such room"]);
    },
  );

  it("is rejected with the response of the application (websocket.http.response)", async () => {
    await using server = await served(
      sending(
        { type: "websocket.http.response.start", status: 401, headers: [pair("www-authenticate", "Bearer")] },
        { type: "websocket.http.response.body", body: Buffer.from("who "), more_body: true },
        { type: "websocket.http.response.body", body: Buffer.from("are you?") },
      ),
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(handshake(GOOD)).closed).toMatch(
      /^HTTP\/1\.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\n[^]*connection: close\r\n\r\n4\r\nwho \r\n8\r\nare you\?\r\n0\r\n\r\n$/,
    );
    expect(server.logger.at("error")).toEqual([]);
  });

  it.each([
    ["throws", socketApp(() => Promise.reject(new Error("secret")))],
    [
      "throws synchronously",
      (() => {
        throw new Error("secret");
      }) satisfies ASGIApp,
    ],
    ["returns without an answer", socketApp(() => Promise.resolve())],
    ["answers with half a response", sending({ type: "websocket.http.response.start", status: 200 })],
  ])("is rejected with 500 if the application %s", async (_what, app) => {
    await using server = await served(async (scope, receive, send) => {
      if (scope.type === "websocket") return app(scope, receive, send);
    });
    await using client = new Client(server);
    expect(await client.refused).toEqual([500, '{"detail":"Internal Server Error"}']);
    expect(server.logger.at("error")).toHaveLength(1);
  });

  it.each([
    ["without a key", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n", 400],
    ["with a key that is none", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: a\r\n", 400],
    ["of another version", GOOD.replace("13", "12"), 426],
    ["with an empty subprotocol", `${GOOD}Sec-WebSocket-Protocol: a,,b\r\n`, 400],
    ["with a subprotocol twice", `${GOOD}Sec-WebSocket-Protocol: a, a\r\n`, 400],
    ["with extensions that are none", `${GOOD}Sec-WebSocket-Extensions: permessage-deflate;;=\r\n`, 400],
    ["with a body", `${GOOD}Content-Length: 1\r\n`, 400],
    ["with two Host lines", `${GOOD}Host: b\r\n`, 400],
  ])("%s is rejected, and the application is not called", async (_what, headers, status) => {
    let called = false;
    await using server = await served(
      socketApp(() => {
        called = true;
        return Promise.resolve();
      }),
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(handshake(headers)).closed).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*"detail"`));
    expect(called).toBe(false);
  });

  it("gets a response without a reset if it is rejected, even if the client keeps sending", async () => {
    await using server = await served(echo, { allowedHosts: [] });
    await using wire = new Wire(server.port);
    const errors: unknown[] = [];
    wire.socket.on("error", (error) => errors.push(error));
    wire.write(handshake(GOOD) + "a".repeat(4 << 20));
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 400 /);
    expect(errors).toEqual([]);
  });

  it("with another method than GET is rejected with 405", async () => {
    await using server = await served(echo);
    await using wire = new Wire(server.port);
    expect(await wire.write(handshake(GOOD).replace("GET", "POST")).closed).toMatch(/^HTTP\/1\.1 405 /);
  });

  it.each([
    [["example.org"], 101],
    [["*.org"], 101],
    [["EXAMPLE.org"], 101],
    [["*"], 101],
    [["example.com", "*.example.org"], 400],
    [[], 400],
  ])("for a host that is to be among %j gets %i", async (allowedHosts, status) => {
    await using server = await served(sending(accept), { allowedHosts });
    await using wire = new Wire(server.port);
    expect(await wire.write(handshake(GOOD)).until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("is judged by the host of an absolute target, which the application sees", async () => {
    await using server = await served(sending(accept), { allowedHosts: ["example.org"] });
    await using wire = new Wire(server.port);
    const absolute = handshake(GOOD).replace(/^GET \S+/, "GET http://evil.example/");
    expect(await wire.write(absolute).until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ["Origin: https://example.org\r\n", 101],
    ["Origin: https://evil.example\r\n", 403],
    ["Origin: http://example.org\r\n", 403],
    ["Origin: null\r\n", 403],
    ["", 101],
  ])("with %j gets %i if origins are listed", async (origin, status) => {
    await using server = await served(sending(accept), { allowedOrigins: ["https://example.org"] });
    await using wire = new Wire(server.port);
    expect(await wire.write(handshake(GOOD + origin)).until(/\r\n\r\n/)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it("is abandoned if the client disconnects before it is accepted", async () => {
    const entered = new Deferred<void>();
    const outcome = new Deferred<unknown>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        entered.resolve();
        const left = await receive();
        outcome.resolve([
          left,
          await Promise.resolve()
            .then(() => send(accept))
            .catch((error: unknown) => error),
        ]);
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(handshake(GOOD));
    await entered.promise;
    wire.socket.resetAndDestroy();
    expect(await outcome.promise).toEqual([
      { type: "websocket.disconnect", code: 1006, reason: "" },
      expect.any(ClientDisconnect),
    ]);
    expect(server.logger.at("error")).toEqual([]);
  });
});

describe("an Upgrade to something else", () => {
  it.each(["h2c", "TLS/1.0", "websockets"])(
    "to %s is served as the request that it also is, body included",
    async (to) => {
      await using server = await served(async (scope, receive, send) => {
        if (scope.type === "http") {
          const message = await receive();
          await respond(send, 200, `${scope.method} ${Buffer.from((message as { body: Uint8Array }).body).toString()}`);
        }
      });
      await using wire = new Wire(server.port);
      const h2c = `POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings, keep-alive\r\nUpgrade: ${to}\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: 2\r\n\r\nhi`;
      await wire.write(h2c).until(/POST hi$/);
      expect(await wire.write(h2c).until(/POST hi[^]*POST hi$/)).not.toMatch(/ [45]\d\d /);
    },
  );
});

const misuse: [what: string, messages: SendMessage[], reason: string][] = [
  [
    "send before accept",
    [{ type: "websocket.send", text: "a" }],
    '"websocket.send" was sent while the WebSocket was connecting.',
  ],
  ["accept twice", [accept, accept], '"websocket.accept" was sent while the WebSocket was open.'],
  [
    "an HTTP response after accept",
    [accept, { type: "websocket.http.response.start", status: 200 }],
    "while the WebSocket was open",
  ],
  ["a message of HTTP", [{ type: "http.response.start", status: 200 }], 'not "http.response.start"'],
  ["send of nothing", [accept, { type: "websocket.send" }], '"websocket.send" needs either text or bytes.'],
  [
    "send of both",
    [accept, { type: "websocket.send", text: "a", bytes: Buffer.from("a") }],
    '"websocket.send" needs either text or bytes.',
  ],
  [
    "a subprotocol that was not offered",
    [{ type: "websocket.accept", subprotocol: "x" }],
    'did not offer the subprotocol "x"',
  ],
  [
    "a header with a line break",
    [{ type: "websocket.accept", headers: [pair("a", "b\r\nc: d")] }],
    "The header a has a control character",
  ],
  ["a close code that may not be sent", [accept, { type: "websocket.close", code: 1006 }], "Expected a close code"],
  [
    "a close reason that is too long",
    [accept, { type: "websocket.close", reason: "a".repeat(124) }],
    "a reason of at most 123 bytes",
  ],
  [
    "send after close",
    [accept, { type: "websocket.close" }, { type: "websocket.send", text: "a" }],
    "while the WebSocket was closing",
  ],
];

describe("an application that misuses a WebSocket", () => {
  it.each(misuse)("gets an error: %s", async (_what, messages, reason) => {
    await using server = await served(sending(...messages));
    await using client = new Client(server);
    await Promise.race([client.closed, client.refused]);
    expect(server.logger.at("error").map(({ fields }) => String(fields.err))).toEqual([
      expect.stringContaining(reason),
    ]);
  });
});

describe("the bounds of a WebSocket", () => {
  it("close it with 1009 for a message that is too long, and notify the application", async () => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
      { connectionLimits: { webSocketMessageBytes: 10 } },
    );
    await using client = new Client(server);
    await client.opened;
    client.socket.send("a".repeat(11));
    expect((await client.closed)[0]).toBe(1009);
    expect(await told.promise).toMatchObject({ type: "websocket.disconnect", code: 1009 });
    expect(server.logger.at("error")).toEqual([]);
  });

  it("count the fragments of a message together", async () => {
    await using server = await served(echo, { connectionLimits: { webSocketMessageBytes: 10 } });
    await using client = new Client(server);
    await client.opened;
    client.socket.send("a".repeat(6), { fin: false });
    client.socket.send("a".repeat(6), { fin: true });
    expect((await client.closed)[0]).toBe(1009);
  });

  it("are 1 MiB per message by default", async () => {
    await using server = await served(echo);
    await using client = new Client(server);
    await client.opened;
    client.socket.send(Buffer.alloc(1 << 20));
    expect(await client.received(1)).toHaveLength(1);
    client.socket.send(Buffer.alloc((1 << 20) + 1));
    expect((await client.closed)[0]).toBe(1009);
  });

  it("make a client wait if its messages are not read", async () => {
    const ask = new Deferred<void>();
    let count = 0;
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        await ask.promise;
        while ((await receive()).type === "websocket.receive") count++;
      }),
    );
    await using client = new Client(server);
    await client.opened;
    const COUNT = 64;
    for (let index = 0; index < COUNT; index++) client.socket.send(Buffer.alloc(1 << 18));
    for (let answers = 0; answers < 25; answers++) await (await fetch(server.url)).text(); // time enough to read it all
    expect(client.socket.bufferedAmount).toBeGreaterThan(4 << 20);
    ask.resolve();
    client.socket.close();
    await client.closed;
    await server.close();
    expect(count).toBe(COUNT);
  });

  it("make a client wait whose compressed messages become long", async () => {
    const ask = new Deferred<void>();
    const seen = new Deferred<[count: number, end: ReceiveMessage]>();
    const before = await aliveBytes();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        await ask.promise;
        let count = 0;
        let message = await receive();
        for (; message.type === "websocket.receive"; count++) message = await receive();
        seen.resolve([count, message]);
      }),
      { webSocketCompression: true },
    );
    await using wire = new Wire(server.port);
    const offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n";
    await wire.write(handshake(GOOD).replace(/\r\n$/, offer)).until(/\r\n\r\n$/);
    const mebibyte = deflateRawSync(Buffer.alloc(1 << 20), { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
    const head = Buffer.from([0xc2, 0x80 | 126, mebibyte.length >> 8, mebibyte.length & 0xff, 0, 0, 0, 0]);
    wire.write(Buffer.concat([head, mebibyte]).toString("latin1").repeat(32));
    wire.write("\x88\x82\0\0\0\0\x0b\xb8");
    for (let answers = 0; answers < 25; answers++) await (await fetch(server.url)).text(); // time enough to read it all
    expect((await aliveBytes()) - before).toBeLessThan(16 << 20);
    ask.resolve();
    expect(await seen.promise).toEqual([32, { type: "websocket.disconnect", code: 3000, reason: "" }]);
  });

  it("do not hold up the close of a client that waits", async () => {
    const close = new Deferred<void>();
    const app = socketApp(async (_scope, _receive, send) => {
      await send(accept);
      await close.promise;
      await send({ type: "websocket.close", code: 3000 });
    });
    await using server = await served(app, { webSocketCompression: true });
    await using client = new Client(server);
    await client.opened;
    for (let index = 0; index < 16; index++) client.socket.send(Buffer.alloc(1 << 18));
    for (let answers = 0; answers < 5; answers++) await (await fetch(server.url)).text();
    const ends: unknown[] = [];
    void client.closed.then((end) => ends.push(end));
    close.resolve();
    // The server would destroy the connection after 5 s.
    const deadline = performance.now() + 4500;
    while (ends.length === 0 && performance.now() < deadline) await (await fetch(server.url)).text();
    expect(ends).toEqual([[3000, ""]]);
  });

  it("let all others have their turn while one client reads as fast as it is sent to", async () => {
    let run = 0;
    let longest = 0;
    await using server = await served(
      socketApp(async (_scope, _receive, send) => {
        await send(accept);
        for (let sent = 0; sent < 1000; sent++) {
          if (run === 0) setImmediate(() => (run = 0));
          longest = Math.max(longest, ++run);
          await send({ type: "websocket.send", bytes: Buffer.alloc(16_384) });
        }
      }),
    );
    await using client = new Client(server);
    await client.closed;
    expect(client.messages).toHaveLength(1000);
    expect(longest).toBeLessThanOrEqual(64); // 1 MiB
  });

  it("make an application wait whose client does not read", async () => {
    const waits = new Deferred<void>();
    let sent = 0;
    await using server = await served(
      socketApp(async (_scope, _receive, send) => {
        await send(accept);
        for (; sent < 64; sent++) {
          const done = send({ type: "websocket.send", bytes: Buffer.alloc(1 << 20) });
          if (done) waits.resolve();
          await done;
        }
      }),
    );
    await using client = new Client(server);
    await client.opened;
    client.socket.pause();
    await waits.promise;
    expect(sent).toBeLessThan(64);
    client.socket.resume();
    expect(await client.received(64)).toHaveLength(64);
  });

  it("disconnect a client that does not reply to pings", async () => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
      { timeouts: { webSocketPingMs: 20 } },
    );
    await using client = new Client(server, "/", [], { autoPong: false });
    expect(await told.promise).toMatchObject({ type: "websocket.disconnect", code: 1006 });
    expect((await client.closed)[0]).toBe(1006);
  });

  it("disconnect a client that sends without reading", async () => {
    const over = new Deferred<void>();
    await using server = await served(
      socketApp((...call) => echo(...call).finally(() => over.resolve())),
      { timeouts: { webSocketPingMs: 500 } },
    );
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.socket.pause();
    const length = String.fromCharCode(0, 16, 0, 0);
    const message = `\x82\xff\0\0\0\0${length}\0\0\0\0${"a".repeat(1 << 20)}`;
    for (let sent = 0; sent < 64; sent++) wire.write(message);
    await expect(over.promise).resolves.toBeUndefined();
  });

  it("do not disconnect a client that replies to pings", async () => {
    await using server = await served(echo, { timeouts: { webSocketPingMs: 500 } });
    await using client = new Client(server);
    for (let pings = 0; pings < 3; pings++) await once(client.socket, "ping");
    client.socket.send("still here");
    expect(await client.received(1)).toEqual(["still here"]);
  });
});

describe("a server that stops", () => {
  it("closes WebSockets with 1012, and notifies their applications", async () => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
    );
    await using client = new Client(server);
    await client.opened;
    await server.close();
    expect((await client.closed)[0]).toBe(1012);
    expect(await told.promise).toMatchObject({ type: "websocket.disconnect", code: 1012 });
    expect(server.logger.at("error")).toEqual([]);
  });

  it("rejects a handshake that is not accepted yet with 503", async () => {
    const entered = new Deferred<void>();
    await using server = await served(
      socketApp(async (_scope, receive) => {
        await receive();
        entered.resolve();
        await receive();
      }),
    );
    await using client = new Client(server);
    await entered.promise;
    const closed = server.close();
    expect((await client.refused)[0]).toBe(503);
    await closed;
  });
});

describe.each([
  ["CONNECT", "CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "405 Method Not Allowed"],
  ["a handshake", handshake(GOOD), "101 Switching Protocols"],
])("a request followed by %s", (_what, next, answer) => {
  it("gets its response first", async () => {
    const gate = new Deferred<void>();
    await using server = await served(async (scope, receive, send) => {
      if (scope.type === "websocket") {
        await send({ type: "websocket.accept" });
        await receive();
        await receive();
      } else if (scope.type === "http") {
        await gate.promise;
        await respond(send, 200, "first");
      }
    });
    await using wire = new Wire(server.port);
    wire.write(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${next}`);
    setImmediate(() => gate.resolve());
    expect(await wire.until(/(?:HTTP[^]*){2}\r\n\r\n/)).toMatch(
      new RegExp(`^HTTP/1\\.1 200 [^]*firstHTTP/1\\.1 ${answer}\r\n`),
    );
  });

  it("gets its whole response even if its client reads slowly", async () => {
    const CHUNKS = 64;
    const gate = new Deferred<void>();
    await using server = await served(async (scope, _receive, send) => {
      if (scope.type === "websocket") await send({ type: "websocket.accept" });
      if (scope.type !== "http") return;
      await send({
        type: "http.response.start",
        status: 200,
        headers: [pair("content-length", String(CHUNKS << 18))],
      });
      await gate.promise;
      for (let left = CHUNKS; left > 0; left--) {
        await send({ type: "http.response.body", body: Buffer.alloc(1 << 18, "."), more_body: left > 1 });
      }
    });
    await using wire = new Wire(server.port);
    wire.write(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${next}`);
    setImmediate(() => gate.resolve());
    const received = await wire.closed;
    expect(received.slice(received.lastIndexOf(".HTTP")).startsWith(`.HTTP/1.1 ${answer}\r\n`)).toBe(true);
  });

  it("ends when its client resets the connection", async () => {
    const ended = new Deferred<unknown>();
    const chunk = Buffer.alloc(1 << 18);
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        try {
          for (;;) await send({ type: "http.response.body", body: chunk, more_body: true });
        } catch (error) {
          ended.resolve(error);
          throw error;
        }
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(`GET / HTTP/1.1\r\nHost: a\r\n\r\n${next}`).until(/200 OK/);
    wire.socket.pause();
    wire.socket.resetAndDestroy();
    expect(await ended.promise).toBeInstanceOf(ClientDisconnect);
  });
});
