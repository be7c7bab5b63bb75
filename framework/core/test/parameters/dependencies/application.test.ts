import { describe, expect, it } from "@jest/globals";
import {
  App,
  type AppOptions,
  ConfigurationError,
  Depends,
  HTTPConnection,
  Request,
  Router,
  SecurityScopes,
  t,
  WebSocket,
  withParams,
} from "../../../src/index.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { call } from "../../../../test/support/call.js";
import { KeptLog } from "../../../../test/support/kept-log.js";

/** An App, its log, and the records of its dependencies. */
function create(options: AppOptions = {}) {
  const logger = new KeptLog();
  return { app: new App({ logger, ...options }), logger, notes: [] as string[] };
}

/** A promise with its handle outside. */
function gate() {
  let open!: () => void;
  const promise = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { promise, open };
}

/** Runs the lifespan of an App: returns the response to startup, and a function that stops it. */
async function start(app: App) {
  const stopping = gate();
  const messages: string[] = [];
  const started = gate();
  let received = 0;
  const over = app(
    { type: "lifespan", asgi: { version: "3.0", spec_version: "2.0" }, state: {} },
    async () => {
      if (received++ === 0) return { type: "lifespan.startup" };
      await stopping.promise;
      return { type: "lifespan.shutdown" };
    },
    async (message) => {
      messages.push("message" in message && message.message ? `${message.type}: ${message.message}` : message.type);
      started.open();
    },
  );
  await started.promise;
  return {
    messages,
    stop: async () => {
      stopping.open();
      await over;
      return messages;
    },
  };
}

/** A dependency of scope "app" that notes its start and its end. */
function noting(notes: string[], name: string, needs: readonly Depended[] = [], fails: "start" | "end" | null = null) {
  const params = Object.fromEntries(needs.map((marker, index) => [`need${index}`, marker]));
  return Depends(
    withParams(params, async function* noted() {
      await Promise.resolve();
      notes.push(`+${name}`);
      if (fails === "start") throw new Error(`${name} fails`);
      yield name;
      notes.push(`-${name}`);
      if (fails === "end") throw new Error(`the end of ${name} fails`);
    }),
    { scope: "app" },
  );
}
type Depended = ReturnType<typeof Depends<() => AsyncGenerator<string>>>;

describe('a dependency of scope "app"', () => {
  it("is called once per lifespan, for HTTP, WebSockets, guards, routers and mounted Apps, and again in the next", async () => {
    const { app } = create();
    let calls = 0;
    const open = async () => ({ number: ++calls });
    const database = Depends(open, { scope: "app" });
    const router = new Router({ prefix: "/router", dependencies: [database] });
    const getAccount = withParams({ db: database }, async ({ db }) => db.number);
    router.get("/", { params: { account: Depends(getAccount) } }, async ({ account }) => account);
    app.includeRouter(router);
    app.get("/", { params: { db: database, again: Depends(open, { scope: "app" }) } }, async ({ db, again }) => [
      db.number,
      db === again,
    ]);
    app.websocket("/ws", { params: { db: database } }, async ({ ws, db }) => {
      await ws.accept();
      await ws.sendJson(db);
    });
    const inner = new App();
    inner.get("/", { params: { db: database } }, async ({ db }) => db);
    app.mount("/inner", inner);
    for (const number of [1, 2]) {
      await using client = await TestClient.open(app);
      expect(calls).toBe(number);
      await client.get("/").expect(200, [number, true]);
      await client.get("/router").expect(200, String(number));
      await client.get("/inner/").expect(200, { number });
      const socket = await client.websocket("/ws");
      expect(await socket.receiveJson()).toEqual({ number });
    }
    expect(calls).toBe(2);
  });

  it.each([
    ["a function", () => "value", "value"],
    ["an async function", async () => "value", "value"],
    // oxlint-disable-next-line unicorn/no-thenable -- what a query builder gives
    ["what has a then", () => ({ then: (resolve: (value: string) => void) => resolve("value") }), "value"],
    ["a generator", function* () { yield "value"; }, "value"], // oxfmt-ignore
    ["undefined", async () => undefined, null],
  ])("takes %s", async (_, open, value) => {
    const { app } = create();
    app.get("/", { params: { db: Depends(open as () => string, { scope: "app" }) } }, async ({ db }) => db ?? null);
    await using client = await TestClient.open(app);
    expect((await client.get("/")).body).toEqual(value);
  });

  it("can be a class, which gets its dependencies", async () => {
    class Users {
      static readonly params = { db: Depends(() => "db", { scope: "app" }) };
      readonly db: string;
      constructor({ db }: { db: string }) {
        this.db = db;
      }
    }
    const { app } = create();
    app.get("/", { params: { users: Depends(Users, { scope: "app" }) } }, async ({ users }) => users.db);
    await using client = await TestClient.open(app);
    expect((await client.get("/")).body).toBe("db");
  });

  it("starts concurrently with independent ones, after its dependencies", async () => {
    const { app, notes } = create();
    const both = gate();
    let running = 0;
    const meet = (name: string) =>
      Depends(
        async () => {
          notes.push(name);
          if (++running === 2) both.open();
          await both.promise;
          return name;
        },
        { scope: "app" },
      );
    const [left, right] = [meet("left"), meet("right")];
    const last = withParams({ left, right }, async ({ left: a, right: b }) => notes.push(`${a} and ${b}`));
    app.get("/", { params: { last: Depends(last, { scope: "app" }) } }, async () => null);
    const { stop } = await start(app);
    expect(notes).toEqual(["left", "right", "left and right"]);
    await stop();
  });

  it("starts generators one after the other, in the order of the routes, however long one of them waits", async () => {
    const { app, notes } = create();
    const slow = Depends(
      async () => {
        for (let turn = 0; turn < 50; turn++) await Promise.resolve();
        return "slow";
      },
      { scope: "app" },
    );
    const first = noting(notes, "first", [slow]);
    app.get("/first", { params: { first } }, async () => null);
    app.get("/second", { params: { second: noting(notes, "second") } }, async () => null);
    const { stop } = await start(app);
    expect(notes).toEqual(["+first", "+second"]);
    await stop();
    expect(notes).toEqual(["+first", "+second", "-second", "-first"]);
  });

  /** Everything that has a life in an App, in the order in which it starts. */
  const PARTS = ["lifespan", "hook", "outer router", "inner router", "mounted", "mounted router", "one", "two"];

  function whole(fails: string | null) {
    const { app: _, notes, logger } = create();
    const begin = (name: string) => {
      notes.push(`+${name}`);
      if (name === fails) throw new Error(`${name} fails`);
    };
    const lifespanOf = (name: string) =>
      async function* () {
        begin(name);
        yield;
        notes.push(`-${name}`);
      };
    const app = new App({ logger, lifespan: lifespanOf("lifespan") });
    app.onStartup(() => {
      begin("hook");
      return () => notes.push("-hook");
    });
    const outer = new Router({ lifespan: lifespanOf("outer router") });
    const inner = new Router({ lifespan: lifespanOf("inner router") });
    outer.includeRouter(inner);
    app.includeRouter(outer);
    app.includeRouter(inner, { prefix: "/again" });
    const mounted = new App({ logger, lifespan: lifespanOf("mounted") });
    mounted.includeRouter(new Router({ lifespan: lifespanOf("mounted router") }));
    const one = noting(notes, "one", [], fails === "one" ? "start" : null);
    app.get("/", { params: { one } }, async () => null);
    mounted.get(
      "/",
      { params: { two: noting(notes, "two", [one], fails === "two" ? "start" : null) } },
      async () => null,
    );
    app.mount("/mounted", mounted);
    return { app, notes };
  }

  it("starts after hooks, routers and mounted Apps, and all stops in reverse", async () => {
    const { app, notes } = whole(null);
    const { messages, stop } = await start(app);
    expect(messages).toEqual(["lifespan.startup.complete"]);
    expect(notes).toEqual(PARTS.map((name) => `+${name}`));
    notes.length = 0;
    expect(await stop()).toEqual(["lifespan.startup.complete", "lifespan.shutdown.complete"]);
    expect(notes).toEqual(PARTS.toReversed().map((name) => `-${name}`));
  });

  it.each(PARTS)("fails to start if %s fails, and cleans up started ones", async (fails) => {
    const { app, notes } = whole(fails);
    const { messages } = await start(app);
    expect(messages).toEqual([`lifespan.startup.failed: Error: ${fails} fails`]);
    const started = PARTS.slice(0, PARTS.indexOf(fails));
    expect(notes).toEqual([
      ...started.map((name) => `+${name}`),
      `+${fails}`,
      ...started.toReversed().map((name) => `-${name}`),
    ]);
  });

  it("reports its failure after running starts have finished, and no other one starts", async () => {
    const { app, notes } = create();
    const late = gate();
    const slow = Depends(
      async function* () {
        await late.promise;
        notes.push("+slow");
        yield "slow";
        notes.push("-slow");
      },
      { scope: "app" },
    );
    const failing = Depends(
      async (): Promise<string> => {
        queueMicrotask(late.open);
        throw new Error("no database");
      },
      { scope: "app" },
    );
    app.get("/", { params: { slow, failing, never: noting(notes, "never", [slow]) } }, async () => null);
    const { messages } = await start(app);
    expect(messages).toEqual(["lifespan.startup.failed: Error: no database"]);
    expect(notes).toEqual(["+slow", "-slow"]);
  });

  it("is reported if its cleanup fails, and the cleanup of the others continues", async () => {
    const { app, notes, logger } = create();
    const [one, two] = [noting(notes, "one"), noting(notes, "two", [], "end")];
    app.get("/", { params: { one, two } }, async () => null);
    const { stop } = await start(app);
    await stop();
    expect(notes).toEqual(["+one", "+two", "-two", "-one"]);
    expect(logger.lines.join("\n")).toContain("The cleanup of the dependency noted failed");
  });

  it("is cleaned up after the last request", async () => {
    const { app, notes } = create();
    const [arrived, answer] = [gate(), gate()];
    app.get("/", { params: { db: noting(notes, "db") } }, async () => {
      arrived.open();
      await answer.promise;
      notes.push("answered");
      return null;
    });
    const client = await TestClient.open(app);
    const response = client.get("/").then(({ status }) => status);
    await arrived.promise;
    const closed = client.close();
    answer.open();
    expect(await response).toBe(200);
    await closed;
    expect(notes).toEqual(["+db", "answered", "-db"]);
  });

  it("fails the start if its generator does not yield", async () => {
    const { app } = create();
    const empty = Depends(async function* (): AsyncGenerator<string> {}, { scope: "app" });
    app.get("/", { params: { empty } }, async () => null);
    expect((await start(app)).messages[0]).toContain("[TSGI_DEPENDENCY_WITHOUT_YIELD]");
  });

  it("is in the lifespan of each App if one is mounted in two that run concurrently", async () => {
    let calls = 0;
    const shared = new App();
    const open = Depends(async () => ++calls, { scope: "app" });
    shared.get("/", { params: { number: open } }, async ({ number }) => number);
    const [left, right] = [new App(), new App()];
    left.mount("/shared", shared);
    right.mount("/shared", shared);
    const [first, second] = [await start(left), await start(right)];
    expect((await call(left, "GET", "/shared/")).json).toBe(1);
    expect((await call(right, "GET", "/shared/")).json).toBe(2);
    await second.stop();
    expect((await call(left, "GET", "/shared/")).json).toBe(1);
    await first.stop();
    expect(calls).toBe(2);
  });
});

describe("a direct call, without a lifespan", () => {
  it("starts it by the first use, once for all who wait", async () => {
    const { app } = create();
    const ready = gate();
    let calls = 0;
    const open = Depends(
      async () => {
        calls++;
        await ready.promise;
        return calls;
      },
      { scope: "app" },
    );
    app.get("/", { params: { db: open } }, async ({ db }) => db);
    const mounted = new App();
    mounted.get("/", { params: { db: open } }, async ({ db }) => db);
    app.mount("/mounted", mounted);
    const answers = [call(app, "GET", "/"), call(app, "GET", "/"), call(app, "GET", "/mounted/")];
    ready.open();
    expect((await Promise.all(answers)).map(({ json }) => json)).toEqual([1, 1, 1]);
    expect((await call(app, "GET", "/")).json).toBe(1);
  });

  it("returns the failure to the waiting requests, and tries again", async () => {
    const { app } = create();
    let calls = 0;
    const flaky = async () => {
      if (++calls === 1) throw new Error("no database");
      return "db";
    };
    const users = withParams({ db: Depends(flaky, { scope: "app" }) }, async ({ db }) => `users of ${db}`);
    app.get("/", { params: { users: Depends(users, { scope: "app" }) } }, async ({ users: value }) => value);
    const answers = await Promise.all([call(app, "GET", "/"), call(app, "GET", "/")]);
    expect(answers.map(({ status }) => status)).toEqual([500, 500]);
    expect((await call(app, "GET", "/")).json).toBe("users of db");
    expect(calls).toBe(2);
  });
});

describe("dependencyOverrides", () => {
  it("replace it before startup, together with the dependencies of the replacement", async () => {
    const { app, notes } = create();
    const open = async () => {
      notes.push("opened");
      return "db";
    };
    const database = Depends(open, { scope: "app" });
    const users = withParams({ db: database }, async ({ db }) => `users of ${db}`);
    const mounted = new App();
    mounted.get("/", { params: { db: database } }, async ({ db }) => db);
    app.mount("/mounted", mounted);
    app.get("/", { params: { users: Depends(users, { scope: "app" }) } }, async ({ users: value }) => value);
    const name = Depends(async () => "fake", { scope: "app" });
    app.dependencyOverrides.set(
      open,
      withParams({ name }, async ({ name: value }) => value),
    );
    {
      await using client = await TestClient.open(app);
      expect((await client.get("/")).body).toBe("users of fake");
      expect((await client.get("/mounted/")).body).toBe("fake");
      expect(client.unusedOverrides()).toEqual([]);
    }
    expect(notes).toEqual([]);
    app.dependencyOverrides.clear();
    await using client = await TestClient.open(app);
    expect((await client.get("/")).body).toBe("users of db");
  });

  it("of a mounted App are its own, and the others share the original", async () => {
    const { app } = create();
    const open = async () => "db";
    const users = withParams({ db: Depends(open, { scope: "app" }) }, async ({ db }) => `users of ${db}`);
    const params = { users: Depends(users, { scope: "app" }) };
    app.get("/", { params }, async ({ users: value }) => value);
    const mounted = new App();
    mounted.get("/", { params }, async ({ users: value }) => value);
    mounted.dependencyOverrides.set(open, async () => "fake");
    app.mount("/mounted", mounted);
    await using client = await TestClient.open(app);
    expect((await client.get("/")).body).toBe("users of db");
    expect((await client.get("/mounted/")).body).toBe("users of fake");
  });

  it("may wrap the original", async () => {
    const { app } = create();
    const open = async () => "db";
    const database = Depends(open, { scope: "app" });
    app.get("/", { params: { db: database } }, async ({ db }) => db);
    app.dependencyOverrides.set(
      open,
      withParams({ db: database }, async ({ db }) => `traced ${db}`),
    );
    await using client = await TestClient.open(app);
    expect((await client.get("/")).body).toBe("traced db");
  });

  it("reject a replacement that uses something of a request", async () => {
    const { app } = create();
    const open = async () => "db";
    app.get("/", { params: { db: Depends(open, { scope: "app" }) } }, async ({ db }) => db);
    app.dependencyOverrides.set(
      open,
      withParams({ request: Request }, async () => "fake"),
    );
    expect((await start(app)).messages[0]).toContain("[TSGI_DEPENDENCY_SCOPE]");
  });
});

describe("registration", () => {
  const perRequest = Depends(async () => "value");
  const db = Depends(async () => "db", { scope: "app" });

  it.each([
    ["a request", { request: Request }],
    ["what serves both protocols", { connection: HTTPConnection }],
    ["a value of the query", { page: t.Integer() }],
    ["security scopes", { scopes: SecurityScopes }],
    ["a dependency that each request calls", { value: perRequest }],
    ["the same one by an own marker", { value: Depends(async () => "db", { scope: "function" }) }],
  ])("rejects one that depends on %s", (_, params) => {
    const open = withParams(params as { value: typeof perRequest }, async function open() {
      return "db";
    });
    const register = () => new App().get("/", { params: { db: Depends(open, { scope: "app" }) } }, async () => null);
    const [name] = Object.keys(params);
    expect(register).toThrow(expect.objectContaining({ code: "TSGI_DEPENDENCY_SCOPE" }));
    expect(register).toThrow(new RegExp(`^GET /: The dependency open \\(scope "app"\\) .* ${JSON.stringify(name)}`));
  });

  it.each([
    ["a misspelt scope", { scope: "application" }, 'scope should be "app", "function" or "request"'],
    ["a check of what each request calls", { check: () => true }, "TSGI_DEPENDENCY_OPTIONS"],
    ["a check that is no function", { scope: "app", check: true }, "check should be a function"],
    ["a call for each who asks", { scope: "app", useCache: false }, "TSGI_DEPENDENCY_OPTIONS"],
  ])("rejects %s", (_, options, expected) => {
    let error: unknown;
    try {
      Depends(async () => "db", options as { scope: "app" });
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    const { code, message } = error as ConfigurationError;
    expect(`${code}: ${message}`).toContain(expected);
  });

  it("rejects one as a parameter of a non-async handler, which runs in a worker, but accepts it below a dependency", () => {
    const app = new App();
    expect(() => app.get("/", { params: { db } }, () => null)).toThrow(
      expect.objectContaining({
        code: "TSGI_PLAIN_HANDLER_PARAMETER",
        message: expect.stringMatching(/^GET \/: The parameter "db" is a dependency of scope "app"/),
      }),
    );
    const account = withParams({ db }, async () => "ada");
    app.get("/", { params: { account: Depends(account) } }, ({ account: name }) => name);
    app.get("/inline", { params: { db }, pool: false }, () => null);
  });
});

describe("HTTPConnection", () => {
  it("is the request in an HTTP route, and the socket in a WebSocket route", async () => {
    const { app } = create();
    const session = withParams({ connection: HTTPConnection }, async ({ connection }) => ({
      kind: connection instanceof WebSocket ? "socket" : connection instanceof Request ? "request" : "neither",
      token: connection.cookies["token"] ?? null,
      page: connection.queryParams.get("page"),
    }));
    app.get("/", { params: { session: Depends(session) } }, async ({ session: value }) => value);
    app.websocket("/", { params: { session: Depends(session) } }, async ({ ws, session: value }) => {
      await ws.accept();
      await ws.sendJson(value);
    });
    await using client = await TestClient.open(app, { headers: { cookie: "token=a" } });
    await client.get("/?page=2").expect(200, { kind: "request", token: "a", page: "2" });
    const socket = await client.websocket("/?page=3");
    expect(await socket.receiveJson()).toEqual({ kind: "socket", token: "a", page: "3" });
  });

  const getSession = withParams({ request: Request }, async function getSession() {
    return "session";
  });
  const account = withParams({ session: Depends(getSession) }, async () => "ada");

  it.each([
    [
      "WEBSOCKET /changes → account → session: takes a Request",
      (app: App) => app.websocket("/changes", { params: { account: Depends(account) } }, async () => {}),
    ],
    [
      "WEBSOCKET /changes → getSession: takes a Request",
      (app: App) => app.websocket("/changes", { dependencies: [Depends(getSession)] }, async () => {}),
    ],
    [
      "GET /changes → socket: takes a WebSocket",
      (app: App) =>
        app.get(
          "/changes",
          { params: { socket: Depends(withParams({ ws: WebSocket }, async () => null)) } },
          async () => null,
        ),
    ],
    [
      "WEBSOCKET /changes → body: takes a body",
      (app: App) =>
        app.websocket(
          "/changes",
          { params: { body: Depends(withParams({ item: t.Object({}) }, async () => null)) } },
          async () => {},
        ),
    ],
  ])("would be needed: %s", (message, register) => {
    expect(() => register(new App())).toThrow(message);
  });
});

describe("the lifespan of a router", () => {
  it("gets the App, and what it yields is merged into the state", async () => {
    const app = new App({
      async *lifespan() {
        yield { name: "app" };
      },
    });
    const router = new Router({
      async *lifespan(given) {
        yield { same: given === app };
      },
    });
    router.get("/", { params: { request: Request } }, async ({ request }) => request.state);
    app.includeRouter(router);
    await using client = await TestClient.open(app);
    await client.get("/").expect(200, { name: "app", same: true });
  });

  it("is rejected if it sets an existing key of the state, after its own cleanup", async () => {
    const { app, notes } = create({
      async *lifespan() {
        yield { db: 1 };
        notes.push("app");
      },
    });
    const lifespan = async function* () {
      yield { db: 2 };
      notes.push("router");
    };
    app.includeRouter(new Router({ lifespan }));
    expect((await start(app)).messages).toEqual([
      expect.stringMatching(
        /^lifespan.startup.failed: ConfigurationError: Two lifespans .* "db".*\[TSGI_DUPLICATE_STATE\]$/,
      ),
    ]);
    expect(notes).toEqual(["router", "app"]);
  });

  it("is rejected if it is not a function", () => {
    expect(() => new Router({ lifespan: "start" as never })).toThrow(ConfigurationError);
  });
});
