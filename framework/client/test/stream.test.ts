import { describe, expect, it, jest } from "@jest/globals";
import { App, Depends, event, HTTPException, lastEventId, Query, Request, sse, t } from "tsgi";
import { HTTPBearer } from "tsgi/security";
import { TestClient } from "tsgi/testing";
import { type ApiOf, createClient, StreamRefusedError } from "../src/index.js";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Numbers up to 6. A connection is cut, or ends, after two of them. */
function createApp(end: "cut" | "clean") {
  const app = new App({ logger: quiet });
  const seen: (string | null)[] = [];
  const routes = {
    numbers: app.get("/numbers", { stream: "sse", params: { request: Request } }, async function* ({ request }) {
      const last = lastEventId(request);
      seen.push(last);
      for (let number = Number(last) + 1; number <= 6; number++) {
        yield event({ id: number, data: { number } });
        if (number % 2 > 0) continue;
        if (end === "clean") return;
        throw new Error("The connection is cut");
      }
    }),
  };
  return { app, routes, seen };
}

describe("a client's stream", () => {
  it.each(["cut", "clean"] as const)("continues after the last event id if the response is %s", async (end) => {
    const { app, routes, seen } = createApp(end);
    await using server = await TestClient.open(app);
    const client = createClient<ApiOf<typeof routes>>({ baseUrl: server.url });
    const events = await collect(client.stream("/numbers"));
    expect(events).toEqual([1, 2, 3, 4, 5, 6].map((number) => ({ id: String(number), data: { number } })));
    expect(seen).toEqual([null, "2", "4", "6"]);
    const numbers: number[] = events.map(({ data }) => data.number);
    expect(numbers).toHaveLength(6);
  });

  it("ends with a response without ids", async () => {
    const app = new App();
    const routes = {
      ticks: app.get("/ticks", { stream: "sse" }, async function* () {
        yield 1;
        yield 2;
      }),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    expect(await collect(client.stream("/ticks"))).toEqual([{ data: 1 }, { data: 2 }]);
  });

  it("types the events that a route names, and sends its parameters", async () => {
    const app = new App();
    const returns = sse({ token: t.Object({ text: t.String() }), done: t.Null() });
    const routes = {
      answer: app.get(
        "/answer",
        { stream: "sse", returns, params: { words: Query(t.Integer()) } },
        async function* ({ words }) {
          for (let word = 0; word < words; word++) yield { event: "token", data: { text: String(word) } };
          yield { event: "done", data: null };
        },
      ),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    const texts: string[] = [];
    for await (const { event: name, data } of client.stream("/answer", { params: { query: { words: 2 } } })) {
      if (name === "token") texts.push(data.text);
      else expect(data).toBeNull();
    }
    expect(texts).toEqual(["0", "1"]);
    // @ts-expect-error -- the route has no such parameter
    void client.stream("/answer", { params: { query: { word: 2 } } });
  });

  it("passes headers and middleware on each connection", async () => {
    const app = new App({ logger: quiet });
    const bearer = new HTTPBearer();
    const used: string[] = [];
    const routes = {
      mine: app.get(
        "/mine",
        { stream: "sse", params: { token: Depends(bearer), request: Request } },
        async function* ({ token, request }) {
          used.push(`${token.credentials} ${String(request.header("x-trace"))}`);
          const last = Number(lastEventId(request));
          if (last === 2) return;
          yield event({ id: last + 1, data: "x" });
          throw new Error("The connection is cut");
        },
      ),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    client.use({ onRequest: ({ request }) => request.headers.set("authorization", "Bearer secret") });
    expect(await collect(client.stream("/mine", { headers: { "x-trace": "1" } }))).toHaveLength(2);
    expect(used).toEqual(["secret 1", "secret 1", "secret 1"]);
  });

  it("throws the response of a rejection, which it does not retry", async () => {
    const app = new App();
    let count = 0;
    const routes = {
      no: app.get("/no", { stream: "sse" }, async function* () {
        count++;
        if (count > 0) throw new HTTPException(403, "Not yours");
        yield 1;
      }),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    const error = await collect(client.stream("/no")).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StreamRefusedError);
    expect(error).toMatchObject({ response: { status: 403 }, error: { detail: "Not yours" } });
    expect(count).toBe(1);
  });

  it("connects again after 503", async () => {
    const app = new App();
    let count = 0;
    const routes = {
      soon: app.get("/soon", { stream: "sse" }, async function* () {
        if (++count < 3) throw new HTTPException(503);
        yield "here";
      }),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    expect(await collect(client.stream("/soon"))).toEqual([{ data: "here" }]);
  });

  it("does not connect again at once after a Retry-After of a month", async () => {
    const app = new App();
    const delays: (number | undefined)[] = [];
    const headers = { "retry-after": String(30 * 24 * 3_600) };
    const limit = Depends(async () => {
      throw new HTTPException(429, undefined, { headers });
    });
    const routes = {
      limited: app.get("/limited", { stream: "sse", dependencies: [limit] }, async function* () {
        yield "early";
      }),
    };
    const stream = createClient<ApiOf<typeof routes>>({ fetch: app.fetch }).stream("/limited");
    const { setTimeout: start } = globalThis;
    const spy = jest.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, ms?: number) => {
      delays.push(ms);
      queueMicrotask(() => stream.stop());
      return start(run, ms);
    });
    try {
      expect(await collect(stream)).toEqual([]);
    } finally {
      spy.mockRestore();
    }
    expect(delays).toEqual([2_147_483_647]);
  });

  it("throws the error of a first connection that fails", async () => {
    const { routes } = createApp("clean");
    const client = createClient<ApiOf<typeof routes>>({ baseUrl: "http://127.0.0.1:1" });
    await expect(collect(client.stream("/numbers"))).rejects.toThrow("fetch failed");
  });

  it("is not requested if a path parameter is empty", async () => {
    const app = new App();
    const routes = { room: app.get("/rooms/{id}", { stream: "sse" }, async function* () {}) };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    await expect(collect(client.stream("/rooms/{id}", { params: { path: { id: "" } } }))).rejects.toThrow(TypeError);
  });

  it("yields the event error, and ends after it", async () => {
    const app = new App();
    const routes = {
      failing: app.get("/failing", { stream: "sse" }, async function* () {
        yield event({ id: 1, data: 1 });
        yield event({ event: "error", data: { detail: "The producer has failed" } });
      }),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    const events = await collect(client.stream("/failing"));
    expect(events.at(-1)).toEqual({ event: "error", data: { detail: "The producer has failed" } });
  });

  it.each(["stop", "signal", "break"] as const)("ends the connection by %s", async (by) => {
    const app = new App();
    let ended = () => {};
    const cleanedUp = new Promise<void>((resolve) => (ended = resolve));
    const routes = {
      forever: app.get("/forever", { stream: "sse", params: { request: Request } }, async function* ({ request }) {
        try {
          yield event({ id: 1, data: 1 });
          await new Promise((resolve) => request.signal.addEventListener("abort", resolve));
        } finally {
          ended();
        }
      }),
    };
    await using server = await TestClient.open(app);
    const client = createClient<ApiOf<typeof routes>>({ baseUrl: server.url });
    const controller = new AbortController();
    const stream = client.stream("/forever", { signal: controller.signal });
    const received = [];
    for await (const { data } of stream) {
      received.push(data);
      if (by === "stop") stream.stop();
      else if (by === "signal") controller.abort();
      else break;
    }
    expect(received).toEqual([1]);
    await cleanedUp;
  });

  it("sends an event id of any script in UTF-8", async () => {
    const app = new App({ logger: quiet });
    const seen: (string | null)[] = [];
    const routes = {
      names: app.get("/names", { stream: "sse", params: { request: Request } }, async function* ({ request }) {
        seen.push(lastEventId(request));
        if (seen.length === 1) yield event({ id: "ключ 😀", data: 1 });
      }),
    };
    const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
    expect(await collect(client.stream("/names"))).toHaveLength(1);
    expect(seen).toEqual([null, "ключ 😀"]);
  });
});

/** A response, or the text of one, which is cut if it ends with ✂. */
type Reply = string | globalThis.Response;

/** Replies to each request with the next text, and to later ones with the last. */
function streamOf(...replies: readonly Reply[]) {
  const ids: (string | null)[] = [];
  const fetch = async (request: globalThis.Request) => {
    const reply = replies[Math.min(ids.length, replies.length - 1)] ?? "";
    ids.push(request.headers.get("last-event-id"));
    if (typeof reply !== "string") return reply.clone();
    const bytes = new TextEncoder().encode(reply.replace("✂", ""));
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(bytes),
      pull: (controller) => (reply.endsWith("✂") ? controller.error(new Error("It is cut")) : controller.close()),
    });
    return new globalThis.Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const routes = { numbers: new App().get("/numbers", { stream: "sse" }, async function* () {}) };
  return { stream: createClient<ApiOf<typeof routes>>({ fetch }).stream("/numbers"), ids };
}

/** Runs each timer immediately, and collects their delays. */
function skipTimers(): { readonly delays: number[] } & Disposable {
  const delays: number[] = [];
  const { setTimeout: start } = globalThis;
  const spy = jest.spyOn(globalThis, "setTimeout").mockImplementation((run: () => void, ms = 0) => {
    delays.push(ms);
    return start(run);
  });
  return { delays, [Symbol.dispose]: () => spy.mockRestore() };
}

const DONE = new globalThis.Response(null, { status: 204 });

describe("a stream is requested again", () => {
  it.each([
    ["an event with an id", "id: 7\ndata: 1\n\n", "7"],
    ["an id without data", "data: 1\n\nid: 7\n\n", "7"],
    ["an id before events without one", "id: 7\ndata: 1\n\ndata: 2\n\n", "7"],
    ["a retry without an id", "retry: 1\ndata: 1\n\n", null],
    ["an id of which a later one is incomplete", "id: 7\ndata: 1\n\nid: 8\ndata: 2\n", "7"],
    ["an id, after which another has a zero byte", "id: 7\n\nid: 8\u0000\ndata: 1\n\n", "7"],
  ])("after %s", async (_, text, id) => {
    const { stream, ids } = streamOf(text, DONE);
    await collect(stream);
    expect(ids).toEqual([null, id]);
  });
});

describe("a stream is not requested again", () => {
  it.each([
    ["a response without ids", "data: 1\n\n"],
    ["an id that was reset", "id: 7\ndata: 1\n\nid\n\n"],
    ["an incomplete block with an id", "data: 1\n\nid: 7\ndata: 2\n"],
    ["an event error with an id", "id: 7\nevent: error\ndata: 1\n\n"],
  ])("after %s, whose end ends the iteration", async (_, text) => {
    const { stream, ids } = streamOf(text);
    expect((await collect(stream)).map(({ data }) => data)).toEqual([1]);
    expect(ids).toEqual([null]);
  });

  it("after a response without ids that is cut, which is an error", async () => {
    const { stream, ids } = streamOf("data: 1\n\n✂");
    await expect(collect(stream)).rejects.toThrow("It is cut");
    expect(ids).toEqual([null]);
  });

  it("after ten attempts without an event, whose last error is thrown", async () => {
    const { stream, ids } = streamOf("retry: 0\nid: 1\ndata: 1\n\n", "id: 2\n\n", "✂");
    await expect(collect(stream)).rejects.toThrow("It is cut");
    expect(ids).toEqual([null, "1", ...Array.from({ length: 9 }, () => "2")]);
  });

  it("after ten responses that end without an event", async () => {
    const { stream, ids } = streamOf("retry: 0\n\n");
    await expect(collect(stream)).rejects.toThrow("The stream ended 10 times without an event");
    expect(ids).toHaveLength(10);
  });
});

describe("the pause before a stream is requested again", () => {
  const unavailable = (headers = {}) => new globalThis.Response("away", { status: 503, headers });

  const ENDED = "The stream ended 10 times without an event";

  it.each([
    ["0.25 s", unavailable(), [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000], "with 503"],
    ["retry", "retry: 3000\n\n", [3_000, 6_000, ...Array.from({ length: 7 }, () => 10_000)], ENDED],
    ["a retry longer than 10 s", "retry: 20000\n\n", Array.from({ length: 9 }, () => 20_000), ENDED],
  ])("doubles from %s, and ends with the tenth attempt", async (_, reply, expected, message) => {
    using timers = skipTimers();
    const random = jest.spyOn(Math, "random").mockReturnValue(1);
    await expect(collect(streamOf(reply).stream)).rejects.toThrow(message);
    random.mockRestore();
    expect(timers.delays).toEqual(expected);
  });

  it("begins again after an event, and may be half as long", async () => {
    using timers = skipTimers();
    const random = jest.spyOn(Math, "random").mockReturnValue(0);
    await collect(streamOf(unavailable(), unavailable(), "id: 1\ndata: 1\n\n", unavailable(), DONE).stream);
    random.mockRestore();
    expect(timers.delays).toEqual([125, 250, 125, 250]);
  });

  it("is at least Retry-After, in seconds or as a date", async () => {
    using timers = skipTimers();
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const replies = ["60", date, "soon"].map((value) => unavailable({ "retry-after": value }));
    await collect(streamOf(...replies, DONE).stream);
    expect(timers.delays[0]).toBe(60_000);
    expect(Math.round(Number(timers.delays[1]) / 60_000)).toBe(60);
    expect(timers.delays[2]).toBeLessThanOrEqual(1_000);
  });
});
