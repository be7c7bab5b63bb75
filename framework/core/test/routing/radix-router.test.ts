import { describe, expect, it } from "@jest/globals";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { PARAM_KEY } from "../../src/routing/radix-node.js";
import { RadixRouter, type RadixRouterOptions } from "../../src/routing/radix-router.js";
import { routerOf } from "./route-sets.js";

/** Every form of the lookup: generated code or not, deterministic or simulated. */
const FORMS: [name: string, options: RadixRouterOptions][] = [
  ["compiled automaton", {}],
  ["automaton", { compile: false }],
  ["simulation", { workPerSegment: 0 }],
];

describe.each(FORMS)("RadixRouter by %s", (_, options) => {
  it("returns handler, parameters and the same metadata object that was registered", () => {
    const router = new RadixRouter<string>(options);
    const metadata = { tags: ["users"] };
    router.addRoute("GET", "/users/{id}", "one user", metadata);
    const match = router.resolve("GET", "/users/7");
    expect(match).toEqual(["one user", { id: "7" }, metadata]);
    expect(match?.[2]).toBe(metadata);
    expect(router.resolve("GET", "/users/7")?.[2]).toBe(metadata);
  });

  it("returns the same empty object each time for a route without metadata", () => {
    const router = routerOf(options, "GET /a", "GET /{x}");
    for (const path of ["/a", "/b"]) {
      const metadata = router.resolve("GET", path)?.[2];
      expect(metadata).toEqual({});
      expect(router.resolve("GET", path)?.[2]).toBe(metadata);
    }
    expect(router.resolve("GET", "/a")?.[2]).not.toBe(router.resolve("GET", "/b")?.[2]);
  });

  it.each([
    ["/", "GET /", {}],
    ["/users", "GET /users", {}],
    ["/users/me", "GET /users/me", {}],
    ["/users/mex", "GET /users/{id}", { id: "mex" }],
    ["/users/m", "GET /users/{id}", { id: "m" }],
    ["/users/me/posts", "GET /users/{id}/posts", { id: "me" }],
    ["/users/me/posts/1", "GET /{a}/{b}/posts/{c}", { a: "users", b: "me", c: "1" }],
    ["/users/me/drafts/1", "GET /users/me/drafts/{draft}", { draft: "1" }],
    ["/users/*", "GET /users/{id}", { id: "*" }],
    ["/users/{id}", "GET /users/{id}", { id: "{id}" }],
    ["/*/x/posts/y", "GET /{a}/{b}/posts/{c}", { a: "*", b: "x", c: "y" }],
    ["/files/{id}", "GET /files/{name}", { name: "{id}" }],
    ["/files/é", "GET /files/{name}", { name: "é" }],
    ["/files/😀", "GET /files/😀", {}],
    ["/files/😁", "GET /files/{name}", { name: "😁" }],
  ])("resolves %s to %s", (path, route, params) => {
    const router = routerOf(
      options,
      "GET /",
      "GET /users",
      "GET /users/me",
      "GET /users/{id}",
      "GET /users/{id}/posts",
      "GET /users/me/drafts/{draft}",
      "GET /{a}/{b}/posts/{c}",
      "GET /files/{name}",
      "GET /files/😀",
    );
    expect(router.resolve("GET", path)?.slice(0, 2)).toEqual([route, params]);
  });

  it.each(["/", "/users", "/users/1/2", "/user/1", "/Users/1", "/users/1/posts/2/3", "/usersx/1", "/users%2F1"])(
    "returns null for %s, which no route accepts",
    (path) => {
      const router = routerOf(options, "GET /users/{id}", "GET /users/{id}/posts/{post}");
      expect(router.resolve("GET", path)).toBeNull();
    },
  );

  it("finds a method that only the parameter branch has", () => {
    const router = routerOf(options, "GET /users/me", "DELETE /users/{id}", "PUT /users/{id}");
    expect(router.resolve("DELETE", "/users/me")?.slice(0, 2)).toEqual(["DELETE /users/{id}", { id: "me" }]);
    expect(router.resolve("GET", "/users/me")?.[0]).toBe("GET /users/me");
    expect(router.resolve("GET", "/users/you")).toBeNull();
    expect(router.resolve("POST", "/users/me")).toBeNull();
    expect(router.resolve("get", "/users/me")).toBeNull();
  });

  it("returns each of two routes' own names for the same segment", () => {
    const router = routerOf(options, "GET /a/{x}", "GET /a/{y}/b", "POST /a/{z}");
    expect(router.resolve("GET", "/a/1")?.[1]).toEqual({ x: "1" });
    expect(router.resolve("GET", "/a/1/b")?.[1]).toEqual({ y: "1" });
    expect(router.resolve("POST", "/a/1")?.[1]).toEqual({ z: "1" });
  });

  it("decodes only %2F and %25 in parameters", () => {
    const router = routerOf(options, "GET /files/{name}", "GET /a%2Fb/{x}/{y}", "GET /100%25");
    expect(router.resolve("GET", "/files/a%2Fb")?.[1]).toEqual({ name: "a/b" });
    expect(router.resolve("GET", "/files/100%25")?.[1]).toEqual({ name: "100%" });
    expect(router.resolve("GET", "/files/%252F")?.[1]).toEqual({ name: "%2F" });
    expect(router.resolve("GET", "/files/%20%2f%")?.[1]).toEqual({ name: "%20%2f%" });
    expect(router.resolve("GET", "/a%2Fb/%2F/%25")?.[1]).toEqual({ x: "/", y: "%" });
    expect(router.resolve("GET", "/100%25")?.[0]).toBe("GET /100%25");
    expect(router.resolve("GET", "/a/b/1/2")).toBeNull();
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "then", "prototype", "valueOf"])(
    "takes %s as a segment, a parameter's name and a value",
    (word) => {
      const router = routerOf(options, `GET /{${word}}/x`, `GET /a/${word}`, `GET /a/${word}/{id}`);
      expect(router.resolve("GET", `/${word}`)).toBeNull();
      expect(router.resolve("GET", `/a/${word}`)?.[0]).toBe(`GET /a/${word}`);
      expect(router.resolve("GET", `/a/${word}/${word}`)?.[1]).toEqual({ id: word });
      const params = router.resolve("GET", `/${word}/x`)?.[1] ?? {};
      expect(Object.entries(params)).toEqual([[word, word]]);
      expect(params[word]).toBe(word);
      expect(Reflect.ownKeys(Object.prototype)).not.toContain("id");
    },
  );

  it("returns parameters in an ordinary object, or in one without a prototype if a name requires it", () => {
    const router = routerOf(options, "GET /{id}", "GET /a/b", "GET /a/{__proto__}/{constructor}");
    for (const path of ["/1", "/a/b"]) {
      expect(Object.getPrototypeOf(router.resolve("GET", path)?.[1])).toBe(Object.prototype);
    }
    const odd = router.resolve("GET", "/a/1/2")?.[1] ?? {};
    expect(Object.entries(odd)).toEqual([
      ["__proto__", "1"],
      ["constructor", "2"],
    ]);
    expect("toString" in odd).toBe(false);
  });

  it("returns separate parameters for each lookup", () => {
    const router = routerOf(options, "GET /users/{id}", "GET /users");
    const [, params] = router.resolve("GET", "/users/7")!;
    params.id = "8";
    params.other = "x";
    expect(router.resolve("GET", "/users/7")).toEqual(["GET /users/{id}", { id: "7" }, {}]);
    const fixed = router.resolve("GET", "/users")!;
    expect(() => (fixed[1].id = "8")).toThrow(TypeError);
    expect(() => Object.assign(fixed, ["changed"])).toThrow(TypeError);
    expect(router.resolve("GET", "/users")).toEqual(["GET /users", {}, {}]);
  });

  it("counts a route that is added after a lookup", () => {
    const router = routerOf(options, "GET /{id}");
    expect(router.resolve("GET", "/me")?.[0]).toBe("GET /{id}");
    expect(router.resolve("POST", "/me")).toBeNull();
    router.addRoute("GET", "/me", "me");
    router.addRoute("GET", "/{id}/posts", "posts");
    router.addRoute("POST", "/me", "post");
    expect(router.resolve("GET", "/me")?.[0]).toBe("me");
    expect(router.resolve("GET", "/you")?.[0]).toBe("GET /{id}");
    expect(router.resolve("GET", "/you/posts")?.[0]).toBe("posts");
    expect(router.resolve("POST", "/me")?.[0]).toBe("post");
  });

  it("drops empty segments of a path that is not canonical, before anything matches", () => {
    const router = routerOf(options, "GET /", "GET /users/{id}", "GET /users/me", "GET /{a}/{b}/{c}");
    for (const path of ["", "/", "//", "///"]) {
      expect(router.resolve("GET", path)?.[0]).toBe("GET /");
    }
    for (const path of ["/users/7/", "users/7", "//users//7", "/users/7//"]) {
      expect(router.resolve("GET", path)?.slice(0, 2)).toEqual(["GET /users/{id}", { id: "7" }]);
    }
    expect(router.resolve("GET", "/users//me/")?.[0]).toBe("GET /users/me");
    expect(router.resolve("GET", "/users/")).toBeNull();
    expect(router.resolve("GET", "/a//b")).toBeNull();
  });

  it("drops the empty segments of a pattern", () => {
    const router = routerOf(options, "GET users/{id}/", "GET //a//b");
    expect(router.resolve("GET", "/users/7")?.[1]).toEqual({ id: "7" });
    expect(router.resolve("GET", "/a/b")?.[0]).toBe("GET //a//b");
  });

  it("counts every slash when it is exact", () => {
    const router = routerOf({ ...options, exact: true }, "WS /ws", "WS /{room}/", "WS /a//{b}", "WS /", "WS /{x}/{y}/");
    expect(router.resolve("WS", "/ws")?.[0]).toBe("WS /ws");
    expect(router.resolve("WS", "ws")?.[0]).toBe("WS /ws");
    expect(router.resolve("WS", "/ws/")?.slice(0, 2)).toEqual(["WS /{room}/", { room: "ws" }]);
    expect(router.resolve("WS", "/other")).toBeNull();
    expect(router.resolve("WS", "/")?.[0]).toBe("WS /");
    expect(router.resolve("WS", "//")).toBeNull();
    expect(router.resolve("WS", "/ws//")).toBeNull();
    expect(router.resolve("WS", "/a//c")?.slice(0, 2)).toEqual(["WS /a//{b}", { b: "c" }]);
    expect(router.resolve("WS", "/a//")).toBeNull();
    expect(router.resolve("WS", "//a/")).toBeNull();
    expect(router.resolve("WS", "/a/b/")?.[1]).toEqual({ x: "a", y: "b" });
  });

  it("keeps a large route set apart", () => {
    const paths = Array.from({ length: 300 }, (_value, index) => `/api/v1/things${index}`);
    const router = routerOf(options, ...paths.flatMap((path) => [`GET ${path}/{id}`, `GET ${path}/{id}/parts/{part}`]));
    for (const path of paths) {
      expect(router.resolve("GET", `${path}/7`)?.slice(0, 2)).toEqual([`GET ${path}/{id}`, { id: "7" }]);
      expect(router.resolve("GET", `${path}/7/parts/8`)?.[1]).toEqual({ id: "7", part: "8" });
      expect(router.resolve("GET", path)).toBeNull();
    }
    expect(router.resolve("GET", "/api/v1/things300/7")).toBeNull();
    expect(router.resolve("GET", "/api/v1/things/7")).toBeNull();
  });

  it("falls back to a parameter next to many static segments", () => {
    const fixed = Array.from({ length: 100 }, (_value, index) => `GET /api/things${index}/{id}`);
    const router = routerOf(options, ...fixed, "GET /api/{kind}/{id}");
    for (const kind of ["other", "things", "things100", "thing", "t", "things1x"]) {
      expect(router.resolve("GET", `/api/${kind}/7`)?.slice(0, 2)).toEqual(["GET /api/{kind}/{id}", { kind, id: "7" }]);
    }
    expect(router.resolve("GET", "/api/things99/7")?.slice(0, 2)).toEqual(["GET /api/things99/{id}", { id: "7" }]);
  });
});

describe("RadixRouter", () => {
  it.each(["/a/{x}", "/a/{y}", "/a/{y}/", "a//{x}"])("rejects a second route for GET /a/{x} at %s", (path) => {
    const router = routerOf({}, "GET /a/{x}");
    expect(() => router.addRoute("GET", path, "again")).toThrow(ConfigurationError);
    expect(() => router.addRoute("GET", path, "again")).toThrow(`GET ${path}`);
    expect(router.resolve("GET", "/a/1")?.[0]).toBe("GET /a/{x}");
    router.addRoute("POST", path, "another method");
  });

  it("shows the tree at its root", () => {
    const router = new RadixRouter<string>();
    router.addRoute("GET", "/users/{id}", "one", { tags: ["users"] });
    router.addRoute("DELETE", "/users/{user}", "gone");
    const users = router.root.children.get("users")!;
    const one = users.children.get(PARAM_KEY)!;
    expect(PARAM_KEY).toBe("*");
    expect([...router.root.children.keys()]).toEqual(["users"]);
    expect([users.isParam, users.paramName, users.handlers.size]).toEqual([false, null, 0]);
    expect([one.isParam, one.paramName]).toEqual([true, "id"]);
    expect([...one.handlers]).toEqual([
      ["GET", ["one", { tags: ["users"] }]],
      ["DELETE", ["gone", {}]],
    ]);
  });

  it("does not change the tree if it rejects a pattern", () => {
    const router = new RadixRouter();
    expect(() => router.addRoute("GET", "/a/b/{id?}", "x")).toThrow(ConfigurationError);
    expect(router.root.children.size).toBe(0);
    expect(router.allowedMethods("/a/b")).toEqual([]);
  });

  it("lists the methods of a path, sorted, with HEAD next to GET", () => {
    const router = routerOf({}, "PUT /users/{id}", "GET /users/me", "DELETE /{a}/{b}", "HEAD /only-head", "POST /x");
    expect(router.allowedMethods("/users/me")).toEqual(["DELETE", "GET", "HEAD", "PUT"]);
    expect(router.allowedMethods("/users/7")).toEqual(["DELETE", "PUT"]);
    expect(router.allowedMethods("/only-head")).toEqual(["HEAD"]);
    expect(router.allowedMethods("/users/me/")).toEqual(["DELETE", "GET", "HEAD", "PUT"]);
    expect(router.allowedMethods("/nothing")).toEqual([]);
  });
});
