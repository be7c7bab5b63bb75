import { getEventListeners } from "node:events";
import { describe, expect, it } from "@jest/globals";
import { App } from "tsgi";
import { Deferred } from "tsgi/internals";
import { TestClient } from "tsgi/testing";
import { KeptLog } from "../../test/support/kept-log.js";
import { Broadcast, SlowSubscriberError } from "../src/index.js";

describe("a broadcast in one process", () => {
  it("delivers messages in the order in which they are published", async () => {
    const broadcast = new Broadcast<{ news: number }>();
    using messages = await broadcast.subscribe("news");
    for (const number of [1, 2, 3]) await broadcast.publish("news", number);
    for (const number of [1, 2, 3]) expect(await messages.next()).toEqual({ done: false, value: number });
  });

  it("delivers to a subscriber that waits, and to several readers in turn", async () => {
    const broadcast = new Broadcast<{ news: number }>();
    using messages = await broadcast.subscribe("news");
    const steps = [messages.next(), messages.next()];
    await broadcast.publish("news", 1);
    await broadcast.publish("news", 2);
    expect(await Promise.all(steps)).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
  });

  it("delivers a copy, so that a change of the publisher's object is not seen", async () => {
    const broadcast = new Broadcast<{ news: { text: string } }>();
    using messages = await broadcast.subscribe("news");
    const message = { text: "before" };
    await broadcast.publish("news", message);
    message.text = "after";
    expect((await messages.next()).value).toEqual({ text: "before" });
  });

  it.each([[undefined], [() => {}], [Symbol("x")]])("rejects a message that is not JSON: %p", async (message) => {
    await expect(new Broadcast().publish("a", message)).rejects.toThrow(TypeError);
  });

  it("rejects unknown options and a buffer below 1", async () => {
    expect(() => new Broadcast({ backplan: {} } as object)).toThrow("backplane");
    await expect(new Broadcast().subscribe("a", { buffer: 0 })).rejects.toThrow("buffer");
  });
});

describe("a subscription", () => {
  it("ends if its loop throws, and does not disturb the publisher or other subscribers", async () => {
    const broadcast = new Broadcast<{ a: number }>();
    using other = await broadcast.subscribe("a");
    const failing = (async () => {
      for await (const message of await broadcast.subscribe("a")) throw new Error(`Broken by ${message}`);
    })();
    await broadcast.subscribe("a"); // the loop has subscribed before
    for (const number of [1, 2]) await broadcast.publish("a", number);
    await expect(failing).rejects.toThrow("Broken by 1");
    expect([(await other.next()).value, (await other.next()).value]).toEqual([1, 2]);
  });

  it("throws and drops its messages if more than its buffer waits", async () => {
    const broadcast = new Broadcast<{ a: number }>();
    const messages = await broadcast.subscribe("a", { buffer: 2 });
    const other = await broadcast.subscribe("a", { buffer: 3 });
    for (const number of [1, 2, 3]) await broadcast.publish("a", number);
    await expect(messages.next()).rejects.toMatchObject({ name: "SlowSubscriberError", topic: "a", buffer: 2 });
    await expect(messages.next()).resolves.toEqual({ done: true, value: undefined });
    expect((await other.next()).value).toBe(1);
    await other.return();
    expect(SlowSubscriberError.prototype).toBeInstanceOf(Error);
  });

  it("has a buffer of 256 messages", async () => {
    const broadcast = new Broadcast<{ a: number }>();
    const messages = await broadcast.subscribe("a");
    for (let number = 0; number < 256; number++) await broadcast.publish("a", number);
    expect((await messages.next()).value).toBe(0);
    for (let number = 0; number < 2; number++) await broadcast.publish("a", number);
    await expect(messages.next()).rejects.toBeInstanceOf(SlowSubscriberError);
  });

  it.each(["return", "dispose", "asyncDispose", "abort"] as const)(
    "ends by %s, and releases a reader that waits",
    async (by) => {
      const broadcast = new Broadcast<{ a: number }>();
      const controller = new AbortController();
      const messages = await broadcast.subscribe("a", { signal: controller.signal });
      const waiting = messages.next();
      if (by === "return") await messages.return();
      else if (by === "dispose") messages[Symbol.dispose]();
      else if (by === "asyncDispose") await messages[Symbol.asyncDispose]();
      else controller.abort();
      expect(await waiting).toEqual({ done: true, value: undefined });
      await broadcast.publish("a", 1);
      expect(await messages.next()).toEqual({ done: true, value: undefined });
    },
  );

  it("with a signal that has aborted has ended", async () => {
    const messages = await new Broadcast().subscribe("a", { signal: AbortSignal.abort() });
    expect(await messages.next()).toEqual({ done: true, value: undefined });
  });

  it("leaves no listener on its signal when it ends", async () => {
    const { signal } = new AbortController();
    const messages = await new Broadcast().subscribe("a", { signal });
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await messages.return();
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  it("is rejected if it begins while the broadcast closes, and the backplane closes after it has opened", async () => {
    const calls: string[] = [];
    const opening = new Deferred<void>();
    const backplane = {
      open: async () => opening.promise.then(() => void calls.push("open")),
      subscribe: async () => {},
      unsubscribe: () => {},
      publish: async () => {},
      close: async () => void calls.push("close"),
    };
    const broadcast = new Broadcast({ backplane });
    const subscribing = broadcast.subscribe("a");
    const closing = broadcast.close();
    opening.resolve();
    await expect(subscribing).rejects.toMatchObject({ statusCode: 503 });
    await closing;
    expect(calls).toEqual(["open", "close"]);
  });

  it("ends after the messages that wait when the broadcast closes", async () => {
    const broadcast = new Broadcast<{ a: number }>();
    const messages = await broadcast.subscribe("a");
    await broadcast.publish("a", 1);
    await broadcast.close();
    await broadcast.close();
    const received = [];
    for await (const message of messages) received.push(message);
    expect(received).toEqual([1]);
    await expect(broadcast.publish("a", 2)).rejects.toMatchObject({ statusCode: 503 });
    await expect(broadcast.subscribe("a")).rejects.toMatchObject({ statusCode: 503 });
  });

  it("of a backplane that reports an outage gets onGap, and an error of one callback is logged", async () => {
    const log = new KeptLog();
    let restored = () => {};
    const backplane = {
      open: async (events: { restored(): void }) => void (restored = () => events.restored()),
      subscribe: async () => {},
      unsubscribe: () => {},
      publish: async () => {},
      close: async () => {},
    };
    const broadcast = new Broadcast({ backplane, logger: log });
    const seen: string[] = [];
    const fail = () => {
      throw new Error("broken");
    };
    using one = await broadcast.subscribe("a", { onGap: fail });
    using two = await broadcast.subscribe("b", { onGap: () => seen.push("b") });
    restored();
    expect([one === undefined, two === undefined]).toEqual([false, false]);
    expect([seen, log.lines]).toEqual([["b"], ["error The callback onGap of a subscription threw."]]);
  });
});

describe("a broadcast in an application", () => {
  it("streams a topic to the clients of a route, and closes with the application", async () => {
    const broadcast = new Broadcast<{ prices: { price: number } }>();
    const app = new App({ lifespan: broadcast.lifespan });
    app.get("/prices", { stream: "sse" }, async () => broadcast.subscribe("prices"));
    app.post("/prices", async () => {
      await broadcast.publish("prices", { price: 20 });
    });
    const client = await TestClient.open(app);
    const response = await fetch(`${client.url}/prices`);
    await fetch(`${client.url}/prices`, { method: "POST" });
    const { value } = (await response.body?.getReader().read()) ?? {};
    expect(Buffer.from(value as Uint8Array).toString()).toBe('data: {"price":20}\n\n');
    await client.close();
    await expect(broadcast.publish("prices", { price: 1 })).rejects.toMatchObject({ statusCode: 503 });
  });

  it("makes rooms for WebSockets", async () => {
    const broadcast = new Broadcast<{ [room: `room:${string}`]: string }>();
    const app = new App({ lifespan: broadcast.lifespan });
    app.websocket("/rooms/{name}", async ({ ws, name }) => {
      await ws.accept();
      using messages = await broadcast.subscribe(`room:${name}`);
      const forward = (async () => {
        for await (const message of messages) await ws.sendText(message);
      })();
      for await (const text of ws) await broadcast.publish(`room:${name}`, String(text));
      messages[Symbol.dispose]();
      await forward;
    });
    await using client = await TestClient.open(app);
    const [ada, bob, eve] = await Promise.all(
      ["tea", "tea", "coffee"].map((room) => client.websocket(`/rooms/${room}`)),
    );
    await ada?.sendText("hello");
    expect([await ada?.receiveText(), await bob?.receiveText()]).toEqual(["hello", "hello"]);
    await eve?.sendText("other room");
    expect(await eve?.receiveText()).toBe("other room");
    await Promise.all([ada?.close(), bob?.close(), eve?.close()]);
  });
});
