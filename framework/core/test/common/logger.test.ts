import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { App } from "../../src/app/app.js";
import type { ASGIApp } from "../../src/protocol/asgi.js";
import { BackgroundTasks } from "../../src/http/background.js";
import { health } from "../../src/contrib/health.js";
import { consoleLogger, errorText, guardLogger, type Logger } from "../../src/common/logger.js";
import { accessLog } from "../../src/middleware/index.js";
import { serve, toNodeHandler } from "../../src/node.js";
import { Depends } from "../../src/parameters/depends.js";
import { Deferred } from "../../src/common/promises.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { toFetchHandler } from "../../src/platforms/web/index.js";

describe("the console logger", () => {
  let lines: string[] = [];
  beforeEach(() => {
    lines = [];
    jest.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each<[string, unknown]>([
    [
      "a cycle",
      (() => {
        const cause: Record<string, unknown> = {};
        cause["self"] = cause;
        return new Error("x", { cause });
      })(),
    ],
    ["a bigint", new Error("x", { cause: { big: 1n } })],
    ["an object without prototype", Object.create(null)],
    ["a symbol", Symbol("s")],
    ["undefined", undefined],
  ])("writes %s without throwing", (_what, err) => {
    consoleLogger.error({ err, other: err }, "failed");
    expect(lines).toHaveLength(1);
  });

  it("shows the code of an error, unless its message has it already", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED ::1:5432"), { code: "ECONNREFUSED" });
    const unknown = Object.assign(new Error("No such row.", { cause: refused }), { code: "P2025" });
    consoleLogger.error({ err: unknown }, "failed");
    const shown = lines
      .join("")
      .split("\n")
      .map((line) => line.trim());
    expect(shown).toContain("Error [P2025]: No such row.");
    expect(shown).toContain("Error: connect ECONNREFUSED ::1:5432");
  });

  const refusedBy = (...hosts: string[]) =>
    Object.assign(
      new AggregateError(
        hosts.map((host) => new Error(`connect ECONNREFUSED ${host}`)),
        "",
      ),
      { code: "ECONNREFUSED" },
    );

  it("shows the errors that an error or its cause contains, as one of a connection to a name with two addresses", () => {
    for (const err of [refusedBy("::1:5432", "127.0.0.1:5432"), new Error("outer", { cause: refusedBy("::1:5432") })]) {
      lines = [];
      consoleLogger.error({ err }, "failed");
      const shown = lines
        .join("")
        .split("\n")
        .map((line) => line.trim());
      expect(shown).toContain("AggregateError [ECONNREFUSED]:");
      expect(shown[shown.indexOf("contains") + 1]).toBe("Error: connect ECONNREFUSED ::1:5432");
    }
  });

  it("shows the first eight errors of a chain, which may contain hundreds or itself", () => {
    const hundreds = refusedBy(...Array.from({ length: 500 }, (_, index) => `10.0.0.1:${index}`));
    const itself = refusedBy("a");
    itself.errors.push(itself);
    itself.cause = itself;
    for (const err of [hundreds, itself]) {
      lines = [];
      consoleLogger.error({ err }, "failed");
      expect(lines.join("").match(/^ {4}\w*Error/gm)).toHaveLength(8);
    }
  });

  it.each<[string, unknown, string]>([
    [
      "without a message",
      refusedBy("a:1", "b:1"),
      "AggregateError: connect ECONNREFUSED a:1; connect ECONNREFUSED b:1",
    ],
    ["with a message", new AggregateError([new Error("a"), "b"], "All failed"), "AggregateError: All failed (a)"],
    ["of no errors", new AggregateError([], "None"), "AggregateError: None"],
  ])("has the errors in an AggregateError %s in the message of a line", (_which, error, text) => {
    expect(errorText(error)).toBe(text);
  });

  it("keeps control characters out, wherever the text of a request got to", () => {
    const text = "a\n    at \r2026-01-01 INFO forged\u001b[2J\u2028";
    consoleLogger.error({ err: new Error(text, { cause: text }), path: text }, text);
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(lines.join("")).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f\u2028]/);
    expect(
      lines
        .join("")
        .split("\n")
        .filter((line) => line.includes("INFO forged")),
    ).toHaveLength(3);
  });

  const range = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index));

  const escaped = [
    ...range(0x00, 0x1f),
    ...range(0x7f, 0x9f),
    "\u061c",
    "\u200e",
    "\u200f",
    ...range(0x2028, 0x202e),
    ...range(0x2066, 0x2069),
  ].map((char) => [`U+${char.charCodeAt(0).toString(16).padStart(4, "0")}`, char] as const);

  it.each(escaped)("writes %s as its code, in a message, a field, its name, and an error", (_code, char) => {
    const error = new Error(`a${char}b`, { cause: `a${char}b` });
    error.name = `E${char}`;
    error.stack = `Error: a${char}b\n    at f${char}g (file.js)`;
    consoleLogger.error({ err: error, path: `a${char}b`, nested: { text: `a${char}b` }, [`k${char}`]: 1 }, `a${char}b`);
    const own = lines.join("").replaceAll("\n", "");
    expect(own).not.toContain(char);
    expect(lines).toHaveLength(1);
    if (char !== "\n") expect(lines.join("").split("\n")).toHaveLength(5);
  });

  it("logs a background task that fails, and the next task still runs", async () => {
    const tasks = new BackgroundTasks();
    const notes: string[] = [];
    tasks.addTask(function failing() {
      throw new Error("x", { cause: { big: 1n } });
    });
    tasks.addTask(() => notes.push("next"));
    await tasks.run();
    expect(notes).toEqual(["next"]);
    expect(lines[0]).toContain("Background task failing failed");
  });
});

const fail = (): never => {
  throw new Error("disk full");
};

/** As an async function, which TypeScript accepts for one that returns void. */
const later = (() => Promise.reject(new Error("disk full"))) as () => never;

/** Loggers that fail. Jest fails a test in which a rejection stays unhandled, as Node would end the process. */
const failing: [how: string, create: () => Logger][] = [
  ["throws", () => ({ debug: fail, info: fail, warn: fail, error: fail })],
  ["is async and rejects", () => ({ debug: later, info: later, warn: later, error: later })],
];

describe.each(failing)("a logger that %s", (_how, create) => {
  let lines: string[] = [];
  let logger: Logger;
  beforeEach(() => {
    lines = [];
    logger = create();
    jest.spyOn(console, "error").mockImplementation((line: string) => void lines.push(line));
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("loses no line: each is on stderr, with the error of the logger once", async () => {
    const guarded = guardLogger(logger);
    guarded.error({ a: 1 }, "first");
    guardLogger(logger).warn({}, "second"); // as each request makes one
    await new Promise((resolve) => setImmediate(resolve));
    const messages = lines.map((line) => line.split("\n")[0]?.replace(/^\S+ /, ""));
    expect(messages.filter((line) => line?.startsWith("ERROR The logger failed"))).toHaveLength(1);
    expect(messages).toEqual(expect.arrayContaining(["ERROR first a=1", "WARN second"]));
    expect(lines.join()).toContain("disk full");
  });

  /** Servers, each with a function that gets a path. */
  const servers: Record<
    string,
    (app: ASGIApp) => Promise<[get: (path: string) => Promise<Response>, close: () => Promise<unknown>]>
  > = {
    serve: async (app) => {
      const server = await serve(app, { port: 0, signals: false, logger });
      return [(path) => fetch(server.url + path), () => server.close()];
    },
    toNodeHandler: async (app) => {
      const server = createServer(toNodeHandler(app, { logger })).listen(0, "127.0.0.1");
      await once(server, "listening");
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      return [(path) => fetch(url + path), () => new Promise((resolve) => server.close(resolve))];
    },
    toFetchHandler: async (app) => {
      const handler = toFetchHandler(app, { logger });
      return [(path) => handler(new Request(`http://localhost${path}`)), () => handler.close()];
    },
  };

  it.each(Object.entries(servers))("costs no request but its own: %s", async (_name, start) => {
    const [get, close] = await start(async (scope, _receive, send) => {
      if (scope.type !== "http") fail();
      else if (scope.path === "/throws") fail();
      else if (scope.path === "/ok") {
        await send({ type: "http.response.start", status: 200 });
        await send({ type: "http.response.body", body: Buffer.from("ok") });
      }
    });
    for (const [path, status] of [
      ["/throws", 500],
      ["/returns", 500],
      ["/ok", 200],
    ] as const) {
      const response = await get(path);
      expect([path, response.status]).toEqual([path, status]);
      await response.text();
    }
    await close();
  });

  it("does not fail a request of an App, regardless of the part that logs", async () => {
    const late = new Deferred<void>();
    const tasksRan = new Deferred<void>();
    const app = new App({
      logger,
      limits: { handlerMs: 20 },
      instrumentation: [{ start: fail }, { start: later }],
    });
    app.onStartup(() => fail);
    const leaky = async function* () {
      yield 1;
      fail();
    };
    app.get("/throws", async () => fail());
    app.get("/cleanup", { params: { value: Depends(leaky, { scope: "request" }) } }, async () => "ok");
    app.get("/task", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(fail);
      tasks.addTask(() => tasksRan.resolve());
      return "ok";
    });
    app.get("/late", async () => {
      await late.promise;
      fail();
    });
    app.websocket("/ws", async () => fail());
    app.includeRouter(health({ checks: { disk: fail } }), { prefix: "/health" });
    const client = await TestClient.open(app, { logger });
    const statuses: [string, number][] = [];
    for (const path of ["/throws", "/cleanup", "/task", "/late", "/health/ready"]) {
      statuses.push([path, (await client.get(path)).status]);
    }
    late.resolve();
    await tasksRan.promise;
    await expect(client.websocket("/ws")).rejects.toThrow("500");
    expect(statuses).toEqual([
      ["/throws", 500],
      ["/cleanup", 200],
      ["/task", 200],
      ["/late", 504],
      ["/health/ready", 503],
    ]);
    await expect(client.close()).rejects.toThrow("disk full");
  });
});

describe("a `write` of accessLog that rejects", () => {
  it("is logged, and costs no request", async () => {
    const errors: string[] = [];
    const logger = { ...consoleLogger, error: (_fields: object, message: string) => void errors.push(message) };
    const app = new App({ logger, instrumentation: accessLog({ write: later }) });
    app.get("/", async () => "ok");
    for (let turn = 0; turn < 2; turn++) expect((await app.fetch(new Request("http://localhost/"))).status).toBe(200);
    await app.fetch.close();
    expect(errors).toEqual([expect.stringContaining("end() of an instrumentation failed")]);
  });
});
