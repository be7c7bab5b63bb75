import { CALL } from "../../../src/protocol/server-context.js";
import { describe, expect, it } from "@jest/globals";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { HeaderList } from "../../../src/protocol/header-list.js";
import { httpApp, respond, served, Wire } from "./_http.js";

/** The scope that the application gets for a request. */
async function scopeOf(request: string): Promise<HTTPScope> {
  const scopes: HTTPScope[] = [];
  await using server = await served(
    httpApp(async (scope, _receive, send) => {
      scopes.push(scope);
      await respond(send, 200, "told");
    }),
  );
  await using wire = new Wire(server.port);
  await wire.write(request).until(/told$/);
  return scopes[0] as HTTPScope;
}

const get = (target: string, headers = "") => `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

describe("the scope", () => {
  it("has every field of ASGI 3.0", async () => {
    const scope = await scopeOf(get("/items?limit=1&q=%20"));
    expect(scope).toEqual({
      type: "http",
      asgi: { version: "3.0", spec_version: "2.4" },
      http_version: "1.1",
      method: "GET",
      scheme: "http",
      path: "/items",
      query_string: Buffer.from("limit=1&q=%20"),
      root_path: "",
      headers: expect.any(HeaderList),
      client: ["127.0.0.1", expect.any(Number)],
      server: ["127.0.0.1", expect.any(Number)],
      state: {},
      extensions: {},
      [CALL]: expect.anything(), // for the observation of an App
    });
  });

  it("copies its headers in the order in which they arrived, names in lower case", async () => {
    const copy = { ...(await scopeOf(get("/", "X-B: 1\r\nX-A: 2\r\nx-b: caf\xe9\r\n"))) };
    expect(
      Array.from(copy.headers ?? [], (header) => header.map((bytes) => Buffer.from(bytes).toString("latin1"))),
    ).toEqual([
      ["host", "a"],
      ["x-b", "1"],
      ["x-a", "2"],
      ["x-b", "caf\xe9"],
    ]);
  });

  it.each([
    ["/a", "/a", undefined],
    ["//a/", "//a/", undefined],
    ["/a%20b", "/a b", "/a%20b"],
    ["/caf%C3%A9", "/café", "/caf%C3%A9"],
    ["/a%2Fb", "/a/b", "/a%2Fb"],
    ["/a%FFb", "/a\uFFFDb", "/a%FFb"],
    ["/%E2%82%AC%FF", "/€\uFFFD", "/%E2%82%AC%FF"],
    ["/a/../b", "/a/../b", undefined],
  ])("has the path of %s decoded, and the raw path if it differs", async (target, path, rawPath) => {
    const scope = await scopeOf(get(target));
    expect([scope.path, scope.raw_path && Buffer.from(scope.raw_path).toString()]).toEqual([path, rawPath]);
  });

  it("has the version of an HTTP/1.0 client", async () => {
    expect((await scopeOf("GET / HTTP/1.0\r\n\r\n")).http_version).toBe("1.0");
  });

  it("ignores X-Forwarded headers, which any client can send", async () => {
    const scope = await scopeOf(get("/", "X-Forwarded-Proto: https\r\nX-Forwarded-For: 1.2.3.4\r\n"));
    expect([scope.scheme, scope.client?.[0]]).toEqual(["http", "127.0.0.1"]);
  });
});
