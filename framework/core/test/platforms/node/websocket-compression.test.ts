/** Compressed messages of RFC 7692. */
import { once } from "node:events";
import { constants, deflateRawSync, inflateRawSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { acceptOffer, type Compression, parseExtensions } from "../../../src/platforms/node/websocket/compression.js";
import { Deferred } from "../../../src/common/promises.js";
import { served, Wire } from "./_http.js";
import { accept, Client, echo, GOOD, handshake, socketApp } from "./_websocket.js";

const PLAIN = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
const OFFER = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

const compressed = (text: string) =>
  deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4).toString("latin1");
/** A frame with the mask 0 and a short payload, a character for each byte. */
const frame = (first: number, payload: string) =>
  String.fromCharCode(first, 0x80 | payload.length, 0, 0, 0, 0) + payload;

describe("an offer of compression", () => {
  it.each<[string, string | null]>([
    ["permessage-deflate", PLAIN],
    ["permessage-deflate; client_max_window_bits", PLAIN],
    ["permessage-deflate; client_max_window_bits=8", PLAIN],
    ["permessage-deflate;server_no_context_takeover ; client_no_context_takeover", PLAIN],
    ["permessage-deflate; server_max_window_bits=10", `${PLAIN}; server_max_window_bits=10`],
    ['permessage-deflate; server_max_window_bits="15"', `${PLAIN}; server_max_window_bits=15`],
    ["permessage-deflate; server_max_window_bits=16, permessage-deflate", PLAIN],
    ["x-webkit-deflate-frame, permessage-deflate", PLAIN],
    ["permessage-deflate; server_max_window_bits", null],
    ["permessage-deflate; server_max_window_bits=7", null],
    ["permessage-deflate; server_max_window_bits=010", null],
    ["permessage-deflate; client_max_window_bits=16", null],
    ["permessage-deflate; client_no_context_takeover=1", null],
    ["permessage-deflate; client_no_context_takeover; client_no_context_takeover", null],
    ["permessage-deflate; mystery", null],
    ["permessage-deflate;", null],
    ["other", null],
    ["", null],
  ])("%j is accepted by RFC 7692 §7.1 as %j", (offer, answer) => {
    expect(acceptOffer(offer)?.accepted ?? null).toBe(answer);
  });

  it.each([
    "permessage-deflate;",
    "permessage-deflate;;=",
    "permessage-deflate; =",
    "permessage-deflate; a=",
    'permessage-deflate; a=""',
    'permessage-deflate; a="b c"',
    'permessage-deflate; a="b',
    "permessage deflate",
    "; a",
    '"permessage-deflate"',
    ",",
    "",
  ])("%j is malformed by RFC 6455 §9.1", (extensions) => {
    expect(parseExtensions(extensions)).toBeNull();
  });

  it("has a name and parameters, whose values may be quoted and escaped", () => {
    expect(parseExtensions(' a ;b = 1 ; c="\\2", , d;e')).toEqual([
      {
        name: "a",
        parameters: [
          ["b", "1"],
          ["c", "2"],
        ],
      },
      { name: "d", parameters: [["e", null]] },
    ]);
  });

  it("is ignored if no parameters are acceptable, and the WebSocket opens", async () => {
    await using server = await served(echo, { webSocketCompression: true });
    await using wire = new Wire(server.port);
    const offer = OFFER.replace("deflate", "deflate; mystery");
    expect(await wire.write(handshake(GOOD + offer)).until(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 101 (?![^]*extensions)/i);
  });
});

describe("a compressed message", () => {
  it.each([8, 9, 12, 15])("of the server keeps the window of %i bits that its client requests", async (bits) => {
    const compression = acceptOffer(`permessage-deflate; server_max_window_bits=${bits}`);
    const text = Buffer.from("window ".repeat(5_000) + "x".repeat(40_000));
    const bytes = await (compression as Compression).compress(text);
    const tail = Buffer.from([0, 0, 0xff, 0xff]);
    const options = { windowBits: bits, finishFlush: constants.Z_SYNC_FLUSH };
    expect(inflateRawSync(Buffer.concat([bytes, tail]), options).equals(text)).toBe(true);
  });

  it("in fragments is one message, and later messages wait for it", async () => {
    await using server = await served(echo, { webSocketCompression: true });
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD + OFFER)).until(/\r\n\r\n$/);
    const hello = compressed("hello".repeat(20));
    const parts = [frame(0x41, hello.slice(0, 3)), frame(0x89, "?"), frame(0x00, hello.slice(3)), frame(0x80, "")];
    wire.write(parts.join("") + frame(0x81, "plain") + frame(0xc1, compressed("end")));
    await wire.until(/end$/);
    const answers = ["\x8a\x01?", `\x81d${"hello".repeat(20)}`, "\x81\x05plain", "\x81\x03end"];
    expect(wire.received.endsWith(`\r\n\r\n${answers.join("")}`)).toBe(true);
  });

  it.each([
    ["is none", "\xff\xff\xff"],
    ["is not UTF-8", deflateRawSync(Buffer.from([0xff])).toString("latin1")],
  ])("closes the WebSocket with 1007 if it %s", async (_what, payload) => {
    const told = new Deferred<ReceiveMessage>();
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      told.resolve(await receive());
    });
    await using server = await served(app, { webSocketCompression: true });
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD + OFFER)).until(/\r\n\r\n$/);
    wire.write(frame(0xc1, payload));
    expect((await wire.closed).split("\r\n\r\n")[1]).toBe("\x88\x02\x03\xef");
    expect(await told.promise).toMatchObject({ type: "websocket.disconnect", code: 1007 });
  });

  describe("with final blocks, after which others may follow (RFC 7692 §7.2.1)", () => {
    const compression = acceptOffer("permessage-deflate") as Compression;
    const final = (text: string) => deflateRawSync(text).toString("latin1");
    const decompress = async (payload: string, maxBytes = 1000) =>
      (await compression.decompress(Buffer.from(payload, "latin1"), maxBytes)).toString();

    it.each([
      ["one at its end", final("Hello"), "Hello"],
      ["one and a byte of padding, as in RFC 7692 §7.2.3.4", `${final("Hello")}\0`, "Hello"],
      ["one at its start", final("Hello") + compressed(" world"), "Hello world"],
      ["an empty one at its start", final("") + compressed("Hello"), "Hello"],
      ["several", final("Hello") + final(" ") + final("world"), "Hello world"],
    ])("has all of its text: %s", async (_what, payload, text) => {
      expect(await decompress(payload)).toBe(text);
    });

    it("has at most 16 of them, because each needs a decompressor", async () => {
      expect(await decompress(final("a").repeat(16))).toBe("a".repeat(16));
      await expect(decompress(final("a").repeat(17))).rejects.toThrow("more than 16 final blocks");
    });

    it("is limited by the length of all its text", async () => {
      expect(await decompress(final("Hello") + compressed(" world"), 11)).toBe("Hello world");
      for (const maxBytes of [10, 5, 4]) {
        await expect(decompress(final("Hello") + compressed(" world"), maxBytes)).rejects.toMatchObject({
          code: "ERR_BUFFER_TOO_LARGE",
        });
      }
    });

    it("is malformed if it is followed by invalid bytes", async () => {
      await expect(decompress(`${final("Hello")}\xff`)).rejects.toThrow("invalid block type");
    });
  });

  it("is delivered if it arrived before its client disconnected, then the end", async () => {
    const told = new Deferred<ReceiveMessage[]>();
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      told.resolve([await receive(), await receive(), await receive()]);
    });
    await using server = await served(app, { webSocketCompression: true });
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD + OFFER)).until(/\r\n\r\n$/);
    wire.socket.end(frame(0xc1, compressed("one")) + frame(0xc1, compressed("two")), "latin1");
    expect(await told.promise).toEqual([
      { type: "websocket.receive", text: "one" },
      { type: "websocket.receive", text: "two" },
      { type: "websocket.disconnect", code: 1006, reason: "" },
    ]);
  });

  it("is sent before a later close", async () => {
    const text = "again and ".repeat(10_000);
    const app = socketApp(async (_scope, _receive, send) => {
      await send(accept);
      await send({ type: "websocket.send", text });
      await send({ type: "websocket.close", code: 3000, reason: "over" });
    });
    await using server = await served(app, { webSocketCompression: true });
    await using client = new Client(server, "/", [], { perMessageDeflate: true });
    await once(client.socket, "open");
    expect(await client.closed).toEqual([3000, "over"]);
    expect(client.messages).toEqual([text]);
  });
});
