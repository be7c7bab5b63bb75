import { expect, it } from "@jest/globals";
import { App, ConfigurationError, HTTPException, PlainTextResponse, t } from "../../src/index.js";
import { cors, type CORSOptions } from "../../src/middleware/index.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const PAGE = "https://example.com";
const STRANGER = "https://evil.example";

function create(options: CORSOptions): App {
  const app = new App({ logger: new KeptLog(), middleware: [cors(options)] });
  app.get("/items", async () => ["a"]);
  app.post("/items", { params: { item: t.Object({ name: t.String() }) } }, async ({ item }) => item);
  app.options("/own", async () => "own");
  app.get("/forbidden", async () => {
    throw new HTTPException(403);
  });
  app.get("/broken", async () => {
    throw new Error("broken");
  });
  app.get("/varying", async () => new PlainTextResponse("x", { headers: { vary: "Accept, origin" } }));
  app.get("/everything", async () => new PlainTextResponse("x", { headers: { vary: "*" } }));
  return app;
}

/** The preflight of a browser before a request that is not simple. */
const preflight = (origin: string, method: string, headers?: string) => ({
  headers: [
    ["origin", origin],
    ["access-control-request-method", method],
    ...(headers === undefined ? [] : [["access-control-request-headers", headers]]),
  ] as [string, string][],
});

const from = (origin: string) => ({ headers: [["origin", origin]] as [string, string][] });

describeMatrix("cors", ({ call }) => {
  it("allows listed origins to read, sets their names, and adds Vary: Origin", async () => {
    const app = create({ allowOrigins: [PAGE], allowCredentials: true, exposeHeaders: ["X-Total"] });
    const { status, headers } = await call(app, "GET", "/items", from(PAGE));
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      "access-control-allow-origin": PAGE,
      "access-control-allow-credentials": "true",
      "access-control-expose-headers": "X-Total",
      vary: "Origin",
    });
  });

  it.each([
    ["another origin", STRANGER],
    ["an origin that begins like one of the list", `${PAGE}.evil.example`],
    ["the same host over http", "http://example.com"],
    ["the same host on another port", `${PAGE}:8443`],
    ["an opaque origin", "null"],
    ["an origin in upper case, as no browser writes it", "https://EXAMPLE.com"],
  ])("does not allow %s to read the response", async (_, origin) => {
    const app = create({ allowOrigins: [PAGE], allowCredentials: true });
    const { status, headers } = await call(app, "GET", "/items", from(origin));
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(headers["vary"]).toBe("Origin");
  });

  it("sends Vary without an Origin too, since a cache sends that response to requests with one", async () => {
    expect((await call(create({ allowOrigins: [PAGE] }), "GET", "/items")).headers["vary"]).toBe("Origin");
    const { headers } = await call(create({ allowOrigins: "*" }), "GET", "/items");
    expect(headers).toMatchObject({ "access-control-allow-origin": "*" });
    expect(headers).not.toHaveProperty("vary");
  });

  it("ignores two Origins", async () => {
    const app = create({ allowOrigins: [PAGE] });
    const { headers } = await call(app, "GET", "/items", {
      headers: [
        ["origin", PAGE],
        ["origin", STRANGER],
      ],
    });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });

  it.each([
    ["GET", "/forbidden", 403],
    ["GET", "/broken", 500],
    ["GET", "/none", 404],
    ["DELETE", "/items", 405],
    ["POST", "/items", 422],
  ])("adds its headers to error responses as well: %s %s, %i", async (method, path, status) => {
    const answer = await call(create({ allowOrigins: [PAGE] }), method, path, from(PAGE));
    expect(answer).toMatchObject({ status, headers: { "access-control-allow-origin": PAGE, vary: "Origin" } });
  });

  it.each([
    ["/varying", "Accept, origin"],
    ["/everything", "*"],
  ])("adds to the Vary of the application only missing names: %s", async (path, vary) => {
    expect((await call(create({ allowOrigins: [PAGE] }), "GET", path, from(PAGE))).headers["vary"]).toBe(vary);
  });

  it.each<[string, CORSOptions["allowOrigins"], boolean, string]>([
    ["one as text", PAGE, true, PAGE],
    ["any, in a list", ["*"], true, STRANGER],
    ["an expression", /https:\/\/[a-z]+\.example\.com/, true, "https://app.example.com"],
    ["an expression that would match a part", /https:\/\/example\.com/, false, "https://example.com.evil.example"],
    ["an expression with an alternative", /https:\/\/a\.com|https:\/\/b\.com/, false, "https://a.com.evil.example"],
    ["an expression that remembers where it was", /https:\/\/example\.com/g, true, PAGE],
    ["an expression, and no origin of any length", /https:\/\/[a-z]+\.com/, false, `https://${"a".repeat(300)}.com`],
    ["a function, and no origin of any length", () => true, false, `https://${"a".repeat(300)}.com`],
    ["an expression beside a text", [PAGE, /https:\/\/b\.com/], true, "https://b.com"],
    ["a function", (origin) => origin.endsWith(".example"), true, STRANGER],
    ["a function that takes its time", async () => false, false, PAGE],
    ["a scheme of an application", ["capacitor://localhost"], true, "capacitor://localhost"],
  ])("takes %s for allowOrigins", async (_, allowOrigins, isAllowed, origin) => {
    const app = create({ allowOrigins });
    for (let time = 0; time < 2; time++) {
      const { headers } = await call(app, "GET", "/items", from(origin));
      expect("access-control-allow-origin" in headers).toBe(isAllowed);
    }
  });

  it("responds to a preflight with 204 and the allowed values, without calling the application", async () => {
    const app = create({ allowOrigins: [PAGE], allowHeaders: ["X-Token"], allowCredentials: true, maxAge: 60 });
    const { status, text, headers } = await call(
      app,
      "OPTIONS",
      "/items",
      preflight(PAGE, "PUT", "x-token, content-type"),
    );
    expect({ status, text }).toEqual({ status: 204, text: "" });
    expect(headers).toEqual({
      "access-control-allow-origin": PAGE,
      "access-control-allow-methods": "GET, HEAD, PUT, PATCH, POST, DELETE",
      "access-control-allow-headers": "Accept, Accept-Language, Content-Language, Content-Type, X-Token",
      "access-control-allow-credentials": "true",
      "access-control-max-age": "60",
      vary:
        "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, " +
        "Access-Control-Request-Private-Network",
    });
  });

  it.each([
    ["origin", preflight(STRANGER, "PUT"), "origin"],
    ["method", preflight(PAGE, "PURGE"), "method"],
    ["header", preflight(PAGE, "PUT", "x-other"), "headers"],
    ["three", preflight(STRANGER, "PURGE", "x-other"), "origin, method, headers"],
  ])("rejects a preflight with 400 and the reason: %s", async (_, sent, parts) => {
    const app = create({ allowOrigins: [PAGE] });
    const { status, json, headers } = await call(app, "OPTIONS", "/items", sent);
    expect({ status, json }).toEqual({ status: 400, json: { detail: `Disallowed CORS ${parts}` } });
    expect(headers["access-control-allow-origin"]).toBe(parts.includes("origin") ? undefined : PAGE);
    expect(headers["vary"]).toMatch(/^Origin, /);
  });

  it("repeats the requested values if all are allowed, and never sends * with credentials", async () => {
    const app = create({ allowOrigins: [PAGE], allowMethods: "*", allowHeaders: "*", allowCredentials: true });
    const { headers } = await call(app, "OPTIONS", "/items", preflight(PAGE, "PURGE", "x-one,X-Two"));
    expect(headers).toMatchObject({
      "access-control-allow-methods": "PURGE",
      "access-control-allow-headers": "x-one, X-Two",
    });
    expect(Object.values(headers)).not.toContain("*");
  });

  it("allows the methods that a page can send without asking, listed or not", async () => {
    const app = create({ allowOrigins: [PAGE], allowMethods: ["put"] });
    const { status, headers } = await call(app, "OPTIONS", "/items", preflight(PAGE, "POST"));
    expect({ status, methods: headers["access-control-allow-methods"] }).toEqual({ status: 204, methods: "PUT" });
    expect((await call(app, "OPTIONS", "/items", preflight(PAGE, "DELETE"))).status).toBe(400);
  });

  it("does not repeat an invalid name", async () => {
    const app = create({ allowOrigins: "*", allowMethods: "*", allowHeaders: "*" });
    const { status, json } = await call(app, "OPTIONS", "/items", preflight(PAGE, "P(U)T", "x-a b"));
    expect({ status, json }).toEqual({ status: 400, json: { detail: "Disallowed CORS method, headers" } });
  });

  it("lets pages of public addresses into a private network only by option", async () => {
    const { headers: asked } = preflight(PAGE, "GET");
    const sent = { headers: [...asked, ["access-control-request-private-network", "true"]] as [string, string][] };
    const without = await call(create({ allowOrigins: [PAGE] }), "OPTIONS", "/items", sent);
    expect(without.headers).not.toHaveProperty("access-control-allow-private-network");
    const within = await call(create({ allowOrigins: [PAGE], allowPrivateNetwork: true }), "OPTIONS", "/items", sent);
    expect(within.headers).toMatchObject({ "access-control-allow-private-network": "true" });
  });

  it("passes an OPTIONS request that is not a preflight to the application", async () => {
    const answer = await call(create({ allowOrigins: [PAGE] }), "OPTIONS", "/own", from(PAGE));
    expect(answer).toMatchObject({ status: 200, json: "own", headers: { "access-control-allow-origin": PAGE } });
  });
});

it("adds no headers to responses of the server itself, which precede all middleware", async () => {
  await using client = await TestClient.open(create({ allowOrigins: [PAGE] }));
  const allowedOf = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(client.url + path, { headers: { origin: PAGE, ...headers } });
    await response.text();
    return [response.status, response.headers.get("access-control-allow-origin")];
  };
  expect(await allowedOf("/missing")).toEqual([404, PAGE]);
  expect(await allowedOf("/%ff")).toEqual([400, PAGE]);
  expect(await allowedOf("/%g1")).toEqual([400, null]);
  expect(await allowedOf("/", { "x-large": "x".repeat(100_000) })).toEqual([431, null]);
});

it.each<[string, unknown, RegExp]>([
  ["no origins", {}, /needs allowOrigins/],
  ["no options", undefined, /takes an object with the options allowOrigins/],
  ["an unknown option", { origins: ["*"] }, /has no option "origins".*allowOrigins/],
  ["every page with credentials", { allowOrigins: "*", allowCredentials: true }, /every page on the web/],
  ["every page in a list with credentials", { allowOrigins: ["*"], allowCredentials: true }, /every page on the web/],
  ["a star beside origins", { allowOrigins: ["*", PAGE] }, /pointless/],
  ["the opaque origin", { allowOrigins: ["null"] }, /sandboxed frame/],
  ["a path", { allowOrigins: [`${PAGE}/`] }, /is not an origin that browsers send/],
  ["the default port", { allowOrigins: [`${PAGE}:443`] }, /is not an origin that browsers send/],
  ["upper case", { allowOrigins: ["https://Example.com"] }, /is not an origin that browsers send/],
  ["no scheme", { allowOrigins: ["example.com"] }, /is not an origin that browsers send/],
  ["a wildcard", { allowOrigins: ["https://*.example.com"] }, /expression/],
  ["something else", { allowOrigins: [7] }, /is not an origin that browsers send/],
  ["a header that is none", { allowOrigins: "*", allowHeaders: ["X A"] }, /allowHeaders should be a list of names/],
  ["a text where a list is wanted", { allowOrigins: "*", allowMethods: "GET, PUT" }, /allowMethods should be a list/],
  ["a line break", { allowOrigins: "*", exposeHeaders: ["X\r\nSet-Cookie: a"] }, /exposeHeaders should be a list/],
  [
    "a star beside credentials",
    { allowOrigins: [PAGE], allowCredentials: true, exposeHeaders: "*" },
    /List the headers/,
  ],
  ["a star beside headers", { allowOrigins: "*", allowHeaders: ["Authorization", "*"] }, /allowHeaders: "\*"/],
  ["a star beside methods", { allowOrigins: "*", allowMethods: ["*", "PUT"] }, /allowMethods: "\*"/],
  ["a star beside exposed headers", { allowOrigins: "*", exposeHeaders: ["*", "X-A"] }, /exposeHeaders: "\*"/],
  ["an age that is none", { allowOrigins: "*", maxAge: 1.5 }, /maxAge should be a whole number/],
])("cors rejects %s when it is created", (_, options, message) => {
  const make = () => cors(options as CORSOptions);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});
