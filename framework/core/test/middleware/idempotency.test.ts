import { describe, expect, it, jest } from "@jest/globals";
import type { ASGIApp } from "../../src/protocol/asgi.js";
import {
  App,
  ClientDisconnect,
  ConfigurationError,
  Depends,
  Header,
  HTTPException,
  type Middleware,
  Request,
  Response,
  Router,
  StreamingResponse,
  t,
  withParams,
} from "../../src/index.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery, SecurityScheme } from "../../src/parameters/security/index.js";
import {
  compress,
  idempotency,
  type IdempotencyOptions,
  memoryStore,
  type Store,
  timeLimit,
} from "../../src/middleware/index.js";
import { Deferred } from "../../src/common/promises.js";
import { type Answer, call as callInMemory, type Sent } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { AWAY, describeStores, type OpenedStore } from "./_stores.js";

const METHODS = ["POST", "PUT", "PATCH", "DELETE"] as const;

/** The target and a header of a request with an API key. */
type SentKey = [target: string, header: [name: string, value: string]];

/** A scheme that an application declares. */
class SignatureHeader extends SecurityScheme<string, true> {
  constructor() {
    super(
      {},
      {
        defaultName: "Signature",
        definition: { type: "apiKey", in: "header", name: "X-Signature" },
        source: Header(t.Array(t.String(), { default: [] }), { alias: "X-Signature" }),
        parse: (text) => text,
        challenge: "Signature",
      },
    );
  }
}

/** An application that counts how often its handlers run. */
function create(store: Store, options: Partial<IdempotencyOptions> = {}, outer: Middleware[] = []) {
  const log = new KeptLog();
  const once = idempotency({ store, ttlSeconds: 600, ...options });
  const app = new App({ logger: log, middleware: [once, ...outer] });
  const runs = { count: 0 };
  const gates = { entered: new Deferred<void>(), open: new Deferred<void>() };
  const run = () => ({ run: ++runs.count });
  app.route("/", { methods: [...METHODS, "GET"] }, async () => run());
  app.post("/body", { params: { data: t.Record(t.String(), t.Unknown()) } }, async ({ data }) => ({ ...run(), data }));
  app.post("/raw", { params: { request: Request } }, async ({ request }) => {
    let length = 0;
    for await (const chunk of request.stream()) length += chunk.length;
    return { ...run(), length };
  });
  app.post("/made", { statusCode: 201, params: { response: Response } }, async ({ response }) => {
    response.headers.set("location", `/orders/${++runs.count}`);
    response.setCookie("a", "1");
    response.setCookie("b", "2");
    return { id: runs.count };
  });
  app.post("/bytes", async () => {
    runs.count++;
    return new Response(
      Uint8Array.from({ length: 256 }, (_, index) => index),
      { mediaType: "application/octet-stream" },
    );
  });
  app.post("/stream", async () => {
    runs.count++;
    return new StreamingResponse(["one,", "two,", String(runs.count)]);
  });
  app.delete("/none", { statusCode: 204 }, async () => void runs.count++);
  app.post("/status/{status}", { params: { status: t.Integer() } }, async ({ status }) => {
    runs.count++;
    throw new HTTPException(status, `run ${runs.count}`);
  });
  app.post("/bug", async () => {
    runs.count++;
    throw new Error("Broken");
  });
  app.post("/slow", async () => {
    const result = run();
    gates.entered.resolve();
    await gates.open.promise;
    return result;
  });
  return { app, log, runs, gates };
}

const keyed = (key: string, sent: Sent = {}): Sent => ({
  ...sent,
  headers: [...(sent.headers ?? []), ["idempotency-key", key]],
});

/** Renewals are started by a test; all else runs in real time. */
const fakeIntervals = () =>
  jest.useFakeTimers({
    doNotFake: ["setTimeout", "clearTimeout", "setImmediate", "nextTick", "queueMicrotask", "performance", "Date"],
  });

/** The values of a store, after all calls under way. */
async function textsOf({ store, keys }: OpenedStore): Promise<(string | null)[]> {
  await new Promise((resolve) => setImmediate(resolve));
  const names = (await keys()).toSorted();
  return Promise.all(names.map((name) => store.get(name)));
}

/** A response without the mark of a replay. */
const sameAs = ({ status, headerLines, text }: Answer) => ({
  status,
  text,
  headerLines: headerLines.filter(([name]) => name !== "idempotency-replayed"),
});

describeStores((_, open) => {
  describeMatrix("idempotency", ({ call }) => {
    it.each(METHODS)("runs a repeated %s one time", async (method) => {
      const { app, runs } = create(open().store);
      const first = await call(app, method, "/", keyed("k"));
      const second = await call(app, method, "/", keyed("k"));
      expect(first.json).toEqual({ run: 1 });
      expect(first.headers).not.toHaveProperty("idempotency-replayed");
      expect(second.headers["idempotency-replayed"]).toBe("true");
      expect(sameAs(second)).toEqual(sameAs(first));
      expect(runs.count).toBe(1);
    });

    it("runs requests without a key, and with other methods, as usual", async () => {
      const { app } = create(open().store);
      for (const run of [1, 2]) expect((await call(app, "POST", "/")).json).toEqual({ run });
      for (const run of [3, 4]) expect((await call(app, "GET", "/", keyed("k"))).json).toEqual({ run });
    });

    it.each([
      ["status, headers and cookies", "POST", "/made", 201],
      ["bytes", "POST", "/bytes", 200],
      ["a stream", "POST", "/stream", 200],
      ["no body", "DELETE", "/none", 204],
    ])("repeats %s", async (__, method, path, status) => {
      const { app, runs } = create(open().store);
      const first = await call(app, method, path, keyed("k"));
      expect(first.status).toBe(status);
      const second = await call(app, method, path, keyed("k"));
      expect(second.headers["idempotency-replayed"]).toBe("true");
      expect(second.status).toBe(status);
      expect(second.body.equals(first.body)).toBe(true);
      const own = ["location", "set-cookie", "content-type"];
      const ownOf = ({ headerLines }: Answer) => headerLines.filter(([name]) => own.includes(name));
      expect(ownOf(second)).toEqual(ownOf(first));
      expect(runs.count).toBe(1);
    });

    it.each([401, 403, 408, 409, 425, 429])("does not keep a %i, after which a repeat can succeed", async (status) => {
      const { app } = create(open().store);
      for (const run of [1, 2]) {
        const response = await call(app, "POST", `/status/${status}`, keyed("k"));
        expect(response).toMatchObject({ status, json: { detail: `run ${run}` } });
      }
    });

    it("keeps the statuses that the option keep accepts, but no 5xx", async () => {
      const { app } = create(open().store, { keep: (status) => status !== 404 });
      const runsOf = async (status: number) => {
        const texts = [];
        for (let count = 0; count < 2; count++) {
          texts.push((await call(app, "POST", `/status/${status}`, keyed(`k${status}`))).json);
        }
        return texts;
      };
      expect(await runsOf(429)).toEqual([{ detail: "run 1" }, { detail: "run 1" }]);
      expect(await runsOf(404)).toEqual([{ detail: "run 2" }, { detail: "run 3" }]);
      expect(await runsOf(503)).toEqual([{ detail: "run 4" }, { detail: "run 5" }]);
    });

    it.each([400, 402, 404, 410, 422])("keeps a %i", async (status) => {
      const { app, runs } = create(open().store);
      for (let count = 0; count < 2; count++) {
        const response = await call(app, "POST", `/status/${status}`, keyed("k"));
        expect(response).toMatchObject({ status, json: { detail: "run 1" } });
      }
      expect(runs.count).toBe(1);
    });

    it.each(["/status/500", "/status/503", "/bug"])("runs again after %s", async (path) => {
      const { app, runs } = create(open().store);
      for (let count = 0; count < 2; count++) {
        const response = await call(app, "POST", path, keyed("k"));
        expect(response.status).toBeGreaterThanOrEqual(500);
        expect(response.headers).not.toHaveProperty("idempotency-replayed");
      }
      expect(runs.count).toBe(2);
    });

    it.each<[string, string, string, Sent]>([
      ["body", "POST", "/body", { json: { cents: 501 } }],
      ["longer body", "POST", "/body", { text: '{"cents":500} ' }],
      ["shorter body", "POST", "/body", { text: '{"cents":50' }],
      ["empty body", "POST", "/body", {}],
      ["route", "POST", "/raw", { json: { cents: 500 } }],
      ["query", "POST", "/body?x=1", { json: { cents: 500 } }],
      ["spelling of the path", "POST", "/bod%79", { json: { cents: 500 } }],
      ["method", "PUT", "/body", { json: { cents: 500 } }],
    ])("responds with 422 to another %s", async (__, method, target, sent) => {
      const { app, runs } = create(open().store);
      await call(app, "POST", "/body", keyed("k", { json: { cents: 500 } }));
      const other = await call(app, method, target, keyed("k", sent));
      expect(other).toMatchObject({
        status: 422,
        json: { detail: "This idempotency key was used for another request" },
      });
      expect(runs.count).toBe(1);
      const same = await call(app, "POST", "/body", keyed("k", { json: { cents: 500 } }));
      expect(same.headers["idempotency-replayed"]).toBe("true");
    });

    it("compares a body as a whole, however it is cut", async () => {
      const { app } = create(open().store);
      const chunks = ["aaa", "bbb", "c"].map((text) => Buffer.from(text));
      await call(app, "POST", "/raw", keyed("k", { chunks }));
      const whole = await call(app, "POST", "/raw", keyed("k", { body: Buffer.from("aaabbbc") }));
      expect(whole).toMatchObject({ status: 200, json: { run: 1, length: 7 } });
      const swapped = await call(app, "POST", "/raw", keyed("k", { body: Buffer.from("bbbaaac") }));
      expect(swapped.status).toBe(422);
    });

    it("responds with 409 and Retry-After while the first request is running", async () => {
      const { app, runs, gates } = create(open().store);
      const first = call(app, "POST", "/slow", keyed("k"));
      await gates.entered.promise;
      const second = await call(app, "POST", "/slow", keyed("k"));
      expect(second).toMatchObject({ status: 409, headers: { "retry-after": "1" } });
      expect((await call(app, "POST", "/", keyed("k"))).status).toBe(422);
      gates.open.resolve();
      expect((await first).json).toEqual({ run: 1 });
      expect((await call(app, "POST", "/slow", keyed("k"))).json).toEqual({ run: 1 });
      expect(runs.count).toBe(1);
    });

    it("runs one of many concurrent requests", async () => {
      const { app, runs } = create(open().store);
      const all = await Promise.all(Array.from({ length: 20 }, () => call(app, "POST", "/", keyed("k"))));
      for (const { status } of all) expect([200, 409]).toContain(status);
      expect(runs.count).toBe(1);
    });

    it.each<[string, readonly (readonly [string, string])[], readonly (readonly [string, string])[]]>([
      ["Authorization", [["authorization", "Bearer a"]], [["authorization", "Bearer b"]]],
      ["cookies", [["cookie", "session=a"]], [["cookie", "session=b"]]],
      ["credentials of another kind", [["authorization", "session=a"]], [["cookie", "session=a"]]],
      ["no credentials", [["authorization", "Bearer a"]], []],
    ])("separates callers by %s", async (__, one, other) => {
      const { app } = create(open().store);
      expect((await call(app, "POST", "/", keyed("k", { headers: one }))).json).toEqual({ run: 1 });
      expect((await call(app, "POST", "/", keyed("k", { headers: other }))).json).toEqual({ run: 2 });
      expect((await call(app, "POST", "/", keyed("k", { headers: one }))).json).toEqual({ run: 1 });
    });

    it("identifies the caller by Authorization even if the cookies change", async () => {
      const { app } = create(open().store);
      for (const cookie of ["a=1", "a=2"]) {
        const headers = [["authorization", "Bearer a"] as const, ["cookie", cookie] as const];
        expect((await call(app, "POST", "/", keyed("k", { headers }))).json).toEqual({ run: 1 });
      }
    });

    it.each<[name: string, scheme: SecurityScheme<unknown, boolean>, sent: (key: string) => SentKey]>([
      ["a header", new APIKeyHeader({ name: "X-API-Key" }), (key) => ["/", ["x-api-key", key]]],
      ["the query", new APIKeyQuery({ name: "api_key" }), (key) => [`/?api_key=${key}`, ["x-other", "1"]]],
      ["a cookie", new APIKeyCookie({ name: "api_key" }), (key) => ["/", ["cookie", `api_key=${key}`]]],
      ["a scheme of the application", new SignatureHeader(), (key) => ["/", ["x-signature", key]]],
      [
        "an optional scheme",
        new APIKeyHeader({ name: "X-API-Key", autoError: false }),
        (key) => ["/", ["x-api-key", key]],
      ],
    ])("separates callers by an API key in %s, of the App, a router or a mounted App", async (__, scheme, sent) => {
      const paths = ["/own", "/router", "/mounted/deep"];
      const app = new App({ middleware: [idempotency({ store: open().store })] });
      let runs = 0;
      app.post("/own", { params: { key: Depends(scheme) } }, async () => ++runs);
      const router = new Router({ dependencies: [Depends(scheme)] });
      router.post("/router", async () => ++runs);
      app.includeRouter(router);
      const [outer, inner] = [new App(), new App()];
      inner.post(
        "/",
        { params: { key: Depends(withParams({ key: Depends(scheme) }, async () => 1)) } },
        async () => ++runs,
      );
      outer.mount("/deep", inner);
      app.mount("/mounted", outer);
      for (const path of paths) {
        const results = [];
        for (const key of ["ada", "eve", "ada"]) {
          const [target, header] = sent(key);
          results.push((await call(app, "POST", path + target.slice(1), keyed(path, { headers: [header] }))).json);
        }
        expect([path, results]).toEqual([path, [runs - 1, runs, runs - 1]]);
      }
    });

    it("identifies the caller by an API key even if the cookies change, and together with Authorization", async () => {
      const app = new App({ middleware: [idempotency({ store: open().store })] });
      let runs = 0;
      const params = { key: Depends(new APIKeyHeader({ name: "X-API-Key" })) };
      app.post("/", { params }, async () => ++runs);
      const send = async (...headers: (readonly [string, string])[]) =>
        (await call(app, "POST", "/", keyed("k", { headers: [["x-api-key", "ada"], ...headers] }))).json;
      expect([await send(["cookie", "a=1"]), await send(["cookie", "a=2"])]).toEqual([1, 1]);
      expect([await send(["authorization", "Bearer a"]), await send(["authorization", "Bearer b"])]).toEqual([2, 3]);
    });

    it("expires a response after ttlSeconds", async () => {
      const opened = open();
      const { app } = create(opened.store);
      await call(app, "POST", "/", keyed("k"));
      const [key = ""] = (await opened.keys()).filter((name) => !name.endsWith(":claim"));
      expect(await opened.secondsLeft(key)).toBeGreaterThan(500);
      expect(await opened.secondsLeft(key)).toBeLessThanOrEqual(600);
      for (const name of await opened.keys()) await opened.store.delete(name);
      expect((await call(app, "POST", "/", keyed("k"))).json).toEqual({ run: 2 });
    });

    it.each([
      ["an empty key", "", 400],
      ["a key of 255 characters", "k".repeat(255), 200],
      ["a key of 256 characters", "k".repeat(256), 400],
      ["a key of 8,000 characters", "k".repeat(8_000), 400],
      ["a quoted key (RFC 9651 §3.3.3)", '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 200],
      ["a key like a key of the store", "idempotency:x:claim", 200],
    ])("handles %s", async (__, key, status) => {
      const { app, runs } = create(open().store);
      for (let count = 0; count < 2; count++) expect((await call(app, "POST", "/", keyed(key))).status).toBe(status);
      expect(runs.count).toBe(status === 200 ? 1 : 0);
    });
  });

  describe("idempotency", () => {
    it("has neither credentials nor the key in the names of the store", async () => {
      const opened = open();
      const { app } = create(opened.store);
      await callInMemory(app, "POST", "/", keyed("my-key", { headers: [["authorization", "Bearer secret"]] }));
      expect((await opened.keys()).join(" ")).not.toMatch(/secret|my-key/);
    });

    it("shares keys between two processes, which have the same store", async () => {
      const { store } = open();
      const [one, two] = [create(store), create(store)];
      const slow = callInMemory(one.app, "POST", "/slow", keyed("k"));
      await one.gates.entered.promise;
      expect((await callInMemory(two.app, "POST", "/slow", keyed("k"))).status).toBe(409);
      one.gates.open.resolve();
      await slow;
      expect((await callInMemory(two.app, "POST", "/slow", keyed("k"))).json).toEqual({ run: 1 });
      expect(two.runs.count).toBe(0);
    });

    it("leaves a key to the request that has claimed it after the lease of the first one ended", async () => {
      const opened = open();
      const [one, two] = [create(opened.store), create(opened.store)];
      fakeIntervals();
      try {
        const first = callInMemory(one.app, "POST", "/slow", keyed("k"));
        await one.gates.entered.promise;
        // The lease ends while the first process is stopped.
        for (const key of await opened.keys()) await opened.store.delete(key);
        const second = callInMemory(two.app, "POST", "/slow", keyed("k"));
        await two.gates.entered.promise;
        const claims = await textsOf(opened);
        expect(claims.length).toBeGreaterThan(0);
        jest.advanceTimersByTime(20_000);
        expect(await textsOf(opened)).toEqual(claims);
        one.gates.open.resolve();
        expect((await first).json).toEqual({ run: 1 });
        expect(await textsOf(opened)).toEqual(claims);
        two.runs.count = 7;
        two.gates.open.resolve();
        await second;
      } finally {
        jest.useRealTimers();
      }
      const replayed = await callInMemory(one.app, "POST", "/slow", keyed("k"));
      expect(replayed.headers["idempotency-replayed"]).toBe("true");
      expect(one.runs.count).toBe(1);
    });

    it("does not release the key of another request after an error", async () => {
      const opened = open();
      const [one, two] = [create(opened.store), create(opened.store)];
      const entered = new Deferred<void>();
      const fail = new Deferred<void>();
      one.app.post("/fails", async () => {
        entered.resolve();
        await fail.promise;
        throw new HTTPException(500);
      });
      two.app.post("/fails", async () => {
        two.gates.entered.resolve();
        await two.gates.open.promise;
        return "done";
      });
      const first = callInMemory(one.app, "POST", "/fails", keyed("k"));
      await entered.promise;
      for (const key of await opened.keys()) await opened.store.delete(key);
      const second = callInMemory(two.app, "POST", "/fails", keyed("k"));
      await two.gates.entered.promise;
      fail.resolve();
      expect((await first).status).toBe(500);
      expect((await callInMemory(two.app, "POST", "/fails", keyed("k"))).status).toBe(409);
      two.gates.open.resolve();
      expect((await second).json).toBe("done");
      expect((await callInMemory(two.app, "POST", "/fails", keyed("k"))).json).toBe("done");
    });

    it("stores a response whose lease has ended, if no other request has claimed the key", async () => {
      const opened = open();
      const { app, gates, runs } = create(opened.store);
      const first = callInMemory(app, "POST", "/slow", keyed("k"));
      await gates.entered.promise;
      for (const key of await opened.keys()) await opened.store.delete(key);
      gates.open.resolve();
      await first;
      expect((await callInMemory(app, "POST", "/slow", keyed("k"))).json).toEqual({ run: 1 });
      expect(runs.count).toBe(1);
    });

    it.each([
      [
        "limits.handlerMs",
        (app: App, run: () => Promise<unknown>) => app.post("/late", { limits: { handlerMs: 5 } }, run),
      ],
      ["timeLimit", (app: App, run: () => Promise<unknown>) => app.post("/late", { middleware: [timeLimit(5)] }, run)],
    ])("responds with 409 after the 504 of %s until the handler has ended", async (__, register) => {
      const { app, runs } = create(open().store);
      const end = new Deferred<void>();
      register(app, async () => {
        const run = ++runs.count;
        if (run === 1) await end.promise;
        return { run };
      });
      // By `fetch`, which does not wait for the end of the application.
      const send = () =>
        app.fetch(
          new globalThis.Request("http://localhost/late", {
            method: "POST",
            headers: { "idempotency-key": "k", cookie: "id=ada" },
          }),
        );
      expect((await send()).status).toBe(504);
      const repeat = await send();
      expect([repeat.status, repeat.headers.get("retry-after")]).toEqual([409, "1"]);
      expect(runs.count).toBe(1);
      end.resolve();
      let again = repeat;
      while (again.status === 409) {
        await new Promise((resolve) => setImmediate(resolve));
        again = await send();
      }
      expect([again.status, await again.json()]).toEqual([200, { run: 2 }]);
    });

    it("keeps a claim for a minute at most if the process dies, or for ttlSeconds without add", async () => {
      const opened = open();
      const { app, gates } = create(opened.store);
      const first = callInMemory(app, "POST", "/slow", keyed("k"));
      await gates.entered.promise;
      for (const key of await opened.keys()) {
        const seconds = await opened.secondsLeft(key);
        expect(seconds).toBeGreaterThan(0);
        expect(seconds).toBeLessThanOrEqual(opened.store.add === undefined ? 600 : 60);
      }
      gates.open.resolve();
      await first;
    });
  });
});

describe("idempotency", () => {
  it("renews the claim of a request that runs longer, until it ends", async () => {
    jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask", "performance"] });
    try {
      const sets: [string, number][] = [];
      const inner = memoryStore();
      const store: Store = {
        get: (key) => inner.get(key),
        set: (key, value, ttl) => (sets.push([value, ttl]), inner.set(key, value, ttl)),
        delete: (key) => inner.delete(key),
        increment: (...given) => inner.increment(...given),
        add: (...given) => inner.add(...given),
      };
      const { app, gates } = create(store);
      const first = callInMemory(app, "POST", "/slow", keyed("k"));
      await gates.entered.promise;
      jest.advanceTimersByTime(60_000);
      await new Promise((resolve) => setImmediate(resolve));
      expect(sets.map(([, ttl]) => ttl)).toEqual([60, 60, 60]);
      gates.open.resolve();
      await first;
      expect(sets.at(-1)?.[1]).toBe(600);
      jest.advanceTimersByTime(60_000);
      expect(sets).toHaveLength(4);
    } finally {
      jest.useRealTimers();
    }
  });

  it("sends a response that the store has no room for, releases its key, and warns once", async () => {
    const { app, log, runs } = create(memoryStore({ maxBytes: 600 }));
    app.post("/large", async () => ({ run: ++runs.count, text: "x".repeat(1_000) }));
    for (const run of [1, 2, 3]) {
      const answer = await callInMemory(app, "POST", "/large", keyed("k"));
      expect([answer.status, answer.json]).toEqual([200, { run, text: "x".repeat(1_000) }]);
      expect(answer.headers).not.toHaveProperty("idempotency-replayed");
    }
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^warn The store of the idempotency keys has no room: responses are sent without being kept/,
      ),
    ]);
    expect((await callInMemory(app, "POST", "/", keyed("other"))).json).toEqual({ run: 4 });
    expect((await callInMemory(app, "POST", "/", keyed("other"))).json).toEqual({ run: 4 });
  });

  it("responds with 503 to a new key if running requests have all the room, and keeps these", async () => {
    const { app, gates, runs } = create(memoryStore({ maxKeys: 1 }));
    const running = callInMemory(app, "POST", "/slow", keyed("running"));
    await gates.entered.promise;
    expect((await callInMemory(app, "POST", "/", keyed("new"))).status).toBe(503);
    expect((await callInMemory(app, "POST", "/slow", keyed("running"))).status).toBe(409);
    gates.open.resolve();
    expect((await running).json).toEqual({ run: 1 });
    expect((await callInMemory(app, "POST", "/slow", keyed("running"))).headers).toHaveProperty("idempotency-replayed");
    expect((await callInMemory(app, "POST", "/", keyed("new"))).status).toBe(200);
    expect(runs.count).toBe(2);
  });

  it("responds with 503 to requests with a key while the store is unavailable, and logs it once", async () => {
    const { app, log, runs } = create(AWAY);
    for (let count = 0; count < 2; count++) {
      expect(await callInMemory(app, "POST", "/", keyed("k"))).toMatchObject({
        status: 503,
        json: { detail: "Service Unavailable" },
      });
    }
    expect((await callInMemory(app, "POST", "/")).status).toBe(200);
    expect(runs.count).toBe(1);
    expect(log.lines).toEqual([expect.stringMatching(/^warn The store of the idempotency keys is unavailable/)]);
  });

  it("sends a response that it cannot store", async () => {
    const inner = memoryStore();
    const store: Store = {
      get: (key) => inner.get(key),
      set: () => Promise.reject(new Error("away")),
      delete: () => Promise.reject(new Error("away")),
      increment: (...given) => inner.increment(...given),
      add: (...given) => inner.add(...given),
    };
    const { app, log } = create(store);
    expect((await callInMemory(app, "POST", "/", keyed("k"))).json).toEqual({ run: 1 });
    expect((await callInMemory(app, "POST", "/", keyed("k"))).status).toBe(409);
    expect((await callInMemory(app, "POST", "/bug", keyed("other"))).status).toBe(500);
    expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(2);
  });

  it("does not repeat a response of more than 10 MiB, and does not run it again", async () => {
    let runs = 0;
    const app = new App({ middleware: [idempotency({ store: memoryStore() })] });
    app.post("/", async () => {
      runs++;
      return new StreamingResponse(Array.from({ length: 11 }, () => Buffer.alloc(1024 * 1024)));
    });
    expect((await callInMemory(app, "POST", "/", keyed("k"))).body).toHaveLength(11 * 1024 * 1024);
    const repeat = await callInMemory(app, "POST", "/", keyed("k"));
    expect(repeat.status).toBe(409);
    expect(repeat.headers).not.toHaveProperty("retry-after");
    expect(runs).toBe(1);
  });

  it("does not hold the body of a large upload", async () => {
    const { app } = create(memoryStore());
    const chunks = Array.from({ length: 64 }, (_, index) => Buffer.alloc(1024 * 1024, index));
    expect((await callInMemory(app, "POST", "/raw", keyed("k", { chunks }))).json).toEqual({
      run: 1,
      length: 64 << 20,
    });
    expect((await callInMemory(app, "POST", "/raw", keyed("k", { chunks }))).json).toEqual({
      run: 1,
      length: 64 << 20,
    });
    expect((await callInMemory(app, "POST", "/raw", keyed("k", { chunks: chunks.toReversed() }))).status).toBe(422);
  });

  it("releases the key if the application ends without a response, or breaks a stream off", async () => {
    const store = memoryStore();
    const failing: ASGIApp = async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body", body: Buffer.from("half"), more_body: true });
      throw new Error("Broken");
    };
    const app = idempotency({ store })(failing);
    for (let count = 0; count < 2; count++) {
      await expect(callInMemory(app, "POST", "/", keyed("k"))).rejects.toThrow("Broken");
    }
    const silent = idempotency({ store })(async () => {});
    expect((await callInMemory(silent, "POST", "/", keyed("k"))).status).toBe(0);
    expect(await callInMemory(silent, "POST", "/", keyed("k"))).toMatchObject({ status: 0 });
  });

  it("keeps the response for a client that disconnected while its request ran", async () => {
    const { app, runs } = create(memoryStore());
    const leaving: ASGIApp = (scope, receive) =>
      app(scope, receive, () => {
        throw new ClientDisconnect();
      });
    expect((await callInMemory(leaving, "POST", "/made", keyed("k"))).status).toBe(0);
    const repeated = await callInMemory(app, "POST", "/made", keyed("k"));
    expect(repeated).toMatchObject({ status: 201, json: { id: 1 } });
    expect([repeated.headers["idempotency-replayed"], runs.count]).toEqual(["true", 1]);
  });

  it("ends a stream when its client has disconnected, and releases the key", async () => {
    const { app, runs } = create(memoryStore());
    const leaving: ASGIApp = (scope, receive) =>
      app(scope, receive, () => {
        throw new ClientDisconnect();
      });
    await callInMemory(leaving, "POST", "/stream", keyed("k"));
    expect(await callInMemory(app, "POST", "/stream", keyed("k"))).toMatchObject({ status: 200, text: "one,two,2" });
    expect(runs.count).toBe(2);
  });

  it("does not repeat headers of a connection, nor the date", async () => {
    const app: ASGIApp = idempotency({ store: memoryStore() })(async (_scope, _receive, send) => {
      const headers = ["Date", "Connection", "Transfer-Encoding", "X-Kept"].map(
        (name) => [Buffer.from(name), Buffer.from("1")] as const,
      );
      await send({ type: "http.response.start", status: 200, headers });
      await send({ type: "http.response.body" });
    });
    await callInMemory(app, "POST", "/", keyed("k"));
    const { headers } = await callInMemory(app, "POST", "/", keyed("k"));
    expect(headers).toEqual({ "x-kept": "1", "idempotency-replayed": "true" });
  });

  /** Runs a request for each client, all with one key. Returns the runs. */
  async function runsOf(log: KeptLog, ...clients: readonly [host: string | null, ...headers: [string, string][]][]) {
    const once = idempotency({ store: memoryStore() });
    let runs = 0;
    const results = [];
    for (const [host, ...headers] of clients) {
      const from: Middleware = (app) => (scope, receive, send) =>
        app(scope.type === "http" ? { ...scope, client: host === null ? null : [host, 1] } : scope, receive, send);
      const app = new App({ middleware: [once, from], logger: log });
      app.post(
        "/",
        { params: { key: Depends(new APIKeyHeader({ name: "X-API-Key", autoError: false })) } },
        async () => ++runs,
      );
      results.push((await callInMemory(app, "POST", "/", keyed("k", { headers }))).json);
    }
    return results;
  }

  it("runs requests whose caller is unknown as if they had no key, with one warning per process", async () => {
    const log = new KeptLog();
    expect(await runsOf(log, [null], [null], [""])).toEqual([1, 2, 3]);
    expect(await runsOf(log, [null, ["authorization", ""], ["cookie", ""], ["x-api-key", ""]], [null])).toEqual([1, 2]);
    expect(log.lines).toEqual([
      expect.stringMatching(
        /^warn A request with an idempotency key ran as if it had no key, because its caller is unknown/,
      ),
    ]);
  });

  it("ignores an empty Authorization, API key and cookie", async () => {
    const empty: [string, string][] = [["authorization", ""], ["x-api-key", ""], ["cookie", ""]]; // prettier-ignore
    const results = await runsOf(new KeptLog(), ["192.0.2.1", ...empty], ["192.0.2.2", ...empty], ["192.0.2.1"]);
    expect(results).toEqual([1, 2, 1]);
  });

  it("has no API keys outside of an App", async () => {
    let runs = 0;
    const inner: ASGIApp = async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200, headers: [] });
      await send({ type: "http.response.body", body: Buffer.from(String(++runs)) });
    };
    const app = idempotency({ store: memoryStore() })(inner);
    const send = async (key: string) =>
      (await callInMemory(app, "POST", "/", keyed("k", { headers: [["x-api-key", key]] }))).text;
    expect([await send("ada"), await send("eve")]).toEqual(["1", "1"]);
  });

  it("separates callers without credentials by their address", async () => {
    const once = idempotency({ store: memoryStore() });
    let runs = 0;
    const from =
      (host: string): Middleware =>
      (app) =>
      (scope, receive, send) =>
        app(scope.type === "http" ? { ...scope, client: [host, 1] } : scope, receive, send);
    const results = [];
    for (const host of ["192.0.2.1", "192.0.2.2", "192.0.2.1"]) {
      const app = new App({ middleware: [once, from(host)] });
      app.post("/", async () => ++runs);
      results.push((await callInMemory(app, "POST", "/", keyed("k"))).json);
    }
    expect(results).toEqual([1, 2, 1]);
  });

  it("uses the option key to identify the caller, and header for the name", async () => {
    const { app } = create(memoryStore(), { key: ({ headers }) => headers["x-user"] ?? "", header: "X-Once" });
    const send = async (user: string) => {
      const headers = [
        ["x-user", user] as const,
        ["x-once", "k"] as const,
        ["authorization", String(Math.random())] as const,
      ];
      return (await callInMemory(app, "POST", "/", { headers })).json;
    };
    expect([await send("ada"), await send("bob"), await send("ada")]).toEqual([{ run: 1 }, { run: 2 }, { run: 1 }]);
  });

  it("rejects two keys in one request", async () => {
    const { app } = create(memoryStore());
    expect((await callInMemory(app, "POST", "/", keyed("a", keyed("b")))).status).toBe(400);
  });

  it("repeats a response in the coding of the second client if it is inside compress", async () => {
    const app = new App({ middleware: [idempotency({ store: memoryStore() }), compress({ minimumSize: 1 })] });
    app.post("/", async () => ({ text: "x".repeat(100) }));
    const zipped = await callInMemory(app, "POST", "/", keyed("k", { headers: [["accept-encoding", "gzip"]] }));
    expect(zipped.headers["content-encoding"]).toBe("gzip");
    const plain = await callInMemory(app, "POST", "/", keyed("k"));
    expect(plain).toMatchObject({ status: 200, json: { text: "x".repeat(100) } });
  });

  it("is in the OpenAPI document for the methods that it affects", () => {
    const app = new App({ middleware: [idempotency({ store: memoryStore() })] });
    app.get("/", async () => null);
    app.post("/", { params: { data: t.Object({ a: t.Integer() }) } }, async () => null);
    const { get, post } = app.openapi().paths["/"] ?? {};
    expect(get?.parameters).toBeUndefined();
    expect(post?.parameters).toEqual([
      expect.objectContaining({
        name: "Idempotency-Key",
        in: "header",
        required: false,
        schema: { type: "string", maxLength: 255 },
      }),
    ]);
    expect(Object.keys({ ...post?.responses })).toEqual(["200", "400", "409", "422"]);
    expect(post?.responses["409"]?.headers).toHaveProperty("Retry-After");
    expect(post?.responses["422"]?.content?.["application/json"]?.schema).toEqual({
      anyOf: [{ $ref: "#/components/schemas/HTTPValidationError" }, { $ref: "#/components/schemas/HTTPError" }],
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["no options", undefined, /takes an object/],
    ["no store", { ttlSeconds: 60 }, /store should be a store/],
    ["a store that is none", { store: new Map() }, /store should be a store/],
    ["no time", { store: memoryStore(), ttlSeconds: 0 }, /ttlSeconds should be a whole number/],
    ["a misspelt time", { store: memoryStore(), ttlSecond: 60 }, /no option "ttlSecond".*"ttlSeconds"/s],
    [
      "a header that is none",
      { store: memoryStore(), header: "Idempotency Key" },
      /header should be the name of a header/,
    ],
    ["a key that is none", { store: memoryStore(), key: "user" }, /key should be a function/],
  ])("throws for %s", (_, options, message) => {
    const make = () => idempotency(options as IdempotencyOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});
