import { once } from "node:events";
import type { IncomingMessage } from "node:http";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { WebSocket as Client } from "ws";

import { App } from "../../src/app/app.js";
import { ConfigurationError, HTTPException } from "../../src/common/exceptions.js";
import { Depends, DependsMarker, Security } from "../../src/parameters/depends.js";
import { SecurityScopes, withParams } from "../../src/parameters/annotation.js";
import { APIKeyCookie, APIKeyHeader, APIKeyQuery } from "../../src/parameters/security/api-key.js";
import { compareSecrets } from "../../src/parameters/security/credentials.js";
import { HTTPBasic, HTTPBearer } from "../../src/parameters/security/http.js";
import { type SchemeOptions, SecurityScheme } from "../../src/parameters/security/scheme.js";
import { Header } from "../../src/parameters/head.js";
import type { HTTPConnection } from "../../src/http/request.js";
import { t } from "../../src/schema/schema.js";
import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "../../src/parameters/security/oauth2.js";
import { TestClient } from "../../src/platforms/testing/index.js";

const SCHEMES = {
  oauth2: new OAuth2PasswordBearer({ tokenUrl: "/token" }),
  bearer: new HTTPBearer(),
  token: new HTTPBearer({ scheme: "Token" }),
  basic: new HTTPBasic({ realm: 'the "realm"' }),
  header: new APIKeyHeader({ name: "X-API-Key" }),
  query: new APIKeyQuery({ name: "api_key" }),
  cookie: new APIKeyCookie({ name: "session" }),
  oauth2Lenient: new OAuth2PasswordBearer({ tokenUrl: "/token", autoError: false }),
  bearerLenient: new HTTPBearer({ autoError: false }),
  tokenLenient: new HTTPBearer({ scheme: "Token", autoError: false }),
  basicLenient: new HTTPBasic({ autoError: false }),
  headerLenient: new APIKeyHeader({ name: "X-API-Key", autoError: false }),
  queryLenient: new APIKeyQuery({ name: "api_key", autoError: false }),
  cookieLenient: new APIKeyCookie({ name: "session", autoError: false }),
} as const;

type SchemeName = keyof typeof SCHEMES;

const NAMES = Object.keys(SCHEMES) as SchemeName[];

/** A client's request: headers, several of a name as an array, and a query string. */
interface Sent {
  headers?: Record<string, string | string[]>;
  query?: string;
}

const authorization = (...values: string[]): Sent => ({ headers: { authorization: values } });
const basic = (text: string): Sent => authorization(`Basic ${Buffer.from(text).toString("base64")}`);

/** Responds with each scheme's credentials, over HTTP and over a WebSocket. */
function createApp(): App {
  const app = new App();
  for (const name of NAMES) {
    const credentials = new DependsMarker(SCHEMES[name], {}, "Depends");
    app.get(`/${name}`, { params: { credentials } }, async ({ credentials: given }) => ({ given }));
    app.websocket(`/${name}`, { params: { credentials } }, async ({ ws, credentials: given }) => {
      await ws.accept();
      await ws.sendJson({ given });
    });
  }
  return app;
}

/** A status, its challenge, and the body. */
interface Answer {
  status: number;
  challenge: string | undefined;
  body: unknown;
}

let client: TestClient;

beforeAll(async () => {
  client = await TestClient.open(createApp());
});
afterAll(() => client.close());

async function overHTTP(name: SchemeName, { headers = {}, query = "" }: Sent): Promise<Answer> {
  const { request } = await import("node:http");
  const outgoing = request(`${client.url}/${name}${query}`, { headers }).end();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return answerOf(response);
}

async function answerOf(response: IncomingMessage): Promise<Answer> {
  const chunks = await response.setEncoding("utf8").toArray();
  return {
    status: response.statusCode ?? 0,
    challenge: response.headers["www-authenticate"],
    body: JSON.parse(chunks.join("")),
  };
}

async function overWebSocket(name: SchemeName, { headers = {}, query = "" }: Sent): Promise<Answer> {
  // The library's types do not allow a repeated header, but it passes it on to Node.
  const socket = new Client(`${client.url.replace("http", "ws")}/${name}${query}`, {
    headers: headers as Record<string, string>,
  });
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("message", (data: Buffer) =>
      resolve({ status: 200, challenge: undefined, body: JSON.parse(data.toString("utf8")) }),
    );
    socket.on("unexpected-response", (_, response) => void answerOf(response).then(resolve, reject));
  });
}

const TRANSPORTS = [
  ["over HTTP", overHTTP],
  ["over a WebSocket", overWebSocket],
] as const;

describe.each(TRANSPORTS)("%s", (_, send) => {
  it.each<[string, SchemeName, Sent, unknown]>([
    ["OAuth2PasswordBearer gives the token", "oauth2", authorization("Bearer abc.DEF-123_~+/=="), "abc.DEF-123_~+/=="],
    ["the scheme's case does not matter (RFC 9110 §11.1)", "oauth2", authorization("bEARER abc"), "abc"],
    ["several spaces stand before the token (RFC 9110 §11.4)", "oauth2", authorization("Bearer   abc"), "abc"],
    [
      "HTTPBearer gives the scheme besides",
      "bearer",
      authorization("bearer x"),
      { scheme: "bearer", credentials: "x" },
    ],
    [
      "HTTPBearer reads another word in any case",
      "token",
      authorization("tOKEN abc"),
      { scheme: "tOKEN", credentials: "abc" },
    ],
    ["HTTPBasic gives name and password", "basic", basic("ada:secret"), { username: "ada", password: "secret" }],
    ["HTTPBasic splits at the first colon", "basic", basic("ada:a:b:"), { username: "ada", password: "a:b:" }],
    ["HTTPBasic takes an empty password", "basic", basic("ada:"), { username: "ada", password: "" }],
    [
      "HTTPBasic reads UTF-8 (RFC 7617 §2.1)",
      "basic",
      basic("Jörg:пароль🙂"),
      { username: "Jörg", password: "пароль🙂" },
    ],
    ["APIKeyHeader gives the key", "header", { headers: { "x-api-key": "k" } }, "k"],
    ["APIKeyHeader gives a key with commas", "header", { headers: { "x-api-key": "t=1,v1=a, b" } }, "t=1,v1=a, b"],
    ["APIKeyQuery gives the key", "query", { query: "?other=1&api_key=k%20k" }, "k k"],
    ["APIKeyCookie gives the key", "cookie", { headers: { cookie: "a=b; session=k" } }, "k"],
  ])("%s", async (_title, name, sent, given) => {
    expect(await send(name, sent)).toEqual({ status: 200, challenge: undefined, body: { given } });
  });

  const BASIC = 'Basic realm="the \\"realm\\"", charset="UTF-8"';

  it.each<[string, SchemeName, Sent, string]>([
    ["OAuth2PasswordBearer without a header", "oauth2", {}, "Bearer"],
    ["an empty header", "oauth2", authorization(""), "Bearer"],
    ["the scheme alone", "oauth2", authorization("Bearer"), "Bearer"],
    ["the scheme and a space", "oauth2", authorization("Bearer "), "Bearer"],
    ["another scheme", "oauth2", authorization("Basic YTpi"), "Bearer"],
    ["a longer scheme", "oauth2", authorization("Bearers abc"), "Bearer"],
    ["a token with a space in it", "oauth2", authorization("Bearer a b"), "Bearer"],
    ["two tokens in one header", "oauth2", authorization("Bearer a, Bearer b"), "Bearer"],
    [
      "two headers, of which a proxy may have seen the other",
      "oauth2",
      authorization("Bearer a", "Bearer b"),
      "Bearer",
    ],
    ["a token in the query (RFC 6750 §2.3)", "oauth2", { query: "?access_token=a" }, "Bearer"],
    ["HTTPBearer without a header", "bearer", {}, "Bearer"],
    ["HTTPBearer of another word without a header", "token", {}, "Token"],
    ["HTTPBearer of another word with the usual one", "token", authorization("Bearer abc"), "Token"],
    ["HTTPBasic without a header", "basic", {}, BASIC],
    ["HTTPBasic without a colon", "basic", basic("ada"), BASIC],
    ["what is no base64", "basic", authorization("Basic *"), BASIC],
    ["base64 with a character left out", "basic", authorization("Basic YTpiYw"), BASIC],
    ["a control character (RFC 7617 §2)", "basic", basic("ada\n:secret"), BASIC],
    ["APIKeyHeader without the header", "header", {}, "APIKey"],
    ["an empty key", "header", { headers: { "x-api-key": "" } }, "APIKey"],
    ["a key that comes twice", "header", { headers: { "x-api-key": ["a", "b"] } }, "APIKey"],
    ["APIKeyQuery without the parameter", "query", {}, "APIKey"],
    ["a parameter that comes twice", "query", { query: "?api_key=a&api_key=b" }, "APIKey"],
    ["APIKeyCookie without the cookie", "cookie", { headers: { cookie: "other=1" } }, "APIKey"],
    [
      "a cookie that another host has put beside it",
      "cookie",
      { headers: { cookie: "session=a; session=b" } },
      "APIKey",
    ],
    [
      "a cookie that comes twice with one value",
      "cookie",
      { headers: { cookie: "session=a; b=c; session=a" } },
      "APIKey",
    ],
  ])("%s: 401 with a challenge, or null if autoError is false", async (_title, name, sent, challenge) => {
    expect(await send(name, sent)).toEqual({ status: 401, challenge, body: { detail: "Not authenticated" } });
    expect(await send(`${name}Lenient` as SchemeName, sent)).toMatchObject({ status: 200, body: { given: null } });
  });
});

describe("a security scheme", () => {
  it("is a function that is an instance of its class, under its own name", () => {
    const scheme = new OAuth2PasswordBearer({ tokenUrl: "/token", schemeName: "login" });
    expect(typeof scheme).toBe("function");
    expect(scheme).toBeInstanceOf(OAuth2PasswordBearer);
    expect([scheme.name, new HTTPBasic().name]).toEqual(["login", "HTTPBasic"]);
  });

  it("has the type of its credentials, with null if autoError is false", async () => {
    const app = new App();
    app.get("/", { params: { a: Depends(SCHEMES.oauth2), b: Depends(SCHEMES.basicLenient) } }, async ({ a, b }) => {
      const token: string = a;
      // @ts-expect-error -- there may be none
      const name: string = b.username;
      return { token, name };
    });
    expect(app.routes).toHaveLength(1);
  });

  describe("with a function as autoError", () => {
    const autoError = (connection: HTTPConnection) =>
      new HTTPException(connection.header("x-hidden") === undefined ? 403 : 404, `No access to ${connection.path}`);

    it("rejects requests and WebSockets with its error, so that the credentials of a handler are never null", async () => {
      const app = new App();
      const bearer = new HTTPBearer({ autoError, bearerFormat: "JWT" });
      app.get("/", { params: { token: Depends(bearer) } }, async ({ token }) => token.credentials.toUpperCase());
      app.get("/open", { params: { token: Depends(bearer, { optional: true }) } }, async ({ token }) => token);
      app.websocket("/ws", { params: { token: Depends(bearer) } }, async ({ ws }) => ws.accept());
      await using own = await TestClient.open(app);
      await own.get("/").expect(403, { detail: "No access to /" });
      await own.get("/").set("X-Hidden", "1").expect(404);
      await own.get("/").set("Authorization", "Bearer a").expect(200, '"A"');
      await own.get("/open").expect(200, "null");
      await own.get("/open").set("Authorization", "Bearer").expect(403, { detail: "No access to /open" });
      await expect(own.websocket("/ws")).rejects.toMatchObject({ statusCode: 403 });
      expect(app.openapi().paths["/"]?.get?.security).toEqual([{ HTTPBearer: [] }]);
    });

    it.each<[string, SecurityScheme]>([
      ["OAuth2PasswordBearer", new OAuth2PasswordBearer({ tokenUrl: "/token", autoError })],
      ["HTTPBasic", new HTTPBasic({ autoError })],
      ["APIKeyHeader", new APIKeyHeader({ name: "X-API-Key", autoError })],
      ["APIKeyQuery", new APIKeyQuery({ name: "key", autoError })],
      ["APIKeyCookie", new APIKeyCookie({ name: "key", autoError })],
    ])("is %s", async (_name, scheme) => {
      const app = new App({ dependencies: [Depends(scheme)] });
      app.get("/", async () => null);
      await using own = await TestClient.open(app);
      await own.get("/").expect(403, { detail: "No access to /" });
      expect(scheme.autoError).toBe(true);
    });

    it("cannot be another value", () => {
      expect(() => new HTTPBasic({ autoError: "no" as never })).toThrow(/true, false or a function/);
    });
  });

  it("can be overridden as every dependency can", async () => {
    const app = createApp();
    app.dependencyOverrides.set(SCHEMES.oauth2, async () => "a token of the test's");
    await using own = await TestClient.open(app);
    await own.get("/oauth2").expect(200, { given: "a token of the test's" });
  });

  it("verifies its credentials if it has verify, with the scopes of Security", async () => {
    class Ticket<AutoError extends boolean = true> extends SecurityScheme<Promise<string>, AutoError> {
      constructor(options: SchemeOptions<AutoError> = {}) {
        super(options, {
          defaultName: "Ticket",
          definition: { type: "http", scheme: "ticket" },
          source: Header(t.Array(t.String()), { alias: "authorization", default: [], includeInSchema: false }),
          parse: (text) => /^ticket (.+)$/i.exec(text)?.[1] ?? null,
          challenge: "Ticket",
          verify: async (ticket, { scopeString }) => {
            if (ticket === "away") throw new HTTPException(503);
            if (ticket !== "valid") throw new HTTPException(401, "Invalid ticket");
            return `valid for ${scopeString}`;
          },
        });
      }
    }
    const app = new App();
    const scopes = ["a", "b"];
    app.get("/", { params: { ticket: Security(new Ticket(), { scopes }) } }, async ({ ticket }) => ticket);
    const lenient = new Ticket({ autoError: false });
    app.get("/lenient", { params: { ticket: Depends(lenient) } }, async ({ ticket }) => ticket);
    app.get("/open", { params: { ticket: Depends(new Ticket(), { optional: true }) } }, async ({ ticket }) => ticket);
    await using own = await TestClient.open(app);
    const get = (path: string, ticket: string) => own.get(path).set("Authorization", `Ticket ${ticket}`);
    await get("/", "valid").expect(200, '"valid for a b"');
    await get("/", "forged").expect(401, { detail: "Invalid ticket" });
    await own.get("/").expect(401, { detail: "Not authenticated" }).expect("WWW-Authenticate", "Ticket");
    await get("/lenient", "forged").expect(200, "null");
    await get("/lenient", "away").expect(503);
    await own.get("/lenient").expect(200, "null");
    await own.get("/open").expect(200, "null");
    await get("/open", "forged").expect(401, { detail: "Invalid ticket" });
    await own.get("/open").set("Authorization", "Ticket").expect(401, { detail: "Not authenticated" });
  });

  it("guards a router without a parameter", async () => {
    const app = new App({ dependencies: [Depends(SCHEMES.header)] });
    app.get("/", async () => ({}));
    await using own = await TestClient.open(app);
    await own.get("/").expect(401);
    await own.get("/").set("X-API-Key", "k").expect(200);
  });

  it("leaves the scopes of Security to the dependency that checks them", async () => {
    const check = withParams(
      { token: Depends(SCHEMES.oauth2), asked: SecurityScopes },
      async ({ token, asked }) => `${token} for ${asked.scopeString}`,
    );
    const app = new App();
    app.get("/", { params: { checked: Security(check, { scopes: ["items:read"] }) } }, async ({ checked }) => checked);
    await using own = await TestClient.open(app);
    await own.get("/").auth("abc", { type: "bearer" }).expect(200, '"abc for items:read"');
  });

  it.each<[string, () => unknown, RegExp]>([
    // @ts-expect-error -- what JavaScript lets through
    ["no tokenUrl", () => new OAuth2PasswordBearer({}), /tokenUrl: "\/auth\/token"/],
    ["a scheme of two words", () => new HTTPBearer({ scheme: "My Token" }), /a scheme is one word/],
    ["a realm that ends the header", () => new HTTPBasic({ realm: "a\r\nSet-Cookie: b=c" }), /printable ASCII/],
    ["no name", () => new APIKeyQuery({ name: "" }), /new APIKeyQuery\(\{ name: "api_key" \}\)/],
    ["a header's name with a space", () => new APIKeyHeader({ name: "X Key" }), /the name of a header/],
    ["a cookie's name with an equals sign", () => new APIKeyCookie({ name: "a=b" }), /the name of a cookie/],
  ])("with %s is a ConfigurationError", (_, create, message) => {
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });
});

describe("OAuth2PasswordRequestForm", () => {
  const app = new App();
  app.post("/token", { params: { form: Depends(OAuth2PasswordRequestForm) } }, async ({ form }) => form);
  const faults = (body: { detail: { type: string; loc: string[] }[] }) =>
    body.detail.map(({ type, loc }) => [type, ...loc]);
  let own: TestClient;
  beforeAll(async () => {
    own = await TestClient.open(app);
  });
  afterAll(() => own.close());

  it("returns the fields, and an array of the scopes", async () => {
    const sent = "grant_type=password&username=ada&password=s+p&scope=read+write++read&client_id=i&client_secret=s";
    await own
      .post("/token")
      .send(sent)
      .expect(200, {
        grant_type: "password",
        username: "ada",
        password: "s p",
        scopes: ["read", "write"],
        client_id: "i",
        client_secret: "s",
      });
  });

  it("requires only name and password", async () => {
    const alone = { grant_type: "password", username: "ada", password: "s", scopes: [] };
    await own.post("/token").send("username=ada&password=s").expect(200, alone);
  });

  it.each([
    ["username=ada", [["missing", "form", "password"]]],
    ["username=ada&password=s&grant_type=refresh_token", [["literal_error", "form", "grant_type"]]],
    ["username=ada&password=s&username=eve", [["too_long", "form", "username"]]],
    ["username=ada&password=s&password=t", [["too_long", "form", "password"]]],
    ["username=ada&password=s&scope=a&scope=b", [["too_long", "form", "scope"]]],
  ])("%s is a 422", async (sent, expected) => {
    const { body } = await own.post("/token").send(sent).expect(422);
    expect(faults(body)).toEqual(expected);
    expect(JSON.stringify(body)).not.toContain('"t"');
  });
});

describe("compareSecrets", () => {
  it.each([
    ["secret", "secret", true],
    ["пароль", "пароль", true],
    ["secret", "secreT", false],
    ["secret", "secret1", false],
    ["secret1", "secret", false],
    ["", "secret", false],
    ["", "", false],
  ])("%j against %j is %j", (given, expected, result) => {
    expect(compareSecrets(given, expected)).toBe(result);
  });
});
