/** Frames that would end the process of `node:http2`, or that RFC 9113 forbids, and those that it allows. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connect as connectSecurely } from "node:tls";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, readBody, respond, served, type Served } from "./_http.js";
import { CODE, fieldsOf, FLAG, frame, FRAME, FrameWire, HTTP2Client, PREFACE, request, uint32 } from "./_http2.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const tls = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };
const POST = fieldsOf({ ":method": "POST" });
const BEGIN = Buffer.concat([Buffer.from(PREFACE), frame(FRAME.settings, 0, 0)]);
const PRIORITY = 0x20;
const bytes = (length: number) => Buffer.alloc(length);

const app = httpApp(async (_scope, receive, send) => respond(send, 200, String((await readBody(receive)).length)));

function connectTo(server: Served, isSecure: boolean): FrameWire {
  if (!isSecure) return new FrameWire(server.port);
  const socket = connectSecurely({ port: server.port, ALPNProtocols: ["h2"], rejectUnauthorized: false });
  return new FrameWire(server.port, socket);
}

const statusOf = async (server: Served) => {
  await using client = new HTTP2Client(server.url);
  return (await client.request({ ":path": "/" })).status;
};

describe.each([
  ["without TLS", false],
  ["with TLS", true],
])("a client %s that ends its session and continues in the same packet", (_how, isSecure) => {
  it.each<[what: string, packet: Buffer]>([
    [
      "GOAWAY, HEADERS and a GOAWAY of 4 bytes (nghttp2 1.61, NGHTTP2_IB_IGN_ALL)",
      Buffer.concat([BEGIN, frame(FRAME.goaway, 0, 0, bytes(8)), request(1), frame(FRAME.goaway, 0, 0, bytes(4))]),
    ],
    [
      "an unsolicited PING ACK, HEADERS and DATA (nodejs/node#64850)",
      Buffer.concat([
        BEGIN,
        frame(FRAME.ping, FLAG.ack, 0, bytes(8)),
        request(1, POST, FLAG.endHeaders),
        frame(FRAME.data, 0, 1, bytes(400)),
      ]),
    ],
    [
      "GOAWAY with an error, HEADERS and DATA",
      Buffer.concat([
        BEGIN,
        frame(FRAME.goaway, 0, 0, Buffer.concat([uint32(0), uint32(CODE.protocolError)])),
        request(1, POST, FLAG.endHeaders),
        frame(FRAME.data, 0, 1, bytes(400)),
      ]),
    ],
    [
      "a stream of an even number, HEADERS and DATA",
      Buffer.concat([BEGIN, request(2), request(5, POST, FLAG.endHeaders), frame(FRAME.data, 0, 5, bytes(400))]),
    ],
  ])("loses its connection, and others are served: %s", async (_what, packet) => {
    await using server = await served(app, { http2: true, ...(isSecure ? { tls } : {}) });
    await using wire = connectTo(server, isSecure);
    await wire.write(packet).closed;
    expect(await statusOf(server)).toBe(200);
  });
});

describe("a frame that RFC 9113 forbids closes the connection", () => {
  it.each<[rule: string, forbidden: Buffer, code: number]>([
    ["§4.2: more than 16,384 bytes", frame(0xbb, 0, 0, bytes(16_385)), CODE.frameSizeError],
    ["§6.1: DATA without a stream", frame(FRAME.data, 0, 0, bytes(1)), CODE.protocolError],
    ["§6.1: padded DATA without a length", frame(FRAME.data, FLAG.padded, 1), CODE.frameSizeError],
    ["§6.2: HEADERS without a stream", request(0), CODE.protocolError],
    ["§6.2: padded HEADERS without a length", frame(FRAME.headers, FLAG.padded, 1), CODE.frameSizeError],
    ["§6.2: HEADERS with part of a priority", frame(FRAME.headers, PRIORITY, 1, bytes(4)), CODE.frameSizeError],
    ["§6.3: PRIORITY of 4 bytes", frame(FRAME.priority, 0, 1, bytes(4)), CODE.frameSizeError],
    ["§6.4: RST_STREAM of 3 bytes", frame(FRAME.reset, 0, 1, bytes(3)), CODE.frameSizeError],
    ["§6.4: RST_STREAM without a stream", frame(FRAME.reset, 0, 0, bytes(4)), CODE.protocolError],
    ["§6.5: SETTINGS of 5 bytes", frame(FRAME.settings, 0, 0, bytes(5)), CODE.frameSizeError],
    ["§6.5: acknowledged SETTINGS with content", frame(FRAME.settings, FLAG.ack, 0, bytes(6)), CODE.frameSizeError],
    ["§6.5: SETTINGS of a stream", frame(FRAME.settings, 0, 1), CODE.protocolError],
    ["§8.4: PUSH_PROMISE", frame(5, 0, 1, bytes(4)), CODE.protocolError],
    ["§6.7: PING of 7 bytes", frame(FRAME.ping, 0, 0, bytes(7)), CODE.frameSizeError],
    ["§6.7: PING of a stream", frame(FRAME.ping, 0, 1, bytes(8)), CODE.protocolError],
    ["§6.7: an unsolicited PING ACK", frame(FRAME.ping, FLAG.ack, 0, bytes(8)), CODE.protocolError],
    ["§6.8: GOAWAY of 7 bytes", frame(FRAME.goaway, 0, 0, bytes(7)), CODE.frameSizeError],
    ["§6.8: GOAWAY of a stream", frame(FRAME.goaway, 0, 1, bytes(8)), CODE.protocolError],
    ["§6.9: WINDOW_UPDATE of 5 bytes", frame(FRAME.windowUpdate, 0, 0, bytes(5)), CODE.frameSizeError],
    ["§6.10: CONTINUATION without a stream", frame(FRAME.continuation, 0, 0), CODE.protocolError],
  ])("%s", async (_rule, forbidden, code) => {
    await using server = await served(app, { http2: true });
    await using wire = new FrameWire(server.port);
    wire.begin().write(request(1, POST, FLAG.endHeaders), forbidden);
    await wire.closed;
    expect(wire.goawayCode).toBe(code);
    expect(await statusOf(server)).toBe(200);
  });
});

describe("a frame that RFC 9113 allows", () => {
  it.each<[rule: string, allowed: Buffer]>([
    ["§5.5: an unknown type", frame(0xbb, 0xff, 7, bytes(16_384))],
    ["§6.3: PRIORITY", frame(FRAME.priority, 0, 9, Buffer.from([0, 0, 0, 7, 16]))],
    ["§6.5: SETTINGS with two entries", frame(FRAME.settings, 0, 0, Buffer.from([0, 1, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0]))],
    ["§6.7: PING", frame(FRAME.ping, 0, 0, bytes(8))],
    ["§6.9: WINDOW_UPDATE", frame(FRAME.windowUpdate, 0, 0, uint32(1))],
    ["§4.1: one whose reserved bit is set", frame(FRAME.ping, 0, 2 ** 31, bytes(8))],
  ])("is followed by the next request, wherever it is split: %s", async (_rule, allowed) => {
    await using server = await served(app, { http2: true });
    const cuts = [...Array(11).keys(), allowed.length];
    await Promise.all(
      cuts.map(async (at) => {
        await using wire = new FrameWire(server.port);
        wire.begin();
        await wire.until(({ type, flags }) => type === FRAME.settings && flags === FLAG.ack);
        await new Promise((resolve) => wire.socket.write(allowed.subarray(0, at), resolve));
        await statusOf(server); // the first part has been read meanwhile
        wire.write(allowed.subarray(at), request(1));
        const { payload } = await wire.until(({ type, stream }) => type === FRAME.data && stream === 1);
        expect(String(payload)).toBe("0");
      }),
    );
  });

  it("is the rest of a body after GOAWAY in the same packet (§6.8)", async () => {
    await using server = await served(app, { http2: true });
    await using wire = new FrameWire(server.port);
    wire.write(
      BEGIN,
      request(1, POST, FLAG.endHeaders),
      frame(FRAME.goaway, 0, 0, bytes(8)),
      frame(FRAME.data, FLAG.endStream, 1, bytes(300)),
    );
    const { payload } = await wire.until(({ type, stream }) => type === FRAME.data && stream === 1);
    expect(String(payload)).toBe("300");
    await wire.closed;
  });
});

describe("a client that breaks the protocol while a request is running", () => {
  it.each<[what: string, broken: Buffer]>([
    ["DATA of a stream that is not open", frame(FRAME.data, 0, 7, bytes(1))],
    [
      "fields that cannot be decompressed",
      frame(FRAME.headers, FLAG.endHeaders, 3, Buffer.from([0xff, 0xff, 0xff, 0xff])),
    ],
    ["a stream of an even number", request(2)],
    ["CONTINUATION without HEADERS", frame(FRAME.continuation, FLAG.endHeaders, 1)],
    ["a window of the connection that overflows", frame(FRAME.windowUpdate, 0, 0, uint32(2 ** 31 - 1))],
    ["a length that is forbidden", frame(FRAME.ping, 0, 0, bytes(7))],
  ])("loses the connection, and its application is notified: %s", async (_what, broken) => {
    const told = new Deferred<ReceiveMessage>();
    const begun = new Deferred<void>();
    const waiting = httpApp(async (_scope, receive) => {
      await receive();
      begun.resolve();
      told.resolve(await receive());
    });
    await using server = await served(waiting, { http2: true, timeouts: { webSocketPingMs: 0, headersMs: 100 } });
    await using wire = new FrameWire(server.port);
    wire.begin().write(request(1));
    await begun.promise;
    wire.write(broken);
    await expect(told.promise).resolves.toEqual({ type: "http.disconnect" });
    await wire.closed;
  });
});
