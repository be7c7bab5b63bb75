import { describe, expect, it } from "@jest/globals";
import type { Address, ASGIApp, HTTPScope, SendMessage } from "../../src/protocol/asgi.js";
import { App, ConfigurationError } from "../../src/index.js";
import { httpsRedirect, type HTTPSRedirectOptions } from "../../src/middleware/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

function create(options?: HTTPSRedirectOptions): App {
  const app = new App({ logger: new KeptLog(), middleware: [httpsRedirect(options)] });
  app.get("/", async () => "served");
  return app;
}

const host = (value: string) => ({ headers: [["host", value]] as const });

describeMatrix("httpsRedirect", ({ call }) => {
  it.each([
    ["/", "example.com", "https://example.com/"],
    ["/a/b?x=1&y=%20z", "example.com", "https://example.com/a/b?x=1&y=%20z"],
    ["/a%2Fb//c/", "example.com", "https://example.com/a%2Fb//c/"],
    ["/caf%C3%A9", "example.com", "https://example.com/caf%C3%A9"],
    ["//evil.example/", "example.com", "https://example.com//evil.example/"],
    ["/%0d%0aset-cookie:%20a=b", "example.com", "https://example.com/%0d%0aset-cookie:%20a=b"],
    ["/", "EXAMPLE.com:80", "https://example.com/"],
    ["/", "example.com:443", "https://example.com/"],
    ["/", "example.com:8000", "https://example.com:8000/"],
    ["/", "[::1]:8000", "https://[::1]:8000/"],
  ])("sends %s of %s to %s", async (target, given, location) => {
    const { status, headers, text } = await call(create(), "GET", target, host(given));
    expect({ status, location: headers["location"], text }).toEqual({ status: 307, location, text: "" });
  });

  it("keeps the method by its status, 307 or 308", async () => {
    expect((await call(create(), "POST", "/", { ...host("a.example"), json: {} })).status).toBe(307);
    expect((await call(create({ statusCode: 308 }), "POST", "/", { ...host("a.example"), json: {} })).status).toBe(308);
  });

  it.each<[number, string, string]>([
    [8443, "a.example:8080", "https://a.example:8443/"],
    [443, "a.example:8080", "https://a.example/"],
  ])("redirects to the configured port %i, from %s", async (port, given, location) => {
    expect((await call(create({ port }), "GET", "/", host(given))).headers["location"]).toBe(location);
  });

  it("believes no header about the scheme", async () => {
    const headers = [
      ["host", "a.example"],
      ["x-forwarded-proto", "https"],
      ["forwarded", "proto=https"],
    ] as const;
    expect((await call(create(), "GET", "/", { headers })).status).toBe(307);
  });
});

describe("httpsRedirect", () => {
  /** Calls the middleware itself, with a scope that no App has touched. */
  async function locationOf(scope: Partial<HTTPScope>): Promise<string> {
    const sent: SendMessage[] = [];
    const app = httpsRedirect()(() => Promise.reject(new Error("not called")));
    await app(
      { type: "http", method: "GET", path: "/", headers: [[Buffer.from("host"), Buffer.from("a.example")]], ...scope },
      () => Promise.reject(new Error("not read")),
      (message) => void sent.push(message),
    );
    const [start] = sent;
    const headers = start?.type === "http.response.start" ? [...(start.headers ?? [])] : [];
    return headers.map(([name, value]) => `${String(Buffer.from(name))}: ${String(Buffer.from(value))}`).join("\n");
  }

  it.each<[string, Partial<HTTPScope>, string]>([
    ["a path without its raw form", { path: "/caf\u00e9/a?b" }, "/caf%C3%A9/a%3Fb"],
    ["raw bytes that no URI has", { path: "/", raw_path: Buffer.from("/\xe9 \r\nx", "latin1") }, "/%E9%20%0D%0Ax"],
    ["a query with a line break", { path: "/", query_string: Buffer.from("a\r\nb: c") }, "/?a%0D%0Ab:%20c"],
    ["a prefix that is part of the path", { path: "/api/x", root_path: "/api" }, "/api/x"],
    ["a prefix that a proxy took away", { path: "/x", root_path: "/api" }, "/api/x"],
    ["the asterisk form", { method: "OPTIONS", path: "*" }, "/*"],
  ])("writes one Location for %s", async (_, scope, target) => {
    const [location, ...others] = (await locationOf(scope)).split("\n").filter((line) => !line.startsWith("content-"));
    expect(others).toEqual([]);
    expect(location).toBe(`location: https://a.example${target}`);
  });

  it.each(["/sub/x", "/sub/a%20b/"])("adds the prefix that a proxy took away in a mounted App: %s", async (target) => {
    const app = new App({ logger: new KeptLog() });
    app.mount("/sub", create());
    const behindProxy: ASGIApp = (scope, receive, send) =>
      app({ ...(scope as HTTPScope), root_path: "/api" }, receive, send);
    const { headers } = await callInMemory(behindProxy, "GET", target, host("a.example"));
    expect(headers["location"]).toBe(`https://a.example/api${target}`);
  });

  it("serves https as it is", async () => {
    const inner = create();
    const answer = await callInMemory(
      (scope, receive, send) => inner({ ...scope, scheme: "https" } as HTTPScope, receive, send),
      "GET",
      "/",
    );
    expect(answer).toMatchObject({ status: 200, json: "served" });
  });

  it.each<[Address | null, string | undefined]>([
    [["10.0.0.7", 80], "https://10.0.0.7/"],
    [["::1", 8000], "https://[::1]:8000/"],
    [["/run/app.sock", null], undefined],
    [null, undefined],
  ])("sends a request without a Host to the server's own address, %j", async (server, location) => {
    const inner = create();
    const answer = await callInMemory(
      (scope, receive, send) => inner({ ...scope, headers: [], server } as HTTPScope, receive, send),
      "GET",
      "/",
    );
    expect([answer.status, answer.headers["location"]]).toEqual([location === undefined ? 400 : 307, location]);
  });

  it.each(["", "a b", "a.example/", "user@a.example", "a.example\r\nlocation: https://evil.example"])(
    "responds with 400 to the invalid Host %j",
    async (given) => {
      const answer = await callInMemory(create(), "GET", "/", host(given));
      expect(answer.status).toBe(400);
      expect(answer.headers).not.toHaveProperty("location");
    },
  );

  it.each<[string, unknown, RegExp]>([
    ["a status that changes the method", { statusCode: 302 }, /307 or 308/],
    ["a port that is none", { port: 0 }, /port should be a whole number/],
    ["another option", { permanent: true }, /no option "permanent"/],
  ])("rejects %s when it is created", (_, options, message) => {
    const make = () => httpsRedirect(options as never);
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});
