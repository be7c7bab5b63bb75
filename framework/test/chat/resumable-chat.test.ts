import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { HAS_REDIS } from "../support/redis-server.js";
import { ChatServers } from "./_chat-servers.js";
import { ClientChat } from "./_client-chat.js";

const describeWithRedis = HAS_REDIS ? describe : describe.skip;

describeWithRedis("a chat of the AI SDK on two servers", () => {
  let servers: ChatServers;
  let here = "";
  let there = "";

  beforeAll(async () => {
    servers = await ChatServers.start();
    [here = "", there = ""] = servers.urls;
  });
  afterAll(() => servers?.[Symbol.asyncDispose]());

  /** Asks a question, and waits until the response has begun. */
  async function begin(id: string, options: { fetch?: typeof fetch } = {}): Promise<ClientChat> {
    const chat = new ClientChat({ id, url: here, ...options });
    void chat.sendMessage({ text: "Hello" });
    await servers.write("one ", "two ");
    await chat.shows("user: Hello", "assistant: one two ");
    return chat;
  }

  it("continues a response after a reload on another server, without a gap or a double", async () => {
    const left = await begin("reload");
    await left.stop(); // closes the connection, as a reload does
    await servers.write("three ");
    const chat = await ClientChat.load("reload", there);
    expect(chat.lines).toEqual(["user: Hello"]);
    const resumed = chat.resumeStream();
    await chat.shows("user: Hello", "assistant: one two three ");
    await servers.write("four", "END");
    await resumed;
    expect([chat.status, chat.lines]).toEqual(["ready", ["user: Hello", "assistant: one two three four"]]);
    expect((await ClientChat.load("reload", here)).lines).toEqual(chat.lines);
  });

  it("continues a response in the same page after its connection was lost", async () => {
    const connection = new AbortController();
    const lose: typeof fetch = async (url, init) => {
      if (init?.method !== "POST") return fetch(url, init);
      const { body, status } = await fetch(url, { ...init, signal: connection.signal });
      return new Response(body, { status });
    };
    const chat = await begin("lost", { fetch: lose });
    connection.abort(new TypeError("network error"));
    await chat.shows("user: Hello", "assistant: one two ");
    while (chat.status !== "error") await new Promise((resolve) => setImmediate(resolve));
    const resumed = chat.resumeStream();
    await servers.write("three", "END");
    await resumed;
    expect([chat.status, chat.lines]).toEqual(["ready", ["user: Hello", "assistant: one two three"]]);
  });

  it("does not continue once the response is complete, or before the first question", async () => {
    const begun = await begin("complete");
    await servers.write("three", "END");
    await begun.shows("user: Hello", "assistant: one two three");
    while (begun.status !== "ready") await new Promise((resolve) => setImmediate(resolve));
    for (const id of ["complete", "new"]) {
      const chat = await ClientChat.load(id, there);
      const before = chat.lines;
      await chat.resumeStream();
      expect([chat.status, chat.error, chat.lines]).toEqual(["ready", undefined, before]);
    }
  });

  it("ends the model by a request to another server, but not by closing the connection", async () => {
    const closed = await begin("stop");
    await closed.stop();
    await servers.write("three ");
    const chat = await ClientChat.load("stop", there);
    const resumed = chat.resumeStream();
    await chat.shows("user: Hello", "assistant: one two three ");
    expect(await servers.countAborted()).toBe(0);
    expect(await chat.end(there)).toBe(204);
    await Promise.all([servers.aborted(), resumed]);
    expect([chat.status, chat.lines]).toEqual(["ready", ["user: Hello", "assistant: one two three "]]);
    const later = async (): Promise<ClientChat> => {
      const loaded = await ClientChat.load("stop", here);
      return loaded.lines.length > 1 ? loaded : later(); // the model's server saves the partial message
    };
    expect((await later()).lines).toEqual(chat.lines);
  });

  it("does not continue or stop the response of another user", async () => {
    const chat = await begin("private");
    const asEve = (method: string) =>
      fetch(`${there}/api/chat/private/stream`, { method, headers: { authorization: "Bearer eve" } });
    expect([(await asEve("GET")).status, (await asEve("DELETE")).status]).toEqual([204, 204]);
    await servers.write("three", "END");
    await chat.shows("user: Hello", "assistant: one two three");
    expect(await servers.countAborted()).toBe(0);
  });
});
