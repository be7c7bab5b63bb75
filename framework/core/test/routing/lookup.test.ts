import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { splitPath } from "../../src/protocol/path.js";
import { RadixRouter } from "../../src/routing/radix-router.js";
import { findIn, HOSTILE, hostilePath, isCompiled, lookupOf, routerOf } from "./route-sets.js";
import { walk } from "./tree-walk.js";

const COMPILED = { compile: true, workPerSegment: 8 };
const DFA = { compile: false, workPerSegment: 8 };
const SIMULATION = { compile: true, workPerSegment: 0 };

/** The rules' own words, without a tree: of the routes that take the path, the one that is static first. */
function bestOf(routes: readonly string[], method: string, path: string, exact: boolean): string | null {
  const segments = splitPath(path, { exact });
  const isParam = (text: string | undefined): boolean => text?.startsWith("{") ?? false;
  const fitting = routes.filter((route) => {
    const [routeMethod, pattern = ""] = route.split(" ");
    const texts = splitPath(pattern, { exact });
    return (
      routeMethod === method &&
      texts.length === segments.length &&
      texts.every((text, index) => (isParam(text) ? segments[index] !== "" : text === segments[index]))
    );
  });
  const rank = (route: string): string =>
    splitPath(patternOf(route), { exact })
      .map((text) => (isParam(text) ? "1" : "0"))
      .join("");
  return fitting.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))[0] ?? null;
}

/**
 * Looks the paths up in every prepared form, in the plain walk, and by the rules' words. Lists those that differ: a
 * matcher's call for each of a hundred thousand comparisons would take most of the tests' time.
 */
function disagreements(routes: readonly string[], paths: readonly string[], exact = false): unknown[] {
  const router = routerOf({ exact }, ...routes);
  return ["GET", "POST"].flatMap((method) => {
    const tables = [COMPILED, DFA, SIMULATION].map((options) => lookupOf(router, method, options));
    return paths.flatMap((path) => {
      const reference = walk(router.root, method, path, { exact });
      const canonical = `/${splitPath(path, { exact }).join("/")}`;
      const results = [router.resolve(method, path), ...tables.map((table) => findIn(table, canonical))];
      const best = bestOf(routes, method, path, exact);
      const agree =
        best === (reference?.[0] ?? null) && results.every((result) => isDeepStrictEqual(result, reference));
      return agree ? [] : [{ routes, method, path, best, reference, results }];
    });
  });
}

/** Without those that the router refuses as duplicates. */
function distinct(routes: readonly string[], exact: boolean): string[] {
  const key = (route: string): string => {
    const [method, path = ""] = route.split(" ");
    return `${method} ${splitPath(path.replaceAll(/\{\w+\}/g, "*"), { exact }).join("/")}`;
  };
  return [...new Map(routes.map((route) => [key(route), route])).values()];
}

const patternOf = (route: string): string => route.split(" ")[1] ?? "";

const TEXTS = ["a", "b", "ab", "abc", "__proto__", "%2F", "é"];
const pathOf = (segment: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join("/")}`);
const routeSet = (texts: readonly string[]): fc.Arbitrary<string[]> => {
  const segment = fc.oneof(fc.constantFrom(...texts), fc.constant("{}"));
  const route = fc.tuple(fc.constantFrom("GET", "POST"), pathOf(segment), fc.constantFrom("p", "constructor", "x"));
  return fc.array(route, { minLength: 1, maxLength: 24 }).map((routes) =>
    routes.map(([method, path, name]) => {
      let count = 0;
      return `${method} ${path.replaceAll("{}", () => `{${name}${count++ === 0 ? "" : count}}`)}`;
    }),
  );
};

describe("every lookup", () => {
  it.each([
    { routes: ["GET /"], paths: ["/", "/a"] },
    { routes: ["GET /users/me", "GET /users/{id}/posts"], paths: ["/users/me", "/users/me/posts", "/users/1"] },
    { routes: ["GET /a/{x}", "POST /{y}/b", "GET /{z}/b"], paths: ["/a/b", "/c/b", "/a/c", "/c/c"] },
    { routes: ["GET /{a}/b/{c}", "GET /a/{b}/c", "GET /a/b/d"], paths: ["/a/b/c", "/a/b/d", "/a/b/e", "/b/b/c"] },
    { routes: ["GET /ab/{x}", "GET /a/{x}", "GET /abc/{x}", "GET /{y}/z"], paths: ["/a/z", "/ab/1", "/abcd/z", "/a/"] },
    { routes: ["GET /a/b/c/{x}", "GET /a/b/c", "GET /a/{y}/c/d"], paths: ["/a/b/c", "/a/b/c/d", "/a/x/c/d", "/a/b"] },
    {
      routes: ["GET /me/{x}/c", "GET /{a}/{b}/c/{d}", "GET /{a}/{b}/e"],
      paths: ["/me/1/c", "/me/1/c/2", "/me/1/e", "/me/me/e"],
    },
  ])("returns the same as the plain walk for $routes", ({ routes, paths }) => {
    expect(disagreements(routes, paths)).toEqual([]);
  });

  it("returns the same as the plain walk for any routes and any path", () => {
    const path = pathOf(fc.constantFrom(...TEXTS, "", "*", "zzz", "constructor", "%25"));
    fc.assert(
      fc.property(routeSet(TEXTS), fc.array(path, { maxLength: 12 }), (routes, paths) => {
        expect(disagreements(distinct(routes, false), [...paths, ...routes.map(patternOf)])).toEqual([]);
      }),
      { numRuns: fc.runs(300) },
    );
  });

  it("returns the same as the plain walk if every slash is significant", () => {
    const path = pathOf(fc.constantFrom(...TEXTS, "", "*", "zzz"));
    fc.assert(
      fc.property(routeSet(["a", "ab", ""]), fc.array(path, { maxLength: 12 }), (routes, paths) => {
        expect(disagreements(distinct(routes, true), [...paths, ...routes.map(patternOf)], true)).toEqual([]);
      }),
      { numRuns: fc.runs(300) },
    );
  });

  it("returns the same as the plain walk for the hostile set", () => {
    const routes = HOSTILE.map((path) => `GET ${path}`);
    const paths = [
      ...Array.from({ length: 25 }, (_, index) => hostilePath(`last${index}`)),
      hostilePath("last3").replace("/s3/", "/other/"),
      hostilePath("last3")
        .replaceAll(/\/s\d+/g, "/other")
        .replace("/other/other/other/other", "/x/x/x/s3"),
      hostilePath("x/last3"),
      hostilePath(""),
    ];
    expect(disagreements(routes, paths)).toEqual([]);
  });

  it("returns the same as the plain walk for more routes of a length than one word has bits", () => {
    const places = Array.from({ length: 70 }, (_, index) => [index % 7, (index * 3 + 1) % 7]);
    const routes = places.map(([one, other], index) => {
      const segments = Array.from({ length: 7 }, (_value, place) =>
        place === one || place === other ? `t${index % 5}` : `{p${place}}`,
      );
      return `GET /${segments.join("/")}`;
    });
    const segment = fc.constantFrom("t0", "t1", "t2", "t3", "t4", "x");
    const path = fc.array(segment, { minLength: 7, maxLength: 7 }).map((segments) => `/${segments.join("/")}`);
    fc.assert(
      fc.property(fc.array(path, { minLength: 20 }), (paths) => {
        expect(disagreements(distinct(routes, false), paths)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it("is generated code, automata or simulations as requested, and does not read the tree", () => {
    const router = routerOf({}, "GET /users/me", "GET /users/{id}/posts", "GET /{a}/{b}/c");
    const forms = [COMPILED, DFA, SIMULATION].map((options) => lookupOf(router, "GET", options));
    expect(forms.map((form) => [isCompiled(form), form.isDeterministic])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
    router.root.children.clear();
    expect(walk(router.root, "GET", "/users/me/posts")).toBeNull();
    for (const table of forms) {
      expect(findIn(table, "/users/me/posts")?.[0]).toBe("GET /users/{id}/posts");
      expect(findIn(table, "/users/me")?.[0]).toBe("GET /users/me");
    }
  });

  it("is ready after prepare, which logs no warning about ordinary routes", () => {
    const router = routerOf({}, "GET /users/{id}", "POST /users", "GET /users/me/{x}");
    expect(router.prepare()).toEqual([]);
    router.root.children.clear();
    expect(router.resolve("GET", "/users/1")?.[1]).toEqual({ id: "1" });
    expect(router.resolve("POST", "/users")?.[0]).toBe("POST /users");
  });
});

describe("the bound of the construction", () => {
  it("is exceeded by two static segments at each two of ten places with separate last segments", () => {
    const pairs = Array.from({ length: 100 }, (_, index) => [index % 10, Math.floor(index / 10)] as const);
    const routes = pairs
      .filter(([one, other]) => one < other)
      .map(([one, other]) => {
        const segments = Array.from({ length: 10 }, (_, place) =>
          place === one || place === other ? "a" : `{p${place}}`,
        );
        return `GET /${segments.join("/")}/last${one}${other}`;
      });
    const router = routerOf({}, ...routes);
    expect(router.prepare()).toHaveLength(1);
    expect(router.resolve("GET", `${"/a".repeat(10)}/last37`)?.[0]).toContain("/last37");
  });

  it("is exceeded by the hostile set, and one log entry per method reports it", () => {
    const router = new RadixRouter();
    for (const path of HOSTILE) {
      router.addRoute("GET", path, null);
      router.addRoute("PUT", path, null);
    }
    router.addRoute("POST", "/{x}", null);
    const lines = router.prepare();
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain("The GET routes");
    expect(lines[0]).toContain("segments × routes / 32");
    expect(lines[1]).toContain("The PUT routes");
    expect(lines.join("")).not.toContain("\n");
  });

  it.each([
    ["one route", ["/{x}"]],
    ["nouns", Array.from({ length: 200 }, (_, index) => [`/r${index}/{id}`, `/r${index}/{id}/parts/{part}`]).flat()],
    [
      "static and parameter at every level",
      Array.from({ length: 100 }, (_, index) => [
        `/r${index}/me/{x}`,
        `/r${index}/{id}`,
        `/r${index}/{id}/sub/{s}`,
        `/r${index}/{id}/{any}/z`,
      ]).flat(),
    ],
    [
      "tenants",
      Array.from({ length: 100 }, (_, index) => [
        `/{tenant}/{project}/r${index}/{id}`,
        `/admin/{x}/r${index}/{id}/z`,
        `/admin/public/r${index}/{id}`,
        `/{tenant}/public/r${index}/{id}/q`,
      ]).flat(),
    ],
    [
      "every choice of static and parameter in ten segments",
      Array.from({ length: 1024 }, (_, bits) =>
        Array.from({ length: 10 }, (_value, place) => ((bits >> place) & 1 ? "/a" : `/{p${place}}`)).join(""),
      ),
    ],
    ["one static segment at each place", HOSTILE.map((path) => path.replace(/last\d+$/, "{p23}"))],
  ])("is not reached by %s", (_, paths) => {
    const router = routerOf({}, ...paths.map((path) => `GET ${path}`));
    expect(router.prepare()).toEqual([]);
    expect(isCompiled(lookupOf(router, "GET", COMPILED))).toBe(true);
  });
});
