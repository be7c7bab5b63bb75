import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { finished } from "node:stream/promises";
import {
  App,
  type ASGIApp,
  BackgroundTasks,
  EventSourceResponse,
  PlainTextResponse,
  Response,
  StreamingResponse,
} from "tsgi";
import { toLambdaStream } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { requestOf } from "./_call.js";
import { toEvent } from "./_gateway.js";
import { awslambda, RuntimeStream } from "./_runtime.js";

beforeAll(() => void Object.assign(globalThis, { awslambda }));
afterAll(() => void Reflect.deleteProperty(globalThis, "awslambda"));

const eventOf = (target = "/", method = "GET") => toEvent("function URL", requestOf(method, target));

/** Calls an App with one handler for `GET /`, and waits for the end. */
async function run(result: () => unknown, event: object = eventOf()): Promise<RuntimeStream> {
  const app = new App({ logger: new KeptLog() });
  app.get("/", async () => result());
  const stream = new RuntimeStream();
  await toLambdaStream(app, { logger: new KeptLog() })(event, stream);
  await finished(stream);
  return stream;
}

describe("toLambdaStream", () => {
  it("marks its handler for the runtime", () => {
    expect(toLambdaStream(new App())).toHaveProperty("isStreamed", true);
  });

  it("sends the head and the body of a whole response", async () => {
    const { head, body } = await run(() => ({ a: 1 }));
    expect(head).toEqual({ statusCode: 200, headers: { "content-type": "application/json", "content-length": "7" } });
    expect(body.toString()).toBe('{"a":1}');
  });

  it("sends cookies for a function URL, and multi-value headers for a REST API", async () => {
    const respond = () => new Response("", { headers: { "set-cookie": "a=1" } });
    expect((await run(respond)).head).toMatchObject({ cookies: ["a=1"] });
    const event = toEvent("REST API", requestOf("GET", "/"));
    expect((await run(respond, event)).head).toMatchObject({ multiValueHeaders: { "set-cookie": ["a=1"] } });
  });

  it.each([
    ["a 204", () => new Response(null, { statusCode: 204 }), 204],
    ["an empty 200", () => new PlainTextResponse(""), 200],
    ["an empty stream", () => new StreamingResponse([]), 200],
  ])("sends the head of a response without a body: %s", async (_name, respond, status) => {
    const { head, body } = await run(respond);
    expect([head?.statusCode, body.length]).toEqual([status, 0]);
  });

  it("sends no body for HEAD", async () => {
    const { head, body } = await run(() => "x", eventOf("/", "HEAD"));
    expect([head?.statusCode, body.length]).toEqual([200, 0]);
  });

  it("sends binary bytes as they are", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    expect((await run(() => new Response(bytes))).body).toEqual(Buffer.from(bytes));
  });

  it("sends each event before the next one is made", async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    async function* events() {
      yield { number: 1 };
      await gate;
      yield { number: 2 };
    }
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => new EventSourceResponse(events()));
    const stream = new RuntimeStream();
    const ended = toLambdaStream(app)(eventOf(), stream);
    while (!stream.body.includes('{"number":1}')) await stream.next();
    expect(stream.head?.headers?.["content-type"]).toBe("text/event-stream");
    expect(stream.body.includes('{"number":2}')).toBe(false);
    open();
    await ended;
    expect(stream.body.includes('{"number":2}')).toBe(true);
  });

  it("sends the head of a stream before its first chunk", async () => {
    let open: () => void = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    async function* late() {
      await gate;
      yield "late";
    }
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => new EventSourceResponse(late()));
    const stream = new RuntimeStream();
    const ended = toLambdaStream(app)(eventOf(), stream);
    while (stream.head === null) await new Promise(setImmediate);
    open();
    await ended;
    expect(stream.body.toString()).toContain("late");
  });

  it("waits until Lambda accepts more", async () => {
    let made = 0;
    async function* chunks() {
      for (; made < 100; made++) yield new Uint8Array(1024);
    }
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => new StreamingResponse(chunks()));
    const stream = new RuntimeStream();
    stream.pause();
    const ended = toLambdaStream(app)(eventOf(), stream);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(made).toBeLessThan(10);
    stream.resume();
    await ended;
    expect(stream.body.length).toBe(100 * 1024);
  });

  it("closes the generator if the runtime closes the stream", async () => {
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) yield new Uint8Array(1024);
      } finally {
        isClosed = true;
      }
    }
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => new StreamingResponse(endless()));
    const stream = new RuntimeStream();
    const ended = toLambdaStream(app)(eventOf(), stream);
    await stream.next();
    stream.destroy();
    await ended;
    expect(isClosed).toBe(true);
  });

  it("rejects with the error of an application that has begun its response, for the runtime to report", async () => {
    const error = new Error("broken");
    async function* failing() {
      yield "begun";
      throw error;
    }
    const app = new App({ logger: new KeptLog() });
    app.get("/", async () => new StreamingResponse(failing()));
    const stream = new RuntimeStream();
    await expect(toLambdaStream(app, { logger: new KeptLog() })(eventOf(), stream)).rejects.toBe(error);
    expect(stream.body.toString()).toBe("begun");
    expect(stream.writableEnded).toBe(false); // an end would look like the end of a whole response
  });

  it("responds with 500 if the application fails before", async () => {
    const { head, body } = await run(() => {
      throw new Error("secret");
    });
    expect([head?.statusCode, body.toString()]).toEqual([500, '{"detail":"Internal Server Error"}']);
  });

  it("sends the whole response before a background task ends", async () => {
    let finish: () => void = () => {};
    const gate = new Promise<void>((resolve) => (finish = resolve));
    const app = new App({ logger: new KeptLog() });
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => gate);
      return "sent";
    });
    const stream = new RuntimeStream();
    let hasReturned = false;
    const ended = toLambdaStream(app)(eventOf(), stream).then(() => (hasReturned = true));
    await finished(stream);
    expect([stream.body.toString(), hasReturned]).toEqual(['"sent"', false]);
    finish();
    await ended;
  });

  it("rejects an event that is not an HTTP request, and responds to a malformed one with 400", async () => {
    const handler = toLambdaStream(new App());
    await expect(handler({}, new RuntimeStream())).rejects.toMatchObject({ code: "TSGI_UNKNOWN_LAMBDA_EVENT" });
    const stream = new RuntimeStream();
    await handler({ ...eventOf(), headers: { host: "a b" } }, stream);
    expect(stream.head?.statusCode).toBe(400);
  });

  it("starts the application once, and ends its lifespan on close", async () => {
    const events: string[] = [];
    const app = new App({
      logger: new KeptLog(),
      lifespan: async function* () {
        events.push("started");
        yield;
        events.push("stopped");
      },
    });
    const handler = toLambdaStream(app);
    await Promise.all([handler(eventOf(), new RuntimeStream()), handler(eventOf(), new RuntimeStream())]);
    await handler.close();
    expect(events).toEqual(["started", "stopped"]);
  });

  it("requires an application", () => {
    expect(() => toLambdaStream({} as unknown as ASGIApp)).toThrow("toLambdaStream()");
  });
});

describe("toLambdaStream without the runtime", () => {
  it("throws an error that states where it works", () => {
    Reflect.deleteProperty(globalThis, "awslambda");
    expect(() => toLambdaStream(new App())).toThrow(/global awslambda .* toLambda\(\) or app\.fetch/);
    Object.assign(globalThis, { awslambda });
  });
});
