/** Dependencies that take credentials settle before any other one starts. Gates order the events, never time. */
import { describe, expect, it } from "@jest/globals";
import {
  App,
  type AppOptions,
  Depends,
  Header,
  HTTPException,
  Path,
  Query,
  Security,
  SecurityScopes,
  t,
  withParams,
} from "../../../src/index.js";
import { Deferred } from "../../../src/common/promises.js";
import { APIKeyHeader } from "../../../src/parameters/security/api-key.js";
import { HTTPBearer } from "../../../src/parameters/security/http.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

const bearer = new HTTPBearer();
const AUTHORIZED = { headers: [["authorization", "Bearer ada"]] } as const;

const create = (options: AppOptions = {}) => new App({ logger: new KeptLog(), ...options });

/** A dependency with the name of its note. */
function noting(notes: string[], name: string) {
  return async () => {
    notes.push(name);
    return name;
  };
}

describeMatrix("a dependency with a security scheme", ({ call }) => {
  it("rejects an anonymous request with 401 before another dependency looks anything up", async () => {
    const notes: string[] = [];
    const findOr404 = withParams({ id: Path(t.Integer()) }, async () => {
      notes.push("looked up");
      throw new HTTPException(404);
    });
    const getUser = withParams({ token: Depends(bearer) }, async ({ token }) => token.credentials);
    const app = create();
    const params = { owner: Depends(findOr404), user: Depends(getUser) };
    app.get("/items/{id}", { params }, async () => null);
    expect((await call(app, "GET", "/items/7")).status).toBe(401);
    expect(notes).toEqual([]);
    expect((await call(app, "GET", "/items/7", AUTHORIZED)).status).toBe(404);
    expect(notes).toEqual(["looked up"]);
  });

  class Session {
    static params = { token: Depends(bearer) };
    readonly name: string;
    constructor({ token }: { token: { credentials: string } }) {
      this.name = token.credentials;
    }
  }
  const getUser = withParams({ token: Depends(bearer) }, async ({ token }) => token);
  const getAdmin = withParams({ user: Depends(getUser) }, async ({ user }) => user);
  const checked = withParams({ token: Depends(bearer), asked: SecurityScopes }, async ({ token }) => token);
  const held = withParams({ token: Depends(bearer) }, async function* held({ token }) {
    yield token;
  });

  it.each([
    ["the scheme itself", Depends(bearer)],
    ["two levels down", Depends(withParams({ admin: Depends(getAdmin) }, async ({ admin }) => admin))],
    ["in a class", Depends(Session)],
    ["by Security()", Security(checked, { scopes: ["items"] })],
    ["as Security() of the scheme", Security(bearer, { scopes: ["items"] })],
    ["in a generator", Depends(held)],
    ["without the cache", Depends(getUser, { useCache: false })],
  ])("runs first: %s", async (_where, user) => {
    const notes: string[] = [];
    const app = create();
    app.get("/", { params: { other: Depends(noting(notes, "other")), user } }, async () => null);
    expect((await call(app, "GET", "/")).status).toBe(401);
    expect(notes).toEqual([]);
    expect((await call(app, "GET", "/", AUTHORIZED)).status).toBe(200);
    expect(notes).toEqual(["other"]);
  });

  it("runs first among the params of a dependency and of a guard too", async () => {
    const notes: string[] = [];
    const context = withParams(
      { other: Depends(noting(notes, "other")), user: Depends(getUser) },
      async ({ user }) => user.credentials,
    );
    const app = create();
    app.get("/param", { params: { context: Depends(context) } }, async (args) => args.context);
    app.get("/guard", { dependencies: [Depends(context)] }, async () => null);
    for (const path of ["/param", "/guard"]) expect((await call(app, "GET", path)).status).toBe(401);
    expect(notes).toEqual([]);
    expect((await call(app, "GET", "/param", AUTHORIZED)).json).toBe("ada");
    expect(notes).toEqual(["other"]);
  });

  it("settles before another dependency starts, and the others then run concurrently", async () => {
    const notes: string[] = [];
    const asked = new Deferred<void>();
    const known = new Deferred<void>();
    const slowUser = withParams({ token: Depends(bearer) }, async () => {
      asked.resolve();
      await known.promise;
      notes.push("user");
      return "ada";
    });
    const [left, right] = [new Deferred<void>(), new Deferred<void>()];
    const waiting = (name: string, own: Deferred<void>, other: Deferred<void>) => async () => {
      notes.push(name);
      own.resolve();
      await other.promise;
      return name;
    };
    const app = create();
    const params = {
      left: Depends(waiting("left", left, right)),
      user: Depends(slowUser),
      right: Depends(waiting("right", right, left)),
    };
    app.get("/", { params }, async (args) => args);
    const answer = call(app, "GET", "/", AUTHORIZED);
    await asked.promise;
    expect(notes).toEqual([]);
    known.resolve();
    expect((await answer).json).toEqual({ left: "left", user: "ada", right: "right" });
    expect(notes).toEqual(["user", "left", "right"]);
  });

  it("runs in the order of the params if there are several, and after one that throws no other one starts", async () => {
    const notes: string[] = [];
    const key = new APIKeyHeader({ name: "X-API-Key" });
    const first = new Deferred<void>();
    const asked = new Deferred<void>();
    const getFirst = withParams({ key: Depends(key) }, async ({ key: value }) => {
      notes.push("first starts");
      asked.resolve();
      await first.promise;
      notes.push("first ends");
      if (value === "bad") throw new HTTPException(403);
    });
    const getSecond = withParams({ token: Depends(bearer) }, async () => void notes.push("second"));
    const app = create();
    const params = { other: Depends(noting(notes, "other")), a: Depends(getFirst), b: Depends(getSecond) };
    app.get("/", { params }, async () => null);
    const answer = call(app, "GET", "/", { headers: [["x-api-key", "good"], ...AUTHORIZED.headers] });
    await asked.promise;
    expect(notes).toEqual(["first starts"]);
    first.resolve();
    expect((await answer).status).toBe(200);
    expect(notes).toEqual(["first starts", "first ends", "second", "other"]);
    notes.length = 0;
    const refused = await call(app, "GET", "/", { headers: [["x-api-key", "bad"], ...AUTHORIZED.headers] });
    expect(refused.status).toBe(403);
    expect(notes).toEqual(["first starts", "first ends"]);
  });

  it("runs after the guards", async () => {
    const notes: string[] = [];
    const app = create({ dependencies: [Depends(noting(notes, "guard"))] });
    const user = withParams({ token: Depends(bearer) }, async () => void notes.push("user"));
    app.get("/", { params: { other: Depends(noting(notes, "other")), user: Depends(user) } }, async () => null);
    await call(app, "GET", "/", AUTHORIZED);
    expect(notes).toEqual(["guard", "user", "other"]);
  });

  it("keeps its place if it is overridden, and an override with a scheme gets no other place", async () => {
    const notes: string[] = [];
    const other = noting(notes, "other");
    const app = create();
    app.get("/", { params: { other: Depends(other), user: Depends(getUser) } }, async () => null);
    app.dependencyOverrides.set(getUser, async () => {
      throw new HTTPException(401);
    });
    expect((await call(app, "GET", "/")).status).toBe(401);
    expect(notes).toEqual([]);
    app.dependencyOverrides.set(getUser, noting(notes, "user"));
    app.dependencyOverrides.set(
      other,
      withParams({ token: Depends(bearer) }, async () => {
        notes.push("other with a scheme");
        return "other";
      }),
    );
    expect((await call(app, "GET", "/", AUTHORIZED)).status).toBe(200);
    expect(notes).toEqual(["user", "other with a scheme"]);
  });

  it("lets the others report their errors if its params are invalid, and calls no dependency", async () => {
    const notes: string[] = [];
    const picky = withParams({ token: Depends(bearer), page: Query(t.Integer()) }, async () => void notes.push("user"));
    const inner = withParams({ b: Query(t.Integer()) }, async () => void notes.push("inner"));
    const other = withParams({ inner: Depends(inner), c: Header(t.Integer()) }, async () => void notes.push("other"));
    const app = create();
    app.get("/", { params: { other: Depends(other), user: Depends(picky), d: Query() } }, async () => null);
    const answer = await call(app, "GET", "/?page=x", AUTHORIZED);
    expect(answer.faults.map(({ loc }) => loc.join("."))).toEqual(["query.d", "header.c", "query.b", "query.page"]);
    expect((await call(app, "GET", "/?page=x&b=1&d=1", { headers: [["c", "1"], ...AUTHORIZED.headers] })).status).toBe(
      422,
    );
    expect(notes).toEqual([]);
    expect((await call(app, "GET", "/?page=x")).status).toBe(401);
  });
});

describe("a dependency with a security scheme", () => {
  it("runs before a dependency of scope app that no lifespan has started", async () => {
    const notes: string[] = [];
    const app = create();
    const database = Depends(noting(notes, "database"), { scope: "app" });
    app.get("/", { params: { database, token: Depends(bearer) } }, async () => null);
    const statuses: number[] = [];
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.request" }),
      (message) => void (message.type === "http.response.start" && statuses.push(message.status)),
    );
    expect([statuses, notes]).toEqual([[401], []]);
  });
});

describeSocketMatrix("a dependency with a security scheme", ({ refused }) => {
  it("rejects the handshake of a WebSocket before another dependency runs", async () => {
    const notes: string[] = [];
    const app = create();
    const params = { other: Depends(noting(notes, "other")), token: Depends(bearer) };
    app.websocket("/ws", { params }, async ({ ws }) => ws.accept());
    expect((await refused(app, "/ws")).statusCode).toBe(401);
    expect(notes).toEqual([]);
  });
});
