import { describe, expect, it } from "@jest/globals";
import { ConfigurationError } from "../../src/exceptions.js";
import { RadixRouter } from "../../src/router/radix-router.js";

/** A router whose handlers are the routes' own texts: `"GET /users/{id}"`. */
function routerOf(...routes: string[]): RadixRouter<string> {
  const router = new RadixRouter<string>();
  for (const route of routes) {
    const [method, path] = route.split(" ") as [string, string];
    router.addRoute(method, path, route);
  }
  return router;
}

describe("RadixRouter", () => {
  it("gives handler, parameters and the very metadata that was registered", () => {
    const router = new RadixRouter<string>();
    const metadata = { tags: ["users"] };
    router.addRoute("GET", "/users/{id}", "one user", metadata);
    const match = router.resolve("GET", "/users/7");
    expect(match).toEqual(["one user", { id: "7" }, metadata]);
    expect(match?.[2]).toBe(metadata);
  });

  it("gives null where nothing matches", () => {
    const router = routerOf("GET /users/{id}");
    for (const path of ["/", "/users", "/users/1/2", "/user/1", "/Users/1"]) {
      expect(router.resolve("GET", path)).toBeNull();
    }
    expect(router.resolve("POST", "/users/1")).toBeNull();
  });

  it("falls back to the parameter branch on a dead end and on a method", () => {
    const router = routerOf("GET /users/me", "GET /users/{id}/posts", "DELETE /users/{id}");
    expect(router.resolve("GET", "/users/me")?.[0]).toBe("GET /users/me");
    expect(router.resolve("GET", "/users/me/posts")?.slice(0, 2)).toEqual(["GET /users/{id}/posts", { id: "me" }]);
    expect(router.resolve("DELETE", "/users/me")?.[1]).toEqual({ id: "me" });
  });

  it("refuses a second route of the same method and pattern, whatever its names", () => {
    const router = routerOf("GET /a/{x}");
    expect(() => router.addRoute("GET", "/a/{y}/", "again")).toThrow(ConfigurationError);
    expect(() => router.addRoute("GET", "/a/{y}", "again")).toThrow("GET /a/{y}");
  });
});
