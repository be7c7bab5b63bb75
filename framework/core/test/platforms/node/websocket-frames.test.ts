/** Frames that RFC 6455 forbids, and the scope of the limits. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { constants, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { served, Wire } from "./_http.js";
import { accept, Client, echo, GOOD, handshake, sending, socketApp } from "./_websocket.js";

/** Bytes as latin-1 text. */
const raw = (...bytes: number[]) => String.fromCharCode(...bytes);
const MASK = raw(0, 0, 0, 0);
/** A whole masked frame with a short payload. */
const frame = (first: number, payload = "") => raw(first, 0x80 | payload.length) + MASK + payload;

/** The code of the first close frame after the handshake's response. */
function closeCodeOf(received: string): number {
  const frames = Buffer.from(received.slice(received.indexOf("\r\n\r\n") + 4), "latin1");
  expect(frames[0]).toBe(0x88);
  return frames.readUInt16BE(2);
}

describe("a frame that RFC 6455 forbids, or a bound", () => {
  it.each<[string, string, number]>([
    ["one without a mask (§5.1)", raw(0x81, 1) + "a", 1002],
    ["a reserved bit without an extension (§5.2)", frame(0xc1, "a"), 1002],
    ["an opcode that is none (§5.2)", frame(0x83, "a"), 1002],
    ["a control frame in fragments (§5.4)", frame(0x09), 1002],
    ["a ping of more than 125 bytes (§5.5)", raw(0x89, 0xfe, 0, 126) + MASK + "a".repeat(126), 1002],
    ["a continuation of nothing (§5.4)", frame(0x80, "a"), 1002],
    ["a new message within another (§5.4)", frame(0x01, "a") + frame(0x81, "b"), 1002],
    ["text that is no UTF-8 (§8.1)", frame(0x81, raw(0xff)), 1007],
    ["a close with one byte (§5.5.1)", frame(0x88, "a"), 1002],
    ["a close with a code that may not be sent (§7.4.1)", frame(0x88, raw(0x03, 0xee)), 1002],
    ["a close whose reason is no UTF-8 (§5.5.1)", frame(0x88, raw(0x03, 0xe8, 0xff)), 1007],
    ["a length past the bound, before any of it has come", raw(0x82, 0xff, 0, 0, 0, 0x80, 0, 0, 0, 0) + MASK, 1009],
    ["a message in more than 16,384 empty fragments", frame(0x01) + frame(0x00).repeat(16_384), 1008],
    ["fragments of 32 bytes on average", frame(0x01) + frame(0x00, "a".repeat(32)).repeat(32_768), 1008],
    ["a length of more than 53 bits", raw(0x82, 0xff, 0x7f, 255, 255, 255, 255, 255, 255, 255) + MASK, 1009],
  ])("closes the WebSocket and notifies the application: %s", async (_what, bytes, code) => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.write(bytes);
    expect(closeCodeOf(await wire.closed)).toBe(code);
    expect(await told.promise).toMatchObject({ type: "websocket.disconnect", code });
    expect(server.logger.at("error")).toEqual([]);
  });
});

describe("an open WebSocket", () => {
  it("reports 1006 to its application after a reset of the client, and the application can still return", async () => {
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.socket.resetAndDestroy();
    expect(await told.promise).toEqual({ type: "websocket.disconnect", code: 1006, reason: "" });
    expect(server.logger.at("error")).toEqual([]);
  });

  it("replies to pings, even between the fragments of a message", async () => {
    await using server = await served(echo);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.write(frame(0x01, "a") + frame(0x89, "?") + frame(0x80, "b"));
    const answers = raw(0x8a, 1) + "?" + raw(0x81, 2) + "ab";
    await wire.until(/ab$/);
    expect(wire.received.endsWith(answers)).toBe(true);
  });
});

describe("a client that sends pings without reading", () => {
  it("gets at most as many pongs as the system buffers for it", async () => {
    const PINGS = 300_000;
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send(accept);
        told.resolve(await receive());
        await send({ type: "websocket.send", text: "end" });
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.socket.pause();
    const ping = frame(0x89, "p".repeat(120));
    wire.write(ping.repeat(PINGS) + frame(0x81, "over"));
    expect(await told.promise).toMatchObject({ text: "over" });
    wire.socket.resume();
    await wire.until(/end/);
    expect(wire.received.split("p".repeat(120)).length).toBeLessThan(PINGS);
  });
});

describe("compression", () => {
  const headersOf = async (client: Client) => {
    const [response] = (await once(client.socket, "upgrade")) as [{ headers: Record<string, string> }];
    return response.headers["sec-websocket-extensions"];
  };

  it("is off by default, even if the client offers it", async () => {
    await using server = await served(echo);
    await using client = new Client(server, "/", [], { perMessageDeflate: true });
    expect(await headersOf(client)).toBeUndefined();
  });

  it("is used if the option enables it, without a dictionary between messages", async () => {
    await using server = await served(echo, { webSocketCompression: true });
    await using client = new Client(server, "/", [], { perMessageDeflate: { threshold: 0 } });
    expect(await headersOf(client)).toMatch(
      /^permessage-deflate; server_no_context_takeover; client_no_context_takeover/,
    );
    await client.opened;
    const text = "again and ".repeat(1000);
    client.socket.send(text);
    expect(await client.received(1)).toEqual([text]);
  });

  it("does not bypass the limit of a message, which applies to the decompressed size", async () => {
    await using server = await served(echo, { webSocketCompression: true });
    await using wire = new Wire(server.port);
    const offer = "Sec-WebSocket-Extensions: permessage-deflate; client_no_context_takeover\r\n";
    await wire.write(handshake(GOOD + offer)).until(/permessage-deflate[^]*\r\n\r\n/);
    const part = deflateRawSync(Buffer.alloc(16 << 20), { finishFlush: constants.Z_SYNC_FLUSH });
    const bomb = Buffer.concat(Array<Buffer>(16).fill(part)); // 256 MiB of zeros
    expect(bomb.length).toBeLessThan(1 << 19);
    const head = raw(0xc2, 0xff, 0, 0, 0, 0, ...new Uint8Array(Uint32Array.of(bomb.length).buffer).toReversed());
    const before = process.memoryUsage().rss;
    wire.socket.write(Buffer.concat([Buffer.from(head + MASK, "latin1"), bomb]));
    expect(closeCodeOf(await wire.closed)).toBe(1009);
    expect(process.memoryUsage().rss - before).toBeLessThan(128 << 20);
  });
});

describe("the bound of a message", () => {
  it.each([
    ["the application's, where it is the smaller", 20, 10, 10],
    ["the server's, where that is", 10, 20, 10],
    ["the application's, where the server has none of its own", undefined, 2 << 20, 2 << 20],
    ["1 MiB, where nobody has one", undefined, undefined, 1 << 20],
  ])("is %s", async (_whose, server, application, bytes) => {
    const connectionLimits = server === undefined ? {} : { webSocketMessageBytes: server };
    await using running = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send({ type: "websocket.accept", ...(application && { max_message_bytes: application }) });
        for (;;) {
          const message = await receive();
          if (message.type !== "websocket.receive") return;
          await send({ type: "websocket.send", text: String(message.bytes?.length) });
        }
      }),
      { connectionLimits },
    );
    await using client = new Client(running);
    await client.opened;
    client.socket.send(randomBytes(bytes));
    expect(await client.received(1)).toEqual([String(bytes)]);
    client.socket.send(randomBytes(bytes + 1));
    expect((await client.closed)[0]).toBe(1009);
  });

  it("of one connection does not affect the next", async () => {
    let limit = 10;
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        await send({ type: "websocket.accept", max_message_bytes: limit });
        await receive();
      }),
    );
    await using small = new Client(server);
    await small.opened;
    limit = 100;
    await using large = new Client(server);
    await large.opened;
    small.socket.send("a".repeat(50));
    large.socket.send("a".repeat(50));
    expect((await small.closed)[0]).toBe(1009);
    expect((await large.closed)[0]).toBe(1000);
  });
});

describe("an application's headers", () => {
  it("do not replace the headers of the handshake", async () => {
    const headers = ["upgrade", "connection", "sec-websocket-accept", "sec-websocket-extensions", "content-length"].map(
      (name) => [Buffer.from(name), Buffer.from("evil")] as const,
    );
    await using server = await served(sending({ type: "websocket.accept", headers }));
    await using client = new Client(server);
    await client.opened;
    expect((await client.closed)[0]).toBe(1000);
  });
});
