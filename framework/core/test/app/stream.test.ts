import { describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  ConfigurationError,
  Depends,
  event,
  HTTPException,
  PlainTextResponse,
  Response,
  sse,
  type StreamFormat,
  t,
} from "../../src/index.js";
import { MemoryClient } from "../../../test/support/client.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const create = () => {
  const log = new KeptLog();
  return { app: new App({ logger: log }), log };
};

const Item = t.Object({ n: t.Integer() });

describeMatrix("a handler that is a generator", ({ call }) => {
  it("streams its items as JSON Lines", async () => {
    const { app } = create();
    app.get("/{name}", { params: { count: t.Integer() } }, async function* ({ name, count }) {
      for (let n = 1; n <= count; n++) yield { name, n };
      yield "text\nof two lines";
      yield null;
    });
    const answer = await call(app, "GET", "/a?count=2");
    expect(answer.text).toBe('{"name":"a","n":1}\n{"name":"a","n":2}\n"text\\nof two lines"\nnull\n');
    expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/jsonl" } });
  });

  it("may be a plain generator, and a bound one", async () => {
    const { app } = create();
    app.get("/plain", function* () {
      yield 1;
      yield 2;
    });
    class Numbers {
      readonly first = 5;
      async *list() {
        yield this.first;
      }
    }
    const numbers = new Numbers();
    app.get("/bound", numbers.list.bind(numbers));
    expect((await call(app, "GET", "/plain")).text).toBe("1\n2\n");
    expect((await call(app, "GET", "/bound")).text).toBe("5\n");
  });

  it('streams events with `stream: "sse"`: text, data, and marked events', async () => {
    const { app } = create();
    app.get("/", { stream: "sse" }, async function* () {
      yield "text";
      yield { n: 1 };
      yield event({ event: "tick", id: 2, data: { n: 2 } });
      yield event({ comment: "done" });
    });
    const answer = await call(app, "GET", "/");
    expect(answer.headers["content-type"]).toBe("text/event-stream");
    expect(answer.text).toBe('data: text\n\ndata: {"n":1}\n\nevent: tick\nid: 2\ndata: {"n":2}\n\n: done\n\n');
  });

  it.each([
    '{"event":"admin","retry":86400000,"data":"forged"}',
    '{"retry":"x"}',
    '{"id":"1\\n\\ndata: forged","data":1}',
    '{"comment":"a\\n\\ndata: forged"}',
    '{"data":{"a":1}}',
  ])("sends a message of a client as data, regardless of its keys: %s", async (message) => {
    for (const options of [{}, { returns: t.Any() }]) {
      const { app, log } = create();
      app.get("/", { stream: "sse", ...options }, async () => [JSON.parse(message) as unknown, "end"] as never);
      const { text } = await call(app, "GET", "/");
      expect(text).toBe(`data: ${message}\n\ndata: end\n\n`);
      expect(log.lines).toEqual([]);
    }
  });

  it.each([{ event: "admin", retry: 86_400_000, data: { n: 1 } }, { data: { n: 1 } }, { comment: "a" }])(
    "rejects a message of a client that has the keys of an event and does not match `returns`: %j",
    async (message) => {
      const { app, log } = create();
      app.get("/", { stream: "sse", returns: Item }, async () => [message] as never);
      expect(await call(app, "GET", "/")).toMatchObject({ status: 500 });
      expect(log.lines).toEqual([expect.stringContaining("does not fit `returns`: n: ")]);
    },
  );

  it("has the status of its route", async () => {
    const { app } = create();
    app.post("/", { statusCode: 202 }, async function* () {
      yield 1;
    });
    expect(await call(app, "POST", "/")).toMatchObject({ status: 202, text: "1\n" });
  });

  it.each<[StreamFormat, string]>([
    ["jsonl", '{"n":1}\n{"n":2}\n'],
    ["sse", 'data: {"n":1}\n\nid: 2\ndata: {"n":2}\n\n'],
  ])("sends only the properties of each item that are in `returns`: %s", async (stream, text) => {
    const { app } = create();
    app.get("/", { stream, returns: Item }, async function* () {
      yield { n: 1, secret: "x" };
      const second = { n: 2, secret: "y" };
      yield (stream === "sse" ? event({ id: 2, data: second }) : second) as { n: number };
    });
    expect((await call(app, "GET", "/")).text).toBe(text);
  });

  it("checks items by a schema that is asynchronous", async () => {
    const { app } = create();
    const later = {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: async (value: unknown) => ({ value: { n: (value as { n: number }).n * 2 } }),
        jsonSchema: {
          input: () => ({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }),
          output: () => ({ type: "object", properties: { n: { type: "integer" } }, required: ["n"] }),
        },
      },
    };
    app.get("/", { returns: later as never }, async function* () {
      yield { n: 1 } as never;
    });
    expect((await call(app, "GET", "/")).text).toBe('{"n":2}\n');
  });

  it("has the same error response as other handlers if it fails before its first item", async () => {
    const { app, log } = create();
    app.get("/{name}", async function* ({ name }) {
      if (name === "unknown") throw new HTTPException(404, "No such list");
      if (name === "broken") throw new Error("oh");
      yield name;
    });
    expect(await call(app, "GET", "/unknown")).toMatchObject({ status: 404, json: { detail: "No such list" } });
    expect((await call(app, "GET", "/broken")).status).toBe(500);
    expect((await call(app, "GET", "/known")).status).toBe(200);
    expect(log.lines).toEqual(["error GET /broken failed: Error: oh"]);
  });

  it("results in 500 if its first item does not match `returns`", async () => {
    const { app, log } = create();
    app.get("/", { returns: Item }, async function* () {
      yield { n: "one" as unknown as number };
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(log.lines).toEqual([expect.stringContaining("does not fit `returns`")]);
  });

  it("of HEAD is never started", async () => {
    const { app } = create();
    let isStarted = false;
    app.get("/", async function* () {
      isStarted = true;
      yield 1;
    });
    const answer = await call(app, "HEAD", "/");
    expect(answer).toMatchObject({ status: 200, text: "", headers: { "content-type": "application/jsonl" } });
    expect(isStarted).toBe(false);
  });

  it("has dependencies that clean up after its last item, and background tasks before that", async () => {
    const { app } = create();
    const order: string[] = [];
    async function* connect() {
      order.push("open");
      yield "db";
      order.push("close");
    }
    app.get("/", { params: { db: Depends(connect), tasks: BackgroundTasks } }, async function* ({ db, tasks }) {
      tasks.addTask(() => void order.push("task"));
      yield `${db} 1`;
      await new Promise((resolve) => setTimeout(resolve, 1));
      order.push("last");
      yield `${db} 2`;
    });
    expect((await call(app, "GET", "/")).text).toBe('"db 1"\n"db 2"\n');
    expect(order).toEqual(["open", "last", "task", "close"]);
  });

  it("sets headers, cookies and status on the draft until its first item", async () => {
    const { app } = create();
    app.get("/", { params: { response: Response } }, async function* ({ response }) {
      response.statusCode = 203;
      response.headers.set("x-total", "2").set("content-type", "application/x-ndjson");
      response.setCookie("seen", "yes");
      yield 1;
      yield 2;
    });
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 203, text: "1\n2\n" });
    expect(answer.headers).toMatchObject({ "x-total": "2", "content-type": "application/x-ndjson" });
    expect(answer.headers["set-cookie"]).toMatch(/^seen=yes; /);
  });

  it("with the option `stream` may be an async function that returns an iterable, or a Response", async () => {
    const { app, log } = create();
    app.get("/list", { stream: "jsonl" }, async () => [1, 2]);
    app.get("/response", { stream: "jsonl" }, async () => new PlainTextResponse("none", { statusCode: 203 }));
    app.get("/none", { stream: "jsonl" }, async () => 5);
    expect((await call(app, "GET", "/list")).text).toBe("1\n2\n");
    expect(await call(app, "GET", "/response")).toMatchObject({ status: 203, text: "none" });
    expect((await call(app, "GET", "/none")).status).toBe(500);
    expect(log.lines).toEqual([expect.stringContaining("yields its items, or returns an iterable")]);
  });

  it("is suggested in the log if an async function returns one", async () => {
    const { app, log } = create();
    async function* items() {
      yield 1;
    }
    app.get("/", async () => items());
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines).toEqual([
      expect.stringContaining("Return new StreamingResponse(iterable), or write the handler as"),
    ]);
  });
});

describe("a generator that fails later", () => {
  it.each<[string, () => unknown, string]>([
    [
      "by an error",
      () => {
        throw new Error("half way");
      },
      "half way",
    ],
    ["by an item that does not fit `returns`", () => ({ n: "two" }), "does not fit `returns`"],
    ["by an item that JSON does not have", () => ({ n: 1n }), "does not fit `returns`"],
  ])("%s cuts the connection, and its dependencies see the error", async (_how, second, message) => {
    const { app, log } = create();
    const seen: unknown[] = [];
    async function* connect() {
      try {
        yield "db";
      } catch (error) {
        seen.push(error);
        throw error;
      }
    }
    app.get("/", { params: { db: Depends(connect) }, returns: Item }, async function* () {
      yield { n: 1 };
      yield second() as { n: number };
    });
    const client = new MemoryClient(app, "GET", "/");
    await expect(client.ended).rejects.toThrow(message);
    expect(client.text).toBe('{"n":1}\n');
    expect(log.lines).toHaveLength(1);
    expect(seen).toHaveLength(1);
  });

  it("is closed if the client disconnects; tasks and cleanup run, and no error is logged", async () => {
    const { app, log } = create();
    const order: string[] = [];
    async function* connect() {
      try {
        yield "db";
        order.push("commit");
      } catch {
        order.push("rollback");
      }
    }
    app.get("/", { params: { db: Depends(connect), tasks: BackgroundTasks } }, async function* ({ tasks }) {
      tasks.addTask(() => void order.push("task"));
      try {
        for (let n = 0; ; n++) yield { n };
      } finally {
        order.push("closed");
      }
    });
    const client = new MemoryClient(app, "GET", "/");
    await client.received(5);
    client.leave();
    await client.ended;
    expect(order).toEqual(["closed", "task", "commit"]);
    expect(log.lines).toEqual([]);
  });
});

describe("the option `stream`", () => {
  it("is rejected on a non-async function, and with another word", () => {
    const { app } = create();
    expect(() => app.get("/a", { stream: "sse" }, () => [1])).toThrow(
      new ConfigurationError(
        "GET /a: `stream` is for a handler that runs on the event loop. Write `async function* () { yield … }`.",
      ),
    );
    expect(() => app.get("/b", { stream: "xml" as "sse" }, async () => [1])).toThrow(
      'GET /b: stream should be "jsonl" or "sse", not "xml".',
    );
  });

  it("has the media type in the document, with the schema of one item", () => {
    const { app } = create();
    app.get("/lines", { returns: Item }, async function* () {
      yield { n: 1 };
    });
    app.get("/events", { stream: "sse", returns: Item }, async function* () {
      yield { n: 1 };
    });
    const { paths } = app.openapi();
    const contentOf = (path: string) =>
      (paths[path]?.get?.responses["200"] as { content: object } | undefined)?.content ?? {};
    expect(contentOf("/lines")).toEqual({
      "application/jsonl": {
        schema: expect.objectContaining({ type: "string" }),
        "x-itemSchema": expect.objectContaining({ type: "object" }),
      },
    });
    expect(Object.keys(contentOf("/events"))).toEqual(["text/event-stream"]);
  });
});

describeMatrix('`returns` of `stream: "sse"`', ({ call }) => {
  const eventsOf = async (returns: unknown, ...items: readonly unknown[]) => {
    const { app, log } = create();
    app.get("/", { stream: "sse", returns: returns as typeof Item }, async () => items as never);
    const { status, text } = await call(app, "GET", "/");
    return { status, text, log: log.lines };
  };
  const Linked = t.Recursive((This) => t.Object({ n: t.Integer(), data: t.Optional(This) }));

  it.each<[how: string, schema: unknown, item: unknown, text: string]>([
    ["data", Item, { n: 1, more: "x" }, 'data: {"n":1}\n\n'],
    [
      "an event around data",
      Item,
      event({ id: 2, retry: 10, event: "tick", data: { n: 1, more: "x" } }),
      'event: tick\nid: 2\nretry: 10\ndata: {"n":1}\n\n',
    ],
    ["text", t.String(), "two\nlines", "data: two\ndata: lines\n\n"],
    ["text in an event", t.String(), event({ data: "a" }), "data: a\n\n"],
    ["null", t.Null(), null, "data: null\n\n"],
    ["an event whose data is absent, as null", t.Null(), event({ event: "end" }), "event: end\ndata: null\n\n"],
    ["a comment that is marked", Item, event({ comment: "still here" }), ": still here\n\n"],
    ["a time to wait that is marked", Item, event({ retry: 5 }), "retry: 5\n\n"],
    ["a marked event around data that fit", t.Any(), event({ id: 1, data: { n: 1 } }), 'id: 1\ndata: {"n":1}\n\n'],
    ["data that have names of an event", t.Object({ data: t.String() }), { data: "a" }, 'data: {"data":"a"}\n\n'],
    [
      "an event around such data",
      t.Object({ data: t.String() }),
      event({ data: { data: "a" } }),
      'data: {"data":"a"}\n\n',
    ],
    ["data that look like a comment", t.Object({ comment: t.String() }), { comment: "a" }, 'data: {"comment":"a"}\n\n'],
    ["data in which data fit too", t.Any(), { id: 1, data: { n: 1 } }, 'data: {"id":1,"data":{"n":1}}\n\n'],
    ["such data in a marked event", t.Any(), event({ data: { id: 1 } }), 'data: {"id":1}\n\n'],
    ["a struct that contains itself", Linked, { n: 1, data: { n: 2 } }, 'data: {"n":1,"data":{"n":2}}\n\n'],
  ])("sends %s", async (_how, schema, item, text) => {
    expect(await eventsOf(schema, item)).toEqual({ status: 200, text, log: [] });
  });

  it.each<[how: string, item: unknown, fault: RegExp]>([
    ["data", { n: "x" }, /does not fit `returns`: n: /],
    ["data of an event", event({ id: 1, data: { n: "x" } }), /does not fit `returns`: data\.n: /],
    ["an event without data", event({ event: "end" }), /does not fit `returns`: data: /],
    ["an event that is not marked", { event: "tick", data: { n: 1 } }, /does not fit `returns`: n: /],
    ["a time to wait that is not marked", { retry: 5 }, /does not fit `returns`: n: /],
  ])("rejects %s that does not fit", async (_how, item, fault) => {
    const { status, log } = await eventsOf(Item, item);
    expect(status).toBe(500);
    expect(log).toEqual([expect.stringMatching(fault)]);
  });

  const Later = {
    "~standard": {
      version: 1 as const,
      vendor: "test",
      validate: async (value: unknown) => (typeof value === "number" ? { value } : { issues: [{ message: "no" }] }),
      jsonSchema: { input: () => ({ type: "number" }), output: () => ({ type: "number" }) },
    },
  };
  const named = sse({ token: t.Object({ text: t.String() }), name: t.String(), done: t.Null(), later: Later });

  it.each<[item: unknown, text: string]>([
    [{ event: "token", data: { text: "a", secret: "b" } }, 'event: token\ndata: {"text":"a"}\n\n'],
    [{ event: "token", data: { text: "a" }, id: 7, retry: 0 }, 'event: token\nid: 7\nretry: 0\ndata: {"text":"a"}\n\n'],
    [{ event: "token", data: { text: "a" }, secret: "b" }, 'event: token\ndata: {"text":"a"}\n\n'],
    [{ event: "name", data: "a\nb" }, "event: name\ndata: a\ndata: b\n\n"],
    [{ event: "done", data: null }, "event: done\ndata: null\n\n"],
    [{ event: "done" }, "event: done\ndata: null\n\n"],
    [{ event: "later", data: 1 }, "event: later\ndata: 1\n\n"],
    [{ comment: "still here" }, ": still here\n\n"],
    [event({ retry: 5 }), "retry: 5\n\n"],
    [event({ event: "name", data: "a", id: 1 }), "event: name\nid: 1\ndata: a\n\n"],
  ])("sends of named events %j", async (item, text) => {
    expect(await eventsOf(named, item)).toEqual({ status: 200, text, log: [] });
  });

  it.each<[item: unknown, fault: string]>([
    [{ event: "tokens", data: { text: "a" } }, "does not fit `returns`: event: "],
    [{ event: "__proto__", data: null }, "does not fit `returns`: event: "],
    [{ event: 1, data: null }, "does not fit `returns`: event: "],
    [{ data: null }, "does not fit `returns`: event: "],
    [{ text: "a" }, "does not fit `returns`: event: "],
    ["a", "does not fit `returns`: event: "],
    [null, "does not fit `returns`: event: "],
    [{ event: "done", data: { text: "a" } }, "does not fit `returns`: data: "],
    [{ event: "token", data: null }, "does not fit `returns`: data: "],
    [{ event: "token", data: { text: 1 } }, "does not fit `returns`: data.text: "],
    [{ event: "later", data: "x" }, "does not fit `returns`: data: "],
    [{ retry: 5 }, "does not fit `returns`: event: "],
    [{ event: "done", data: null, id: "1\ndata: forged" }, "cannot have CR, LF or NUL"],
  ])("rejects of named events %j", async (item, fault) => {
    const { status, log } = await eventsOf(named, item);
    expect(status).toBe(500);
    expect(log).toEqual([expect.stringContaining(fault)]);
  });

  it("closes the connection if a later event is invalid", async () => {
    const { app, log } = create();
    app.get("/", { stream: "sse", returns: sse({ tick: Item }) }, async function* () {
      yield { event: "tick", data: { n: 1 } };
      yield { event: "tock" as "tick", data: { n: 2 } };
    });
    const client = new MemoryClient(app, "GET", "/");
    await expect(client.ended).rejects.toThrow("event: ");
    expect(client.text).toBe('event: tick\ndata: {"n":1}\n\n');
    expect(log.lines).toHaveLength(1);
  });
});

describe("named events", () => {
  const none = async function* () {} as () => AsyncGenerator<never>;

  it.each<[how: string, options: object, message: string]>([
    [
      "without `stream`",
      { returns: sse({ a: Item }) },
      'GET /: `returns: sse({ … })` is for server-sent events. Add `stream: "sse"` to the options.',
    ],
    ["of JSON Lines", { returns: sse({ a: Item }), stream: "jsonl" }, 'Add `stream: "sse"` to the options.'],
    ["that are none", { returns: sse({}), stream: "sse" }, "GET /: sse() has no events."],
    ["of an empty name", { returns: sse({ "": Item }), stream: "sse" }, 'that is not empty, not "".'],
    ["of a name of two lines", { returns: sse({ "a\nb": Item }), stream: "sse" }, 'not "a\\nb".'],
    [
      "of no schema",
      { returns: sse({ a: String as never }), stream: "sse" },
      'GET /: the event "a": `returns` must be a schema',
    ],
  ])("are rejected at registration %s", (_how, options, message) => {
    const { app } = create();
    expect(() => app.get("/", options, none)).toThrow(message);
  });

  it("are described in the words of OpenAPI 3.2, each with the schema of its data", () => {
    const app = new App({ openapiVersion: "3.2" });
    const Token = t.Object({ text: t.String() }, { $id: "Token" });
    const returns = sse({ token: Token, name: t.String(), done: t.Null() });
    app.get("/", { stream: "sse", returns }, none);
    app.get("/one", { stream: "sse", returns: sse({ token: Token }) }, none);
    app.get("/plain", { stream: "sse", returns: Token }, none);
    const { paths, components } = app.openapi();
    const fields = { id: { type: "string" }, retry: { type: "integer", minimum: 0 } };
    const data = (contentSchema: object) => ({ type: "string", contentMediaType: "application/json", contentSchema });
    const $ref = "#/components/schemas/Token";
    const eventOf = (name: string, of: object) => ({
      type: "object",
      properties: { event: { type: "string", enum: [name] }, data: of, ...fields },
      required: ["event", "data"],
    });
    const mediaOf = (path: string) => paths[path]?.get?.responses["200"]?.content?.["text/event-stream"];
    expect(mediaOf("/")).toEqual({
      itemSchema: {
        oneOf: [
          eventOf("token", data({ $ref })),
          eventOf("name", { type: "string" }),
          eventOf("done", data(expect.anything())),
        ],
      },
    });
    expect(mediaOf("/one")).toEqual({ itemSchema: eventOf("token", data({ $ref })) });
    expect(mediaOf("/plain")?.itemSchema).toEqual({
      type: "object",
      properties: { event: { type: "string" }, data: data({ $ref }), ...fields },
      required: ["data"],
    });
    expect(components?.schemas).toHaveProperty("Token");
  });
});
