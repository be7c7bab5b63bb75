import { describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  ConfigurationError,
  Depends,
  Header,
  HTTPException,
  Query,
  RecursionError,
  Request,
  Response,
  Router,
  Security,
  SecurityScopes,
  t,
  withParams,
} from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

/** A promise with its handles outside. */
function deferred() {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe("withParams", () => {
  it("returns the same function, so that identity is the cache key", () => {
    const fn = async () => 1;
    expect(withParams({}, fn)).toBe(fn);
  });

  it("rejects other params on a function that has some, and takes the same ones again", () => {
    const params = { q: Query() };
    const fn = async ({ q }: { q: string }) => q;
    withParams(params, fn);
    expect(withParams(params, fn)).toBe(fn);
    expect(() => withParams({ q: Query() }, fn)).toThrow(ConfigurationError);
  });
});

describeMatrix("withParams", ({ call }) => {
  it("leaves a function untouched by a route's own params, so that it can serve two routes", async () => {
    const { app } = create();
    const echo = async ({ value }: { value: unknown }) => ({ value });
    app.get("/number", { params: { value: t.Integer() } }, echo);
    app.get("/text", { params: { value: t.String() } }, echo);
    expect((await call(app, "GET", "/number?value=5")).json).toEqual({ value: 5 });
    expect((await call(app, "GET", "/text?value=5")).json).toEqual({ value: "5" });
  });

  it("is merged with the route's params; a name in both is rejected at registration", async () => {
    const { app } = create();
    const handler = withParams({ a: Query() }, async (args) => args);
    app.get("/both", { params: { b: Query() } }, handler);
    expect(() => app.get("/twice", { params: { a: Query() } }, handler)).toThrow(
      /GET \/twice: .*"a" is declared twice/,
    );
    expect((await call(app, "GET", "/both?a=1&b=2")).json).toEqual({ a: "1", b: "2" });
  });
});

describe("a dependency", () => {
  it("is rejected if it is not a function", () => {
    expect(() => Depends("text" as never)).toThrow(
      "Depends() takes a function or a class, not a string. Write Depends(getUser), not Depends(getUser()).",
    );
  });
});

describeMatrix("a dependency", ({ call }) => {
  it("may be a plain function, an async one, a class with params, or a generator of either kind", async () => {
    class Page {
      static params = { page: Query(t.Integer(), { default: 1 }) };
      readonly offset: number;
      constructor({ page }: { page: number }) {
        this.offset = (page - 1) * 10;
      }
    }
    class Plain {
      readonly kind = "plain class";
    }
    const { app } = create();
    const params = {
      plain: Depends(() => "plain"),
      later: Depends(async () => "async"),
      page: Depends(Page),
      object: Depends(Plain),
      sync: Depends(function* sync() {
        yield "generator";
      }),
      stream: Depends(async function* stream() {
        yield "async generator";
      }),
    };
    app.get("/", { params }, async (args) => ({ ...args, page: args.page.offset, object: args.object.kind }));
    expect((await call(app, "GET", "/?page=3")).json).toEqual({
      plain: "plain",
      later: "async",
      page: 20,
      object: "plain class",
      sync: "generator",
      stream: "async generator",
    });
  });

  it("may be an instance that is callable, as a security scheme is", async () => {
    class Scheme {
      constructor(prefix: string) {
        const scheme = withParams({ authorization: Header() }, async ({ authorization }) =>
          authorization.slice(prefix.length),
        );
        return Object.setPrototypeOf(scheme, Scheme.prototype) as Scheme;
      }
    }
    const { app } = create();
    const scheme = new Scheme("Bearer ") as unknown as () => Promise<string>;
    app.get("/", { params: { token: Depends(scheme) } }, async ({ token }) => ({ token }));
    expect((await call(app, "GET", "/", { headers: [["authorization", "Bearer abc"]] })).json).toEqual({
      token: "abc",
    });
  });

  it("can have dependencies, and path parameters of the route's pattern", async () => {
    const { app } = create();
    const getId = withParams({ id: t.Integer() }, async ({ id }) => id);
    const getUser = withParams({ id: Depends(getId), request: Request }, async ({ id, request }) => ({
      id,
      path: request.path,
    }));
    app.get("/users/{id}", { params: { user: Depends(getUser) } }, async ({ user }) => user);
    expect((await call(app, "GET", "/users/7")).json).toEqual({ id: 7, path: "/users/7" });
    expect((await call(app, "GET", "/users/x")).faults).toEqual([
      { type: "int_parsing", loc: ["path", "id"], msg: "Input should be a valid integer", input: "x" },
    ]);
  });

  it("shares Request, Response draft and BackgroundTasks with the handler", async () => {
    const { app } = create();
    const notes: string[] = [];
    const dependency = withParams({ response: Response, tasks: BackgroundTasks, request: Request }, async (given) => {
      given.response.headers.set("x-from", "dependency");
      given.tasks.addTask(() => notes.push("dependency"));
      return given;
    });
    app.get(
      "/",
      { params: { given: Depends(dependency), response: Response, tasks: BackgroundTasks, request: Request } },
      async ({ given, response, tasks, request }) => {
        response.statusCode = 202;
        response.setCookie("a", "b");
        tasks.addTask(() => notes.push("handler"));
        return [given.response === response, given.tasks === tasks, given.request === request];
      },
    );
    const answer = await call(app, "GET", "/");
    expect(answer).toMatchObject({ status: 202, json: [true, true, true] });
    expect(answer.headers).toMatchObject({ "x-from": "dependency", "set-cookie": "a=b; Path=/; SameSite=Lax" });
    expect(notes).toEqual(["dependency", "handler"]);
  });
});

describeMatrix("the cache of a request", ({ call }) => {
  it("calls a callable once, even if several use it concurrently", async () => {
    let calls = 0;
    const shared = async () => ++calls;
    const left = withParams({ n: Depends(shared) }, async ({ n }) => n);
    const right = withParams({ n: Depends(shared) }, async ({ n }) => n);
    const { app } = create();
    app.get(
      "/",
      { params: { left: Depends(left), right: Depends(right), own: Depends(shared) } },
      async (args) => args,
    );
    expect((await call(app, "GET", "/")).json).toEqual({ left: 1, right: 1, own: 1 });
    expect((await call(app, "GET", "/")).json).toEqual({ left: 2, right: 2, own: 2 });
  });

  it("is left out with `useCache: false`", async () => {
    let calls = 0;
    const counter = async () => ++calls;
    const { app } = create();
    app.get("/", { params: { a: Depends(counter), b: Depends(counter, { useCache: false }) } }, async (args) => args);
    expect((await call(app, "GET", "/")).json).toEqual({ a: 1, b: 2 });
  });

  it("keeps results for the same scopes only, if the scopes are read", async () => {
    const reading = withParams({ scopes: SecurityScopes }, async ({ scopes }) => scopes.scopeString);
    let plainCalls = 0;
    const plain = async () => ++plainCalls;
    const both = withParams(
      { scope: Security(reading, { scopes: ["inner"] }), n: Depends(plain) },
      async (args) => args,
    );
    const { app } = create();
    app.get(
      "/",
      { params: { a: Security(both, { scopes: ["a"] }), b: Security(both, { scopes: ["b"] }) } },
      async (args) => args,
    );
    expect((await call(app, "GET", "/")).json).toEqual({
      a: { scope: "a inner", n: 1 },
      b: { scope: "b inner", n: 1 },
    });
  });

  it("keeps an error as well: it is thrown to each user, and the callable runs once", async () => {
    let calls = 0;
    const failing = async () => {
      calls++;
      throw new HTTPException(418);
    };
    const left = withParams({ n: Depends(failing) }, async () => 1);
    const right = withParams({ n: Depends(failing) }, async () => 2);
    const { app } = create();
    app.get("/", { params: { left: Depends(left), right: Depends(right) } }, async (args) => args);
    expect((await call(app, "GET", "/")).status).toBe(418);
    expect(calls).toBe(1);
  });
});

/** An app whose dependencies and parts record their actions in order. */
function staged() {
  const notes: string[] = [];
  const generator = (name: string, scope?: "request" | "function") =>
    Depends(
      async function* named() {
        notes.push(`${name} starts`);
        try {
          yield name;
          notes.push(`${name} ends`);
        } catch (error) {
          notes.push(`${name} sees ${String(error)}`);
          throw error;
        }
      },
      { scope: scope ?? "request", useCache: false },
    );
  return { notes, generator, ...create() };
}

describe("a generator dependency", () => {
  it("is cleaned up after the response and its background tasks, in reverse order", async () => {
    const { notes, generator, app } = staged();
    app.get("/", { params: { a: generator("a"), b: generator("b"), tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => notes.push("task"));
      notes.push("handler");
      return null;
    });
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.request" }),
      ({ type }) => void notes.push(type),
    );
    expect(notes).toEqual([
      "a starts",
      "b starts",
      "handler",
      "http.response.start",
      "http.response.body",
      "task",
      "b ends",
      "a ends",
    ]);
  });

  it('of scope "function" is cleaned up before the response is sent', async () => {
    const { notes, generator, app } = staged();
    app.get("/", { params: { a: generator("a", "function"), b: generator("b") } }, async () => null);
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.request" }),
      ({ type }) => void notes.push(type),
    );
    expect(notes).toEqual(["a starts", "b starts", "a ends", "http.response.start", "http.response.body", "b ends"]);
  });

  it.each([
    ["the handler", () => Promise.reject(new Error("boom")), {}],
    ["the serialiser", async () => ({ n: "text" }), { returns: t.Object({ n: t.Integer() }) }],
  ])("sees an error of %s, innermost first, before the error response", async (_where, handler, options) => {
    const { notes, generator, app } = staged();
    app.get(
      "/",
      { params: { a: generator("a"), b: generator("b", "function") }, ...options },
      handler as () => Promise<never>,
    );
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.request" }),
      (message) => void notes.push(message.type === "http.response.start" ? String(message.status) : ""),
    );
    expect(notes.map((note) => note.replace(/: .*/, ""))).toEqual([
      "a starts",
      "b starts",
      expect.stringMatching(/^b sees (Error|ResponseValidationError)/),
      expect.stringMatching(/^a sees (Error|ResponseValidationError)/),
      "500",
      "",
    ]);
  });

  it("is cleaned up if the client has disconnected and the server's send fails", async () => {
    const { notes, generator, app } = staged();
    app.get("/", { params: { a: generator("a") } }, async () => "ok");
    const sent = app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.disconnect" }),
      () => Promise.reject(new Error("socket closed")),
    );
    await expect(sent).rejects.toThrow("socket closed");
    expect(notes).toEqual(["a starts", "a sees Error: socket closed"]);
  });

  it("is cleaned up if the client disconnects while the body is read, and no error is logged", async () => {
    const { notes, generator, app, log } = staged();
    app.post("/", { params: { a: generator("a"), body: t.Object({}) } }, async () => "ok");
    await app(
      {
        type: "http",
        method: "POST",
        path: "/",
        headers: [[Buffer.from("content-type"), Buffer.from("application/json")]],
      },
      () => Promise.resolve({ type: "http.disconnect" }),
      () => {
        throw new Error("nobody is there to send to");
      },
    );
    expect(notes).toEqual(["a starts", "a sees ClientDisconnect: The client has disconnected"]);
    expect(log.lines).toEqual([]);
  });

  it('of scope "request" cannot use one of scope "function", which is closed before it', () => {
    const { app } = create();
    const inner = async function* inner() {
      yield 1;
    };
    const outer = withParams({ d: Depends(inner, { scope: "function" }) }, async function* outer() {
      yield 2;
    });
    expect(() => app.get("/", { params: { d: Depends(outer) } }, async () => null)).toThrow(
      /The dependency outer \(scope "request"\) uses inner \(scope "function"\)/,
    );
  });
});

describeMatrix("a generator dependency", ({ call }) => {
  it("is cleaned up in reverse order of start, even if an earlier one takes longer to start", async () => {
    const notes: string[] = [];
    const gate = deferred();
    const slow = async function* slow() {
      await gate.promise;
      yield 1;
      notes.push("slow ends");
    };
    const quick = async function* quick() {
      yield 2;
      notes.push("quick ends");
    };
    const { app } = create();
    app.get("/", { params: { slow: Depends(slow), quick: Depends(quick) } }, async () => null);
    const answer = call(app, "GET", "/");
    gate.resolve();
    await answer;
    expect(notes).toEqual(["quick ends", "slow ends"]);
  });

  it("sees an error of another dependency", async () => {
    const { notes, generator, app } = staged();
    const failing = Depends(async () => {
      throw new HTTPException(403);
    });
    app.get("/", { params: { a: generator("a"), failing } }, async () => null);
    expect((await call(app, "GET", "/")).status).toBe(403);
    expect(notes).toEqual(["a starts", "a sees HTTPException: Forbidden"]);
  });

  it("sees the validation error of a parameter", async () => {
    const { notes, generator, app } = staged();
    app.get("/", { params: { a: generator("a"), n: Query(t.Integer()) } }, async () => null);
    expect((await call(app, "GET", "/")).status).toBe(422);
    expect(notes).toEqual(["a starts", "a sees RequestValidationError: query.n: Field required"]);
  });

  it("can replace the error, and the exception handlers see the new one", async () => {
    const { app } = create();
    const translating = async function* translating() {
      try {
        yield 1;
      } catch {
        throw new HTTPException(409, "translated");
      }
    };
    app.get("/", { params: { d: Depends(translating) } }, async () => {
      throw new Error("inner");
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 409, json: { detail: "translated" } });
  });

  it("causes a 500 and a log entry with its name if it swallows the error", async () => {
    const { app, log } = create();
    const swallowing = async function* swallowing() {
      try {
        yield 1;
      } catch {
        // swallowed
      }
    };
    app.get("/", { params: { d: Depends(swallowing) } }, async () => {
      throw new HTTPException(404);
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 500, json: { detail: "Internal Server Error" } });
    expect(log.lines.join()).toContain("The dependency swallowing swallowed an error");
  });

  it("is logged if its cleanup fails; the response does not change and the others are cleaned up", async () => {
    const notes: string[] = [];
    const { app, log } = create();
    const failing = async function* failing() {
      yield 1;
      throw new Error("cleanup");
    };
    const fine = async function* fine() {
      yield 2;
      notes.push("fine ends");
    };
    app.get("/", { params: { fine: Depends(fine), failing: Depends(failing) } }, async () => "ok");
    expect((await call(app, "GET", "/")).json).toBe("ok");
    expect(notes).toEqual(["fine ends"]);
    expect(log.lines).toEqual(["error The cleanup of the dependency failing failed"]);
  });

  it("is closed and logged if it yields twice; if it does not yield, it throws a clear error", async () => {
    const { app, log } = create();
    const twice = async function* twice() {
      yield 1;
      yield 2;
    };
    // oxlint-disable-next-line require-yield
    const never = async function* never() {
      return;
    };
    app.get("/twice", { params: { d: Depends(twice) } }, async () => "ok");
    app.get("/never", { params: { d: Depends(never) } }, async () => "ok");
    expect((await call(app, "GET", "/twice")).status).toBe(200);
    expect((await call(app, "GET", "/never")).status).toBe(500);
    expect(log.lines[0]).toContain("The dependency twice yields more than once");
    expect(log.lines[1]).toContain("The dependency never is a generator that did not yield a value");
  });
});

describe("the order", () => {
  it("stops at a guard that rejects, before anything else runs and before the body is read", async () => {
    const notes: string[] = [];
    const refuse = async () => {
      throw new HTTPException(401);
    };
    const later = async () => void notes.push("later");
    const { app } = create();
    app.post(
      "/",
      { dependencies: [Depends(refuse), Depends(later)], params: { body: t.Object({}), d: Depends(later) } },
      async () => null,
    );
    let received = 0;
    await app(
      { type: "http", method: "POST", path: "/" },
      () => {
        received++;
        return Promise.resolve({ type: "http.request" });
      },
      (message) => void (message.type === "http.response.start" && notes.push(String(message.status))),
    );
    expect(notes).toEqual(["401"]);
    expect(received).toBe(0);
  });
});

describeMatrix("the order", ({ call }) => {
  it("is guards of App, routers outside in and route, then the dependencies of params", async () => {
    const notes: string[] = [];
    const note = (name: string) =>
      Depends(async () => {
        await Promise.resolve();
        notes.push(name);
      });
    const app = new App({ dependencies: [note("app")] });
    const parent = new Router({ prefix: "/a", dependencies: [note("parent")] });
    const child = new Router({ prefix: "/b", dependencies: [note("child")] });
    child.get("/c", { dependencies: [note("route")], params: { p: note("params") } }, async () => null);
    parent.includeRouter(child, { dependencies: [note("include")] });
    app.includeRouter(parent);
    expect((await call(app, "GET", "/a/b/c")).status).toBe(200);
    expect(notes).toEqual(["app", "parent", "include", "child", "route", "params"]);
  });

  it("stops at a guard with invalid parameters", async () => {
    const notes: string[] = [];
    const guard = withParams({ n: Query(t.Integer()) }, async () => void notes.push("guard"));
    const later = async () => void notes.push("later");
    const { app } = create();
    app.get("/", { dependencies: [Depends(guard), Depends(later)], params: { q: Query() } }, async () => null);
    const answer = await call(app, "GET", "/?n=x");
    expect(answer.faults.map(({ loc }) => loc.join("."))).toEqual(["query.n"]);
    expect(notes).toEqual([]);
  });

  it("lets an HTTPException take precedence over validation errors", async () => {
    const { app } = create();
    const refuse = async () => {
      throw new HTTPException(401);
    };
    app.get("/", { params: { n: Query(t.Integer()), d: Depends(refuse) } }, async () => null);
    expect((await call(app, "GET", "/?n=x")).status).toBe(401);
  });

  it("does not call a dependency with invalid parameters, and reports every error of the request", async () => {
    const notes: string[] = [];
    const inner = withParams({ a: Query(t.Integer()) }, async () => void notes.push("inner"));
    const outer = withParams({ inner: Depends(inner), b: Query(t.Integer()) }, async () => void notes.push("outer"));
    const { app } = create();
    app.get("/", { params: { again: Depends(inner), outer: Depends(outer), c: Query() } }, async () => null);
    const answer = await call(app, "GET", "/?a=x&b=y");
    expect(answer.faults.map(({ loc }) => loc.join(".")).toSorted()).toEqual(["query.a", "query.b", "query.c"]);
    expect(notes).toEqual([]);
  });

  it("overlaps independent asynchronous ones, and awaits all before cleanup", async () => {
    const notes: string[] = [];
    const gate = deferred();
    const held = async function* held() {
      yield 1;
      notes.push("cleaned up");
    };
    const waiting = async () => {
      await gate.promise;
      notes.push("waiting is done");
    };
    const failing = async () => {
      notes.push("failing ran meanwhile");
      gate.resolve();
      throw new HTTPException(400);
    };
    const { app } = create();
    const heldThroughout = async function* heldThroughout() {
      try {
        yield* held();
      } finally {
        notes.push("held ends");
      }
    };
    app.get(
      "/",
      { params: { held: Depends(heldThroughout), waiting: Depends(waiting), failing: Depends(failing) } },
      async () => null,
    );
    expect((await call(app, "GET", "/")).status).toBe(400);
    expect(notes).toEqual(["failing ran meanwhile", "waiting is done", "held ends"]);
  });
});

describeMatrix("dependencyOverrides", ({ call }) => {
  const getName = async () => "original";
  const getGreeting = withParams({ name: Depends(getName) }, async ({ name }) => `hello ${name}`);
  const replacement = async () => "replaced";

  it("reaches params, guards, nested dependencies, routers and mounted Apps", async () => {
    const { app } = create();
    const router = new Router({ prefix: "/router" });
    const mounted = new App();
    const deeper = new App();
    for (const target of [app, mounted, deeper]) {
      target.get("/direct", { params: { name: Depends(getName) } }, async ({ name }) => name);
      target.get("/nested", { params: { greeting: Depends(getGreeting) } }, async ({ greeting }) => greeting);
    }
    router.get("/nested", { params: { greeting: Depends(getGreeting) } }, async ({ greeting }) => greeting);
    app.includeRouter(router);
    mounted.mount("/deeper", deeper);
    app.mount("/mounted", mounted);
    app.dependencyOverrides.set(getName, replacement);
    for (const prefix of ["", "/mounted", "/mounted/deeper"]) {
      expect((await call(app, "GET", `${prefix}/direct`)).json).toBe("replaced");
      expect((await call(app, "GET", `${prefix}/nested`)).json).toBe("hello replaced");
    }
    expect((await call(app, "GET", "/router/nested")).json).toBe("hello replaced");
    app.dependencyOverrides.clear();
    expect((await call(app, "GET", "/router/nested")).json).toBe("hello original");
  });

  it("pass the original to an override that depends on it", async () => {
    const { app } = create();
    const wrapping = withParams({ inner: Depends(getGreeting) }, async ({ inner }) => `<${inner}>`);
    const deep = withParams({ name: Depends(getName) }, async ({ name }) => `deep ${name}`);
    app.get("/", { params: { greeting: Depends(getGreeting) } }, async ({ greeting }) => greeting);
    app.dependencyOverrides.set(getGreeting, wrapping);
    expect((await call(app, "GET", "/")).json).toBe("<hello original>");
    app.dependencyOverrides.set(getName, deep);
    expect((await call(app, "GET", "/")).json).toBe("<hello deep original>");
  });

  it("is the circle error at its first use when it makes one", async () => {
    const { app, log } = create();
    const circular = withParams({ greeting: Depends(getGreeting) }, async ({ greeting }) => greeting);
    app.get("/", { params: { greeting: Depends(getGreeting) } }, async ({ greeting }) => greeting);
    app.dependencyOverrides.set(getName, circular);
    expect((await call(app, "GET", "/")).status).toBe(500);
    expect(log.lines[0]).toContain("RecursionError");
    expect(log.lines[0]).toContain("through dependencyOverrides: greeting → name → greeting.");
  });

  it("can have params and be a generator with cleanup", async () => {
    const notes: string[] = [];
    const { app } = create();
    const generator = withParams({ who: Query() }, async function* generator({ who }) {
      yield who;
      notes.push("cleaned up");
    });
    app.get("/", { params: { name: Depends(getName) } }, async ({ name }) => name);
    app.dependencyOverrides.set(getName, generator);
    expect((await call(app, "GET", "/?who=ada")).json).toBe("ada");
    expect((await call(app, "GET", "/")).status).toBe(422);
    expect(notes).toEqual(["cleaned up"]);
  });

  it("lists the originals that no request has used", async () => {
    const { app } = create();
    app.get("/", { params: { name: Depends(getName) } }, async ({ name }) => name);
    app.dependencyOverrides.set(getName, replacement).set(getGreeting, replacement);
    expect(app.dependencyOverrides.unused()).toEqual([getName, getGreeting]);
    await call(app, "GET", "/");
    expect(app.dependencyOverrides.unused()).toEqual([getGreeting]);
  });
});

describeMatrix("a parameter that throws while another is still checked", ({ call }) => {
  it("results in 500 without an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on("unhandledRejection", note);
    const standard = (validate: (value: unknown) => never | Promise<never>) =>
      Query({ "~standard": { version: 1, vendor: "x", validate } } as const);
    const { app } = create();
    const params = {
      a: standard(async () => {
        throw new Error("later");
      }),
      b: standard((value) => {
        if (value === undefined) return { issues: [] } as never;
        throw new Error("at once");
      }),
    };
    app.get("/", { params }, async () => null);
    expect((await call(app, "GET", "/?a=x&b=x")).status).toBe(500);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });
});

describe("a circle of dependencies", () => {
  it("is a RecursionError at registration, with the chain in its message", () => {
    function first() {
      return 1;
    }
    function second() {
      return 2;
    }
    withParams({ second: Depends(second) }, first);
    withParams({ first: Depends(first) }, second);
    const { app } = create();
    const register = () => app.get("/", { params: { d: Depends(first) } }, async () => null);
    expect(register).toThrow(RecursionError);
    expect(register).toThrow(/GET \/: Dependencies go in a circle: first → second → first/);
    expect(new RecursionError()).toBeInstanceOf(ConfigurationError);
  });
});
