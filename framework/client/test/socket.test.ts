import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, t } from "tsgi";
import { type ApiOf, createClient } from "@tsgi/client";
import { serve } from "tsgi/node";
import { WebSocket } from "undici";
import { KeptLog } from "../../test/support/kept-log.js";

const Ask = t.Object({ text: t.String(), times: t.Integer({ default: 2 }) });
const Said = t.Object({ room: t.String(), text: t.String() });

const app = new App();
const routes = {
  echo: app.websocket(
    "/rooms/{room}",
    { params: { tags: t.Array(t.String(), { default: [] }) }, receives: Ask, sends: Said },
    async ({ ws, room, tags }) => {
      await ws.accept();
      for await (const { text, times } of ws) {
        for (let n = 0; n < times; n++) await ws.sendJson({ room, text: [text, ...tags].join("+") });
        if (text === "bye") return ws.close();
        if (text === "fail") return ws.close(4000, "no more");
      }
    },
  ),
  lists: app.websocket(
    "/lists/{ids}",
    { params: { ids: t.Array(t.String()) }, sends: t.Array(t.String()) },
    async ({ ws, ids }) => {
      await ws.accept();
      await ws.sendJson(ids);
      await ws.close();
    },
  ),
  text: app.websocket("/text", async ({ ws }) => {
    await ws.accept();
    await ws.sendText("plain");
    await ws.sendBytes(new Uint8Array([1, 2]));
    await ws.close();
  }),
};

describe("a client's WebSocket", () => {
  let server: Awaited<ReturnType<typeof serve>>;
  let client: ReturnType<typeof createClient<ApiOf<typeof routes>>>;
  beforeAll(async () => {
    server = await serve(app, { host: "127.0.0.1", port: 0, signals: false, logger: new KeptLog() });
    client = createClient<ApiOf<typeof routes>>({ baseUrl: server.url, WebSocket });
  });
  afterAll(() => server.close());

  it("sends the values that the route receives, even before it is open, and yields the messages of the route until it closes", async () => {
    const socket = client.websocket("/rooms/{room}", {
      params: { path: { room: "a/b" }, query: { tags: ["x", "y"] } },
    });
    socket.send({ text: "hi" });
    socket.send({ text: "bye", times: 1 });
    const texts = [];
    for await (const { room, text } of socket) texts.push(`${room}: ${text}`);
    expect(texts).toEqual(["a/b: hi+x+y", "a/b: hi+x+y", "a/b: bye+x+y"]);
  });

  it.each(["", ".", ".."])("is not opened if a path parameter is %j", (room) => {
    expect(() => client.websocket("/rooms/{room}", { params: { path: { room } } })).toThrow(
      new TypeError(`The value of {room} in /rooms/{room} is "${room}". It must not be empty, "." or "..".`),
    );
  });

  it("sends an array in the path as the route reads it", async () => {
    const received = [];
    for await (const ids of client.websocket("/lists/{ids}", { params: { path: { ids: ["a,b", "c/d"] } } })) {
      received.push(ids);
    }
    expect(received).toEqual([["a,b", "c/d"]]);
  });

  it("continues after a loop that ended early, until it is closed", async () => {
    const socket = client.websocket("/rooms/{room}", { params: { path: { room: "a" } } });
    for (const text of ["one", "two"]) {
      socket.send({ text, times: 1 });
      for await (const message of socket) {
        expect(message).toEqual({ room: "a", text });
        break;
      }
    }
    socket.close();
    const rest = [];
    for await (const message of socket) rest.push(message);
    expect(rest).toEqual([]);
  });

  it("throws the code and reason of an abnormal close, after the messages", async () => {
    const socket = client.websocket("/rooms/{room}", { params: { path: { room: "a" } } });
    socket.send({ text: "fail", times: 1 });
    const texts: string[] = [];
    const read = async () => {
      for await (const { text } of socket) texts.push(text);
    };
    await expect(read()).rejects.toThrow("The WebSocket closed with 4000: no more");
    expect(texts).toEqual(["fail"]);
  });

  it("throws if no route has the path", async () => {
    // @ts-expect-error no route has the path
    const read = client.websocket("/nowhere")[Symbol.asyncIterator]().next();
    await expect(read).rejects.toThrow("The WebSocket closed with 4004: No route");
  });

  it("returns text that is not JSON as a string, and binary messages as bytes", async () => {
    const messages: unknown[] = [];
    for await (const message of client.websocket("/text")) messages.push(message);
    expect(messages).toEqual(["plain", new Uint8Array([1, 2])]);
  });

  it("types the messages and the parameters", () => {
    const refuse = () => {
      const socket = client.websocket("/rooms/{room}", { params: { path: { room: "a" } } });
      // @ts-expect-error the text is missing
      socket.send({ times: 1 });
      // @ts-expect-error the path has a parameter
      client.websocket("/rooms/{room}");
      // @ts-expect-error the parameter is a list
      client.websocket("/rooms/{room}", { params: { path: { room: "a" }, query: { tags: 1 } } });
    };
    expect(refuse).toBeInstanceOf(Function);
  });

  it("suggests a fix if the platform has no WebSocket", () => {
    const own = Object.getOwnPropertyDescriptor(globalThis, "WebSocket");
    Reflect.deleteProperty(globalThis, "WebSocket");
    const bare = createClient<ApiOf<typeof routes>>({ baseUrl: server.url });
    if (own) Object.defineProperty(globalThis, "WebSocket", own);
    expect(() => bare.websocket("/text")).toThrow("createClient({ WebSocket })");
  });
});
