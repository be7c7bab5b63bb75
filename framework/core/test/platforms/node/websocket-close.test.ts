/** The close of a client whose messages the application has not handled yet. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { served, Wire } from "./_http.js";
import { accept, echo, GOOD, handshake, socketApp } from "./_websocket.js";

/** A whole frame with the mask 0 and a short payload, a character for each byte. */
const frame = (first: number, payload = "") => String.fromCharCode(first, 0x80 | payload.length, 0, 0, 0, 0) + payload;
const CLOSE = frame(0x88, "\x03\xe8");

describe("a close in one packet with messages", () => {
  it.each([
    ["a close", CLOSE, "\x88\x02\x03\xe8"],
    ["a close without a code", frame(0x88), "\x88\0"],
    ["a frame that is forbidden", frame(0x83), "\x88\x02\x03\xea"],
    ["text that is not UTF-8", frame(0x81, "\xff"), "\x88\x02\x03\xef"],
  ])("waits until the application has processed them: %s", async (_what, end, answer) => {
    const gate = new Deferred<void>();
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      for (let message = await receive(); message.type === "websocket.receive"; message = await receive()) {
        await gate.promise;
        await send({ type: "websocket.send", text: `${message.text}!` });
      }
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n$/);
    wire.write(frame(0x81, "one") + frame(0x81, "two") + frame(0x89, "?") + end);
    await wire.until(/\?$/); // all of it has been read
    gate.resolve();
    const answers = (await wire.closed).split("\r\n\r\n")[1];
    expect(answers).toBe(`\x8a\x01?\x81\x04one!\x81\x04two!${answer}`);
  });

  it("lets their responses be sent, even if the connection ends with it", async () => {
    await using server = await served(echo);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n$/);
    wire.socket.end(frame(0x81, "last words"), "latin1");
    expect((await wire.closed).split("\r\n\r\n")[1]).toBe("\x81\x0alast words");
  });

  it("does not wait for an application that handles a message without end", async () => {
    const ended = new Deferred<ReceiveMessage>();
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      await receive();
      await wire.closed;
      ended.resolve(await receive());
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n$/);
    wire.write(frame(0x81, "a") + CLOSE);
    expect((await wire.closed).split("\r\n\r\n")[1]).toBe("\x88\x02\x03\xe8");
    expect(await ended.promise).toMatchObject({ type: "websocket.disconnect", code: 1000 });
  });

  it("leaves no timer if the connection ends before the application reads again", async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const left = new Deferred<number>();
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      const before = timers();
      await receive();
      await wire.closed;
      while (timers() > before) await setImmediate();
      await receive();
      left.resolve(timers() - before);
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n$/);
    wire.socket.end(frame(0x81, "last words"), "latin1");
    expect(await left.promise).toBe(0);
  });

  it("is replaced by a close of the application", async () => {
    const app = socketApp(async (_scope, receive, send) => {
      await receive();
      await send(accept);
      await receive();
      await send({ type: "websocket.close", code: 4001, reason: "enough" });
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(handshake(GOOD)).until(/\r\n\r\n$/);
    wire.write(frame(0x81, "a") + CLOSE);
    expect((await wire.closed).split("\r\n\r\n")[1]).toBe("\x88\x08\x0f\xa1enough");
  });
});
