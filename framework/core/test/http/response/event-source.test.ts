import { afterEach, describe, expect, it, jest } from "@jest/globals";
import {
  App,
  event,
  EventSourceResponse,
  type EventSourceOptions,
  lastEventId,
  Request,
  type StreamContent,
} from "../../../src/index.js";
import { served, Wire } from "../../platforms/node/_http.js";
import { MemoryClient } from "../../../../test/support/client.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

const appOf = (content: () => StreamContent<unknown>, options?: EventSourceOptions) => {
  const log = new KeptLog();
  const app = new App({ logger: log });
  app.get("/", async () => new EventSourceResponse(content(), options));
  return { app, log };
};

afterEach(() => {
  jest.useRealTimers();
});

describeMatrix("an EventSourceResponse", ({ call }) => {
  it("is an event stream that proxies do not cache or buffer", async () => {
    const { app } = appOf(() => ["hello"], { statusCode: 200, headers: { "x-own": "yes" } });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 200, text: "data: hello\n\n" });
    expect(answer.headers).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-own": "yes",
    });
  });

  it.each<[unknown, string]>([
    ["one line", "data: one line\n\n"],
    ["", "data: \n\n"],
    ["two\nlines", "data: two\ndata: lines\n\n"],
    ["a\r\nb\rc\n", "data: a\ndata: b\ndata: c\ndata: \n\n"],
    ["event: forged\n\nid: 1", "data: event: forged\ndata: \ndata: id: 1\n\n"],
    [{ data: "x" }, "data: x\n\n"],
    [{ data: { a: 1, text: "x\ny" } }, 'data: {"a":1,"text":"x\\ny"}\n\n'],
    [{ data: null }, "data: null\n\n"],
    [{ event: "tick", id: 7, retry: 1500, data: [1] }, "event: tick\nid: 7\nretry: 1500\ndata: [1]\n\n"],
    [{ id: "é✓", data: "x" }, "id: é✓\ndata: x\n\n"],
    [{ event: "end" }, "event: end\ndata: \n\n"],
    [{ comment: "still\nhere" }, ": still\n: here\n\n"],
    [{ retry: 0, comment: "" }, ": \nretry: 0\n\n"],
    [{ user: 1 }, 'data: {"user":1}\n\n'],
    [{ id: 1 }, 'data: {"id":1}\n\n'],
    [{ id: 1, name: "x", data: 1 }, 'data: {"id":1,"name":"x","data":1}\n\n'],
    [5, "data: 5\n\n"],
    [[1, 2], "data: [1,2]\n\n"],
    [undefined, "data: null\n\n"],
  ])("sends %j", async (item, text) => {
    const { app } = appOf(() => [item]);
    expect((await call(app, "GET", "/")).text).toBe(text);
  });

  it.each<[string, unknown]>([
    ["LF in event", { event: "a\ndata: forged", data: 1 }],
    ["CR in event", { event: "a\rb" }],
    ["NUL in event", { event: "a\0" }],
    ["LF in id", { id: "1\n\ndata: forged", data: 1 }],
    ["CR in id", { id: "1\r", data: 1 }],
    ["NUL in id", { id: "\0", data: 1 }],
    ["a retry with LF", { retry: "1\ndata: forged", data: 1 }],
  ])("rejects %s", async (_what, item) => {
    const { app, log } = appOf(() => [item]);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual([expect.stringMatching(/The (?:event|id|retry) of a server-sent event/)]);
  });

  it.each<[string, object, string, string]>([
    ["a retry that is not a whole number", { retry: 1.5, data: 1 }, "data: 1\n\n", "retry"],
    ["a retry below 0", { retry: -1, data: 1 }, "data: 1\n\n", "retry"],
    ["a retry as text, without anything else", { retry: "x" }, "\n", "retry"],
    ["an event that is not text", { event: { a: 1 }, data: 1 }, "data: 1\n\n", "event"],
    ["LF in a marked event", event({ event: "a\ndata: forged", id: 7, data: 1 }), "id: 7\ndata: 1\n\n", "event"],
    ["NUL in the id of a marked event", event({ id: "\0", data: 1 }), "data: 1\n\n", "id"],
  ])("skips %s, and logs it once", async (_what, item, text, field) => {
    const { app, log } = appOf(() => [item, item, { data: "next" }]);
    expect((await call(app, "GET", "/")).text).toBe(`${text}${text}data: next\n\n`);
    expect(log.lines).toEqual([expect.stringMatching(`The ${field} of a server-sent event .* It was skipped\\.`)]);
  });

  it("responds to HEAD without starting", async () => {
    const answer = await call(appOf(() => ["hello"]).app, "HEAD", "/");
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "content-type": "text/event-stream" } });
  });

  it("continues after the Last-Event-ID, which is UTF-8", async () => {
    const app = new App();
    app.get("/", { params: { request: Request } }, async ({ request }) => lastEventId(request));
    expect((await call(app, "GET", "/")).json).toBeNull();
    const header = Buffer.from("é✓", "utf8").toString("latin1");
    expect((await call(app, "GET", "/", { headers: [["last-event-id", header]] })).json).toBe("é✓");
    expect((await call(app, "GET", "/", { headers: [["last-event-id", "é"]] })).json).toBe("é");
  });
});

/** A stream without items until it is told to continue. */
class Quiet {
  #give: (text: string) => void = () => {};
  #next = new Promise<string>((resolve) => (this.#give = resolve));

  give(text: string): void {
    this.#give(text);
  }

  async *events(): AsyncGenerator<string> {
    for (;;) {
      yield await this.#next;
      this.#next = new Promise((resolve) => (this.#give = resolve));
    }
  }
}

describe("a silent event stream", () => {
  it("sends its head after a second, and a comment every 15 seconds", async () => {
    jest.useFakeTimers();
    const quiet = new Quiet();
    const client = new MemoryClient(appOf(() => quiet.events()).app, "GET", "/");
    await jest.advanceTimersByTimeAsync(999);
    expect(client.messages).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(client.messages.map(({ type }) => type)).toEqual(["http.response.start", "http.response.body"]);
    await jest.advanceTimersByTimeAsync(30_100);
    expect(client.text).toBe(": keep-alive\n\n".repeat(2));
    await jest.advanceTimersByTimeAsync(14_000);
    quiet.give("now");
    await jest.advanceTimersByTimeAsync(14_000);
    expect(client.text).toBe(`${": keep-alive\n\n".repeat(2)}data: now\n\n`);
    client.leave();
    await jest.advanceTimersByTimeAsync(2000);
    await client.ended;
    expect(jest.getTimerCount()).toBe(0);
  });

  it("does not lose events that arrive while a comment is being sent", async () => {
    jest.useFakeTimers();
    const quiet = new Quiet();
    const client = new MemoryClient(appOf(() => quiet.events(), { keepAliveMs: 10 }).app, "GET", "/");
    await jest.advanceTimersByTimeAsync(1000);
    client.stop();
    await jest.advanceTimersByTimeAsync(10);
    quiet.give("meanwhile");
    await jest.advanceTimersByTimeAsync(5);
    client.resume();
    await jest.advanceTimersByTimeAsync(1);
    expect(client.text).toBe(": keep-alive\n\ndata: meanwhile\n\n");
    client.leave();
    await jest.advanceTimersByTimeAsync(2000);
    await client.ended;
  });

  it("is silent if the options disable the comment", async () => {
    jest.useFakeTimers();
    const client = new MemoryClient(appOf(() => new Quiet().events(), { keepAliveMs: 0 }).app, "GET", "/");
    await jest.advanceTimersByTimeAsync(3_600_000);
    expect(client.text).toBe("");
    client.leave();
    await jest.advanceTimersByTimeAsync(2000);
    await client.ended;
    expect(() => new EventSourceResponse([], { keepAliveMs: -1 })).toThrow("keepAliveMs should be milliseconds");
  });

  it("leaves no timer if its source ends or fails", async () => {
    jest.useFakeTimers();
    async function* source(fails: boolean): AsyncGenerator<string> {
      yield "only";
      if (fails) throw new Error("planned");
    }
    for (const fails of [false, true]) {
      const client = new MemoryClient(appOf(() => source(fails)).app, "GET", "/");
      await jest.advanceTimersByTimeAsync(1);
      await client.ended.catch(() => {});
      expect(client.text).toBe("data: only\n\n");
      expect(jest.getTimerCount()).toBe(0);
    }
  });

  it.each([
    ["ends if its last event has an id", async () => ({ id: 7, data: "first" }), /\r\n0\r\n\r\n$/],
    ["is cut if its last event has no id", async () => "first", /first\n\n\r\n$/],
  ])("%s when the server stops", async (_what, first, end) => {
    const { app, log } = appOf(async function* () {
      yield await first();
      await new Promise(() => {});
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await wire.until(/data: first\n\n/);
    await server.close();
    expect(await wire.closed).toMatch(end);
    expect([...log.lines, ...server.logger.at("error")]).toEqual([]);
  });
});
