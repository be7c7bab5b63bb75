import { expect, it } from "@jest/globals";
import {
  App,
  ConfigurationError,
  Depends,
  HTTPException,
  Request,
  StreamingResponse,
  withParams,
} from "../../src/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const never = async () => new Promise<never>(() => {});

/** Something to be done later by hand. */
function later<Value>() {
  let resolve!: (value: Value) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<Value>((...settle) => ([resolve, reject] = settle));
  return { promise, resolve, reject };
}

const create = (handlerMs?: number) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, limits: { handlerMs } }), log };
};

describeMatrix("limits.handlerMs", ({ call }) => {
  it("responds with 504 if a handler takes longer, and logs no error", async () => {
    const { app, log } = create(5);
    app.get("/", never);
    app.get("/{id}", { params: { request: Request } }, never);
    for (const path of ["/", "/7"]) {
      expect(await call(app, "GET", path)).toMatchObject({ status: 504, json: { detail: "Gateway Timeout" } });
    }
    expect(log.lines).toEqual([]);
  });

  it("is off by default, of the App or of a route, whose own counts", async () => {
    const { app } = create(60_000);
    app.get("/slow", { limits: { handlerMs: 5 } }, never);
    app.get("/free", { limits: { handlerMs: Infinity } }, async () => "done");
    app.get("/quick", async () => "done");
    expect((await call(app, "GET", "/slow")).status).toBe(504);
    expect((await call(app, "GET", "/free")).json).toBe("done");
    expect((await call(app, "GET", "/quick")).json).toBe("done");
    const { app: unlimited } = create();
    unlimited.get("/", async () => "done");
    expect((await call(unlimited, "GET", "/")).json).toBe("done");
  });

  it("aborts request.signal, in the handler and in its dependencies, with a TimeoutError as its reason", async () => {
    const { app, log } = create(5);
    const reasons: unknown[] = [];
    const watching = withParams({ request: Request }, async ({ request }) => request.signal);
    app.get("/", { params: { request: Request, signal: Depends(watching) } }, async ({ request, signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      await new Promise((_, reject) => {
        request.signal.addEventListener("abort", () => reject(request.signal.reason as Error));
      });
    });
    expect((await call(app, "GET", "/")).status).toBe(504);
    expect(reasons).toEqual([expect.objectContaining({ name: "TimeoutError" })]);
    expect(log.lines).toEqual([]);
  });

  it("passes an aborted signal to a reader that requests it only after that", async () => {
    const { app } = create(5);
    const asked = later<boolean>();
    const answered = later<void>();
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      await answered.promise;
      asked.resolve(request.signal.aborted);
    });
    expect((await call(app, "GET", "/")).status).toBe(504);
    answered.resolve();
    expect(await asked.promise).toBe(true);
  });

  it("throws the timeout into open dependencies before the response", async () => {
    const { app } = create(5);
    const seen: unknown[] = [];
    const open = async function* () {
      try {
        yield "open";
      } catch (error) {
        seen.push(error);
        throw error;
      } finally {
        seen.push("closed");
      }
    };
    app.get("/", { params: { it: Depends(open) } }, never);
    expect((await call(app, "GET", "/")).status).toBe(504);
    expect(seen).toEqual([expect.any(HTTPException), "closed"]);
  });

  it("drops a late result, and logs a late error", async () => {
    const { app, log } = create(5);
    const results = [later<unknown>(), later<unknown>()];
    app.get("/{index}", async ({ index }) => results[Number(index)]?.promise);
    expect((await call(app, "GET", "/0")).status).toBe(504);
    expect((await call(app, "GET", "/1")).status).toBe(504);
    results[0]?.resolve("late");
    results[1]?.reject(new Error("lost"));
    await Promise.allSettled(results.map(({ promise }) => promise));
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.lines).toEqual(["error GET /{index} failed after its time was up: Error: lost"]);
  });

  it("does not change an error that is thrown in time", async () => {
    const { app } = create(60_000);
    app.get("/", async () => {
      throw new HTTPException(418);
    });
    expect((await call(app, "GET", "/")).status).toBe(418);
  });

  it("uses the exception handler for its status", async () => {
    const { app } = create(5);
    app.exceptionHandler(504, () => ({ own: true }));
    app.get("/", never);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 504, json: { own: true } });
  });

  it.each(["jsonl", "sse"] as const)("closes the %s stream of a handler that returns it too late", async (stream) => {
    const { app, log } = create(5);
    const open = later<void>();
    const closed = later<string>();
    const items = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false as const, value: "late" }),
        return: async () => (closed.resolve("closed"), { done: true as const, value: undefined }),
      }),
    };
    app.get("/", { stream }, async () => open.promise.then(() => items));
    expect(await call(app, "GET", "/")).toMatchObject({ status: 504, json: { detail: "Gateway Timeout" } });
    open.resolve();
    expect(await closed.promise).toBe("closed");
    expect(log.lines).toEqual([]);
  });

  it.each<[string, (source: ReadableStream<Uint8Array>) => unknown]>([
    ["StreamingResponse", (source) => new StreamingResponse(source)],
    ["Response of the platform", (source) => new globalThis.Response(source)],
  ])("closes the source of a %s that is returned too late", async (_, responseOf) => {
    const { app } = create(5);
    const open = later<void>();
    const closed = later<string>();
    const source = new ReadableStream<Uint8Array>({ cancel: () => closed.resolve("closed") });
    app.get("/", async () => open.promise.then(() => responseOf(source)));
    expect((await call(app, "GET", "/")).status).toBe(504);
    open.resolve();
    expect(await closed.promise).toBe("closed");
  });

  it("logs the error of a late stream that cannot be closed", async () => {
    const { app, log } = create(5);
    const open = later<void>();
    const items = async function* () {
      yield 1;
    };
    const broken = Object.assign(items(), { return: () => Promise.reject(new Error("stuck")) });
    app.get("/", { stream: "jsonl" }, async () => open.promise.then(() => broken));
    expect((await call(app, "GET", "/")).status).toBe(504);
    open.resolve();
    while (log.lines.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(log.lines).toEqual(["error GET / failed after its time was up: Error: stuck"]);
  });

  it("does not limit a stream, because its handler has already returned", async () => {
    const { app } = create(5);
    app.get("/slow", never);
    app.get("/", async function* () {
      yield 1;
      yield (await call(app, "GET", "/slow")).status;
    });
    expect((await call(app, "GET", "/")).text).toBe("1\n504\n");
  });
});

it("limits.handlerMs of 0 is rejected with the route's name", () => {
  const { app } = create(0);
  const register = () => app.get("/items/{id}", async () => null);
  expect(register).toThrow(ConfigurationError);
  expect(register).toThrow(/^GET \/items\/\{id\}: limits\.handlerMs is 0/);
});

it("limits.handlerMs beyond the range of a timer is not a limit", async () => {
  const { app } = create(2 ** 31);
  app.get("/", async () => "done");
  expect((await callInMemory(app, "GET", "/")).json).toBe("done");
});
