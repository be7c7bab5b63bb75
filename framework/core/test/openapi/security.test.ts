import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Depends, Security } from "../../src/parameters/depends.js";
import { Header } from "../../src/parameters/head.js";
import { type Params, SecurityScopes, withParams } from "../../src/parameters/annotation.js";
import { Router } from "../../src/routing/router.js";
import { t } from "../../src/schema/schema.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery } from "../../src/parameters/security/api-key.js";
import { HTTPBasic, HTTPBearer } from "../../src/parameters/security/http.js";
import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "../../src/parameters/security/oauth2.js";
import { SecurityScheme } from "../../src/parameters/security/scheme.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { faultsOf, operation } from "./_documents.js";

const nothing = async () => null;

const oauth2 = new OAuth2PasswordBearer({ tokenUrl: "/token", scopes: { "items:read": "Read items." } });
const apiKey = new APIKeyHeader({ name: "X-API-Key" });
const optional = new HTTPBearer({ autoError: false });

/** An application with one route for each scheme. */
function appWith(...schemes: readonly SecurityScheme[]): App {
  const app = new App();
  for (const [index, scheme] of schemes.entries()) {
    app.get(`/${index}`, { dependencies: [Depends(scheme)] }, nothing);
  }
  return app;
}

describe("security schemes", () => {
  it.each<[string, SecurityScheme, object]>([
    [
      "OAuth2PasswordBearer",
      new OAuth2PasswordBearer({
        tokenUrl: "/token",
        refreshUrl: "/refresh",
        scopes: { a: "A" },
        description: "*Log in*",
      }),
      {
        type: "oauth2",
        flows: { password: { tokenUrl: "/token", refreshUrl: "/refresh", scopes: { a: "A" } } },
        description: "*Log in*",
      },
    ],
    ["HTTPBearer", new HTTPBearer({ bearerFormat: "JWT" }), { type: "http", scheme: "bearer", bearerFormat: "JWT" }],
    ["HTTPBearer", new HTTPBearer({ scheme: "Token" }), { type: "http", scheme: "Token" }],
    // The published meta-schema of OpenAPI 3.0 allows bearerFormat for the scheme "bearer" only.
    ["HTTPBearer", new HTTPBearer({ scheme: "Token", bearerFormat: "JWT" }), { type: "http", scheme: "Token" }],
    ["HTTPBasic", new HTTPBasic(), { type: "http", scheme: "basic" }],
    ["APIKeyHeader", apiKey, { type: "apiKey", in: "header", name: "X-API-Key" }],
    ["APIKeyQuery", new APIKeyQuery({ name: "key" }), { type: "apiKey", in: "query", name: "key" }],
    ["APIKeyCookie", new APIKeyCookie({ name: "key" }), { type: "apiKey", in: "cookie", name: "key" }],
    ["mine", new HTTPBasic({ schemeName: "mine" }), { type: "http", scheme: "basic" }],
  ])("%s is listed, and required by its route", async (name, scheme, definition) => {
    const app = appWith(scheme);
    expect(app.openapi().components?.securitySchemes).toEqual({ [name]: definition });
    expect(operation(app, "/0").security).toEqual([{ [name]: [] }]);
    expect(operation(app, "/0").parameters).toBeUndefined();
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("are listed once if two are the same, and with a number if a default name is in use", () => {
    const app = appWith(
      new APIKeyHeader({ name: "X-A" }),
      new APIKeyHeader({ name: "X-A" }),
      new APIKeyHeader({ name: "X-B" }),
      new APIKeyHeader({ name: "X-C", schemeName: "APIKeyHeader" }),
    );
    const schemes = Object.entries(app.openapi().components?.securitySchemes ?? {});
    expect(schemes.map(([name, scheme]) => [name, (scheme as { name: string }).name])).toEqual([
      ["APIKeyHeader", "X-C"],
      ["APIKeyHeader2", "X-A"],
      ["APIKeyHeader3", "X-B"],
    ]);
    const asked = ["/0", "/1", "/2", "/3"].map((path) => operation(app, path).security);
    expect(asked).toEqual([
      [{ APIKeyHeader2: [] }],
      [{ APIKeyHeader2: [] }],
      [{ APIKeyHeader3: [] }],
      [{ APIKeyHeader: [] }],
    ]);
  });

  it("with one schemeName and two meanings are a ConfigurationError", () => {
    const app = appWith(
      new APIKeyHeader({ name: "X-A", schemeName: "key" }),
      new APIKeyQuery({ name: "a", schemeName: "key" }),
    );
    expect(() => app.openapi()).toThrow(ConfigurationError);
    expect(() => app.openapi()).toThrow(/schemeName "key"/);
  });

  it("of routes that the document leaves out are left out", () => {
    const app = new App();
    app.get("/", { dependencies: [Depends(apiKey)], includeInSchema: false }, nothing);
    expect(app.openapi().components).toBeUndefined();
  });
});

describe("the security of an operation", () => {
  it("is found through dependencies, routers and the App", () => {
    const getUser = withParams({ token: Depends(oauth2) }, async ({ token }) => token);
    const app = new App({ dependencies: [Depends(apiKey)] });
    const router = new Router({ prefix: "/r", dependencies: [Depends(getUser)] });
    router.get("/", nothing);
    app.includeRouter(router);
    app.get("/", { params: { user: Depends(getUser) } }, nothing);
    const both = [{ APIKeyHeader: [], OAuth2PasswordBearer: [] }];
    expect([operation(app, "/r").security, operation(app, "/").security]).toEqual([both, both]);
  });

  it("contains the scopes of each Security, and flows list every one of them", async () => {
    const getUser = withParams({ token: Security(oauth2, { scopes: ["me"] }) }, async ({ token }) => token);
    const app = new App();
    app.get("/", { params: { user: Security(getUser, { scopes: ["items:read"] }) } }, nothing);
    app.get("/me", { params: { user: Depends(getUser) } }, nothing);
    expect(operation(app, "/").security).toEqual([{ OAuth2PasswordBearer: ["items:read", "me"] }]);
    expect(operation(app, "/me").security).toEqual([{ OAuth2PasswordBearer: ["me"] }]);
    expect(app.openapi().components?.securitySchemes?.["OAuth2PasswordBearer"]).toMatchObject({
      flows: { password: { scopes: { "items:read": "Read items.", me: "" } } },
    });
    expect(oauth2.definition).toMatchObject({ flows: { password: { scopes: { "items:read": "Read items." } } } });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });

  it("has no scopes for a scheme that does not support them (§4.7.30)", () => {
    const app = new App();
    app.get("/", { dependencies: [Security(apiKey, { scopes: ["a"] })] }, nothing);
    expect(operation(app, "/").security).toEqual([{ APIKeyHeader: [] }]);
  });

  it("allows any of the optional schemes, each together with all required ones", () => {
    const app = new App();
    const other = new APIKeyQuery({ name: "key", autoError: false });
    app.get("/either", { dependencies: [Depends(optional), Depends(other)] }, nothing);
    app.get("/both", { dependencies: [Depends(apiKey), Depends(optional)] }, nothing);
    expect(operation(app, "/either").security).toEqual([{ HTTPBearer: [] }, { APIKeyQuery: [] }]);
    expect(operation(app, "/both").security).toEqual([{ APIKeyHeader: [] }, { APIKeyHeader: [], HTTPBearer: [] }]);
  });

  const tokenScheme = new HTTPBearer({ scheme: "Token", schemeName: "Token" });
  const [a, b] = ["A", "B"].map((name) => new APIKeyHeader({ name: `X-${name}`, schemeName: name })) as [
    APIKeyHeader,
    APIKeyHeader,
  ];
  const lenient = new HTTPBearer({ schemeName: "Lenient", autoError: false });
  const lenientKey = new APIKeyHeader({ name: "X-L", schemeName: "LenientKey", autoError: false });
  const of = (scheme: SecurityScheme) => withParams({ value: Depends(scheme as never) }, async ({ value }) => value);
  const bothOf = (left: SecurityScheme, right: SecurityScheme) =>
    withParams({ left: Depends(left as never), right: Depends(right as never) }, async ({ left: value }) => value);
  const maybe = (fn: Parameters<typeof Depends>[0]) => Depends(fn as () => unknown, { optional: true });
  const scoped = withParams({ value: Depends(lenient), asked: SecurityScopes }, async ({ value }) => value);

  describe.each(["3.0", "3.1", "3.2"] as const)("of optional credentials, in %s,", (openapiVersion) => {
    it.each<[string, Params, object[]]>([
      ["an optional dependency", { user: maybe(of(tokenScheme)) }, [{}, { Token: [] }]],
      ["the scheme itself", { user: maybe(tokenScheme) }, [{}, { Token: [] }]],
      ["two schemes of one", { user: maybe(bothOf(a, b)) }, [{}, { A: [], B: [] }]],
      ["two optional dependencies", { x: maybe(of(a)), y: maybe(of(b)) }, [{}, { A: [] }, { B: [] }]],
      ["one listed twice", { x: maybe(of(a)), y: maybe(of(a)) }, [{}, { A: [] }]],
      ["a scheme without autoError", { x: Depends(lenient) }, [{}, { Lenient: [] }]],
      ["one in a dependency", { x: Depends(of(lenient)) }, [{}, { Lenient: [] }]],
      ["one listed twice without autoError", { x: Depends(lenient), y: Depends(of(lenient)) }, [{}, { Lenient: [] }]],
      ["one without autoError in an optional one", { x: maybe(of(lenient)) }, [{}, { Lenient: [] }]],
      [
        "two without autoError, of which one will do",
        { x: Depends(bothOf(lenient, lenientKey)) },
        [{ Lenient: [] }, { LenientKey: [] }],
      ],
      ["one whose scopes are checked", { x: Depends(scoped) }, [{ Lenient: [] }]],
      ["one that is required as well", { x: maybe(of(a)), y: Depends(of(a)) }, [{ A: [] }]],
      [
        "one that is required as well, and another",
        { x: maybe(bothOf(a, b)), y: Depends(a) },
        [{ A: [] }, { A: [], B: [] }],
      ],
      ["one beside a required one", { x: maybe(of(a)), y: Depends(b) }, [{ B: [] }, { B: [], A: [] }]],
      [
        "an optional one in an optional one",
        { x: maybe(withParams({ a: Depends(a), b: maybe(b) }, async () => 1)) },
        [{}, { A: [] }, { A: [], B: [] }],
      ],
    ])("lists %s", async (_what, params, security) => {
      const app = new App({ openapiVersion });
      app.get("/", { params }, nothing);
      expect(operation(app, "/").security).toEqual(security);
      if (openapiVersion === "3.0") expect(await faultsOf(app.openapi())).toEqual([]);
    });
  });

  it("may be a twin of a required scheme, which is then listed once", () => {
    const app = new App();
    app.get(
      "/",
      { params: { x: Depends(new HTTPBearer()), y: Depends(new HTTPBearer({ autoError: false })) } },
      nothing,
    );
    expect(operation(app, "/").security).toEqual([{ HTTPBearer: [] }]);
  });

  it("has all scopes of an optional scheme that is listed twice", () => {
    const app = new App();
    const asking = (scope: string) => Security(of(oauth2), { scopes: [scope], optional: true });
    app.get("/", { params: { x: asking("one"), y: asking("two") } }, nothing);
    expect(operation(app, "/").security).toEqual([{}, { OAuth2PasswordBearer: ["one", "two"] }]);
  });

  it("has a 401 if it is optional, because malformed credentials are rejected", () => {
    const app = new App();
    app.get("/strict", { params: { user: maybe(of(tokenScheme)) } }, nothing);
    app.get(
      "/lenient",
      { params: { user: Depends(withParams({ user: maybe(of(lenient)) }, async () => 1)) } },
      nothing,
    );
    for (const path of ["/strict", "/lenient"]) expect(operation(app, path).responses).toHaveProperty("401");
  });

  it("has a 401 and its challenge if a scheme rejects requests itself, and a route can add details", () => {
    const app = appWith(apiKey, optional);
    app.get("/more", { dependencies: [Depends(apiKey)], responses: { 401: { description: "Who?" } } }, nothing);
    const unauthorized = operation(app, "/0").responses["401"];
    expect(unauthorized).toMatchObject({
      description: "Unauthorized",
      headers: { "WWW-Authenticate": { schema: { type: "string" } } },
      content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPError" } } },
    });
    expect(operation(app, "/1").responses).not.toHaveProperty("401");
    expect(operation(app, "/more").responses["401"]).toEqual({ ...unauthorized, description: "Who?" });
  });

  it("has a 403 and its challenge if a scheme that verifies its credentials is asked for scopes", () => {
    class Verified extends SecurityScheme<Promise<string>> {
      constructor(options: { autoError?: boolean } = {}) {
        super(options, {
          defaultName: "Verified",
          definition: { type: "http", scheme: "bearer" },
          source: Header(t.Array(t.String()), { alias: "authorization", default: [], includeInSchema: false }),
          parse: (text) => text,
          verify: async (text) => text,
          challenge: "Bearer",
        });
      }
    }
    const scheme = new Verified();
    const around = withParams({ token: Depends(scheme) }, async ({ token }) => token);
    const scopes = ["a"];
    const statusesOf = (...dependencies: readonly ReturnType<typeof Depends>[]) => {
      const app = new App();
      app.get("/", { dependencies }, nothing);
      return Object.keys(operation(app, "/").responses);
    };
    expect(statusesOf(Depends(scheme))).toEqual(["200", "401"]);
    expect(statusesOf(Security(scheme, { scopes }))).toEqual(["200", "401", "403"]);
    expect(statusesOf(Security(around, { scopes }))).toEqual(["200", "401", "403"]);
    expect(statusesOf(Security(new Verified({ autoError: false }), { scopes }))).toEqual(["200", "403"]);
    expect(statusesOf(Security(oauth2, { scopes }))).toEqual(["200", "401"]);
    const app = new App();
    app.get("/", { dependencies: [Security(scheme, { scopes })] }, nothing);
    expect(operation(app, "/").responses["403"]).toMatchObject({
      description: "Forbidden",
      headers: { "WWW-Authenticate": { schema: { type: "string" } } },
      content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPError" } } },
    });
  });

  it("can be a custom scheme, with scopes if its type supports them", async () => {
    class OpenIdConnect extends SecurityScheme<string, true> {
      constructor(openIdConnectUrl: string) {
        super(
          {},
          {
            defaultName: "OpenIdConnect",
            definition: { type: "openIdConnect", openIdConnectUrl },
            source: Header(t.Array(t.String()), { alias: "authorization", default: [], includeInSchema: false }),
            parse: (text) => (text.startsWith("Bearer ") ? text.slice("Bearer ".length) : null),
            challenge: "Bearer",
          },
        );
      }
    }
    const scheme = new OpenIdConnect("https://id.example.com/.well-known/openid-configuration");
    const app = new App();
    app.get("/", { params: { token: Security(scheme, { scopes: ["email"] }) } }, async ({ token }) => token);
    expect(operation(app, "/").security).toEqual([{ OpenIdConnect: ["email"] }]);
    expect(await faultsOf(app.openapi())).toEqual([]);
    await using client = await TestClient.open(app);
    await client.get("/").auth("abc", { type: "bearer" }).expect(200, '"abc"');
    await client.get("/").expect(401).expect("www-authenticate", "Bearer");
  });

  it("does not cause a 422", () => {
    const app = appWith(apiKey, oauth2, new APIKeyQuery({ name: "key" }), new APIKeyCookie({ name: "key" }));
    const statuses = Object.values(app.openapi().paths).map((item) => Object.keys(item.get?.responses ?? {}));
    expect(statuses).toEqual([...Array(4)].map(() => ["200", "401"]));
  });
});

describe("OAuth2PasswordRequestForm", () => {
  it("lists each field once, as it travels", async () => {
    const app = new App();
    app.post("/token", { params: { form: Depends(OAuth2PasswordRequestForm) } }, nothing);
    const { content } = operation(app, "/token", "post").requestBody ?? {};
    const { properties, required } = content?.["application/x-www-form-urlencoded"]?.schema ?? {};
    const names = ["grant_type", "username", "password", "scope", "client_id", "client_secret"];
    expect([Object.keys(properties ?? {}), required]).toEqual([names, ["username", "password"]]);
    expect(properties?.["password"]).toEqual({ type: "string", format: "password" });
    expect(await faultsOf(app.openapi())).toEqual([]);
  });
});
