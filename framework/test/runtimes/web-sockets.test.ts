/** WebSockets of `serve` under each runtime. Clients are the package `ws` on this Node, and raw sockets. */
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { Wire } from "../../core/test/platforms/node/_http.js";
import { Client, GOOD, handshake } from "../../core/test/platforms/node/_websocket.js";
import { onEach, Program, type RemoteServer } from "./_program.js";

/** A masked frame of RFC 6455 §5.2, with the mask 0. */
const frame = (first: number, payload: string) =>
  `${String.fromCharCode(first, 0x80 + payload.length)}\0\0\0\0${payload}`;
const text = (payload: string) => frame(0x81, payload);

onEach("a WebSocket on %s", (...runtime) => {
  let program: Program;
  let server: RemoteServer;
  beforeAll(async () => {
    program = await Program.start(runtime);
    server = await program.serve();
  });
  afterAll(() => program[Symbol.asyncDispose]());

  it("carries text and bytes both ways, with subprotocol and headers", async () => {
    await using client = new Client(server, "/", ["chat", "other"]);
    const headers = new Promise((resolve) => client.socket.once("upgrade", (response) => resolve(response.headers)));
    await client.opened;
    expect(await headers).toMatchObject({ "x-a": "b", "sec-websocket-protocol": "chat" });
    client.socket.send("héllo");
    client.socket.send(Buffer.alloc(70_000, 7));
    client.socket.send("");
    expect(await client.received(3)).toEqual(["héllo", Buffer.alloc(70_000, 7), ""]);
    client.socket.close(4001);
    await client.closed;
    await program.reported("disconnect 4001");
  });

  it.each([
    ["the application returns", "/", "return", [1000, ""]],
    ["the application throws", "/", "throw", [1011, ""]],
    ["a code of its own comes before accept", "/4004", null, [4004, "no route"]],
    ["a message is over the bound of a message", "/", "a".repeat((1 << 20) + 1), [1009, ""]],
  ])("closes when %s", async (_when, path, sent, told) => {
    await using client = new Client(server, path);
    await client.opened;
    if (sent !== null) client.socket.send(sent);
    expect(await client.closed).toEqual(told);
  });

  it("is rejected with 403, with the application's own response, and for a malformed handshake with 400", async () => {
    await using forbidden = new Client(server, "/forbidden");
    expect(await forbidden.refused).toEqual([403, '{"detail":"Forbidden"}']);
    await using own = new Client(server, "/own");
    expect(await own.refused).toEqual([418, "teapot"]);
    await using malformed = new Wire(server.port);
    expect(await malformed.write(handshake(GOOD.replace("==", ""))).closed).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("takes frames that come with the handshake, in fragments, and byte by byte", async () => {
    await using wire = new Wire(server.port);
    wire.write(handshake(GOOD) + text("early"));
    expect(await wire.until(/early$/)).toContain("\r\n\r\n\x81\x05early");
    wire.received = "";
    wire.write(frame(0x01, "one ") + frame(0x89, "ping") + frame(0x80, "two"));
    expect(await wire.until(/one two$/)).toBe("\x8a\x04ping\x81\x07one two");
    wire.received = "";
    for (const char of text("slow")) await new Promise((resolve) => wire.socket.write(char, "latin1", resolve));
    expect(await wire.until(/slow$/)).toBe("\x81\x04slow");
  });

  it.each([
    ["an unmasked frame", "\x81\x01a", 1002],
    ["an unknown opcode", frame(0x83, ""), 1002],
    ["text that is not UTF-8", frame(0x81, "\xff"), 1007],
  ])("is closed for %s", async (_what, bytes, code) => {
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.received = "";
    expect(await wire.write(bytes).closed).toBe(`\x88\x02${String.fromCharCode(code >> 8, code & 0xff)}`);
    await program.reported(`disconnect ${code}`);
  });

  it("of a client that is reset is 1006 to the application", async () => {
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n/);
    wire.socket.resetAndDestroy();
    await expect(program.reported("disconnect 1006")).resolves.toBeUndefined();
  });

  it("makes a client wait if its messages are not read", async () => {
    await using client = new Client(server);
    await client.opened;
    client.socket.send("hold");
    for (let count = 0; count < 64; count++) client.socket.send(Buffer.alloc(1 << 20));
    for (let turn = 0; turn < 200; turn++) await program.calls(); // the server reads on meanwhile, if it does
    expect(client.socket.bufferedAmount).toBeGreaterThan(32 << 20);
    await program.release();
    expect((await client.received(65)).length).toBe(65);
  });

  it("is compressed if the server enables it", async () => {
    await using compressing = await program.serve({ webSocketCompression: true });
    await using client = new Client(compressing, "/", [], { perMessageDeflate: true });
    await client.opened;
    expect(client.socket.extensions).toContain("permessage-deflate");
    client.socket.send("a".repeat(100_000));
    expect(await client.received(1)).toEqual(["a".repeat(100_000)]);
  });

  it("is disconnected if its client does not reply to pings", async () => {
    await using pinging = await program.serve({ timeouts: { webSocketPingMs: 30 } });
    await using wire = new Wire(pinging.port);
    expect(await wire.write(handshake(GOOD)).closed).toMatch(/\r\n\r\n\x89\0/);
    await program.reported("disconnect 1006");
  });

  it("is closed with 1012 when the server stops", async () => {
    const stopping = await program.serve();
    await using client = new Client(stopping);
    await client.opened;
    const closed = stopping.close();
    expect((await client.closed)[0]).toBe(1012);
    expect(await closed).toEqual({});
    await program.reported("disconnect 1012");
  });
});
