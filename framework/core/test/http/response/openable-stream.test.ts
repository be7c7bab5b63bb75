import { describe, expect, it } from "@jest/globals";
import { App, event, HTTPException, type Request } from "tsgi";
import { FAILURE, OPEN, type OpenableStream } from "tsgi/internals";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** Numbers after the last one that the client has seen, up to 3. */
function numbers(seen: (string | null)[] = []): OpenableStream<unknown> {
  return {
    [OPEN]: async (request: Request | undefined) => {
      const last = request?.header("last-event-id") ?? null;
      seen.push(last);
      if (last === "403") throw new HTTPException(403);
      return (async function* () {
        for (let id = Number(last) + 1; id <= 3; id++) yield event({ id, data: id });
      })();
    },
    async *[Symbol.asyncIterator]() {
      yield "never iterated as it is";
    },
  };
}

class Failed extends Error {
  readonly [FAILURE] = "for the client";
}

async function get(app: App, path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await app.fetch(new globalThis.Request(`http://localhost${path}`, { headers, method }));
  return [response.status, await response.text()];
}

describe("a stream that opens with the request", () => {
  const app = new App({ logger: quiet });
  app.get("/sse", { stream: "sse" }, async () => numbers());
  app.get("/lines", { stream: "jsonl" }, async () => numbers());

  it("continues after the last event of the client", async () => {
    expect(await get(app, "/sse", { "last-event-id": "1" })).toEqual([200, "id: 2\ndata: 2\n\nid: 3\ndata: 3\n\n"]);
  });

  it("rejects the client before the head", async () => {
    expect(await get(app, "/sse", { "last-event-id": "403" })).toEqual([403, '{"detail":"Forbidden"}']);
    expect((await get(app, "/lines", { "last-event-id": "403" }))[0]).toBe(403);
    expect(await get(app, "/sse", { "last-event-id": "403" }, "HEAD")).toEqual([403, ""]);
  });

  it("responds with 204 if the client has seen all events", async () => {
    expect(await get(app, "/sse", { "last-event-id": "3" })).toEqual([204, ""]);
    expect(await get(app, "/lines", { "last-event-id": "3" })).toEqual([200, ""]);
  });
});

describe("a stream of events without a first event", () => {
  const app = new App({ logger: quiet });
  app.get("/empty", { stream: "sse" }, async function* () {});
  app.get("/created", { stream: "sse", statusCode: 201 }, async function* () {});

  it("is 204 for a client that has seen events, which then stops to connect", async () => {
    expect(await get(app, "/empty", { "last-event-id": "9" })).toEqual([204, ""]);
  });

  it("is an empty stream for a new client, and with another status", async () => {
    expect(await get(app, "/empty")).toEqual([200, ""]);
    expect(await get(app, "/created", { "last-event-id": "9" })).toEqual([201, ""]);
  });
});

describe("a source that reports its failure", () => {
  const app = new App({ logger: quiet });
  const fail = async function* (count: number) {
    for (let id = 1; id <= count; id++) yield event({ id, data: id });
    throw new Failed("for the log");
  };
  app.get("/sse/{count}", { stream: "sse" }, async function* ({ count }) {
    yield* fail(Number(count));
  });
  app.get("/lines/{count}", { stream: "jsonl" }, async function* ({ count }) {
    yield* fail(Number(count));
  });
  const failure = 'event: error\ndata: {"detail":"for the client"}\n\n';

  it("ends a stream of events with the event error, before and after the first event", async () => {
    expect(await get(app, "/sse/0")).toEqual([200, failure]);
    expect(await get(app, "/sse/1")).toEqual([200, `id: 1\ndata: 1\n\n${failure}`]);
  });

  it("is an error like any other in JSON lines", async () => {
    expect((await get(app, "/lines/0"))[0]).toBe(500);
    await expect(get(app, "/lines/1")).rejects.toThrow("for the log");
  });
});
