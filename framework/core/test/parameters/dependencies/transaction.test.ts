/** Dependencies that settle with the response, on every transport. */
import { describe, expect, it } from "@jest/globals";
import {
  App,
  type ConfigurationError,
  Depends,
  HTTPException,
  JSONResponse,
  Response,
  Router,
  StreamingResponse,
  t,
  type WebSocket,
  withParams,
} from "../../../src/index.js";
import { createTransactional, EarlyResponse, type ReadyResponse } from "../../../src/internals.js";
import { nextTurn } from "../../../src/common/promises.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";

interface Options {
  maxResponseBytes?: number;
  failure?: Promise<never>;
  commit?: (response: ReadyResponse | null) => void;
  begin?: () => void;
}

/** A dependency that settles, and records its actions. */
function unitOf(notes: string[], options: Options = {}, name = "unit") {
  return createTransactional(name, {}, async () => {
    notes.push(`${name} begins`);
    options.begin?.();
    await nextTurn();
    const { maxResponseBytes, failure } = options;
    return {
      value: `the ${name}`,
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
      ...(failure !== undefined && { failure }),
      commit: async (response: ReadyResponse | null) => {
        await nextTurn();
        options.commit?.(response);
        notes.push(`${name} is confirmed`);
      },
      rollBack: async (error: unknown) => {
        notes.push(`${name} is undone: ${error instanceof Error ? error.message : String(error)}`);
        return error;
      },
    };
  });
}

const log = new KeptLog();

function setUp(options: Options = {}) {
  const notes: string[] = [];
  const unit = unitOf(notes, options);
  const app = new App({ logger: log });
  return { notes, unit, app, params: { unit: Depends(unit) } };
}

describeMatrix("a dependency that settles", ({ call }) => {
  it("is confirmed after the handler, the schema and the other cleanups, and before the response", async () => {
    const { app, notes, unit } = setUp();
    const held = withParams({ unit: Depends(unit) }, async function* ({ unit: value }) {
      yield value;
      notes.push("the generator ends");
    });
    const params = { held: Depends(held, { scope: "function" as const }), unit: Depends(unit) };
    app.get("/", { params, returns: t.String() }, async ({ unit: value }) => {
      notes.push("the handler returns");
      return value;
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: "the unit" });
    expect(notes).toEqual(["unit begins", "the handler returns", "the generator ends", "unit is confirmed"]);
  });

  it("begins after the body has been read and is valid, and once for all who take it", async () => {
    const { app, notes, unit, params } = setUp();
    const guard = withParams({ unit: Depends(unit) }, async () => void notes.push("the guard"));
    app.post("/", { params: { ...params, item: t.Object({ id: t.Integer() }) } }, async ({ unit: value }) => value);
    app.post("/guarded", { params, dependencies: [Depends(guard)] }, async ({ unit: value }) => value);
    expect(await call(app, "POST", "/", { json: { id: "one" } })).toMatchObject({ status: 422 });
    expect(notes).toEqual([]);
    expect(await call(app, "POST", "/", { json: { id: 1 } })).toMatchObject({ status: 200 });
    expect(await call(app, "POST", "/guarded")).toMatchObject({ status: 200 });
    const once = ["unit begins", "unit is confirmed"];
    expect(notes).toEqual([...once, "unit begins", "the guard", "unit is confirmed"]);
  });

  it.each([
    ["an exception of the handler", new HTTPException(409, "taken"), 409],
    ["an error of the handler", new Error("broken"), 500],
  ])("is undone by %s", async (_, error, status) => {
    const { app, notes, params } = setUp();
    app.get("/", { params }, async () => {
      throw error;
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status });
    expect(notes).toEqual(["unit begins", `unit is undone: ${error.message}`]);
  });

  it("is undone by a result that does not fit, by a failed cleanup, and by a dependency after it", async () => {
    const { app, notes, unit, params } = setUp();
    const broken = withParams({ unit: Depends(unit) }, async function* () {
      yield 1;
      throw new Error("the cleanup failed");
    });
    const late = createTransactional("late", {}, async () => {
      throw new HTTPException(418, "late");
    });
    app.get("/schema", { params, returns: t.Integer() }, async () => "one" as never);
    app.get("/cleanup", { params: { broken: Depends(broken, { scope: "function" }) } }, async () => 1);
    app.get("/late", { params: { ...params, late: Depends(late) } }, async () => 1);
    for (const [path, status] of [
      ["/schema", 500],
      ["/cleanup", 500],
      ["/late", 418],
    ] as const) {
      expect(await call(app, "GET", path)).toMatchObject({ status });
    }
    const undone = notes.filter((note) => note.startsWith("unit is"));
    expect(undone).toEqual([
      expect.stringContaining("unit is undone: "),
      "unit is undone: the cleanup failed",
      "unit is undone: late",
    ]);
  });

  it("fails the request if it cannot be confirmed, and those that are left are undone", async () => {
    const { app, notes, params } = setUp();
    const failing = unitOf(
      notes,
      {
        commit: () => {
          throw new HTTPException(503, "away");
        },
      },
      "failing",
    );
    app.get("/", { params: { ...params, failing: Depends(failing) } }, async () => new JSONResponse({ id: 1 }));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 503, json: { detail: "away" } });
    expect(notes).toEqual(["unit begins", "failing begins", "unit is undone: away"]);
  });

  it("ends the request as soon as it fails by itself, and the handler's result is dropped", async () => {
    let fail: (error: Error) => void = () => {};
    const failure = new Promise<never>((_, reject) => (fail = reject));
    failure.catch(() => {});
    const { app, notes, params } = setUp({ failure });
    let finish = (): void => {};
    app.get("/", { params }, async () => {
      fail(new HTTPException(503, "too long"));
      await new Promise<void>((resolve) => (finish = resolve));
      throw new Error("too late");
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 503, json: { detail: "too long" } });
    finish();
    expect(notes).toEqual(["unit begins", "unit is undone: too long"]);
  });

  it("gets the complete response before it is sent, with the headers and cookies of the injected response", async () => {
    const seen: (ReadyResponse | null)[] = [];
    const { app, params } = setUp({ maxResponseBytes: 100, commit: (response) => void seen.push(response) });
    app.post("/", { params: { ...params, response: Response }, statusCode: 201 }, async ({ response }) => {
      response.headers.set("location", "/1");
      return { name: "Zoë" };
    });
    app.post("/own", { params }, async () => new Response("text", { statusCode: 202, headers: { "x-id": "7" } }));
    app.post("/stream", { params }, async () => new StreamingResponse(["a", "b"], { mediaType: "text/plain" }));
    expect(await call(app, "POST", "/")).toMatchObject({
      status: 201,
      json: { name: "Zoë" },
      headers: { location: "/1" },
    });
    expect(await call(app, "POST", "/own")).toMatchObject({ status: 202, text: "text", headers: { "x-id": "7" } });
    expect(await call(app, "POST", "/stream")).toMatchObject({ status: 200, text: "ab" });
    const shown = seen.map((one) => [one?.status, Buffer.from(one?.body ?? []).toString()]);
    expect(shown).toEqual([
      [201, '{"name":"Zoë"}'],
      [202, "text"],
      [200, "ab"],
    ]);
    expect(seen[0]?.headers).toEqual(expect.arrayContaining(["location", "/1", "content-type", "application/json"]));
  });

  it("fails the request if the response is larger than it takes", async () => {
    const { app, notes, params } = setUp({ maxResponseBytes: 4 });
    app.get("/", { params }, async () => ({ id: 12 }));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500 });
    expect(notes).toEqual(["unit begins", expect.stringContaining("larger than the 4 bytes")]);
  });

  it("may answer itself: then the handler does not run, and exception handlers do not see it", async () => {
    const notes: string[] = [];
    const early = unitOf(notes, {
      begin: () => {
        throw new EarlyResponse(new JSONResponse("again", { headers: { "x-early": "1" } }));
      },
    });
    const app = new App({ logger: log });
    app.exceptionHandler(Error, async () => new Response("seen", { statusCode: 500 }));
    app.get("/", { params: { early: Depends(early) } }, async () => notes.push("the handler"));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: "again", headers: { "x-early": "1" } });
    expect(notes).toEqual(["unit begins"]);
  });

  it("can replace another dependency, except if it cannot settle", async () => {
    const { app, notes, unit } = setUp();
    const plain = async () => "plain";
    app.dependencyOverrides.set(plain, unit);
    app.get("/", { params: { plain: Depends(plain) } }, async ({ plain: value }) => value);
    app.get("/stream", { params: { plain: Depends(plain) } }, async function* ({ plain: value }) {
      yield value;
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: "the unit" });
    expect(notes).toEqual(["unit begins", "unit is confirmed"]);
    expect(await call(app, "GET", "/stream")).toMatchObject({ status: 500 });
  });
});

describe("a dependency that settles", () => {
  it("is undone, without a response, if the client has disconnected before the handler returned", async () => {
    const { app, notes, params } = setUp();
    let leave = (): void => {};
    const left = new Promise<void>((resolve) => (leave = resolve));
    app.get("/", { params }, async () => {
      await nextTurn();
      leave();
      await nextTurn();
      return 1;
    });
    const messages: unknown[] = [];
    const scope = { type: "http" as const, method: "GET", path: "/", headers: [] };
    await app(
      scope,
      () => left.then(() => ({ type: "http.disconnect" as const })),
      async (message) => void messages.push(message),
    );
    expect(messages).toEqual([]);
    expect(notes[1]).toMatch(/^unit is undone/);
  });

  it("is confirmed for a caller without a connection, which reports a disconnect from the beginning", async () => {
    const { app, notes, params } = setUp();
    app.get("/", { params }, async () => nextTurn().then(() => 1));
    const scope = { type: "http" as const, method: "GET", path: "/", headers: [] };
    const types: string[] = [];
    await app(
      scope,
      async () => ({ type: "http.disconnect" }),
      async ({ type }) => void types.push(type),
    );
    expect([types.length, notes.at(-1)]).toEqual([2, "unit is confirmed"]);
  });

  const codeOf = (register: () => unknown) => {
    try {
      register();
      return null;
    } catch (error) {
      return (error as ConfigurationError).code;
    }
  };
  const misuse = (name: string) => {
    const { app, unit, params } = setUp();
    const router = new Router({ dependencies: [Depends(unit)] });
    const held = withParams(params, async function* () {
      yield 1;
    });
    const nested = withParams(params, async () => 1);
    const uses: Record<string, () => unknown> = {
      "scope function": () => Depends(unit, { scope: "function" }),
      "scope request": () => Depends(unit, { scope: "request" }),
      "scope app": () => Depends(unit, { scope: "app" }),
      "no cache": () => Depends(unit, { useCache: false }),
      "a generator": () => app.get("/", { params }, async function* () {}),
      events: () => app.get("/", { params, stream: "sse" }, async () => []),
      "a nested stream": () => app.get("/", { params: { nested: Depends(nested) } }, async function* () {}),
      "a guarded stream": () => {
        router.get("/", async function* () {});
        app.includeRouter(router);
      },
      "a WebSocket": () => app.websocket("/", { params }, async ({ ws }: { ws: WebSocket }) => ws.accept()),
      "a worker": () => app.get("/", { params }, () => 1),
      "an application dependency": () =>
        app.get("/", { params: { nested: Depends(nested, { scope: "app" }) } }, async () => 1),
      "a later cleanup": () => app.get("/", { params: { held: Depends(held) } }, async () => 1),
    };
    return codeOf(uses[name] as () => unknown);
  };

  it.each([
    ["scope function", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["scope request", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["scope app", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["no cache", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["a generator", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["events", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["a nested stream", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["a guarded stream", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["a WebSocket", "TSGI_TRANSACTIONAL_DEPENDENCY"],
    ["a worker", "TSGI_PLAIN_HANDLER_PARAMETER"],
    ["an application dependency", "TSGI_DEPENDENCY_SCOPE"],
    ["a later cleanup", "TSGI_DEPENDENCY_SCOPE"],
  ])("is rejected at registration with %s", (name, code) => {
    expect(misuse(name)).toBe(code);
  });
});
