/** Messages of an open WebSocket. */
import { expect, it } from "@jest/globals";
import { App, type WebSocket } from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

/** An App with one WebSocket, which is accepted. */
function opening(use: (ws: WebSocket) => Promise<unknown>, options: ConstructorParameters<typeof App>[0] = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log, ...options });
  app.websocket("/ws", async ({ ws }) => {
    await ws.accept();
    await use(ws);
  });
  return { app, log };
}

const echo = async (ws: WebSocket) => {
  for await (const message of ws) await ws.send(message);
};

describeSocketMatrix("messages", ({ connect, transport }) => {
  it.each(["", "héllo", "\u{1f600}", "\0", '{"a":1}', "a".repeat(70_000)])("carry the text %j", async (text) => {
    const ws = await connect(opening(echo).app, "/ws");
    await ws.sendText(text);
    expect(await ws.receive()).toBe(text);
  });

  it.each([[[]], [[0, 255, 10, 13]], [Array.from({ length: 70_000 }, (_, index) => index % 256)]])(
    "carry the bytes %#",
    async (bytes) => {
      const ws = await connect(opening(echo).app, "/ws");
      await ws.sendBytes(Uint8Array.from(bytes));
      expect([...(await ws.receiveBytes())]).toEqual(bytes);
    },
  );

  it("are read as text, bytes and JSON, and sent so", async () => {
    const got: unknown[] = [];
    const { app } = opening(async (ws) => {
      got.push(await ws.receiveText(), [...(await ws.receiveBytes())], await ws.receiveJson());
      await ws.sendText("t");
      await ws.sendBytes(Uint8Array.of(1));
      await ws.sendJson({ j: [1, null] });
    });
    const ws = await connect(app, "/ws");
    await ws.sendText("a");
    await ws.sendBytes(Uint8Array.of(2));
    await ws.sendJson({ c: 1 });
    expect(await ws.receiveText()).toBe("t");
    expect([...(await ws.receiveBytes())]).toEqual([1]);
    expect(await ws.receiveJson()).toEqual({ j: [1, null] });
    expect(got).toEqual(["a", [2], { c: 1 }]);
  });

  it("arrive in the order in which they were sent, including those sent before the handler reads", async () => {
    const got: unknown[] = [];
    const { app } = opening(async (ws) => {
      for await (const message of ws) got.push(message);
    });
    const ws = await connect(app, "/ws");
    for (let index = 0; index < 100; index++) await ws.sendText(String(index));
    await ws.close();
    expect(got).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  it("are delivered before the close if the handler sends them before it ends", async () => {
    const { app } = opening(async (ws) => {
      for (const text of ["a", "b", "c"]) await ws.sendText(text);
    });
    const ws = await connect(app, "/ws");
    expect([await ws.receive(), await ws.receive(), await ws.receive()]).toEqual(["a", "b", "c"]);
    await expect(ws.receive()).rejects.toMatchObject({ code: 1000 });
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown>, string | Uint8Array, string]>([
    ["bytes for text", (ws) => ws.receiveText(), Uint8Array.of(1), "Expected text"],
    ["text for bytes", (ws) => ws.receiveBytes(), "x", "Expected bytes"],
    ["bytes for JSON", (ws) => ws.receiveJson(), Buffer.from("{}"), "Expected text"],
    ["text that is no JSON", (ws) => ws.receiveJson(), "{", "Expected JSON"],
    ["JSON that is nested too deeply", (ws) => ws.receiveJson(), "[".repeat(200_000), "Expected JSON"],
  ])("of the wrong kind close with 1003: %s", async (_what, receive, message, reason) => {
    const { app, log } = opening(receive);
    const ws = await connect(app, "/ws");
    await (typeof message === "string" ? ws.sendText(message) : ws.sendBytes(message));
    expect(await ws.closed).toMatchObject({ code: 1003, reason });
    expect(log.lines).toEqual([]);
  });

  it("parsed as JSON have no __proto__", async () => {
    const { app } = opening(async (ws) => {
      const value = (await ws.receiveJson()) as object;
      await ws.sendJson({ own: Object.keys(value), polluted: (value as { a?: number }).a ?? null });
    });
    const ws = await connect(app, "/ws");
    await ws.sendText('{"__proto__":{"a":1},"b":2}');
    expect(await ws.receiveJson()).toEqual({ own: ["b"], polluted: null });
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown>]>([
    ["a number as text", (ws) => ws.sendText(5 as unknown as string)],
    ["bytes as text", (ws) => ws.sendText(new Uint8Array(1) as unknown as string)],
    ["text as bytes", (ws) => ws.sendBytes("x" as unknown as Uint8Array)],
    ["null", (ws) => ws.send(null as unknown as string)],
    ["a bigint as JSON", (ws) => ws.sendJson(5n)],
  ])("throw a TypeError if they are invalid, and are not sent: %s", async (_what, send) => {
    const { app } = opening(async (ws) => {
      const error: unknown = await send(ws).catch((thrown: unknown) => thrown);
      await ws.sendText(error instanceof TypeError ? "TypeError" : "sent");
    });
    expect(await (await connect(app, "/ws")).receiveText()).toBe("TypeError");
  });

  it.each<[string, number, string | Uint8Array, number | null]>([
    ["text of the limit", 4, "1234", null],
    ["text past it", 4, "12345", 1009],
    ["text past it, counted in bytes", 4, "éé1", 1009],
    ["bytes of the limit", 4, new Uint8Array(4), null],
    ["bytes past it", 4, new Uint8Array(5), 1009],
    ["1 MiB", 1 << 20, new Uint8Array(1 << 20), null],
    ["2 MiB where the App allows it", 2 << 20, new Uint8Array(2 << 20), null],
    ["more than that", 2 << 20, new Uint8Array((2 << 20) + 1), 1009],
  ])("are bounded by webSocketMessageBytes: %s", async (_what, webSocketMessageBytes, message, code) => {
    const { app, log } = opening(echo, { limits: { webSocketMessageBytes } });
    const ws = await connect(app, "/ws");
    await (typeof message === "string" ? ws.sendText(message) : ws.sendBytes(message));
    if (code === null) expect(await ws.receive()).toHaveLength(message.length);
    else expect(await ws.closed).toMatchObject({ code });
    expect(log.lines).toEqual([]);
  });

  it("are bounded to 1 MiB by default, and by the limits of their route", async () => {
    const { app } = opening(echo);
    app.websocket("/small", { limits: { webSocketMessageBytes: 2 } }, async ({ ws }) => {
      await ws.accept();
      await echo(ws);
    });
    const big = await connect(app, "/ws");
    await big.sendBytes(new Uint8Array((1 << 20) + 1));
    expect((await big.closed).code).toBe(1009);
    const small = await connect(app, "/small");
    await small.sendText("abc");
    expect((await small.closed).code).toBe(1009);
  });

  it("may go both ways at the same time", async () => {
    const { app } = opening(async (ws) => {
      const sending = (async () => {
        for (let index = 0; index < 50; index++) await ws.sendText(`out ${index}`);
      })();
      let count = 0;
      for (; count < 50; count++) await ws.receive();
      await sending;
      await ws.sendText(`read ${count}`);
    });
    const ws = await connect(app, "/ws");
    for (let index = 0; index < 50; index++) await ws.sendText("in");
    const got: unknown[] = [];
    for (let index = 0; index <= 50; index++) got.push(await ws.receive());
    expect(got.at(-1)).toBe("read 50");
  });

  it("of many clients do not mix", async () => {
    const { app } = opening(echo);
    const all = await Promise.all(Array.from({ length: 20 }, () => connect(app, "/ws")));
    await Promise.all(all.map((ws, index) => ws.sendText(`${transport} ${index}`)));
    expect(await Promise.all(all.map((ws) => ws.receive()))).toEqual(all.map((_, index) => `${transport} ${index}`));
  });
});
