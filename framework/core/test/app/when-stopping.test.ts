/** The route option `whenStopping`. */
import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, EventSourceResponse, type RouteOptions, StreamingResponse } from "../../src/index.js";
import { Deferred } from "../../src/common/promises.js";
import { compress } from "../../src/middleware/index.js";
import { serve } from "../../src/node.js";
import { HTTP1Client, PROBE } from "../protocol/_http1-client.js";
import { readWhole, type Whole } from "../protocol/_stage.js";
import { KeptLog } from "../../../test/support/kept-log.js";

type Outer = (inner: App) => App;
const mounting: Outer = (inner) => {
  const outer = new App();
  outer.mount("/inner", inner);
  return outer;
};
const behindCopies: Outer = (inner) => {
  inner.addMiddleware((app) => (scope, receive, send) => app({ ...scope }, receive, send));
  return inner;
};

/** Requests a stream, stops the server, and then lets the stream continue. */
async function stopping(options: RouteOptions, content: (gate: Promise<void>) => unknown, given = {}) {
  const { path = "/", outer = (app: App) => app } = given as { path?: string; outer?: Outer };
  const [begun, gate] = [new Deferred<void>(), new Deferred<void>()];
  const log = new KeptLog();
  const app = new App({ logger: log });
  const { stream, ...others } = options;
  const handler = async () => {
    begun.resolve();
    return content(gate.promise);
  };
  app.get("/", stream === undefined ? others : { ...others, stream }, handler);
  const served = outer(app);
  served.get(PROBE, { statusCode: 204 }, async () => undefined);
  const server = await serve(served, { port: 0, signals: false, logger: log, loop: "libuv" });
  const client = new HTTP1Client(server.url);
  const { body, ...head } = await client.request({ target: path, mayClose: true });
  await begun.promise;
  const iterator = body[Symbol.asyncIterator]();
  const first = await iterator.next();
  const closed = server.close();
  const parts = (async function* () {
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  const whole = readWhole(Promise.resolve({ ...head, body: parts }));
  if (options.whenStopping !== "end") gate.resolve();
  const read = await whole;
  gate.resolve();
  await closed;
  client.cut();
  return { ...read, log: log.lines.filter((line) => !line.startsWith("info ")) };
}

async function* numbers(gate: Promise<void>) {
  yield 1;
  await gate;
  yield 2;
}

async function* texts(gate: Promise<void>) {
  yield "one";
  await gate;
  yield "two";
}

const ENDED = { status: 200, end: "whole", log: [] };

describe("the route option whenStopping", () => {
  it.each<[string, { path?: string; outer?: Outer }]>([
    ["of an App", {}],
    ["of a mounted App", { path: "/inner", outer: mounting }],
    ["behind a middleware that copies the scope", { outer: behindCopies }],
  ])("finish lets a stream of events finish: %s", async (_where, given) => {
    const result = await stopping({ stream: "sse", whenStopping: "finish" }, numbers, given);
    expect(result).toMatchObject({ ...ENDED, body: "data: 1\n\ndata: 2\n\n" });
  });

  it.each<[string, { path?: string; outer?: Outer }]>([
    ["of an App", {}],
    ["of a mounted App", { path: "/inner", outer: mounting }],
    ["behind a middleware that copies the scope", { outer: behindCopies }],
  ])("end ends a stream immediately: %s", async (_where, given) => {
    const result = await stopping({ stream: "jsonl", whenStopping: "end" }, numbers, given);
    expect(result).toMatchObject({ ...ENDED, body: "1\n" });
  });

  it("end ends a stream of events without ids, as if it were complete", async () => {
    const events = (gate: Promise<void>) => new EventSourceResponse(numbers(gate));
    expect(await stopping({ whenStopping: "end" }, events)).toMatchObject({ ...ENDED, body: "data: 1\n\n" });
  });

  it("end cuts a body that is short of its Content-Length", async () => {
    const download = (gate: Promise<void>) =>
      new StreamingResponse(texts(gate), { headers: { "content-length": "6" } });
    const result: Whole = await stopping({ whenStopping: "end" }, download);
    expect(result).toMatchObject({ body: "one", end: "cut" });
  });

  it.each([
    ["end", undefined, "[1]\n"],
    ["finish", "gzip", "[1]\n[2]\n"],
  ] as const)("%s keeps the encoding of a stream complete", async (whenStopping, coding, text) => {
    const app = new App({ middleware: [compress({ minimumSize: 0 })] });
    const gate = new Deferred<void>();
    app.get("/", { whenStopping }, async function* () {
      yield [1];
      await gate.promise;
      yield [2];
    });
    const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
    const response = await fetch(server.url, { headers: { "accept-encoding": "gzip" } });
    const closed = server.close();
    if (whenStopping === "finish") gate.resolve();
    expect(await response.text()).toBe(text);
    expect(response.headers.get("content-encoding") ?? undefined).toBe(coding);
    gate.resolve();
    await closed;
  });

  it("lets a stream finish, and stops a GET of a stream of events, if it is not set", async () => {
    expect(await stopping({ stream: "jsonl" }, numbers)).toMatchObject({ ...ENDED, body: "1\n2\n" });
    expect(await stopping({ stream: "sse" }, numbers)).toMatchObject({ body: "data: 1\n\n", end: "cut", log: [] });
  });

  it("is finish or end, and not an option of a WebSocket", () => {
    const app = new App();
    const options: object = { whenStopping: "later" };
    expect(() => app.get("/", options, async () => "")).toThrow(ConfigurationError);
    const forSockets: object = { whenStopping: "end" };
    expect(() => app.websocket("/", forSockets, async () => {})).toThrow(ConfigurationError);
  });
});
