import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, Router } from "../../src/index.js";
import { csrf, type CSRFOptions, trustedHost } from "../../src/middleware/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const TRUSTED = "https://admin.example:8443";
const UNSAFE = ["POST", "PUT", "PATCH", "DELETE"] as const;

function create(options?: CSRFOptions) {
  const app = new App({ logger: new KeptLog(), middleware: [csrf(options)] });
  app.route("/", { methods: [...UNSAFE, "GET", "OPTIONS"] }, async () => "done");
  return app;
}

/** Undefined headers are not sent. */
const headersOf = (given: Readonly<Record<string, string | undefined>>) =>
  Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));

type Row = [site: string | undefined, origin: string | undefined, host: string, passes: boolean, why: string];

/** Requests without a cookie and with one have the same result, unless neither `Sec-Fetch-Site` nor `Origin` is sent. */
const rows: Row[] = [
  ["same-origin", undefined, "shop.example", true, "a page of the same origin"],
  ["same-origin", "https://shop.example", "shop.example", true, "a page of the same origin, with Origin"],
  ["same-origin", "null", "shop.example", true, "Referrer-Policy: no-referrer sends null to the same origin"],
  ["same-origin", "https://evil.example", "shop.example", true, "the browser compares, not a proxy that changes Host"],
  ["none", undefined, "shop.example", true, "the address bar or a bookmark"],
  ["none", "null", "shop.example", true, "a user's own action"],
  ["same-site", undefined, "shop.example", false, "a sibling host, which SameSite allows"],
  ["same-site", "https://blog.shop.example", "shop.example", false, "a sibling host"],
  ["same-site", "https://shop.example", "shop.example", false, "the browser's word, not the origin"],
  ["same-site", TRUSTED, "shop.example", true, "a sibling host in the list"],
  ["cross-site", undefined, "shop.example", false, "another site"],
  ["cross-site", "https://evil.example", "shop.example", false, "another site"],
  ["cross-site", "https://shop.example", "shop.example", false, "another site with a forged origin"],
  ["cross-site", "null", "shop.example", false, "a sandboxed frame"],
  ["cross-site", TRUSTED, "shop.example", true, "another site in the list"],
  ["cross-site", `${TRUSTED}.evil.example`, "shop.example", false, "a name that begins with a trusted one"],
  ["cross-site", "https://admin.example", "shop.example", false, "a trusted name on another port"],
  ["cross-site", "http://admin.example:8443", "shop.example", false, "a trusted name with another scheme"],
  ["cross-site", "HTTPS://ADMIN.EXAMPLE:8443", "shop.example", false, "no browser sends upper case"],
  ["cross-site", `${TRUSTED}/`, "shop.example", false, "no browser sends a path"],
  ["", undefined, "shop.example", false, "an empty Sec-Fetch-Site"],
  ["", "https://shop.example", "shop.example", false, "an empty Sec-Fetch-Site"],
  ["Same-Origin", undefined, "shop.example", false, "a token is case-sensitive (RFC 9651 §3.3.4)"],
  ["same-origin, cross-site", undefined, "shop.example", false, "a list"],
  ["future-site", undefined, "shop.example", false, "an unknown value"],
  [undefined, "https://shop.example", "shop.example", true, "the same host, https"],
  [undefined, "http://shop.example", "shop.example", true, "the same host, http"],
  [undefined, "https://shop.example", "SHOP.example", true, "a host has no case"],
  [undefined, "https://SHOP.example", "shop.example", true, "a host has no case"],
  [undefined, "https://shop.example", "shop.example:443", true, "the default port, written"],
  [undefined, "https://shop.example:443", "shop.example", true, "the default port, written"],
  [undefined, "http://shop.example", "shop.example:80", true, "the default port, written"],
  [undefined, "http://127.0.0.1:8000", "127.0.0.1:8000", true, "an address and a port"],
  [undefined, "http://[::1]:8000", "[0:0:0:0:0:0:0:1]:8000", true, "two spellings of one IPv6 address"],
  [undefined, "https://shop.example", "shop.example:80", false, "another port"],
  [undefined, "https://shop.example:8443", "shop.example", false, "another port"],
  [undefined, "http://127.0.0.1:8001", "127.0.0.1:8000", false, "another port of this machine"],
  [undefined, "https://evil.example", "shop.example", false, "another host"],
  [undefined, "https://blog.shop.example", "shop.example", false, "a host below"],
  [undefined, "https://shop.example.evil.example", "shop.example", false, "a host that begins with ours"],
  [undefined, "https://evilshop.example", "shop.example", false, "a host that ends with ours"],
  [undefined, "https://shop.example@evil.example", "shop.example", false, "a user name"],
  [undefined, "https://evil.example/shop.example", "shop.example", false, "a path"],
  [undefined, "https://shop.example/", "shop.example", false, "a path, which no browser sends"],
  [undefined, "https://shop.example\\.evil.example", "shop.example", false, "a backslash"],
  [undefined, "https:shop.example", "shop.example", false, "no authority"],
  [undefined, "shop.example", "shop.example", false, "no scheme"],
  [undefined, "ftp://shop.example", "shop.example", false, "a scheme that is not of the web"],
  [undefined, "chrome-extension://shop.example", "shop.example", false, "an extension with our name"],
  [undefined, "file://", "shop.example", false, "a file"],
  [undefined, "null", "shop.example", false, "a sandboxed frame, a redirect, a file"],
  [undefined, "", "shop.example", false, "an empty Origin"],
  [undefined, "https://shop.example https://evil.example", "shop.example", false, "a list (RFC 6454 §7.1)"],
  [undefined, `https://${"a".repeat(4000)}`, "shop.example", false, "an origin of 4 KB"],
  [undefined, "https://1.2.3.4.5", "1.2.3.4.5", true, "a name that URL does not parse"],
  [undefined, TRUSTED, "shop.example", true, "another host in the list"],
];

describeMatrix("csrf", ({ call, keeps }) => {
  const app = create({ trustedOrigins: [TRUSTED] });

  it.each(rows)("Sec-Fetch-Site %j, Origin %j, Host %j: passes %j (%s)", async (site, origin, host, passes) => {
    for (const cookie of [undefined, "session=1"]) {
      const headers = headersOf({ host, "sec-fetch-site": site, origin, cookie });
      const { status, json } = await call(app, "POST", "/", { headers });
      expect({ status, json }).toEqual(
        passes ? { status: 200, json: "done" } : { status: 403, json: { detail: "Cross-site request refused" } },
      );
    }
  });

  it.each<[cookie: string | undefined, passes: boolean]>([
    [undefined, true],
    ["session=1", false],
    ["other=1; x=2", false],
    ["x", false],
  ])("without both headers and with the cookie %j passes: %j", async (cookie, passes) => {
    const headers = headersOf({ host: "shop.example", cookie });
    expect((await call(app, "POST", "/", { headers })).status).toBe(passes ? 200 : 403);
  });

  it("accepts a program's cookie with allowPrograms, and still rejects a browser's other site", async () => {
    const lenient = create({ allowPrograms: true });
    const program = headersOf({ host: "shop.example", cookie: "session=1" });
    expect((await call(lenient, "POST", "/", { headers: program })).status).toBe(200);
    for (const browser of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }]) {
      const headers = headersOf({ host: "shop.example", cookie: "session=1", ...browser });
      expect((await call(lenient, "POST", "/", { headers })).status).toBe(403);
    }
  });

  it.each(UNSAFE)("checks %s", async (method) => {
    const headers = headersOf({ host: "shop.example", "sec-fetch-site": "cross-site" });
    expect((await call(app, method, "/", { headers })).status).toBe(403);
  });

  it("rejects a method that the application does not know before it is routed", async () => {
    const headers = headersOf({ host: "shop.example", "sec-fetch-site": "cross-site" });
    expect((await call(app, "PROPFIND", "/nowhere", { headers })).status).toBe(403);
  });

  it.each(["GET", "HEAD", "OPTIONS"])("lets the safe method %s pass", async (method) => {
    const headers = headersOf({ host: "shop.example", "sec-fetch-site": "cross-site", cookie: "session=1" });
    expect((await call(app, method, "/", { headers })).status).toBe(200);
  });

  if (keeps.headerLines) {
    it.each<[string, (readonly [string, string])[]]>([
      ["Sec-Fetch-Site", [["sec-fetch-site", "cross-site"], ["sec-fetch-site", "same-origin"]]], // prettier-ignore
      ["Sec-Fetch-Site of one value", [["sec-fetch-site", "none"], ["sec-fetch-site", "none"]]], // prettier-ignore
      ["Origin", [["origin", "https://evil.example"], ["origin", "https://shop.example"]]], // prettier-ignore
      ["Origin in the list", [["origin", TRUSTED], ["origin", "https://evil.example"]]], // prettier-ignore
    ])("rejects two lines of %s", async (_, lines) => {
      const headers = [["host", "shop.example"] as const, ...lines];
      expect((await call(app, "POST", "/", { headers })).status).toBe(403);
    });
  }
});

describe("csrf", () => {
  it.each([
    ["no Host", []],
    ["two Hosts", [["host", "shop.example"] as const, ["host", "evil.example"] as const]],
    ["an invalid Host", [["host", "shop example"] as const]],
  ])("rejects an Origin for a request with %s", async (_, hosts) => {
    const headers = [...hosts, ["origin", "https://shop.example"] as const];
    expect((await callInMemory(create(), "POST", "/", { headers })).status).toBe(403);
  });

  it("does not depend on the scheme that a proxy hides", async () => {
    const headers = headersOf({ host: "shop.example", origin: "https://shop.example" });
    expect((await callInMemory(create(), "POST", "/", { headers })).status).toBe(200);
  });

  it("protects the routes of the router that has it", async () => {
    const app = new App();
    const forms = new Router({ middleware: [csrf()] });
    forms.post("/form", async () => "changed");
    app.includeRouter(forms);
    app.post("/api", async () => "changed");
    const headers = headersOf({ host: "shop.example", "sec-fetch-site": "cross-site" });
    expect((await callInMemory(app, "POST", "/form", { headers })).status).toBe(403);
    expect((await callInMemory(app, "POST", "/api", { headers })).status).toBe(200);
  });

  it("is in the OpenAPI document for the methods that it checks", () => {
    const app = new App();
    app.get("/", async () => null);
    app.post("/", async () => null);
    app.put("/", { responses: { 403: { description: "Not yours" } } }, async () => null);
    app.addMiddleware(trustedHost({ allowedHosts: ["*"] }));
    app.addMiddleware(csrf());
    const { get, post, put } = app.openapi().paths["/"] ?? {};
    expect(get?.responses).not.toHaveProperty("403");
    expect(post?.responses["403"]).toEqual({
      description: "Cross-site request refused",
      content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPError" } } },
    });
    expect(put?.responses["403"]).toMatchObject({ description: "Not yours" });
  });

  it.each<[string, unknown, RegExp]>([
    ["a misspelt option", { trustedOrigin: [] }, /no option "trustedOrigin".*"trustedOrigins"/s],
    ["text", { trustedOrigins: "https://admin.example" }, /trustedOrigins should be a list/],
    ["null", { trustedOrigins: ["null"] }, /every page can have the origin "null"/],
    ["a host", { trustedOrigins: ["admin.example"] }, /"admin\.example" in trustedOrigins is not an origin/],
    ["a slash", { trustedOrigins: ["https://admin.example/"] }, /is not an origin that a browser sends/],
    ["a default port", { trustedOrigins: ["https://admin.example:443"] }, /is not an origin/],
    ["upper case", { trustedOrigins: ["https://Admin.example"] }, /is not an origin/],
    ["a wildcard", { trustedOrigins: ["https://*.example"] }, /is not an origin/],
    ["an expression", { trustedOrigins: [/admin/] }, /is not an origin/],
  ])("throws for %s", (_, options, message) => {
    const make = () => csrf(options as CSRFOptions);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });

  it("accepts an origin of an app or an extension", async () => {
    const app = create({ trustedOrigins: ["capacitor://localhost"] });
    const headers = headersOf({ host: "shop.example", origin: "capacitor://localhost" });
    expect((await callInMemory(app, "POST", "/", { headers })).status).toBe(200);
  });
});
