/** JSON messages with the options `receives` and `sends`. */
import { describe, expect, it } from "@jest/globals";
import { App, Depends, Router, t, WebSocket, withParams } from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

const Said = t.Object({ text: t.String({ maxLength: 5 }), at: t.Optional(t.Date()) });
const Told = t.Object({ who: t.String(), text: t.String() });

/** An App that responds to each message. */
function chat(options: ConstructorParameters<typeof App>[0] = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log, ...options });
  app.websocket("/chat/{who}", { receives: Said, sends: Told }, async ({ ws, who }) => {
    await ws.accept();
    for await (const { text } of ws) await ws.sendJson({ who, text });
  });
  return { app, log };
}

describeSocketMatrix("`receives`", ({ connect }) => {
  it("returns the values of valid messages, by iteration and by receiveJson", async () => {
    const got: unknown[] = [];
    const app = new App();
    app.websocket("/", { receives: Said }, async ({ ws }) => {
      await ws.accept();
      got.push(await ws.receiveJson());
      for await (const message of ws) got.push(message);
    });
    const ws = await connect(app, "/");
    await ws.sendJson({ text: "a", more: 1 });
    await ws.sendJson({ text: "b", at: "2026-01-02T03:04:05Z" });
    await ws.close();
    await ws.closed;
    expect(got).toEqual([{ text: "a" }, { text: "b", at: new Date("2026-01-02T03:04:05Z") }]);
  });

  it.each<[how: string, message: string | Uint8Array, fault: string]>([
    ["of another type", '{"text":1}', "text: Input should be a valid string"],
    ["too long", '{"text":"secret"}', "text: "],
    ["null", "null", "Input should be"],
    ["no JSON", "{", "it is not JSON"],
    ["empty", "", "it is not JSON"],
    ["binary", new TextEncoder().encode('{"text":"a"}'), "it is not JSON"],
    ["nested too deeply", "[".repeat(500) + "]".repeat(500), "it is not JSON"],
    ["with __proto__ for a name", '{"__proto__":{"text":"a"}}', "text: "],
  ])("closes with 1007 for a message that is %s, and logs the validation errors", async (_how, message, fault) => {
    const { app, log } = chat();
    const ws = await connect(app, "/chat/ada");
    await (typeof message === "string" ? ws.sendText(message) : ws.sendBytes(message));
    expect(await ws.closed).toMatchObject({ code: 1007, reason: "Invalid message" });
    expect(log.lines).toEqual([
      expect.stringContaining("warn WEBSOCKET /chat/{who}: a message does not fit `receives`: "),
    ]);
    expect(log.lines[0]).toContain(fault);
    expect(log.lines[0]).not.toContain("secret");
  });

  it("closes with 1009 for a message beyond the limit, before it is checked", async () => {
    const { app, log } = chat({ limits: { webSocketMessageBytes: 20 } });
    const ws = await connect(app, "/chat/ada");
    await ws.sendJson({ text: "a".repeat(20) });
    expect(await ws.closed).toMatchObject({ code: 1009 });
    expect(log.lines).toEqual([]);
  });

  it("ends the handler as a close does: cleanup runs, and the code after it does not", async () => {
    const order: string[] = [];
    const app = new App({ logger: new KeptLog() });
    async function* connection() {
      try {
        yield "db";
      } finally {
        order.push("closed");
      }
    }
    app.websocket("/", { receives: Said, params: { db: Depends(connection) } }, async ({ ws }) => {
      await ws.accept();
      await ws.receiveJson();
      order.push("went on");
    });
    const ws = await connect(app, "/");
    await ws.sendText("1");
    expect(await ws.closed).toMatchObject({ code: 1007 });
    await ws.settled();
    expect(order).toEqual(["closed"]);
  });

  it("does not change receive() and receiveText()", async () => {
    const got: unknown[] = [];
    const app = new App();
    app.websocket("/", { receives: Said }, async ({ ws }) => {
      await ws.accept();
      got.push(await ws.receive(), await ws.receiveText());
    });
    const ws = await connect(app, "/");
    await ws.sendText("a");
    await ws.sendText("b");
    await ws.closed;
    expect(got).toEqual(["a", "b"]);
  });

  it("may be a schema that checks asynchronously", async () => {
    const Later = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: async (value: unknown) => (value === 1 ? { value: "one" } : { issues: [{ message: "not one" }] }),
        types: undefined as { input: 1; output: string } | undefined,
      },
    };
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.websocket("/", { receives: Later }, async ({ ws }) => {
      await ws.accept();
      for await (const message of ws) await ws.send(message);
    });
    const ws = await connect(app, "/");
    await ws.sendJson(1);
    expect(await ws.receiveText()).toBe("one");
    await ws.sendJson(2);
    expect(await ws.closed).toMatchObject({ code: 1007 });
    expect(log.lines).toEqual([expect.stringContaining("not one")]);
  });

  it("holds in routers, in mounted Apps, and for a dependency that reads", async () => {
    const router = new Router({ prefix: "/rooms" });
    const first = withParams({ ws: WebSocket }, async ({ ws }) => {
      await ws.accept();
      return ws.receiveJson();
    });
    router.websocket(
      "/{room}",
      { receives: Said, params: { first: Depends(first) } },
      async ({ ws, first: one, room }) => {
        await ws.sendJson([room, one]);
      },
    );
    const inner = new App({ logger: new KeptLog() });
    inner.includeRouter(router);
    const app = new App({ logger: new KeptLog() });
    app.mount("/v1", inner);
    const good = await connect(app, "/v1/rooms/a");
    await good.sendJson({ text: "x", more: 1 });
    expect(await good.receiveJson()).toEqual(["a", { text: "x" }]);
    const bad = await connect(app, "/v1/rooms/a");
    await bad.sendJson({});
    expect(await bad.closed).toMatchObject({ code: 1007 });
  });
});

describeSocketMatrix("`sends`", ({ connect }) => {
  it("cuts what sendJson is given", async () => {
    const { app } = chat();
    const ws = await connect(app, "/chat/ada");
    await ws.sendJson({ text: "a" });
    expect(await ws.receiveText()).toBe('{"who":"ada","text":"a"}');
  });

  it("sends only the properties of the schema, and closes with 1011 and a log entry for an invalid value", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.websocket("/", { sends: Told }, async ({ ws }) => {
      await ws.accept();
      const secret = { who: "ada", text: "a", password: "x" };
      await ws.sendJson(secret);
      await ws.sendJson({ who: "ada", text: 1 as unknown as string });
    });
    const ws = await connect(app, "/");
    expect(await ws.receiveText()).toBe('{"who":"ada","text":"a"}');
    expect(await ws.closed).toMatchObject({ code: 1011 });
    expect(log.lines).toEqual([
      expect.stringContaining("ResponseValidationError: The message does not fit `sends`: text: Input should be"),
    ]);
  });

  it("takes undefined for null", async () => {
    const app = new App();
    app.websocket("/", { sends: t.Null() }, async ({ ws }) => {
      await ws.accept();
      await ws.sendJson(undefined as unknown as null);
    });
    const ws = await connect(app, "/");
    expect(await ws.receiveText()).toBe("null");
  });
});

describe("the schemas of messages", () => {
  const handler = async () => {};

  it.each<[options: object, message: string]>([
    [{ receives: String }, "WEBSOCKET /: receives should be a schema such as t.Object({ … }), not "],
    [{ sends: { who: t.String() } }, "WEBSOCKET /: sends should be a schema such as t.Object({ … }), not "],
    [{ sends: t.Uint8Array() }, "WEBSOCKET /: "],
    [{ recieves: Said }, "receives"],
  ])("are checked at registration: %#", (options, message) => {
    expect(() => new App().websocket("/", options, handler)).toThrow(message);
  });

  it("are options only of WebSockets", () => {
    expect(() => new App().get("/", { receives: Said } as object, handler)).toThrow("receives");
  });

  it("are in the list of routes", () => {
    const { app } = chat();
    expect(app.routes[0]?.metadata).toMatchObject({ receives: Said, sends: Told });
  });
});
