import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, PlainTextResponse, Request, StreamingResponse, t } from "../../src/index.js";
import {
  clearSession,
  memoryStore,
  renewSession,
  sessionOf,
  sessions,
  type SessionsOptions,
  type Store,
} from "../../src/middleware/index.js";
import { Deferred } from "../../src/common/promises.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import type { Answer } from "../../../test/support/call.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { AWAY, describeStores } from "./_stores.js";

type User = { user?: unknown; cart?: unknown };

/** An application with a login. `gates` hold a slow change until a test opens them. */
function create(store: Store, options: Partial<SessionsOptions> = {}) {
  const log = new KeptLog();
  const app = new App({ logger: log, middleware: [sessions({ ...options, store })] });
  const params = { request: Request };
  const gates = { entered: new Deferred<void>(), open: new Deferred<void>() };
  app.get("/", { params }, async ({ request }) => sessionOf(request));
  app.get("/untouched", async () => "nothing read");
  app.post("/", { params: { ...params, data: t.Record(t.String(), t.Unknown()) } }, async ({ request, data }) => {
    Object.assign(sessionOf(request), data);
  });
  app.post("/slow", { params }, async ({ request }) => {
    sessionOf<User>(request).cart = "slow";
    gates.entered.resolve();
    await gates.open.promise;
  });
  app.post("/login", { params }, async ({ request }) => {
    renewSession(request);
    sessionOf<User>(request).user = "ada";
  });
  app.post("/slow-renew", { params: { ...params, data: t.Record(t.String(), t.Unknown()) } }, async (given) => {
    renewSession(given.request);
    Object.assign(sessionOf(given.request), given.data);
    gates.entered.resolve();
    await gates.open.promise;
  });
  app.post("/slow-switch", { params }, async ({ request }) => {
    clearSession(request);
    sessionOf<User>(request).user = "ada";
    gates.entered.resolve();
    await gates.open.promise;
  });
  app.post("/renew", { params }, async ({ request }) => renewSession(request));
  app.post("/switch", { params }, async ({ request }) => {
    clearSession(request);
    sessionOf<User>(request).user = "bob";
  });
  app.post("/logout", { params }, async ({ request }) => clearSession(request));
  app.post("/empty", { params }, async ({ request }) => {
    const session = sessionOf<User>(request);
    delete session.user;
  });
  app.post("/fails", { params }, async ({ request }) => {
    sessionOf<User>(request).user = "half";
    throw new Error("Broken");
  });
  return { app, log, gates };
}

/** The cookie of a response, as the next request sends it. */
const cookieOf = ({ headers }: Answer) => (headers["set-cookie"] ?? "").split(";", 1)[0] as string;
const valueOf = (answer: Answer) => cookieOf(answer).split("=")[1] as string;
const withCookie = (cookie: string) => ({ headers: [["cookie", cookie]] as const });
const forged = (id: string) => `__Host-session=${id}`;

describeStores((_, open) => {
  describeMatrix("sessions in a store", ({ call }) => {
    it("keeps data from one request to the next, with only an id in the cookie", async () => {
      const { app } = create(open().store);
      const set = await call(app, "POST", "/", { json: { user: 7, names: ["a"] } });
      expect(set.headers["set-cookie"]).toMatch(
        /^__Host-session=[\w-]{43}; Max-Age=1209600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      );
      const get = await call(app, "GET", "/", withCookie(cookieOf(set)));
      expect(get.json).toEqual({ user: 7, names: ["a"] });
      expect(get.headers).toMatchObject({ vary: "Cookie" });
      expect(get.headers).not.toHaveProperty("set-cookie");
    });

    it("changes the data under the same id", async () => {
      const { app } = create(open().store);
      const set = await call(app, "POST", "/", { json: { user: 7 } });
      const changed = await call(app, "POST", "/", { ...withCookie(cookieOf(set)), json: { user: { id: 8 } } });
      expect(valueOf(changed)).toBe(valueOf(set));
      expect((await call(app, "GET", "/", withCookie(cookieOf(set)))).json).toEqual({ user: { id: 8 } });
      const same = await call(app, "POST", "/", { ...withCookie(cookieOf(set)), json: { user: { id: 8 } } });
      expect(same.headers).not.toHaveProperty("set-cookie");
    });

    it("holds data that no cookie could", async () => {
      const { app } = create(open().store);
      const set = await call(app, "POST", "/", { json: { text: "x".repeat(100_000) } });
      const { json } = await call(app, "GET", "/", withCookie(cookieOf(set)));
      expect(json).toEqual({ text: "x".repeat(100_000) });
    });

    it.each([
      ["fixation: an id that was made up", "A".repeat(43)],
      ["an id of another length", "A".repeat(42)],
      ["an empty id", ""],
      ["characters that no id has", "A".repeat(42) + "*"],
      ["the name of a key", "session:__Host-session:x"],
      ["an id of 8 KB", "A".repeat(8_000)],
    ])("never takes %s", async (__, id) => {
      const { app } = create(open().store);
      expect((await call(app, "GET", "/", withCookie(forged(id)))).json).toEqual({});
      const set = await call(app, "POST", "/", { ...withCookie(forged(id)), json: { user: 7 } });
      expect(valueOf(set)).toMatch(/^[\w-]{43}$/);
      expect(valueOf(set)).not.toBe(id);
      expect((await call(app, "GET", "/", withCookie(forged(id)))).json).toEqual({});
    });

    it("fixation: renews the id at login, and the planted one becomes invalid", async () => {
      const { app } = create(open().store);
      const planted = await call(app, "POST", "/", { json: { cart: [1] } });
      const login = await call(app, "POST", "/login", withCookie(cookieOf(planted)));
      expect(valueOf(login)).not.toBe(valueOf(planted));
      expect((await call(app, "GET", "/", withCookie(cookieOf(login)))).json).toEqual({ cart: [1], user: "ada" });
      expect((await call(app, "GET", "/", withCookie(cookieOf(planted)))).json).toEqual({});
    });

    it("renews an id though the data are the same", async () => {
      const opened = open();
      const { app } = create(opened.store);
      const set = await call(app, "POST", "/", { json: { user: 7 } });
      const renewed = await call(app, "POST", "/renew", withCookie(cookieOf(set)));
      expect(valueOf(renewed)).not.toBe(valueOf(set));
      expect((await call(app, "GET", "/", withCookie(cookieOf(renewed)))).json).toEqual({ user: 7 });
      expect(await opened.keys()).toHaveLength(1);
      const none = await call(app, "POST", "/renew");
      expect(none.headers).not.toHaveProperty("set-cookie");
    });

    it("creates another id for data that are set after clearSession", async () => {
      const opened = open();
      const { app } = create(opened.store);
      const ada = await call(app, "POST", "/login");
      const bob = await call(app, "POST", "/switch", withCookie(cookieOf(ada)));
      expect(valueOf(bob)).not.toBe(valueOf(ada));
      expect((await call(app, "GET", "/", withCookie(cookieOf(bob)))).json).toEqual({ user: "bob" });
      expect((await call(app, "GET", "/", withCookie(cookieOf(ada)))).json).toEqual({});
    });

    it.each(["/logout", "/empty"])("ends a session immediately for every copy of its cookie: %s", async (path) => {
      const opened = open();
      const { app } = create(opened.store);
      const login = await call(app, "POST", "/login");
      expect(await opened.keys()).toHaveLength(1);
      const logout = await call(app, "POST", path, withCookie(cookieOf(login)));
      expect(logout.headers["set-cookie"]).toMatch(/^__Host-session=; Max-Age=0; /);
      expect((await call(app, "GET", "/", withCookie(cookieOf(login)))).json).toEqual({});
      expect(await opened.keys()).toEqual([]);
    });

    it("does not bring a session back that ends while a slower request changes it", async () => {
      const opened = open();
      const { app, gates } = create(opened.store);
      const login = await call(app, "POST", "/login");
      const slow = call(app, "POST", "/slow", withCookie(cookieOf(login)));
      await gates.entered.promise;
      await call(app, "POST", "/logout", withCookie(cookieOf(login)));
      gates.open.resolve();
      expect((await slow).headers).not.toHaveProperty("set-cookie");
      expect((await call(app, "GET", "/", withCookie(cookieOf(login)))).json).toEqual({});
      expect(await opened.keys()).toEqual([]);
    });

    it.each([
      ["nothing", {}, {}],
      ["the same value", { user: "ada" }, {}],
      ["another value", { cart: "new" }, { cart: "new" }],
    ])(
      "does not bring a session back that ends while a slower request renews it and sets %s",
      async (__, data, left) => {
        const opened = open();
        const { app, gates } = create(opened.store);
        const login = await call(app, "POST", "/login");
        const slow = call(app, "POST", "/slow-renew", { ...withCookie(cookieOf(login)), json: data });
        await gates.entered.promise;
        await call(app, "POST", "/logout", withCookie(cookieOf(login)));
        gates.open.resolve();
        const renewed = await slow;
        const cookie = "set-cookie" in renewed.headers ? cookieOf(renewed) : cookieOf(login);
        expect((await call(app, "GET", "/", withCookie(cookie))).json).toEqual(left);
        expect(await opened.keys()).toHaveLength(Object.keys(left).length);
      },
    );

    it("stores data that a request has set after clearSession, though the session has ended meanwhile", async () => {
      const { app, gates } = create(open().store);
      const login = await call(app, "POST", "/login");
      const slow = call(app, "POST", "/slow-switch", withCookie(cookieOf(login)));
      await gates.entered.promise;
      await call(app, "POST", "/logout", withCookie(cookieOf(login)));
      gates.open.resolve();
      expect((await call(app, "GET", "/", withCookie(cookieOf(await slow)))).json).toEqual({ user: "ada" });
    });

    it("keeps the cookie of a renewed session from a slower request with the id of before", async () => {
      const { app, gates } = create(open().store);
      const before = await call(app, "POST", "/", { json: { cart: [1] } });
      const slow = call(app, "POST", "/slow", withCookie(cookieOf(before)));
      await gates.entered.promise;
      const login = await call(app, "POST", "/login", withCookie(cookieOf(before)));
      gates.open.resolve();
      expect((await slow).headers).not.toHaveProperty("set-cookie");
      expect((await call(app, "GET", "/", withCookie(cookieOf(login)))).json).toEqual({ cart: [1], user: "ada" });
    });

    it("two logins at the same time are both logged in", async () => {
      const { app } = create(open().store);
      const before = await call(app, "POST", "/", { json: { cart: [1] } });
      const logins = await Promise.all([1, 2].map(() => call(app, "POST", "/login", withCookie(cookieOf(before)))));
      for (const login of logins) {
        expect((await call(app, "GET", "/", withCookie(cookieOf(login)))).json).toMatchObject({ user: "ada" });
      }
    });

    it("lives in the store for maxAge from its last change", async () => {
      const opened = open();
      const { app } = create(opened.store, { maxAge: 600 });
      const set = await call(app, "POST", "/", { json: { user: 7 } });
      expect(set.headers["set-cookie"]).toContain("; Max-Age=600;");
      const [key = ""] = await opened.keys();
      expect(await opened.secondsLeft(key)).toBeGreaterThan(500);
      expect(await opened.secondsLeft(key)).toBeLessThanOrEqual(600);
      await opened.store.set(key, '{"user":7}', 100);
      await call(app, "GET", "/", withCookie(cookieOf(set)));
      expect(await opened.secondsLeft(key)).toBeLessThanOrEqual(100);
      await call(app, "POST", "/", { ...withCookie(cookieOf(set)), json: { user: 8 } });
      expect(await opened.secondsLeft(key)).toBeGreaterThan(500);
    });

    it("is empty when its entry has expired, and does not use its id again", async () => {
      const opened = open();
      const { app } = create(opened.store);
      const set = await call(app, "POST", "/", { json: { user: 7 } });
      const [key = ""] = await opened.keys();
      await opened.store.set(key, '{"user":7}', 0.001);
      while ((await opened.store.get(key)) !== null);
      expect((await call(app, "GET", "/", withCookie(cookieOf(set)))).json).toEqual({});
      const again = await call(app, "POST", "/", { ...withCookie(cookieOf(set)), json: { user: 8 } });
      expect(valueOf(again)).not.toBe(valueOf(set));
    });

    it.each(["not JSON", "[1]", "null", '"text"', "7"])("ignores an entry that contains %s", async (text) => {
      const opened = open();
      const { app } = create(opened.store);
      const set = await call(app, "POST", "/", { json: { user: 7 } });
      const [key = ""] = await opened.keys();
      await opened.store.set(key, text, 60);
      expect(await call(app, "GET", "/", withCookie(cookieOf(set)))).toMatchObject({ status: 200, json: {} });
    });

    it("is kept with the response to an error, as a signed one is", async () => {
      const { app } = create(open().store);
      const failed = await call(app, "POST", "/fails");
      expect(failed.status).toBe(500);
      expect((await call(app, "GET", "/", withCookie(cookieOf(failed)))).json).toEqual({ user: "half" });
    });
  });
});

/** A store whose calls fail from the one on that is named. */
const failing = (...names: (keyof Store)[]): Store => {
  const store = memoryStore();
  return {
    ...pick(store),
    ...Object.fromEntries(names.map((name) => [name, () => Promise.reject(new Error("away"))])),
  };
};
const pick = (store: Required<Store>): Required<Store> => ({
  get: (key) => store.get(key),
  set: (...given) => store.set(...given),
  delete: (key) => store.delete(key),
  increment: (...given) => store.increment(...given),
  add: (...given) => store.add(...given),
  replace: (...given) => store.replace(...given),
  swap: (...given) => store.swap(...given),
});

describeMatrix("sessions whose store is away", ({ call }) => {
  const id = withCookie(forged("A".repeat(43)));

  it("responds with 503 to a request with a session, and logs it once", async () => {
    const { app, log } = create(AWAY);
    for (let count = 0; count < 3; count++) {
      expect(await call(app, "GET", "/untouched", id)).toMatchObject({
        status: 503,
        json: { detail: "Service Unavailable" },
      });
    }
    expect(log.lines).toEqual([
      expect.stringMatching(/^warn The store of the sessions is unavailable: .* Redis is not connected\.$/),
    ]);
  });

  it("serves requests that neither have a session nor make one", async () => {
    const { app } = create(AWAY);
    expect((await call(app, "GET", "/untouched")).status).toBe(200);
    expect((await call(app, "GET", "/")).json).toEqual({});
    expect((await call(app, "GET", "/", withCookie("other=1"))).status).toBe(200);
  });

  it.each<[string, Store, string]>([
    ["made", failing("set"), "/login"],
    ["renewed", failing("delete"), "/login"],
    ["changed", failing("replace"), "/"],
    ["ended", failing("delete"), "/logout"],
  ])("responds with 503 instead of a success if a session cannot be %s", async (what, store, path) => {
    const { app, log } = create(store);
    const json = { user: 7 };
    const before = what === "made" ? undefined : await call(app, "POST", "/", { json: { cart: [1] } });
    const sent = before ? withCookie(cookieOf(before)) : {};
    const answer = await call(app, "POST", path, path === "/" ? { ...sent, json } : sent);
    expect(answer).toMatchObject({ status: 503, json: { detail: "Service Unavailable" } });
    expect(answer.headers).not.toHaveProperty("set-cookie");
    expect(log.lines).toEqual([expect.stringMatching(/^warn The store of the sessions is unavailable/)]);
  });

  it("does not send a stream if its session cannot be stored", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log, middleware: [sessions({ store: AWAY })] });
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      sessionOf<User>(request).user = 7;
      return new StreamingResponse(["one", "two"]);
    });
    expect(await call(app, "POST", "/")).toMatchObject({ status: 503, text: '{"detail":"Service Unavailable"}' });
  });
});

describe("sessions in a store", () => {
  it("has ids of 256 random bits", async () => {
    const { app } = create(memoryStore());
    const ids = new Set<string>();
    const ones = Array<number>(256).fill(0);
    for (let count = 0; count < 400; count++) {
      const id = valueOf(await callInMemory(app, "POST", "/login"));
      ids.add(id);
      const bytes = Buffer.from(id, "base64url");
      expect(bytes).toHaveLength(32);
      for (let bit = 0; bit < 256; bit++) ones[bit] = (ones[bit] ?? 0) + (((bytes[bit >> 3] ?? 0) >> (bit & 7)) & 1);
    }
    expect(ids.size).toBe(400);
    // Each bit is a fair coin: 200 ± 70 is seven standard deviations.
    for (const count of ones) expect(Math.abs(count - 200)).toBeLessThan(70);
  });

  it("has no id in the store that would be valid in a cookie", async () => {
    const written: string[] = [];
    const inner = memoryStore();
    const store: Store = {
      ...pick(inner),
      set: (key, value, ttl) => (written.push(key, value), inner.set(key, value, ttl)),
    };
    const { app } = create(store);
    const id = valueOf(await callInMemory(app, "POST", "/login"));
    expect(written.join(" ")).not.toContain(id);
    expect(written).toEqual([expect.stringMatching(/^session:__Host-session:[\w-]{43}$/), '{"user":"ada"}']);
  });

  it("looks up only well-formed ids, one time per request", async () => {
    const asked: string[] = [];
    const inner = memoryStore();
    const { app } = create({ ...pick(inner), get: (key) => (asked.push(key), inner.get(key)) });
    await callInMemory(app, "GET", "/");
    await callInMemory(app, "GET", "/", withCookie(forged("../../etc")));
    expect(asked).toEqual([]);
    await callInMemory(app, "GET", "/", withCookie(forged("A".repeat(43))));
    expect(asked).toHaveLength(1);
  });

  it("of one name is not one of another in the same store", async () => {
    const store = memoryStore();
    const login = await callInMemory(create(store, { cookie: "__Host-a" }).app, "POST", "/login");
    const { app } = create(store, { cookie: "__Host-b" });
    const cookie = `__Host-b=${valueOf(login)}`;
    expect((await callInMemory(app, "GET", "/", withCookie(cookie))).json).toEqual({});
  });

  it("adds its cookie to the cookies of the application", async () => {
    const app = new App({ middleware: [sessions({ store: memoryStore() })] });
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      sessionOf<User>(request).user = 7;
      const response = new PlainTextResponse("");
      response.setCookie("own", "1");
      return response;
    });
    const lines = (await callInMemory(app, "GET", "/")).headerLines.filter(([name]) => name === "set-cookie");
    expect(lines.map(([, value]) => value.split("=")[0])).toEqual(["own", "__Host-session"]);
  });

  it("leaves a signed session as it is when it is renewed", async () => {
    const app = new App({ middleware: [sessions({ secret: "0123456789abcdef0123456789abcdef" })] });
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      renewSession(request);
      return sessionOf(request);
    });
    const answer = await callInMemory(app, "POST", "/");
    expect(answer).toMatchObject({ status: 200, json: {} });
    expect(answer.headers).not.toHaveProperty("set-cookie");
  });

  it.each<[string, unknown, RegExp]>([
    ["a store that is none", { store: {} }, /sessions\(\): store should be a store, such as memoryStore\(\)/],
    ["a client of Redis", { store: { get() {}, set() {} } }, /store should be a store/],
    ["neither secret nor store", {}, /or a store/],
    ["a name that is none", { store: memoryStore(), cookie: "a b" }, /cookie name "a b"/],
    ["a misspelt store", { stroe: memoryStore() }, /no option "stroe".*"store"/s],
    ["an age that is none", { store: memoryStore(), maxAge: 1.5 }, /maxAge should be a whole number/],
  ])("rejects %s when it is created", (_, options, message) => {
    const make = () => sessions(options as SessionsOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});

describe("the session of a WebSocket", () => {
  const createChat = (store: Store) => {
    const { app, log } = create(store);
    const errors: unknown[] = [];
    const attempt = (work: () => unknown) => {
      try {
        return work();
      } catch (error) {
        return errors.push(error);
      }
    };
    app.websocket("/chat", async ({ ws }) => {
      const session = sessionOf<User>(ws);
      await ws.accept();
      await ws.sendJson(session);
      attempt(() => (session.user = "eve"));
      attempt(() => Object.assign(session.cart as object, { stolen: true }));
      attempt(() => clearSession(ws));
      attempt(() => renewSession(ws));
    });
    return { app, log, errors };
  };

  it("is the one of its cookie, and cannot be changed", async () => {
    const { app, errors } = createChat(memoryStore());
    const set = await callInMemory(app, "POST", "/", { json: { user: 7, cart: { items: [1] } } });
    await using client = await TestClient.open(app);
    const ws = await client.websocket("/chat", { headers: { cookie: cookieOf(set) } });
    expect(await ws.receiveJson()).toEqual({ user: 7, cart: { items: [1] } });
    await ws.closed;
    const code = "TSGI_SESSION_ALREADY_SENT";
    expect(errors).toMatchObject([{ name: "TypeError" }, { name: "TypeError" }, { code }, { code }]);
    const after = await callInMemory(app, "GET", "/", withCookie(cookieOf(set)));
    expect(after.json).toEqual({ user: 7, cart: { items: [1] } });
  });

  it("is empty without a cookie, and with an unknown one", async () => {
    const { app } = createChat(memoryStore());
    await using client = await TestClient.open(app);
    for (const cookie of ["other=1", forged("A".repeat(43))]) {
      const ws = await client.websocket("/chat", { headers: { cookie } });
      expect(await ws.receiveJson()).toEqual({});
    }
  });

  it("refuses the handshake with 503 while the store is unavailable", async () => {
    const { app, log } = createChat(AWAY);
    await using client = await TestClient.open(app);
    const refused = client.websocket("/chat", { headers: { cookie: forged("A".repeat(43)) } });
    await expect(refused).rejects.toThrow(/status 503/);
    expect(log.lines.join()).toContain("The store of the sessions is unavailable");
  });
});
