import { once } from "node:events";
import { createReadStream, type ReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "@jest/globals";
import { App, Request, Response, StreamingResponse } from "../../../src/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { MemoryClient } from "../../../../test/support/client.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

/** Parts from a generator that says when it was closed. */
class Source {
  given = 0;
  readonly closed: Promise<void>;
  #close: () => void = () => {};
  isClosed = false;

  constructor(readonly count = Infinity) {
    this.closed = new Promise((resolve) => (this.#close = resolve));
  }

  async *parts(): AsyncGenerator<string> {
    try {
      for (; this.given < this.count;) yield `part ${++this.given}\n`;
    } finally {
      this.isClosed = true;
      this.#close();
    }
  }
}

const appOf = (make: () => StreamingResponse) => {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.get("/", async () => make());
  return { app, log };
};

const encoder = new TextEncoder();

describeMatrix("a StreamingResponse", ({ call }) => {
  it.each<[string, () => AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>]>([
    ["an async generator", () => new Source(3).parts()],
    ["an array", () => ["part 1\n", "part 2\n", "part 3\n"]],
    ["bytes", () => ["part 1\n", "part 2\n", "part 3\n"].map((text) => encoder.encode(text))],
    ["a sync generator", () => ["part 1\n", "part 2\n", "part 3\n"].values()],
    ["a web ReadableStream", () => ReadableStream.from(new Source(3).parts())],
    ["a Node Readable", () => Readable.from(new Source(3).parts())],
  ])("sends %s", async (_kind, content) => {
    const { app } = appOf(() => new StreamingResponse(content(), { mediaType: "text/plain", statusCode: 201 }));
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 201, text: "part 1\npart 2\npart 3\n" });
    expect(answer.headers).toEqual({ "content-type": "text/plain; charset=utf-8" });
  });

  it("sends an empty body without parts", async () => {
    const { app } = appOf(() => new StreamingResponse([]));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, text: "" });
  });

  it("has a normal error response if it fails before its first chunk", async () => {
    // oxlint-disable-next-line require-yield
    async function* failing(): AsyncGenerator<string> {
      throw new Error("no luck");
    }
    const { app, log } = appOf(() => new StreamingResponse(failing()));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(log.lines).toEqual(["error GET / failed: Error: no luck"]);
  });

  it("results in 500 if a chunk is neither text nor bytes", async () => {
    const { app, log } = appOf(() => new StreamingResponse([1 as unknown as string]));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual(["error GET / failed: TypeError: A stream takes text or bytes, not number."]);
  });

  it("of HEAD is never started, and closed", async () => {
    const source = new Source();
    let isStarted = false;
    const generator = source.parts();
    const content = {
      [Symbol.asyncIterator]: () => ({
        next: () => ((isStarted = true), generator.next()),
        return: () => generator.return(undefined),
      }),
    };
    const { app } = appOf(() => new StreamingResponse(content, { headers: { "x-kind": "stream" } }));
    const answer = await call(app, "HEAD", "/");
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "x-kind": "stream" } });
    expect(answer.headers["content-length"]).toBeUndefined();
    expect(isStarted).toBe(false);
    expect(await generator.next()).toEqual({ done: true, value: undefined });
  });

  it("of HEAD destroys a Node stream that was not started", async () => {
    const file = createReadStream(import.meta.filename);
    const closed = once(file, "close");
    const { app } = appOf(() => new StreamingResponse(file));
    expect((await call(app, "HEAD", "/")).status).toBe(200);
    await closed;
  });

  it("of a file that is not there is a 500", async () => {
    const { app, log } = appOf(() => new StreamingResponse(createReadStream(`${import.meta.filename}.none`)));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect((await call(app, "HEAD", "/")).status).toBe(200);
    expect(log.lines).toEqual([expect.stringContaining("ENOENT")]);
  });

  it.each([204, 304])("with status %i has no body, and its source is closed", async (statusCode) => {
    const generator = new Source().parts();
    const { app } = appOf(() => new StreamingResponse(generator, { statusCode }));
    expect(await call(app, "GET", "/")).toMatchObject({ status: statusCode, text: "" });
    expect((await generator.next()).done).toBe(true);
  });
});

describeMatrix("content that fails before it is read", ({ call }) => {
  it.each<[string, (file: ReadStream) => Promise<void>]>([
    ["at once", () => Promise.resolve()],
    ["after its error", (file) => new Promise((resolve) => file.once("close", resolve))],
  ])("results in 500 if it is a Node stream, returned %s", async (_when, wait) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", async () => {
      const file = createReadStream(`${import.meta.filename}.none`);
      const response = new StreamingResponse(file);
      await wait(file);
      return response;
    });
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual([expect.stringContaining("ENOENT")]);
  });

  it.each<[string, (file: ReadStream) => unknown]>([
    ["returned as it is", (file) => file],
    ["given to a Response", (file) => new Response(file as never)],
  ])("results in 500 if it is a Node stream %s, which is rejected", async (_how, give) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    let closed = Promise.resolve();
    app.get("/", async () => {
      const file = createReadStream(`${import.meta.filename}.none`);
      closed = new Promise((resolve) => file.once("close", resolve));
      return give(file);
    });
    expect((await call(app, "GET", "/")).status).toBe(500);
    await closed;
    expect(log.lines).toEqual([expect.stringContaining("TypeError")]);
  });

  it("causes no error if the response is never returned", async () => {
    const app = new App();
    app.get("/", async () => {
      const file = createReadStream(`${import.meta.filename}.none`);
      const closed = new Promise<void>((resolve) => file.once("close", () => resolve()));
      void new StreamingResponse(file);
      await closed;
      return "other";
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: "other" });
  });

  function* failingParts(): Generator<Promise<string>> {
    yield Promise.reject(new Error("late"));
  }
  const failing: readonly [string, () => unknown][] = [
    ["a sync generator", failingParts],
    ["an array", () => [Promise.resolve("first"), Promise.reject(new Error("late"))]],
    ["an array whose later part waits", () => [Promise.reject(new Error("late")), new Promise(() => {})]],
  ];

  it.each(failing)("is an error of the stream if %s returns a promise that rejects", async (_kind, content) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", async () => {
      const response = new StreamingResponse(content() as Iterable<string>);
      await nextTurn();
      return response;
    });
    await call(app, "GET", "/").catch(() => {});
    expect(log.lines).toEqual(["error GET / failed: Error: late"]);
  });

  it("closes a sync generator that yielded a promise which rejects", async () => {
    let isClosed = false;
    function* parts() {
      try {
        yield Promise.reject(new Error("late")) as unknown as string;
      } finally {
        isClosed = true;
      }
    }
    const { app } = appOf(() => new StreamingResponse(parts()));
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(isClosed).toBe(true);
  });

  it("awaits promises in a sync iterable, as `for await` does", async () => {
    const parts = [Promise.resolve("a"), "b", Promise.resolve("c")] as unknown as string[];
    const { app } = appOf(() => new StreamingResponse(parts));
    expect((await call(app, "GET", "/")).text).toBe("abc");
  });

  it("results in 500 if an async iterator yields a promise in place of a chunk, even one that rejects", async () => {
    const content = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: false, value: Promise.reject(new Error("late")) }),
      }),
    } as unknown as AsyncIterable<string>;
    const { app, log } = appOf(() => new StreamingResponse(content));
    expect((await call(app, "GET", "/")).status).toBe(500);
    await nextTurn();
    expect(log.lines).toHaveLength(1);
  });
});

describe("the content of a StreamingResponse", () => {
  it.each<[string, unknown, string]>([
    [
      "text",
      "hello",
      "StreamingResponse requires an iterable of chunks. Use Response for text or bytes that are complete.",
    ],
    ["bytes", encoder.encode("a"), "StreamingResponse requires an iterable of chunks."],
    [
      "a generator function",
      async function* () {},
      "StreamingResponse requires an iterable, not a generator function: call the function.",
    ],
    ["nothing", null, "StreamingResponse takes an iterable or an async iterable, not null."],
    ["a number", 1, "StreamingResponse takes an iterable or an async iterable, not number."],
    ["an object", {}, "StreamingResponse takes an iterable or an async iterable, not object."],
  ])("is not %s, and the error suggests an alternative", (_kind, content, message) => {
    expect(() => new StreamingResponse(content as string[])).toThrow(message);
  });
});

describe("the source of a stream", () => {
  it("produces the next chunk after the server has accepted the previous one", async () => {
    const source = new Source();
    const { app } = appOf(() => new StreamingResponse(source.parts()));
    const client = new MemoryClient(app, "GET", "/");
    client.stop();
    await client.received(1);
    for (let part = 1; part <= 3; part++) {
      client.resume();
      client.stop();
      await client.received(part + 1);
      expect(source.given).toBe(part);
    }
    client.leave();
    client.resume();
    await client.ended;
  });

  it("is closed if the client disconnects, and no error is logged", async () => {
    const source = new Source();
    const { app, log } = appOf(() => new StreamingResponse(source.parts()));
    const client = new MemoryClient(app, "GET", "/");
    client.stop();
    await client.received(1);
    client.resume();
    await client.received(10);
    client.leave();
    await client.ended;
    expect(source.isClosed).toBe(true);
    expect(client.bodies.every((message) => message.more_body)).toBe(true);
    expect(log.lines).toEqual([]);
  });

  it("is notified if the client disconnects while it has no data to send", async () => {
    let waits: () => void = () => {};
    const waiting = new Promise<void>((resolve) => (waits = resolve));
    let isClosed = false;
    async function* idle(signal: AbortSignal) {
      try {
        yield "first";
        const aborted = once(signal, "abort");
        waits();
        await aborted;
      } finally {
        isClosed = true;
      }
    }
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", { params: { request: Request } }, async ({ request }) => new StreamingResponse(idle(request.signal)));
    const client = new MemoryClient(app, "GET", "/");
    await waiting;
    client.leave();
    await client.ended;
    expect(isClosed).toBe(true);
    expect(log.lines).toEqual([]);
  });

  it("is canceled as a web stream if the client disconnects while a read waits", async () => {
    let cancelled = 0;
    const source = new ReadableStream<string>({
      start: (controller) => controller.enqueue("first"),
      cancel: () => void cancelled++,
    });
    const { app, log } = appOf(() => new StreamingResponse(source));
    const client = new MemoryClient(app, "GET", "/");
    await client.received(2);
    client.leave();
    await client.ended;
    expect([client.text, cancelled, log.lines]).toEqual(["first", 1, []]);
  });

  it("is not awaited if it waits indefinitely for another event", async () => {
    async function* stuck() {
      yield "first";
      await new Promise(() => {});
    }
    const { app } = appOf(() => new StreamingResponse(stuck()));
    const client = new MemoryClient(app, "GET", "/");
    await client.received(2);
    client.leave();
    await client.ended;
    expect(client.text).toBe("first");
  });

  it("is closed when it fails, and the error cuts the connection and is logged", async () => {
    const source = new Source();
    async function* failing() {
      for await (const part of source.parts()) {
        yield part;
        if (source.given === 2) throw new Error("disk gone");
      }
    }
    const { app, log } = appOf(() => new StreamingResponse(failing()));
    const client = new MemoryClient(app, "GET", "/");
    await expect(client.ended).rejects.toThrow("disk gone");
    expect(client.text).toBe("part 1\npart 2\n");
    expect(source.isClosed).toBe(true);
    expect(log.lines).toEqual(["error GET / failed: Error: disk gone"]);
  });

  it("is not cancelled as a web stream that has failed, and its error is logged", async () => {
    const failure = new Error("the model is away");
    let reads = 0;
    const source = new ReadableStream<string>(
      { pull: (controller) => (reads++ === 0 ? controller.enqueue("first") : controller.error(failure)) },
      { highWaterMark: 0 },
    );
    const { app } = appOf(() => new StreamingResponse(source));
    const client = new MemoryClient(app, "GET", "/");
    await expect(client.ended).rejects.toBe(failure);
    expect(client.text).toBe("first");
  });

  it("is closed when a later part cannot be sent", async () => {
    const source = new Source();
    async function* wrong() {
      yield "first";
      yield* source.parts();
    }
    const parts = wrong();
    const { app } = appOf(() => new StreamingResponse(parts));
    const failing: typeof app = Object.assign(
      (...[scope, receive, send]: Parameters<typeof app>) =>
        app(scope, receive, (message) => {
          if (message.type === "http.response.body") throw new Error("socket on fire");
          return send(message);
        }),
      {},
    ) as never;
    await expect(new MemoryClient(failing, "GET", "/").ended).rejects.toThrow("socket on fire");
    expect((await parts.next()).done).toBe(true);
  });
});

describe("a stream over a socket", () => {
  it("pauses its source while the client does not read, and closes it if the client disconnects", async () => {
    const part = new Uint8Array(65_536);
    let given = 0;
    let close = () => {};
    const closed = new Promise<void>((resolve) => (close = resolve));
    async function* endless() {
      try {
        for (;;) {
          given += part.length;
          yield part;
        }
      } finally {
        close();
      }
    }
    const { app, log } = appOf(() => new StreamingResponse(endless()));
    await using server = await served(app);
    await using wire = new Wire(server.port);
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await wire.until(/200 OK/);
    wire.socket.pause();
    // The source stops once the buffers of both ends are full: two looks in a row see the same.
    for (let before = -1; before !== given;) {
      before = given;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(given).toBeLessThan(64 * 1024 * 1024);
    wire.socket.resetAndDestroy();
    await closed;
    expect(log.lines).toEqual([]);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("is aborted if it fails after its first chunk, so that the client detects the incomplete response", async () => {
    let fail = () => {};
    const failed = new Promise<void>((resolve) => (fail = resolve));
    async function* failing() {
      yield "first";
      await failed;
      throw new Error("no more");
    }
    const { app, log } = appOf(() => new StreamingResponse(failing()));
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n").until(/first/);
    fail();
    const received = await wire.closed;
    expect(received).not.toContain("0\r\n\r\n");
    expect(log.lines).toEqual(["error GET / failed: Error: no more"]);
  });
});
