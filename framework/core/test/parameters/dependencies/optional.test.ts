/** `Depends(fn, { optional: true })`: credentials that a request may leave out. */
import { describe, expect, it } from "@jest/globals";
import {
  App,
  ConfigurationError,
  Depends,
  Header,
  Query,
  Security,
  SecurityScopes,
  t,
  withParams,
} from "../../../src/index.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery } from "../../../src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../../src/parameters/security/http.js";
import { OAuth2PasswordBearer } from "../../../src/parameters/security/oauth2.js";
import { SecurityScheme } from "../../../src/parameters/security/scheme.js";
import type { Sent } from "../../../../test/support/call.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

const bearer = new HTTPBearer();
const create = () => new App({ logger: new KeptLog() });
const authorization = (...values: string[]): Sent => ({ headers: values.map((value) => ["authorization", value]) });

/** Gives the credentials of a scheme, and counts how often it is called. */
function userOf(scheme: SecurityScheme) {
  const calls: unknown[] = [];
  const getUser = withParams({ given: Depends(scheme as never) }, async ({ given }) => {
    calls.push(given);
    return { given };
  });
  return { getUser, calls };
}

class Signature extends SecurityScheme<string, true> {
  constructor() {
    super(
      {},
      {
        defaultName: "Signature",
        definition: { type: "http", scheme: "Signature" },
        source: Header(t.Array(t.String()), { alias: "Authorization", default: [], includeInSchema: false }),
        parse: (value) => value.split(" ")[1] || null,
        challenge: 'Signature realm="api"',
      },
    );
  }
}

const SCHEMES = {
  bearer,
  token: new HTTPBearer({ scheme: "Token" }),
  basic: new HTTPBasic(),
  oauth2: new OAuth2PasswordBearer({ tokenUrl: "/token" }),
  header: new APIKeyHeader({ name: "X-API-Key" }),
  query: new APIKeyQuery({ name: "api_key" }),
  cookie: new APIKeyCookie({ name: "session" }),
  own: new Signature(),
  /** A whole header as a key. */
  raw: new APIKeyHeader({ name: "Authorization" }),
  lenient: new HTTPBearer({ autoError: false }),
};

type Row = [scheme: keyof typeof SCHEMES, what: string, target: string, sent: Sent];

describeMatrix("an optional dependency", ({ call, transport }) => {
  // The client for HTTP/2 sends one only.
  const TWO_HEADERS: Row[] =
    transport === "http2"
      ? []
      : [
          ["bearer", "two headers", "/", authorization("Bearer a", "Bearer b")],
          ["bearer", "a second header of another scheme", "/", authorization("Basic YTpi", "Bearer b")],
        ];

  async function ask(scheme: SecurityScheme, target: string, sent: Sent) {
    const { getUser, calls } = userOf(scheme);
    const app = create();
    app.get("/", { params: { user: Depends(getUser, { optional: true }) } }, async ({ user }) => ({ user }));
    const { status, json } = await call(app, "GET", target, sent);
    return { status, json, calls: calls.length };
  }

  it.each<Row>([
    ["bearer", "no header", "/", {}],
    ["bearer", "an empty header", "/", authorization("")],
    ["bearer", "the credentials of another scheme", "/", authorization("Basic YTpi")],
    ["bearer", "a longer word", "/", authorization("Bearers abc")],
    ["token", "the usual word", "/", authorization("Bearer abc")],
    ["basic", "a bearer token", "/", authorization("Bearer abc")],
    ["oauth2", "no header", "/", {}],
    ["header", "no header", "/", authorization("Bearer abc")],
    ["query", "another parameter", "/?key=1", {}],
    ["cookie", "another cookie", "/", { headers: [["cookie", "other=1"]] }],
    ["own", "the word of another scheme", "/", authorization("Bearer abc")],
    ["raw", "no header", "/", {}],
    ["lenient", "no header", "/", {}],
  ])("is null, and not called, for %s and %s", async (name, _what, target, sent) => {
    expect(await ask(SCHEMES[name], target, sent)).toEqual({ status: 200, json: { user: null }, calls: 0 });
  });

  it.each<Row>([
    ["bearer", "the word alone", "/", authorization("Bearer")],
    ["bearer", "the word and a space", "/", authorization("bearer ")],
    ["bearer", "the word and a tab", "/", authorization("Bearer\tabc")],
    ["bearer", "two tokens in one header", "/", authorization("Bearer a, Bearer b")],
    ...TWO_HEADERS,
    ["token", "its word alone", "/", authorization("TOKEN")],
    ["basic", "no base64", "/", authorization("Basic *")],
    ["oauth2", "a token with a space", "/", authorization("Bearer a b")],
    ["header", "an empty key", "/", { headers: [["x-api-key", ""]] }],
    ["query", "an empty key", "/?api_key=", {}],
    ["query", "a key that is repeated", "/?api_key=a&api_key=b", {}],
    ["cookie", "a cookie that is repeated", "/", { headers: [["cookie", "session=a; session=b"]] }],
    ["own", "its word alone", "/", authorization("signature")],
    ["lenient", "malformed credentials, although autoError is false", "/", authorization("Bearer")],
  ])("is a 401 for %s and %s", async (name, _what, target, sent) => {
    expect(await ask(SCHEMES[name], target, sent)).toEqual({
      status: 401,
      json: { detail: "Not authenticated" },
      calls: 0,
    });
  });

  it.each<Row>([
    ["bearer", "a token", "/", authorization("bEARER abc")],
    ["token", "a token", "/", authorization("token abc")],
    ["basic", "a name and a password", "/", authorization("Basic YTpi")],
    ["oauth2", "a token", "/", authorization("Bearer abc")],
    ["header", "a key", "/", { headers: [["x-api-key", "k"]] }],
    ["query", "a key", "/?api_key=k", {}],
    ["cookie", "a cookie", "/", { headers: [["cookie", "session=k"]] }],
    ["own", "a signature", "/", authorization("Signature abc")],
    ["raw", "any value", "/", authorization("Bearer abc")],
    ["lenient", "a token", "/", authorization("Bearer abc")],
  ])("is called once for %s and %s", async (name, _what, target, sent) => {
    expect(await ask(SCHEMES[name], target, sent)).toMatchObject({ status: 200, calls: 1 });
  });

  it("with two schemes is called if one of them finds its credentials, and each then decides by itself", async () => {
    const both = withParams({ a: Depends(bearer), b: Depends(SCHEMES.header) }, async ({ a, b }) => [a.credentials, b]);
    const either = withParams(
      { a: Depends(SCHEMES.lenient), b: Depends(new APIKeyHeader({ name: "X-API-Key", autoError: false })) },
      async ({ a, b }) => [a?.credentials ?? null, b],
    );
    const app = create();
    app.get("/both", { params: { user: Depends(both, { optional: true }) } }, async ({ user }) => user);
    app.get("/either", { params: { user: Depends(either, { optional: true }) } }, async ({ user }) => user);
    const key: Sent = { headers: [["x-api-key", "k"]] };
    expect((await call(app, "GET", "/both")).json).toBeNull();
    expect((await call(app, "GET", "/both", key)).status).toBe(401);
    expect((await call(app, "GET", "/either")).json).toBeNull();
    expect((await call(app, "GET", "/either", key)).json).toEqual([null, "k"]);
    const malformed = [
      ["k", "Bearer"],
      ["", "Bearer ada"],
    ].map(([apiKey = "", bearerToken = ""]): Sent => {
      return {
        headers: [
          ["x-api-key", apiKey],
          ["authorization", bearerToken],
        ],
      };
    });
    for (const sent of malformed) expect((await call(app, "GET", "/either", sent)).status).toBe(401);
  });

  it("may be the scheme itself, one by Security(), one of another dependency, and a guard", async () => {
    const checked = withParams(
      { token: Depends(bearer), asked: SecurityScopes },
      async ({ token, asked }) => `${token.credentials} for ${asked.scopeString}`,
    );
    const greeting = withParams(
      { user: Depends(checked, { optional: true }) },
      async ({ user }) => user ?? "anonymous",
    );
    const app = create();
    app.get("/scheme", { params: { token: Depends(bearer, { optional: true }) } }, async ({ token }) => ({
      token: token?.credentials ?? null,
    }));
    const user = Security(checked, { scopes: ["items"], optional: true });
    app.get("/security", { params: { user } }, async (args) => args.user);
    app.get("/nested", { params: { greeting: Depends(greeting) } }, async (args) => args.greeting);
    app.get("/guard", { dependencies: [Depends(checked, { optional: true })] }, async () => "open");
    const ada = authorization("Bearer ada");
    const results: unknown[] = [];
    for (const path of ["/scheme", "/security", "/nested", "/guard"]) {
      results.push([(await call(app, "GET", path)).json, (await call(app, "GET", path, ada)).json]);
    }
    expect(results).toEqual([
      [{ token: null }, { token: "ada" }],
      [null, "ada for items"],
      ["anonymous", "ada for "],
      ["open", "open"],
    ]);
    expect((await call(app, "GET", "/guard", authorization("Bearer"))).status).toBe(401);
  });

  it("shares its result with a place that requires it", async () => {
    const { getUser, calls } = userOf(bearer);
    const app = create();
    const params = { maybe: Depends(getUser, { optional: true }), user: Depends(getUser) };
    app.get("/", { params }, async ({ maybe, user }) => maybe === user);
    expect((await call(app, "GET", "/")).status).toBe(401);
    expect((await call(app, "GET", "/", authorization("Bearer ada"))).json).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it("is always called if it is overridden, or if a scheme that it needs is", async () => {
    const { getUser } = userOf(bearer);
    const app = create();
    app.get("/", { params: { user: Depends(getUser, { optional: true }) } }, async ({ user }) => user);
    app.dependencyOverrides.set(getUser, async () => ({ given: "a test's user" }));
    expect((await call(app, "GET", "/")).json).toEqual({ given: "a test's user" });
    expect(app.dependencyOverrides.unused()).toEqual([]);
    app.dependencyOverrides.clear();
    app.dependencyOverrides.set(bearer, async () => "a test's token");
    expect((await call(app, "GET", "/")).json).toEqual({ given: "a test's token" });
    app.dependencyOverrides.clear();
    app.dependencyOverrides.set(
      () => null,
      async () => null,
    );
    expect((await call(app, "GET", "/")).json).toBeNull();
  });

  it("reports the params of the dependency, once, only if it is called", async () => {
    const paged = withParams({ token: Depends(bearer), page: Query(t.Integer()) }, async ({ page }) => page);
    const app = create();
    app.get("/", { params: { page: Depends(paged, { optional: true }) } }, async ({ page }) => page);
    expect((await call(app, "GET", "/?page=x")).json).toBeNull();
    const answer = await call(app, "GET", "/?page=x", authorization("Bearer ada"));
    expect(answer.faults.map(({ loc }) => loc.join("."))).toEqual(["query.page"]);
  });
});

describeSocketMatrix("an optional dependency", ({ connect, refused }) => {
  it("is null on a WebSocket without credentials, and rejects the handshake for malformed ones", async () => {
    const query = SCHEMES.query;
    const app = create();
    app.websocket("/ws", { params: { key: Depends(query, { optional: true }) } }, async ({ ws, key }) => {
      await ws.accept();
      await ws.sendJson({ key });
    });
    expect(await (await connect(app, "/ws")).receiveJson()).toEqual({ key: null });
    expect(await (await connect(app, "/ws?api_key=k")).receiveJson()).toEqual({ key: "k" });
    expect((await refused(app, "/ws?api_key=")).statusCode).toBe(401);
  });
});

describe("an optional dependency", () => {
  it("needs a security scheme", () => {
    const plain = withParams({ token: Header({ default: null }) }, async ({ token }) => token);
    const register = () =>
      create().get("/", { params: { user: Depends(plain, { optional: true }) } }, async () => null);
    expect(register).toThrow(ConfigurationError);
    expect(register).toThrow(/GET \/: .* is optional, but needs no security scheme/);
  });

  it("cannot be one of scope app", () => {
    // @ts-expect-error -- what JavaScript lets through
    expect(() => Depends(async () => 1, { scope: "app", optional: true })).toThrow(/optional: true has no meaning/);
  });
});
