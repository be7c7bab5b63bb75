import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { ConfigurationError } from "../../src/exceptions.js";
import { buildPath } from "../../src/router/build-path.js";
import { canonicalPath } from "../../src/router/path.js";
import { RadixRouter } from "../../src/router/radix-router.js";

describe("buildPath", () => {
  it.each([
    ["/", {}, "/"],
    ["", {}, "/"],
    ["/users/", {}, "/users"],
    ["/users/{id}", { id: 7 }, "/users/7"],
    ["/users/{id}", { id: 7n }, "/users/7"],
    ["/{flag}", { flag: true }, "/true"],
    ["/users/{id}/files/{name}", { id: "7", name: "a/b c" }, "/users/7/files/a%2Fb%20c"],
    ["/{x}", { x: "100%" }, "/100%25"],
    ["/{x}", { x: "a?b#c&d=é😀" }, "/a%3Fb%23c%26d%3D%C3%A9%F0%9F%98%80"],
    ["/{x}", { x: "..a" }, "/..a"],
    ["/@me/a:b/c=d/é/a%2Fb/100%25", {}, "/@me/a:b/c=d/%C3%A9/a%2Fb/100%25"],
    ["/{__proto__}", JSON.parse('{"__proto__":"x"}') as Record<string, string>, "/x"],
  ])("builds %s with %j to %s", (pattern, params, path) => {
    expect(buildPath(pattern, params)).toBe(path);
  });

  it("keeps every slash when it is exact", () => {
    expect(buildPath("/ws/{room}/", { room: "a" }, { exact: true })).toBe("/ws/a/");
    expect(buildPath("/", {}, { exact: true })).toBe("/");
  });

  it.each([
    ["/users/{id}", {}, 'urlPathFor /users/{id}: the parameter "id" is missing'],
    ["/{constructor}", {}, '"constructor" is missing'],
    ["/{__proto__}", {}, '"__proto__" is missing'],
    ["/users/{id}", { id: 1, page: 2 }, 'the pattern has no parameter "page"'],
    ["/users/{id}", { id: "" }, '"id" is empty'],
    ["/users/{id}", { id: "." }, '"id" is "."'],
    ["/users/{id}", { id: ".." }, '"id" is ".."'],
    ["/users/{id}", { id: "\ud800" }, "lone surrogate"],
    ["/users/{id?}", { id: "1" }, "optional segment"],
  ])("refuses %s with %j", (pattern, params, message) => {
    expect(() => buildPath(pattern, params)).toThrow(ConfigurationError);
    expect(() => buildPath(pattern, params)).toThrow(message);
  });

  it("refuses a value that is no text, number or boolean", () => {
    const params: Record<string, unknown> = { id: {} };
    // A program without types can hand in anything.
    expect(() => buildPath("/{id}", params as Record<string, string>)).toThrow("not object");
  });

  it("builds a path that leads back to the same values", () => {
    const value = fc
      .string({ unit: "binary", minLength: 1 })
      .filter((text) => text !== "." && text !== ".." && text.isWellFormed());
    const router = new RadixRouter();
    router.addRoute("GET", "/a/{x}/b/{y}", null);
    fc.assert(
      fc.property(value, value, (x, y) => {
        const target = buildPath("/a/{x}/b/{y}", { x, y });
        expect(target).toBe(new URL(target, "http://localhost").pathname);
        const path = canonicalPath(target, new TextEncoder().encode(target)) ?? "";
        expect(router.resolve("GET", path)?.[1]).toEqual({ x, y });
      }),
    );
  });
});
