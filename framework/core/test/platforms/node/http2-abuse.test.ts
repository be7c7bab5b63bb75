/** Clients of HTTP/2 that cost more than they ask for: each loses its connection, and the next client is served. */
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import type { ServeOptions } from "../../../src/node.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, readBody, respond, served, type Served } from "./_http.js";
import { CODE, fieldsOf, FLAG, frame, FRAME, FrameWire, GET, HTTP2Client, PREFACE, request, uint32 } from "./_http2.js";

const POST = fieldsOf({ ":method": "POST" });
const NONE = Buffer.alloc(0);
/** Makes the server check its connections every 25 ms, and has no timeout that ends one first. */
const QUICK = { headersMs: 60_000, requestMs: 60_000, keepAliveMs: 60_000, webSocketPingMs: 100 };

/** Reads the body, and responds with its length. `/wait` waits until the client has disconnected. */
const app = httpApp(async (scope, receive, send) => {
  if (scope.path === "/wait") {
    for (let message = await receive(); message.type !== "http.disconnect";) message = await receive();
  } else {
    await respond(send, 200, String((await readBody(receive)).length));
  }
});

/** Runs a client, and returns the status of a valid request that another one sends right after. */
async function statusAfter(client: (server: Served) => Promise<void>, options: ServeOptions = {}): Promise<number> {
  await using server = await served(app, { http2: true, ...options });
  await client(server);
  await using next = new HTTP2Client(server.url);
  const { status } = await next.request({ ":path": "/" });
  expect(server.logger.at("error")).toEqual([]);
  return status;
}

const repeat = (count: number, bytes: Uint8Array) => Buffer.concat(Array.from({ length: count }, () => bytes));

/** Frames of 20 new streams at each call. */
function streams(create: (stream: number) => Uint8Array): () => Uint8Array {
  let next = 1;
  return () => Buffer.concat(Array.from({ length: 20 }, () => create((next += 2))));
}

const wait = fieldsOf({ ":path": "/wait" });
const reset = (stream: number) => frame(FRAME.reset, 0, stream, uint32(8));

function manyFields(count: number): (readonly [string, string])[] {
  return Array.from({ length: count }, (_, index) => [`x-${index}`, "a"] as const);
}

/** Each with the frames that go first, and those that are repeated. */
const floods: [name: string, first: Uint8Array, next: () => Uint8Array][] = [
  ["resets (CVE-2023-44487)", NONE, streams((id) => Buffer.concat([request(id), reset(id)]))],
  ["resets of requests under way", NONE, streams((id) => Buffer.concat([request(id, wait), reset(id)]))],
  ["resets of bodies under way", NONE, streams((id) => Buffer.concat([request(id, POST, FLAG.endHeaders), reset(id)]))],
  [
    "resets that the server is made to send (CVE-2025-8671)",
    NONE,
    streams((id) => Buffer.concat([request(id, wait), frame(FRAME.windowUpdate, 0, id, uint32(0))])),
  ],
  [
    "windows that overflow",
    NONE,
    streams((id) => Buffer.concat([request(id, wait), frame(FRAME.windowUpdate, 0, id, uint32(2 ** 31 - 1))])),
  ],
  ["malformed requests", NONE, streams((id) => request(id, fieldsOf({ connection: "close" })))],
  ["header lists beyond the limit", NONE, streams((id) => request(id, [...GET, ...manyFields(400)]))],
  ["PING", NONE, () => repeat(1000, frame(FRAME.ping, 0, 0, Buffer.alloc(8)))],
  ["acknowledged PINGs that nobody sent", NONE, () => repeat(1000, frame(FRAME.ping, FLAG.ack, 0, Buffer.alloc(8)))],
  ["SETTINGS", NONE, () => repeat(1000, frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0, 0, 255, 255])))],
  ["empty SETTINGS", NONE, () => repeat(1000, frame(FRAME.settings, 0, 0))],
  ["WINDOW_UPDATE of the connection", NONE, () => repeat(1000, frame(FRAME.windowUpdate, 0, 0, uint32(1)))],
  ["WINDOW_UPDATE of a stream", request(1, wait), () => repeat(1000, frame(FRAME.windowUpdate, 0, 1, uint32(1)))],
  ["WINDOW_UPDATE of a closed stream", request(1), () => repeat(1000, frame(FRAME.windowUpdate, 0, 1, uint32(1)))],
  ["PRIORITY", NONE, () => repeat(1000, frame(FRAME.priority, 0, 1, Buffer.from([0, 0, 0, 3, 16])))],
  ["unknown frames", NONE, () => repeat(1000, frame(0xbb, 0, 0, Buffer.alloc(100)))],
  ["empty DATA", request(1, POST, FLAG.endHeaders), () => repeat(1000, frame(FRAME.data, 0, 1))],
  [
    "DATA of padding",
    request(1, POST, FLAG.endHeaders),
    () => repeat(100, frame(FRAME.data, FLAG.padded, 1, Buffer.from([9, 0, 0, 0, 0, 0, 0, 0, 0, 0]))),
  ],
  [
    "CONTINUATION without an end (CVE-2024-28182)",
    request(1, GET, 0),
    () => repeat(100, frame(FRAME.continuation, 0, 1, Buffer.from([0, 1, 0x78, 1, 0x79]))),
  ],
  ["empty CONTINUATION (CVE-2019-9518)", request(1, GET, 0), () => repeat(100, frame(FRAME.continuation, 0, 1))],
  ["streams beyond the number that is allowed", NONE, streams((id) => request(id, wait))],
];

describe("a flood of frames closes the connection, and no other", () => {
  it.each(floods)("%s", async (_name, first, next) => {
    const flood = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      wire.begin().write(first);
      await wire.flood(next);
    };
    expect(await statusAfter(flood, { timeouts: QUICK })).toBe(200);
  });

  it.each([
    ["PING", frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ["SETTINGS", frame(FRAME.settings, 0, 0)],
  ])("%s, from a client that does not read the responses", async (_name, bytes) => {
    const flood = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      wire.begin();
      wire.socket.pause();
      await wire.flood(() => repeat(1000, bytes));
    };
    expect(await statusAfter(flood, { timeouts: QUICK })).toBe(200);
  });
});

describe("a client that is closed for its cost", () => {
  it.each([
    ["resets", streams((id) => Buffer.concat([request(id, wait), reset(id)]))],
    ["resets", streams((id) => Buffer.concat([request(id, wait), frame(FRAME.reset, 0, id, uint32(0))]))],
    ["bytes that bring no request", () => repeat(1000, frame(FRAME.windowUpdate, 0, 0, uint32(1)))],
  ])("gets ENHANCE_YOUR_CALM, and the log contains the reason: %s", async (reason, next) => {
    await using server = await served(app, { http2: true, timeouts: QUICK });
    await using wire = new FrameWire(server.port);
    wire.begin();
    await wire.flood(next);
    expect(server.logger.at("debug").map(({ message }) => message)).toContain(
      `The HTTP/2 connection was closed: too many ${reason}.`,
    );
    expect([null, CODE.enhanceYourCalm]).toContain(wire.goawayCode); // a reset of the socket may overtake it
  });

  it("can send 200 resets before that, like a browser that closes its pages", async () => {
    const browse = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      wire.begin();
      for (let id = 1; id < 400; id += 2) wire.write(request(id, wait), reset(id));
      wire.write(request(401));
      await wire.until(({ type, stream }) => type === FRAME.data && stream === 401);
    };
    expect(await statusAfter(browse, { timeouts: QUICK })).toBe(200);
  });

  it("does not include one that sends large bodies in small chunks", async () => {
    const large = Buffer.alloc(3_000_000);
    await using server = await served(app, { http2: true, timeouts: QUICK });
    await using client = new HTTP2Client(server.url);
    for (let round = 0; round < 3; round++) {
      const stream = client.session.request({ ":method": "POST", ":path": "/" });
      for (let at = 0; at < large.length; at += 1000) {
        if (!stream.write(large.subarray(at, at + 1000))) await new Promise((resolve) => stream.once("drain", resolve));
      }
      stream.end();
      expect(String(Buffer.concat((await stream.toArray()) as Buffer[]))).toBe("3000000");
    }
  });

  it("does not include one that sends 100 bodies at a time to an application that does not read", async () => {
    const release = new Deferred<void>();
    const slow = httpApp(async (_scope, receive, send) => {
      await release.promise;
      await respond(send, 200, String((await readBody(receive)).length));
    });
    await using server = await served(slow, { http2: true, timeouts: QUICK });
    await using client = new HTTP2Client(server.url);
    let pings = 0;
    client.session.on("ping", () => {
      if (++pings === 3) release.resolve(); // ten checks later
    });
    const body = Buffer.alloc(200_000);
    const requests = Array.from({ length: 100 }, () => client.request({ ":method": "POST", ":path": "/" }, body));
    const answers = await Promise.all(requests);
    expect(new Set(answers.map(({ body: text }) => text))).toEqual(new Set(["200000"]));
  });

  it("does not include one that reads a large response in small windows", async () => {
    await using server = await served(
      httpApp((_scope, _receive, send) => respond(send, 200, "x".repeat(100_000_000))),
      { http2: true, timeouts: { ...QUICK, webSocketPingMs: 0, keepAliveMs: 100 } },
    );
    await using wire = new FrameWire(server.port);
    wire.begin().write(request(1));
    let length = 0;
    while (length < 100_000_000) {
      await wire.until(({ type }) => type === FRAME.data);
      for (const { type, payload } of wire.frames.splice(0)) {
        if (type !== FRAME.data || payload.length === 0) continue;
        length += payload.length;
        const parts = Math.ceil(payload.length / 1024);
        const update = uint32(Math.ceil(payload.length / parts));
        wire.write(repeat(parts, frame(FRAME.windowUpdate, 0, 0, update)));
        wire.write(repeat(parts, frame(FRAME.windowUpdate, 0, 1, update)));
      }
    }
    expect(length).toBe(100_000_000);
  });
});

describe("a client that holds streams open", () => {
  it("has 100 at most, and gets REFUSED_STREAM for another", async () => {
    const open = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      wire.begin();
      const settings = await wire.until(({ type, flags }) => type === FRAME.settings && flags === 0);
      expect(settings.payload.subarray(0, 6)).toEqual(Buffer.from([0, 3, 0, 0, 0, 100]));
      for (let id = 1; id < 202; id += 2) wire.write(request(id, wait));
      const refused = await wire.until(({ type }) => type === FRAME.reset);
      expect([refused.stream, refused.payload.readUInt32BE()]).toEqual([201, CODE.refusedStream]);
    };
    expect(await statusAfter(open)).toBe(200);
  });

  it("gets 408 for bodies that do not arrive, and loses the connection if it stays silent", async () => {
    const open = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      wire.begin();
      for (let id = 1; id < 200; id += 2) wire.write(request(id, POST, FLAG.endHeaders));
      await wire.closed;
      expect(wire.goawayCode).toBe(CODE.noError);
      const bodies = wire.frames.filter(({ type }) => type === FRAME.data).map(({ payload }) => String(payload));
      expect(bodies).toEqual(Array.from({ length: 100 }, () => '{"detail":"Request Timeout"}'));
    };
    expect(await statusAfter(open, { timeouts: { requestMs: 100, keepAliveMs: 100 } })).toBe(200);
  });
});

describe("a client with a window of 0", () => {
  const MiB = 1_048_576;
  const NO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0]);

  it("begins no further request if 8 MiB of responses wait, and is served when it reads them", async () => {
    let begun = 0;
    const large = httpApp((_scope, _receive, send) => {
      begun++;
      return respond(send, 200, "x".repeat(MiB));
    });
    await using server = await served(large, { http2: true });
    await using wire = new FrameWire(server.port);
    wire.begin(NO_WINDOW);
    for (let id = 1; id < 80; id += 2) wire.write(request(id));
    wire.write(frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
    await wire.until(({ type, flags }) => type === FRAME.ping && flags === FLAG.ack);
    await (await fetch(server.url)).arrayBuffer();
    expect(begun - 1).toBeLessThanOrEqual(26);
    wire.write(frame(FRAME.settings, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])));
    wire.write(frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 31 - 1 - 65_535)));
    for (let id = 1; id < 80; id += 2) {
      await wire.until(({ type, flags, stream }) => stream === id && type === FRAME.data && flags === FLAG.endStream);
    }
    expect(begun - 1).toBe(40);
  });

  it("is closed if it reads no data, and the log contains the reason", async () => {
    const large = httpApp((_scope, _receive, send) => respond(send, 200, "x".repeat(MiB)));
    await using server = await served(large, { http2: true, timeouts: { requestMs: 3000, webSocketPingMs: 0 } });
    await using wire = new FrameWire(server.port);
    wire.begin(NO_WINDOW);
    for (let id = 1; id < 80; id += 2) wire.write(request(id));
    await wire.closed;
    expect([null, CODE.enhanceYourCalm]).toContain(wire.goawayCode); // a reset of the socket may overtake it
    expect(server.logger.at("debug").map(({ message }) => message)).toContain(
      "The HTTP/2 connection was closed: too many bytes that wait for the client.",
    );
  });
});

describe("a client that reads no data", () => {
  it.each([
    ["its windows, at 0 from the start", Buffer.from([0, 4, 0, 0, 0, 0])],
    ["its socket", NONE],
  ])("of %s, loses its streams and then the connection", async (_what, settings) => {
    const allGone = new Deferred<void>();
    let gone = 0;
    const large = httpApp(async (scope, _receive, send) => {
      if (scope.path === "/") return respond(send, 200, "0");
      await send({ type: "http.response.start", status: 200, headers: [] });
      try {
        for (;;) await send({ type: "http.response.body", body: Buffer.alloc(10_000), more_body: true });
      } finally {
        if (++gone === 100) allGone.resolve();
      }
    });
    await using server = await served(large, { http2: true, timeouts: { requestMs: 100, keepAliveMs: 100 } });
    await using wire = new FrameWire(server.port);
    wire.begin(settings);
    if (settings.length === 0) wire.socket.pause();
    for (let id = 1; id < 200; id += 2) wire.write(request(id, fieldsOf({ ":path": "/large" })));
    await allGone.promise;
    wire.socket.resume();
    await wire.closed;
    await using client = new HTTP2Client(server.url);
    expect(await client.request({ ":path": "/" })).toMatchObject({ status: 200, body: "0" });
    expect(server.logger.at("error")).toEqual([]);
  });
});

const BEGIN = Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0)]);

describe("timeouts of an HTTP/2 connection", () => {
  it.each<[what: string, bytes: Uint8Array, timeouts: object]>([
    ["nothing but the preface within headersMs", Buffer.from(PREFACE), { headersMs: 100 }],
    ["part of the preface within headersMs", Buffer.from(PREFACE.slice(0, 20)), { headersMs: 100 }],
    ["SETTINGS and no request within headersMs", BEGIN, { headersMs: 100 }],
    ["part of a head within headersMs", Buffer.concat([BEGIN, request(1, GET, 0)]), { headersMs: 100 }],
    ["no further request within keepAliveMs", Buffer.concat([BEGIN, request(1)]), { keepAliveMs: 100 }],
  ])("close one that sends %s", async (_what, bytes, timeouts) => {
    const stop = async (server: Served) => {
      await using wire = new FrameWire(server.port);
      await wire.write(bytes).closed;
    };
    expect(await statusAfter(stop, { timeouts })).toBe(200);
  });

  it("close one whose client keeps its side open", async () => {
    const stay = async (server: Served) => {
      const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
      await using wire = new FrameWire(server.port, socket);
      wire.begin();
      await once(socket, "end");
      await wire.flood(() => frame(FRAME.ping, 0, 0, Buffer.alloc(8)));
    };
    expect(await statusAfter(stay, { timeouts: { headersMs: 100 } })).toBe(200);
  });

  it("close one with a running request if its client does not reply to a ping", async () => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await send({ type: "http.response.start", status: 200, headers: [] });
        await send({ type: "http.response.body", body: Buffer.from("data"), more_body: true });
        await receive();
        told.resolve(await receive());
      }),
      { http2: true, timeouts: { webSocketPingMs: 100 } },
    );
    await using wire = new FrameWire(server.port);
    wire.begin().write(request(1));
    await wire.until(({ type, flags }) => type === FRAME.ping && flags === 0);
    await wire.closed;
    await expect(told.promise).resolves.toEqual({ type: "http.disconnect" });
  });

  it("keep one open whose client sends without a reply to a ping, as behind large bodies", async () => {
    const released = new Deferred<void>();
    const slow = httpApp(async (scope, _receive, send) => {
      if (scope.path === "/wait") await released.promise;
      await respond(send, 200, "done");
    });
    const timeouts = { webSocketPingMs: 20, keepAliveMs: 200 };
    await using server = await served(slow, { http2: true, timeouts });
    await using wire = new FrameWire(server.port);
    wire.begin().write(request(1, wait));
    await wire.until(({ type, flags }) => type === FRAME.ping && flags === 0);
    const sending = setInterval(() => wire.write(frame(FRAME.priority, 0, 3, Buffer.from([0, 0, 0, 0, 16]))), 5);
    await using idle = new FrameWire(server.port);
    idle.begin().write(request(1));
    await idle.closed; // five times as long as a silent client has
    clearInterval(sending);
    released.resolve();
    await wire.until(({ type, stream }) => type === FRAME.data && stream === 1);
    expect(wire.goawayCode).toBeNull();
  });

  it("keep one open if its client replies", async () => {
    const answered = new Deferred<void>();
    let pings = 0;
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200, headers: [] });
        await send({ type: "http.response.body", body: Buffer.from("a"), more_body: true });
        await answered.promise;
        await send({ type: "http.response.body", body: Buffer.from("b") });
      }),
      { http2: true, timeouts: { webSocketPingMs: 20 } },
    );
    await using client = new HTTP2Client(server.url);
    client.session.on("ping", () => {
      if (++pings === 4) answered.resolve();
    });
    expect((await client.request({ ":path": "/" })).body).toBe("ab");
  });
});

describe("connectionLimits.connections", () => {
  it("counts HTTP/2 and HTTP/1.1 connections together", async () => {
    await using server = await served(app, { http2: true, connectionLimits: { connections: 2 } });
    await using one = new HTTP2Client(server.url);
    await one.request({ ":path": "/" });
    await using two = new HTTP2Client(server.url);
    await two.request({ ":path": "/" });
    expect((await fetch(server.url)).status).toBe(503);
    await one[Symbol.asyncDispose]();
    let status = 503;
    while (status === 503) ({ status } = await fetch(server.url));
    expect(status).toBe(200);
  });
});
