import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { determinize, readRoutes } from "../../src/routing/dfa.js";
import { emitDfa } from "../../src/routing/emit-dfa.js";
import { HOSTILE, hostilePath, isCompiled, lookupOf, routerOf } from "./route-sets.js";

const ROUTER = path.resolve(import.meta.dirname, "../../dist/index.js");

describe("the generated lookup", () => {
  it("reads like code that a person wrote", () => {
    const router = routerOf({}, "GET /users/{id}", "GET /users/{id}/published-posts/{post}");
    const start = readRoutes(router.root, "GET").start!;
    expect(emitDfa(determinize(start, 100)!)?.toString()).toBe(`"use strict";
return function find(path) {
  if (path.charCodeAt(0) !== 47) return null;
  if (path.charCodeAt(1) === 117 && path.charCodeAt(2) === 115 && path.charCodeAt(3) === 101 && path.charCodeAt(4) === 114 && path.charCodeAt(5) === 115 && path.charCodeAt(6) === 47) {
    const end1 = path.indexOf("/", 7);
    if (end1 === -1 && path.length > 7) {
      if (path.includes("%")) return [routes[0].handler, { "id": decode(path.slice(7)) }, routes[0].metadata];
      return [routes[0].handler, { "id": path.slice(7) }, routes[0].metadata];
    }
    if (end1 > 7) {
      if (path.slice(end1 + 1, end1 + 17) === "published-posts/") {
        if (path.length > end1 + 17 && path.indexOf("/", end1 + 17) === -1) {
          if (path.includes("%")) return [routes[1].handler, { "id": decode(path.slice(7, end1)), "post": decode(path.slice(end1 + 17)) }, routes[1].metadata];
          return [routes[1].handler, { "id": path.slice(7, end1), "post": path.slice(end1 + 17) }, routes[1].metadata];
        }
        return null;
      }
      return null;
    }
    return null;
  }
  return null;
};
`);
  });

  it.each([
    '"',
    "'",
    "`",
    "\\",
    "\\u0041",
    "\n",
    "\r\n",
    "\u2028",
    "${globalThis.broken=1}",
    '"]=1;globalThis.broken=1;//',
    "*/globalThis.broken=1;/*".replaceAll("*", "x"),
    "</script>",
    "\0",
    "//",
  ])("treats the text %j as text", (text) => {
    const segment = text.replaceAll("/", "%2F").replaceAll(/[{}]/g, "");
    const router = routerOf({});
    router.addRoute("GET", `/${segment}/{id}`, "one");
    router.addRoute("GET", `/{a}/${segment}/${segment}x/{b}`, "several");
    for (const workPerSegment of [0, 8]) {
      const table = lookupOf(router, "GET", { compile: true, workPerSegment });
      expect(isCompiled(table)).toBe(workPerSegment > 0);
      expect(table.find(`/${segment}/7`)).toEqual(["one", { id: "7" }, {}]);
      expect(table.find(`/x/${segment}/${segment}x/y`)).toEqual(["several", { a: "x", b: "y" }, {}]);
      expect(table.find("/other/7")).toBeNull();
    }
    expect(globalThis).not.toHaveProperty("broken");
  });

  it("is omitted for route sets too deep or too large to benefit, which are still found", () => {
    const deep = Array.from({ length: 70 }, (_, place) => `{p${place}}`).join("/");
    const deepRouter = routerOf({}, `GET /${deep}`);
    const large = Array.from({ length: 10_500 }, (_, index) => `GET /r${index}/{id}`);
    const largeRouter = routerOf({}, ...large);
    const found: unknown[] = [];
    for (const workPerSegment of [0, 8]) {
      const options = { compile: true, workPerSegment };
      const deepTable = lookupOf(deepRouter, "GET", options);
      const largeTable = lookupOf(largeRouter, "GET", options);
      found.push([isCompiled(deepTable), deepTable.find(`/${"x/".repeat(69)}y`)?.[1].p69]);
      found.push([isCompiled(largeTable), largeTable.find("/r10499/7")?.[0]]);
    }
    expect(found).toEqual([
      [false, "y"],
      [false, "GET /r10499/{id}"],
      [false, "y"],
      [false, "GET /r10499/{id}"],
    ]);
  });

  it("is spread over functions if there are many static segments at one place", () => {
    const router = routerOf({}, ...Array.from({ length: 600 }, (_, index) => `GET /api/r${index}/{id}`));
    const start = readRoutes(router.root, "GET").start!;
    const source = emitDfa(determinize(start, 10_000)!)!.toString();
    const longest = source.split(/^(?=function|return function)/m).map((text) => text.length);
    expect(Math.max(...longest)).toBeLessThan(10_000);
  });

  it("contains each shared subtree only once", () => {
    const leaves = Array.from({ length: 30 }, (_, index) => `GET /{x}/a${index}`);
    const router = routerOf({}, ...leaves, "GET /{x}/{y}/z/{w}/several-segments/{v}");
    const start = readRoutes(router.root, "GET").start!;
    const source = emitDfa(determinize(start, 10_000)!)!.toString();
    expect(source.match(/several-segments/g)).toHaveLength(1);
    expect(router.resolve("GET", "/1/a7/z/2/several-segments/3")?.[1]).toEqual({ x: "1", y: "a7", w: "2", v: "3" });
  });

  it("is omitted if the automaton is simulated", () => {
    const router = routerOf({}, ...HOSTILE.map((pattern) => `GET ${pattern}`));
    const table = lookupOf(router, "GET", { compile: true, workPerSegment: 8 });
    expect([isCompiled(table), table.isDeterministic]).toEqual([false, false]);
    expect(table.find(hostilePath("last5"))?.[0]).toBe(`GET ${HOSTILE[5]}`);
  });

  it("is replaced by the automaton if the runtime forbids code generation", async () => {
    const program = `
        const { RadixRouter } = await import(${JSON.stringify(ROUTER)});
        let forbidden = false;
        try { new Function("return 1"); } catch (error) { forbidden = error instanceof EvalError; }
        const found = [8, 0].map((workPerSegment) => {
          const router = new RadixRouter({ workPerSegment });
          router.addRoute("GET", "/users/{id}", "one");
          router.addRoute("GET", "/{a}/{b}/c", "two");
          return [router.resolve("GET", "/users/7"), router.resolve("GET", "/users/7/c"), router.resolve("GET", "/x")];
        });
        console.log(JSON.stringify({ forbidden, found }));`;
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", program];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    const found = [["one", { id: "7" }, {}], ["two", { a: "users", b: "7" }, {}], null];
    expect(JSON.parse(stdout)).toEqual({ forbidden: true, found: [found, found] });
  });
});
