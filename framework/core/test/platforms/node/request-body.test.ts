import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "@jest/globals";
import type { ReceiveMessage } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { RequestBody } from "../../../src/protocol/request-body.js";
import { httpApp, readBody, respond, served, Wire } from "./_http.js";

const post = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;

describe("receive", () => {
  it("returns one empty message for a request without a body, then waits for the end", async () => {
    const messages: ReceiveMessage[] = [];
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        messages.push(await receive());
        const next = receive();
        await respond(send, 200, "done");
        messages.push(await next, await receive());
      }),
    );
    await (await fetch(server.url)).text();
    expect(messages).toEqual([
      { type: "http.request", body: new Uint8Array(0), more_body: false },
      { type: "http.disconnect" },
      { type: "http.disconnect" },
    ]);
  });

  it("returns a small body in one message, marked as the last", async () => {
    const messages: ReceiveMessage[] = [];
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        messages.push(await receive());
        await respond(send, 200, "done");
      }),
    );
    await (await fetch(server.url, { method: "POST", body: "hello" })).text();
    expect(messages).toEqual([{ type: "http.request", body: Buffer.from("hello"), more_body: false }]);
  });

  it("returns a body in chunks as it arrives", async () => {
    const parts: [string, boolean][] = [];
    const got = [new Deferred<void>(), new Deferred<void>()];
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        for (let more = true; more;) {
          const message = await receive();
          if (message.type !== "http.request") throw new Error("gone");
          more = message.more_body === true;
          parts.push([Buffer.from(message.body ?? []).toString(), more]);
          got[parts.length - 1]?.resolve();
        }
        await respond(send, 200, "done");
      }),
    );
    await using wire = new Wire(server.port);
    wire.write(`${post(6)}one`);
    await got[0]?.promise;
    await wire.write("two").until(/done$/);
    expect(parts).toEqual([
      ["one", true],
      ["two", false],
    ]);
  });

  it("does not read data that is not requested: the client has to wait", async () => {
    const ask = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await ask.promise;
        await respond(send, 200, String((await readBody(receive)).length));
      }),
    );
    await using wire = new Wire(server.port);
    const SIZE = 64 << 20;
    wire.write(post(SIZE));
    for (let sent = 0; sent < SIZE; sent += 1 << 20) {
      wire.socket.write(Buffer.alloc(1 << 20));
    }
    // Long enough for a server that reads on, which takes 64 KiB or more in each turn of the loop.
    for (let turn = 0; turn < 2000; turn++) await new Promise((resolve) => setImmediate(resolve));
    // Bytes that this process has sent are in the buffers of two sockets; the rest waits here.
    expect(wire.socket.writableLength).toBeGreaterThan(SIZE / 2);
    ask.resolve();
    expect(await wire.until(/\d+$/)).toMatch(new RegExp(`${SIZE}$`));
  });

  it("pauses a body of single bytes long before its bytes would fill the memory, and returns them in one message", async () => {
    let more = 0;
    const body = new RequestBody({ want: () => null, resume: () => more++ }, Number.NaN);
    let taken = 1;
    while (body.take(Buffer.from("a"), false)) taken++;
    expect(taken).toBeLessThan(1000);
    expect(more).toBe(0);
    expect(await body.receive()).toEqual({ type: "http.request", body: Buffer.alloc(taken, "a"), more_body: true });
    expect(more).toBe(1);
  });

  it("stores single bytes that arrive after a pause in little more memory than their size", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    const bodies = Array.from(
      { length: 20 },
      () => new RequestBody({ want: () => null, resume: () => {} }, Number.NaN),
    );
    for (const body of bodies) {
      for (let count = 0; count < 10_000; count++) body.take(Buffer.from("a"), false);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000);
    expect(bodies.every((body) => !body.take(Buffer.from("a"), false))).toBe(true);
  });

  it("rejects a second call while the first waits", async () => {
    let refusal: unknown;
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await receive();
        void receive();
        refusal = await receive().catch((error: unknown) => error);
        await respond(send, 200, "done");
      }),
    );
    await (await fetch(server.url)).text();
    expect(String(refusal)).toContain("an earlier call of it still waits");
  });

  it.each([
    ["a reset", (wire: Wire) => wire.socket.resetAndDestroy()],
    ["a regular close", (wire: Wire) => wire.socket.end()],
  ])("returns http.disconnect to an application that waits, after %s", async (_how, leave) => {
    const waiting = new Deferred<void>();
    const told = new Deferred<ReceiveMessage>();
    await using server = await served(
      httpApp(async (_scope, receive) => {
        await receive();
        const next = receive();
        waiting.resolve();
        told.resolve(await next);
      }),
    );
    await using wire = new Wire(server.port);
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await waiting.promise;
    leave(wire);
    expect(await told.promise).toEqual({ type: "http.disconnect" });
    expect(server.logger.at("error")).toEqual([]);
  });

  it("returns http.disconnect if the client disconnects at any byte of an upload, and no error is logged", async () => {
    const outcomes: Promise<unknown>[] = [];
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        const outcome = readBody(receive).then(String, String);
        outcomes.push(outcome);
        await outcome;
        await respond(send, 200, "too late");
      }),
    );
    const request = `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
    for (let at = 0; at < request.length; at++) {
      await using wire = new Wire(server.port);
      await new Promise((resolve) => wire.socket.write(request.slice(0, at), resolve));
      wire.socket.resetAndDestroy();
    }
    await server.close();
    expect(new Set(await Promise.all(outcomes))).not.toContain("hello");
    expect(server.logger.at("error")).toEqual([]);
  });
});

describe("a body that the application does not read", () => {
  const refuseAll = httpApp((_scope, _receive, send) => respond(send, 413, "too much"));

  it("passes by when it is small, and the connection is kept", async () => {
    await using server = await served(refuseAll);
    await using wire = new Wire(server.port);
    const request = post(5000) + "a".repeat(5000);
    await wire.write(request + request).until(/too much[^]*too much$/);
    expect(wire.received).not.toMatch(/connection: close/i);
  });

  it("passes by as well when it was read in part", async () => {
    await using server = await served(
      httpApp(async (_scope, receive, send) => {
        await receive();
        await respond(send, 200, "enough");
      }),
    );
    await using wire = new Wire(server.port);
    await wire.write(`${post(60_000)}${"a".repeat(100)}`).until(/enough$/);
    // In two chunks with time between them: data of one read always passes the parser together.
    await new Promise((resolve) => wire.socket.write("a".repeat(30_000), resolve));
    await (await fetch(server.url)).text();
    await wire.write(`${"a".repeat(29_900)}${post(1)}a`).until(/enough[^]*enough$/);
    expect(wire.received).not.toMatch(/connection: close/i);
  });

  it("closes the connection if it is large, without a reset that would destroy the response", async () => {
    await using server = await served(refuseAll);
    await using wire = new Wire(server.port);
    const errors: unknown[] = [];
    wire.socket.on("error", (error) => errors.push(error));
    wire.write(post(8 << 20));
    wire.socket.write(Buffer.alloc(8 << 20));
    expect(await wire.until(/too much$/)).toMatch(/^HTTP\/1\.1 413 [^]*\r\nconnection: close\r\n/);
    await wire.closed;
    expect(errors).toEqual([]);
  });

  it("without end is aborted after a moment", async () => {
    await using server = await served(refuseAll);
    await using wire = new Wire(server.port);
    wire.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `10000\r\n${"a".repeat(65_536)}\r\n`;
    const more = () => wire.socket.write(chunk, () => wire.socket.destroyed || setImmediate(more));
    more();
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 413 /);
  });
});
