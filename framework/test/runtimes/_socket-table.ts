/** WebSockets of the application of `http-app.mjs`, which are the same on every runtime that opens them. */
import { expect, it } from "@jest/globals";
import { Client } from "../../core/test/platforms/node/_websocket.js";

/** Defines the rows against an address that is known when they run. */
export function defineSocketRows(url: () => string): void {
  const open = (path: string, ...more: [protocols?: string[], options?: object]) =>
    new Client({ url: url() }, path, ...more);
  const ends = async (key: string, count: number) => (await fetch(`${url()}/notes/${key}?count=${count}`)).json();

  it("carries text and bytes both ways, with subprotocol and headers", async () => {
    await using client = open("/ws/echo/both", ["chat", "other"]);
    const headers = new Promise((resolve) => client.socket.once("upgrade", (response) => resolve(response.headers)));
    await client.opened;
    expect(await headers).toMatchObject({ "x-a": "b", "sec-websocket-protocol": "chat" });
    client.socket.send("h\u00e9llo \u2603");
    client.socket.send(Buffer.alloc(70_000, 7));
    client.socket.send("");
    expect(await client.received(3)).toEqual(["h\u00e9llo \u2603", Buffer.alloc(70_000, 7), ""]);
    client.socket.close(4001, "bye");
    expect(await client.closed).toEqual([4001, "bye"]);
    expect(await ends("both", 2)).toEqual(["ended", "cleanup"]);
  });

  it("has parameters, cookies and JSON", async () => {
    await using client = open("/ws/greeting/7?q=%E2%98%83", [], { headers: { cookie: "a=b" } });
    await client.opened;
    client.socket.send('{"told":5}');
    const [greeting, bytes] = await client.received(2);
    expect(JSON.parse(String(greeting))).toEqual({ n: 7, q: "\u2603", cookie: "b", url: "ws:" });
    expect(bytes).toEqual(Buffer.from([5]));
    expect(await client.closed).toEqual([1000, ""]);
  });

  it("keeps the order of 1,000 messages that come faster than they are received", async () => {
    await using client = open("/ws/echo/order");
    await client.opened;
    const sent = ["wait", ...Array.from({ length: 999 }, (_, index) => String(index))];
    for (const message of sent) client.socket.send(message);
    expect(await client.received(1000)).toEqual(sent);
    client.socket.terminate();
    expect(await ends("order", 2)).toEqual(["ended", "cleanup"]);
  });

  it.each([
    ["the handler returns", "/ws/echo/return", "return", [1000, ""]],
    ["the handler throws", "/ws/echo/throw", "throw", [1011, expect.any(String)]],
    ["the handler closes", "/ws/echo/close", "close", [4010, "own"]],
    ["a code of its own comes before accept", "/ws/4004", null, [4004, "no route"]],
    ["no route matches", "/ws/none", null, [4004, expect.any(String)]],
    ["a message is over the bound of a message", "/ws/echo/large", "a".repeat((1 << 20) + 1), [1009, ""]],
    ["text comes where JSON is wanted", "/ws/greeting/7", "text", [1003, expect.any(String)]],
  ])("closes when %s", async (_when, path, sent, told) => {
    await using client = open(path);
    await client.opened;
    if (sent !== null) client.socket.send(sent);
    expect(await client.closed).toEqual(told);
    if (path.startsWith("/ws/echo/")) expect(await ends(path.slice(9), 1)).toContain("cleanup");
  });

  it.each([
    ["an HTTPException", "/ws/forbidden", 403, { detail: "Members only" }],
    [
      "a parameter that does not fit",
      "/ws/greeting/x",
      422,
      { detail: [expect.objectContaining({ type: "int_parsing" })] },
    ],
    ["a close before accept", "/ws/refused", 403, { detail: "Forbidden" }],
    ["an unknown error", "/ws/broken", 500, { detail: "Internal Server Error" }],
  ])("is rejected for %s", async (_why, path, status, body) => {
    await using client = open(path);
    const [refused, text] = await client.refused;
    expect([refused, JSON.parse(text)]).toEqual([status, body]);
  });

  it("ends the handler if its client disconnects before the response", async () => {
    await using client = open("/ws/early");
    expect(await ends("early", 1)).toEqual(["waits"]);
    client.socket.terminate();
    expect(await ends("early", 2)).toEqual(["waits", "left"]);
  });
}
