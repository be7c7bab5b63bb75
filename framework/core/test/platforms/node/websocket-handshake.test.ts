import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import { Deferred } from "../../../src/common/promises.js";
import { served, Wire } from "./_http.js";
import { accept, GOOD, handshake, socketApp } from "./_websocket.js";

/** A masked text frame of RFC 6455 §5.2, with the mask 0. */
const frame = (text: string) => `\x81${String.fromCharCode(0x80 + text.length)}\0\0\0\0${text}`;

describe("a client that disconnects before the response to its handshake", () => {
  it.each<[string, (wire: Wire) => void]>([
    ["by ending the connection", (wire) => wire.socket.end()],
    ["by resetting it", (wire) => wire.socket.resetAndDestroy()],
    ["behind bytes that came too early", (wire) => wire.socket.end(frame("early"), "latin1")],
  ])("is noticed by an application that waits: %s", async (_how, leave) => {
    const entered = new Deferred<void>();
    const outcome = new Deferred<[ReceiveMessage, unknown]>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        entered.resolve();
        const left = await receive();
        const failure = await (async () => send(accept))().catch((error: unknown) => error);
        outcome.resolve([left, failure]);
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(handshake(GOOD));
    await entered.promise;
    leave(wire);
    expect(await outcome.promise).toEqual([
      { type: "websocket.disconnect", code: 1006, reason: "" },
      expect.any(ClientDisconnect),
    ]);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("is not logged as an error if a write fails before the disconnect is reported", async () => {
    let socket: Socket | undefined;
    const onSocket = (message: unknown) => void (socket = (message as { socket: Socket }).socket);
    subscribe("net.server.socket", onSocket);
    const cut = new Deferred<void>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        socket?.destroy();
        cut.resolve();
        await send({ type: "websocket.close", code: 4004 });
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).closed;
    unsubscribe("net.server.socket", onSocket);
    await cut.promise;
    await server.close();
    expect(server.logger.at("error")).toEqual([]);
  });

  it("leaves no connection open", async () => {
    const entered = new Deferred<void>();
    const go = new Deferred<void>();
    await using server = await served(
      socketApp(async (_scope, receive) => {
        await receive();
        entered.resolve();
        await go.promise;
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(handshake(GOOD));
    await entered.promise;
    wire.socket.end();
    await once(wire.socket, "close");
    go.resolve();
    await server.close();
    expect(wire.received).toBe("");
  });
});

describe("data that a client sends before the response to its handshake", () => {
  it.each([
    ["with the head", true],
    ["behind it", false],
  ])("is kept for the application: %s", async (_when, atOnce) => {
    const go = new Deferred<void>();
    const entered = new Deferred<void>();
    const told = new Deferred<ReceiveMessage[]>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        entered.resolve();
        await go.promise;
        await send(accept);
        told.resolve([await receive(), await receive()]);
      }),
    );
    await using wire = new Wire(server.port);
    const frames = frame("one") + frame("two");
    wire.write(atOnce ? handshake(GOOD) + frames : handshake(GOOD));
    await entered.promise;
    if (!atOnce) {
      wire.write(frames);
      await (await fetch(server.url)).text(); // the bytes have come in by then
    }
    go.resolve();
    expect(await told.promise).toEqual([
      { type: "websocket.receive", text: "one" },
      { type: "websocket.receive", text: "two" },
    ]);
  });

  it("makes the client wait when it is much, and is not lost", async () => {
    const COUNT = 2000;
    const text = "a".repeat(100);
    const go = new Deferred<void>();
    const entered = new Deferred<void>();
    const all = new Deferred<number>();
    await using server = await served(
      socketApp(async (_scope, receive, send) => {
        await receive();
        entered.resolve();
        await go.promise;
        await send(accept);
        let count = 0;
        while (count < COUNT && (await receive()).type === "websocket.receive") count++;
        all.resolve(count);
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(handshake(GOOD));
    await entered.promise;
    wire.write(frame(text).repeat(COUNT));
    for (let answers = 0; answers < 20; answers++) await (await fetch(server.url)).text();
    go.resolve();
    expect(await all.promise).toBe(COUNT);
  });
});
