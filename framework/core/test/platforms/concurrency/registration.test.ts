import { describe, expect, it } from "@jest/globals";

import { type AppOptions, endpointsOf } from "../../../src/app/application.js";
import { App } from "../../../src/app/app.js";
import { BackgroundTasks } from "../../../src/http/background.js";
import { HTTPException } from "../../../src/common/exceptions.js";
import { Depends } from "../../../src/parameters/depends.js";
import { File } from "../../../src/parameters/file.js";
import { Query } from "../../../src/parameters/head.js";
import { withParams } from "../../../src/parameters/annotation.js";
import { Request } from "../../../src/http/request.js";
import { PlainTextResponse } from "../../../src/http/response/kinds.js";
import { Response } from "../../../src/http/response/response.js";
import { Router } from "../../../src/routing/router.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { call } from "../../../../test/support/call.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

const plain = () => ({ pid: process.pid });
async function bound(this: { value: number }) {
  return this.value;
}
class Database {
  query() {
    return this;
  }
}
/** The classes that stay on the loop, as a parameter each. */
const LOOP_PARAMS = [
  ["a Request", Request],
  ["a Response", Response],
  ["BackgroundTasks", BackgroundTasks],
  ["a File", File()],
] as const;

describe("a non-async handler", () => {
  it.each(LOOP_PARAMS)("with %s is rejected, with a suggested fix", (what, annotation) => {
    const register = (app: App) => app.post("/it", { params: { it: annotation } }, plain);
    expect(() => register(new App())).toThrow(
      expect.objectContaining({
        name: "ConfigurationError",
        message:
          `POST /it: The parameter "it" is ${what}, which stays on the event loop, and a plain handler runs in another ` +
          "process. Make the handler async, or set the route's option `pool: false`.",
      }),
    );
    const router = new Router();
    router.post("/it", { params: { it: annotation } }, plain);
    expect(() => new App().includeRouter(router, { prefix: "/below" })).toThrow("POST /below/it: ");
  });

  it.each(LOOP_PARAMS)("with %s runs outside the pool", (_, annotation) => {
    const params = { it: annotation };
    new App().post("/it", { params, pool: false }, plain);
    new App({ pool: { kind: "inline" } }).post("/it", { params }, plain);
    new App().post("/it", { params }, async () => plain());
    expect(() => new App({ pool: { kind: "thread" } }).post("/it", { params }, plain)).toThrow("POST /it: ");
  });

  it("may have dependencies that use them", () => {
    const path = withParams({ request: Request }, ({ request }) => request.path);
    expect(() => new App().get("/", { params: { path: Depends(path), q: Query() } }, plain)).not.toThrow();
  });

  it("of a WebSocket, which it always gets, is rejected", () => {
    expect(() => new App().websocket("/ws", ({ ws }) => ws.accept())).toThrow(
      expect.objectContaining({
        name: "ConfigurationError",
        message: expect.stringMatching(
          /^WEBSOCKET \/ws: The parameter "ws" is a WebSocket, which stays on the event loop/,
        ),
      }),
    );
    new App().websocket("/ws", { pool: false }, ({ ws }) => ws.accept());
    new App({ pool: { kind: "inline" } }).websocket("/ws", ({ ws }) => ws.accept());
    new App().websocket("/ws", async ({ ws }) => ws.accept());
  });

  it("is distinguished from handlers of the event loop by the properties of its route", () => {
    const app = new App();
    app.get("/plain", plain);
    app.get("/promise", () => Promise.resolve(1));
    app.get("/kept", { pool: false }, plain);
    app.get("/async", async () => 1);
    app.get("/bound", bound.bind({ value: 1 }));
    app.get("/generator", function* () {
      yield 1;
    });
    app.get("/stream", async function* () {
      yield 1;
    });
    const pooled = endpointsOf(app)
      .filter(({ isPooled }) => isPooled)
      .map(({ record }) => record.path);
    expect(pooled).toEqual(["/plain", "/promise"]);
  });
});

describe("the options of a pool", () => {
  it.each<[AppOptions, string]>([
    [{ pool: { size: 0 } }, "pool: size should be a whole number from 1 on, not 0."],
    [{ pool: { maxQueue: 0.5 } }, "pool: maxQueue should be a whole number from 0 on, or Infinity, not 0.5."],
    [{ pool: { timeoutMs: -1 } }, "pool: timeoutMs should be milliseconds above 0, or Infinity, not -1."],
    [{ pool: { kind: "fork" as "process" } }, 'pool: kind should be "process", "thread" or "inline", not "fork".'],
    [
      { entry: "./app.js" },
      'A worker imports a module by its URL, not "./app.js". Write import.meta.url, or new URL("./app.js", import.meta.url).',
    ],
  ])("are rejected when they are %j", (options, message) => {
    expect(() => new App(options)).toThrow(expect.objectContaining({ name: "ConfigurationError", message }));
  });
});

describe("non-async handlers with a test client", () => {
  it("run inline without a pool, also in a mounted App", async () => {
    const inner = new App();
    inner.get("/plain", plain);
    const app = new App();
    app.get("/plain", plain);
    app.mount("/inner", inner);
    await using client = await TestClient.open(app);
    await client.get("/plain").expect(200, { pid: process.pid });
    await client.get("/inner/plain").expect(200, { pid: process.pid });
    expect([app.poolStats, inner.poolStats]).toEqual([null, null]);
  });

  it("are named in one warning", async () => {
    const logger = new KeptLog();
    const app = new App({ logger });
    app.get("/n", plain);
    app.post("/resize", plain);
    app.get("/async", async () => null);
    await using client = await TestClient.open(app);
    await client.get("/n").expect(200);
    expect(logger.lines).toEqual([
      "warn 2 routes run in worker processes when served, and inline in this test, as their handlers are not async: " +
        "GET /n, POST /resize. With new App({ entry: import.meta.url }) plain handlers run in workers here too.",
    ]);
  });

  it("are given copies, as a worker gets them, and what they give is copied", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const shared = { when: new Date(0), list: [1] };
    let given: unknown = null;
    app.get("/", { params: { value: Depends(async () => shared) } }, ({ value }) => {
      given = value;
      value.list.push(2);
      return { at: value.when.getTime(), list: value.list };
    });
    app.get("/response", () => new PlainTextResponse("made", { statusCode: 201, headers: { "x-mine": "yes" } }));
    await using client = await TestClient.open(app);
    await client.get("/").expect(200, { at: 0, list: [1, 2] });
    expect(given).not.toBe(shared);
    expect(shared.list).toEqual([1]);
    await client.get("/response").expect(201, "made").expect("x-mine", "yes");
  });

  it.each<[what: string, value: () => unknown, says: string]>([
    ["given what belongs to the loop", () => new Database(), "is a Database"],
    ["given a function", () => () => 1, "is the function (anonymous)"],
  ])("fail as in a worker when they are %s", async (_, value, says) => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", { params: { value: Depends(value) } }, () => null);
    await using client = await TestClient.open(app);
    await client.get("/").expect(500);
    expect(log.lines.join("\n")).toContain(says);
  });

  it("throw errors as a worker sends them: an HTTPException, or an Error of no class of the application", async () => {
    class SoldOut extends Error {
      override readonly name = "SoldOut";
    }
    const app = new App({ logger: new KeptLog() });
    app.exceptionHandler(SoldOut, () => "a worker's error has no class");
    app.exceptionHandler(
      Error,
      (error) => new PlainTextResponse(`${error.name}: ${error.message}`, { statusCode: 503 }),
    );
    app.get("/own", () => {
      throw new SoldOut("no lamp");
    });
    app.get("/http", () => {
      throw new HTTPException(409, { left: 0 }, { headers: { "x-left": "0" } });
    });
    await using client = await TestClient.open(app);
    await client.get("/own").expect(503, "SoldOut: no lamp");
    await client
      .get("/http")
      .expect(409, { detail: { left: 0 } })
      .expect("x-left", "0");
  });

  it("log a warning once if they return a promise", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/", () => Promise.resolve("late"));
    await using client = await TestClient.open(app);
    for (let count = 0; count < 2; count++) await client.get("/").expect(200, '"late"');
    expect(log.lines.filter((line) => line.includes("write `async`"))).toEqual([
      expect.stringMatching(/^warn GET \/ is not async, .* returned a promise/),
    ]);
  });
});

describe("non-async handlers in a program without a module", () => {
  it("run on the event loop, with one log entry that suggests a fix", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    app.get("/plain", plain);
    for (let count = 0; count < 2; count++) {
      expect(await call(app, "GET", "/plain")).toMatchObject({ status: 200, json: { pid: process.pid } });
    }
    expect(log.lines).toEqual([
      "warn GET /plain is not async and runs on the event loop, because no module is known that a worker could " +
        "import. Make the handler async, or name the module that makes the App: new App({ entry: import.meta.url }).",
    ]);
  });

  it("fail with one clear error if the kind is set", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log, pool: { kind: "process" } });
    app.get("/plain", plain);
    expect((await call(app, "GET", "/plain")).status).toBe(500);
    expect((await call(app, "GET", "/plain")).status).toBe(500);
    // Each request logs it: the two get the same error object.
    expect(log.lines.filter((line) => line.includes("no module is known that a worker could import"))).toHaveLength(2);
  });
});
