import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, jest } from "@jest/globals";
import type { HTTPScope, ReceiveMessage } from "../../../src/protocol/asgi.js";
import { App, Request } from "../../../src/index.js";
import { MARK_FINISHED } from "../../../src/http/request.js";
import { Deferred } from "../../../src/common/promises.js";
import { served, Wire } from "../../platforms/node/_http.js";

const GONE: ReceiveMessage = { type: "http.disconnect" };
const part = (size: number, more = true): ReceiveMessage => ({
  type: "http.request",
  body: new Uint8Array(size),
  more_body: more,
});
const scope = { type: "http", method: "POST", path: "/" } as HTTPScope;

/** A `receive` that returns these messages, and then waits indefinitely. */
function scripted(...messages: ReceiveMessage[]) {
  const state = { taken: 0 };
  const receive = () => {
    const message = messages[state.taken];
    state.taken++;
    return message ? Promise.resolve(message) : new Promise<never>(() => {});
  };
  return { receive, state };
}

const aborted = (signal: AbortSignal) => (signal.aborted ? Promise.resolve() : once(signal, "abort"));

describe("the signal of a request in memory", () => {
  it.each<[string, ReceiveMessage[]]>([
    ["without a body", [part(0, false), GONE]],
    ["whose whole body nobody reads", [part(10, false), GONE]],
    ["of whose body several parts nobody reads have come", [part(10), part(10), part(10), GONE]],
    ["whose body has empty parts", [part(0), part(0), part(1), GONE]],
    ["whose body ends with an empty part", [part(10), part(0, false), GONE]],
  ])("aborts for one %s", async (_title, messages) => {
    const request = new Request(scope, scripted(...messages).receive);
    await aborted(request.signal);
    expect(await request.isDisconnected()).toBe(true);
  });

  it("aborts even if a chunk of its body has been read", async () => {
    const request = new Request(scope, scripted(part(1), part(2), part(3), GONE).receive);
    const { signal } = request;
    for await (const _ of request.stream()) break;
    await aborted(signal);
    expect(signal.aborted).toBe(true);
  });

  it("lets a reader read the whole body, and then reports the disconnect", async () => {
    const request = new Request(scope, scripted(part(1), part(2), part(3), GONE).receive);
    await aborted(request.signal);
    const lengths: number[] = [];
    const reading = async () => {
      for await (const chunk of request.stream()) lengths.push(chunk.length);
    };
    await expect(reading()).rejects.toThrow("The client has disconnected");
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(6);
  });

  it("buffers at most 1 MiB and one chunk that are not read, and continues when they are read", async () => {
    const MiB = 1024 * 1024;
    const { receive, state } = scripted(...Array.from({ length: 10 }, () => part(MiB / 2)), GONE);
    const request = new Request(scope, receive);
    const { signal } = request;
    expect(await request.isDisconnected()).toBe(false);
    expect(state.taken).toBe(2);
    await expect(request.stream().next()).resolves.toMatchObject({ done: false });
    await new Promise((resolve) => setImmediate(resolve));
    expect(state.taken).toBe(3);
    expect(signal.aborted).toBe(false);
  });

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["signal", (request) => aborted(request.signal)],
    ["isDisconnected", async (request) => void (await request.isDisconnected())],
  ])("buffers one more chunk from time to time, at growing intervals, for a listener on %s", async (_how, ask) => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    try {
      const MiB = 1024 * 1024;
      const { receive, state } = scripted(part(MiB), part(1), part(1), part(1), GONE);
      const request = new Request(scope, receive);
      void ask(request);
      const taken: number[] = [];
      for (const seconds of [0.9, 0.2, 1.8, 0.2, 3.8, 0.2, 7.8, 0.2]) {
        await jest.advanceTimersByTimeAsync(1000 * seconds);
        taken.push(state.taken);
      }
      expect(taken).toEqual([1, 2, 2, 3, 3, 4, 4, 5]);
      expect(request.signal.aborted).toBe(true);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it("takes in no more of it once the response is finished", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
    try {
      const { receive, state } = scripted(part(1024 * 1024), GONE);
      const request = new Request(scope, receive);
      expect(request.signal.aborted).toBe(false);
      await jest.advanceTimersByTimeAsync(10);
      request[MARK_FINISHED]();
      await jest.advanceTimersByTimeAsync(100_000);
      expect([state.taken, jest.getTimerCount()]).toEqual([1, 0]);
    } finally {
      jest.useRealTimers();
    }
  });

  it.each<[string, ReceiveMessage]>([
    ["the same last message again and again", part(0, false)],
    ["empty parts without an end", part(0)],
  ])("does not crash the process if `receive` returns %s", async (_title, message) => {
    const request = new Request(scope, () => Promise.resolve(message));
    const { signal } = request;
    expect(await request.isDisconnected()).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    expect(signal.aborted).toBe(false);
  });

  it("does not abort once the response is finished", async () => {
    const left = new Deferred<ReceiveMessage>();
    const request = new Request(scope, () => left.promise);
    const { signal } = request;
    request[MARK_FINISHED]();
    left.resolve(GONE);
    expect(await request.isDisconnected()).toBe(true);
    expect(signal.aborted).toBe(false);
  });
});

describe("the signal of a request over a socket", () => {
  const post = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n";

  it.each<[string, (request: Request) => Promise<unknown>]>([
    ["is not read", async () => {}],
    ["has been read in part", (request) => request.stream().next()],
    ["is being read", async (request) => void request.body().catch(() => {})],
  ])("aborts when the client resets while the body %s", async (_title, read) => {
    const started = new Deferred<void>();
    const ended = new Deferred<unknown>();
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      const { signal } = request;
      await read(request);
      started.resolve();
      await aborted(signal);
      ended.resolve(await request.isDisconnected());
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    wire.write(`${post}one`);
    await started.promise;
    wire.write("two").write("three");
    wire.socket.resetAndDestroy();
    expect(await ended.promise).toBe(true);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("aborts after more than 1 MiB that is not read, once the server has given up the client", async () => {
    const ended = new Deferred<void>();
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      await aborted(request.signal);
      ended.resolve();
    });
    await using server = await served(app, { timeouts: { requestMs: 200 } });
    await using wire = new Wire(server.port);
    wire.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
    wire.socket.write(Buffer.alloc(2_000_000));
    await ended.promise;
    expect(server.logger.at("error")).toEqual([]);
  });

  it("aborts if the client closes after several unread chunks", async () => {
    const started = new Deferred<void>();
    const ended = new Deferred<void>();
    const app = new App();
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      const { signal } = request;
      started.resolve();
      await aborted(signal);
      ended.resolve();
    });
    await using server = await served(app);
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    await started.promise;
    for (const chunk of ["two", "six", "ten"]) socket.write(`3\r\n${chunk}\r\n`);
    socket.destroy();
    await ended.promise;
    expect(server.logger.at("error")).toEqual([]);
  });
});
