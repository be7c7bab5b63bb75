/** The ends of a WebSocket, from either side. */
import { expect, it } from "@jest/globals";
import { App, HTTPException, type WebSocket, WebSocketException } from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

/** An App with one WebSocket, which is accepted. */
function opening(use: (ws: WebSocket) => unknown) {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.websocket("/ws", async ({ ws }) => {
    await ws.accept();
    await use(ws);
  });
  return { app, log };
}

describeSocketMatrix("a handler", ({ connect }) => {
  it.each<[string, (ws: WebSocket) => unknown, number, string]>([
    ["by its return, with 1000", () => {}, 1000, ""],
    ["by close(), with 1000", (ws) => ws.close(), 1000, ""],
    ["by close(1001, reason)", (ws) => ws.close(1001, "going"), 1001, "going"],
    ["with 1014, the last of the registry's", (ws) => ws.close(1014), 1014, ""],
    ["with 3000", (ws) => ws.close(3000), 3000, ""],
    ["with 4999", (ws) => ws.close(4999), 4999, ""],
    ["with a reason of 123 bytes", (ws) => ws.close(4000, "é".repeat(61) + "x"), 4000, "é".repeat(61) + "x"],
    ["once: the first code counts", (ws) => ws.close(4001).then(() => ws.close(4002)), 4001, ""],
    [
      "by a WebSocketException, with its code",
      () => Promise.reject(new WebSocketException(4005, "mine")),
      4005,
      "mine",
    ],
  ])("ends a WebSocket %s", async (_how, end, code, reason) => {
    const { app, log } = opening(end);
    const ws = await connect(app, "/ws");
    expect(await ws.closed).toMatchObject({ code, reason });
    expect(log.lines).toEqual([]);
  });

  it.each<[string, () => unknown]>([
    ["an error", () => Promise.reject(new Error("secret"))],
    [
      "an HTTPException, whose status nobody can be told any more",
      () => Promise.reject(new HTTPException(403, "secret")),
    ],
    ["what is no error", () => Promise.reject("secret")],
    ["a code that only says how a connection ended", () => Promise.reject(new WebSocketException(1006, "secret"))],
    ["a code that is none", () => Promise.reject(new WebSocketException(5000, "secret"))],
    ["a reason that is too long", () => Promise.reject(new WebSocketException(4000, `secret${"x".repeat(200)}`))],
  ])("closes it with 1011 and one log entry if it throws %s", async (_what, fail) => {
    const { app, log } = opening(fail);
    const ws = await connect(app, "/ws");
    expect(await ws.closed).toMatchObject({ code: 1011, reason: "Internal Server Error" });
    await ws.settled();
    expect(log.lines).toEqual([expect.stringMatching(/^error WEBSOCKET \/ws failed: .*secret/)]);
  });

  it.each<[string, number, string]>([
    ["999", 999, ""],
    ["1004, which is reserved", 1004, ""],
    ["1005, which says that there was none", 1005, ""],
    ["1006, which says that there was no frame", 1006, ""],
    ["1015, which says that TLS failed", 1015, ""],
    ["2000", 2000, ""],
    ["5000", 5000, ""],
    ["no integer", 1000.5, ""],
    ["NaN", Number.NaN, ""],
    ["a reason of 124 bytes", 1000, "é".repeat(62)],
  ])("gets a RangeError if it closes with %s, and the WebSocket stays open", async (_what, code, reason) => {
    const { app } = opening(async (ws) => {
      const error: unknown = await ws.close(code, reason).catch((thrown: unknown) => thrown);
      await ws.sendText(`${error instanceof RangeError} ${ws.readyState}`);
    });
    expect(await (await connect(app, "/ws")).receiveText()).toBe("true accepted");
  });

  it("cannot accept, send or receive any more once it has closed", async () => {
    const errors: unknown[] = [];
    const { app, log } = opening(async (ws) => {
      await ws.close(4002, "done");
      for (const use of [() => ws.accept(), () => ws.sendText("x"), () => ws.receive()]) {
        await use().catch((error: unknown) => errors.push(error));
      }
      for await (const message of ws) errors.push(message);
      errors.push(ws.readyState);
    });
    const ws = await connect(app, "/ws");
    expect(await ws.closed).toMatchObject({ code: 4002 });
    await ws.settled();
    expect(errors).toEqual([
      expect.any(WebSocketException),
      expect.objectContaining({ code: 4002 }),
      expect.objectContaining({ code: 4002 }),
      "closed",
    ]);
    expect(log.lines).toEqual([]);
  });

  it("is notified if it waits for a message while other code closes it", async () => {
    let told: unknown;
    const { app } = opening(async (ws) => {
      const waiting = ws.receive().catch((error: unknown) => (told = error));
      await ws.close(4003);
      await waiting;
    });
    const ws = await connect(app, "/ws");
    expect((await ws.closed).code).toBe(4003);
    await ws.settled();
    expect(told).toMatchObject({ code: 4003 });
  });
});

describeSocketMatrix("a client", ({ connect }) => {
  it.each<[string, [number?, string?], number, string]>([
    ["1000", [1000], 1000, ""],
    ["1001 and a reason", [1001, "bye"], 1001, "bye"],
    ["its own code", [4321, "é"], 4321, "é"],
  ])("ends the iteration by closing with %s, and receive() throws with the code", async (_what, how, code, reason) => {
    const told: unknown[] = [];
    const { app, log } = opening(async (ws) => {
      for await (const message of ws) told.push(message);
      told.push(ws.readyState, await ws.receive().catch((error: unknown) => error));
    });
    const ws = await connect(app, "/ws");
    await ws.sendText("last");
    await ws.close(...how);
    expect(told).toEqual(["last", "closed", expect.any(WebSocketException)]);
    expect(told[2]).toMatchObject({ code, reason });
    expect(log.lines).toEqual([]);
  });

  it("is reported as 1006 to a waiting handler if it disconnects without a close frame", async () => {
    let told: unknown;
    const { app, log } = opening(async (ws) => {
      told = await ws.receive().catch((error: unknown) => error);
      throw told;
    });
    const ws = await connect(app, "/ws");
    await ws.terminate();
    expect(told).toMatchObject({ code: 1006 });
    expect(log.lines).toEqual([]);
  });

  it("causes a WebSocketException without a log entry if the handler sends after it disconnected", async () => {
    const errors: unknown[] = [];
    const { app, log } = opening(async (ws) => {
      await ws.receive().catch(() => {});
      await ws.sendText("x").catch((error: unknown) => errors.push(error));
      await ws.close(4000);
      await ws.sendText("x");
    });
    const ws = await connect(app, "/ws");
    await ws.terminate();
    expect(errors).toEqual([expect.any(WebSocketException)]);
    expect(log.lines).toEqual([]);
  });

  it("ends a handler that only sends when it disconnects, without a log entry", async () => {
    let sent = 0;
    const { app, log } = opening(async (ws) => {
      for (;;) {
        await ws.sendText("tick");
        sent++;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const ws = await connect(app, "/ws");
    expect(await ws.receive()).toBe("tick");
    await ws.terminate();
    expect(sent).toBeGreaterThan(0);
    expect(log.lines).toEqual([]);
  });
});

describeSocketMatrix("a handler that misuses a WebSocket", ({ connect, refused }) => {
  it("by accepting it twice ends it with 1011 and a log line", async () => {
    const { app, log } = opening((ws) => ws.accept());
    const ws = await connect(app, "/ws");
    expect(await ws.closed).toMatchObject({ code: 1011, reason: "accept() on a WebSocket that is accepted" });
    await ws.settled();
    expect(log.lines).toEqual([
      "error WEBSOCKET /ws failed: WebSocketException: accept() on a WebSocket that is accepted",
    ]);
  });

  it("logs an explanation if it receives before it accepts", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.websocket("/ws", async ({ ws }) => void (await ws.receiveText()));
    expect((await refused(app, "/ws")).statusCode).toBe(403);
    expect(log.lines).toEqual([
      "error WEBSOCKET /ws failed: WebSocketException: receive() on a WebSocket that is connecting",
    ]);
  });
});
