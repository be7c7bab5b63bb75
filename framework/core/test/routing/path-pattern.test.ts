import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { canonicalPath } from "../../src/protocol/scope.js";
import type { PathValues, SegmentOptions } from "../../src/protocol/path.js";
import { PathPattern } from "../../src/routing/path-pattern.js";
import { RadixRouter } from "../../src/routing/radix-router.js";

describe("PathPattern.parse", () => {
  it.each([
    ["/users/{id:\\d+}", '"{id:\\d+}" has a constraint', "params: { id: t.Integer() }"],
    ["/users/{id:int}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id(\\d+)}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id<int>}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id:[^/]+}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id:\\d{2}}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id?}", "optional segment", "a separate route"],
    ["/users/*", "has a wildcard", "app.mount(path, asgiApp)"],
    ["/*", "has a wildcard", "app.mount(path, asgiApp)"],
    ["/users/*rest", "has a wildcard", "app.mount(path, asgiApp)"],
    ["/files/{path:path}", "is a catch-all", "app.mount(path, asgiApp)"],
    ["/files/{*path}", "is a catch-all", "app.mount(path, asgiApp)"],
    ["/files/{path*}", "is a catch-all", "app.mount(path, asgiApp)"],
    ["/files/{...path}", "is a catch-all", "app.mount(path, asgiApp)"],
    ["/users/{}", "has no name", "Write {name}"],
    ["/users/{id", "without its other half", "Write {name}"],
    ["/users/id}", "without its other half", "Write {name}"],
    ["/users/{{id}}", "without its other half", "Write {name}"],
    ["/users/{a/b}", "without its other half", "Write {name}"],
    ["/v{n}", "mixes text and a parameter", "write {name} for the whole segment"],
    ["/{n}.json", "mixes text and a parameter", "write {name} for the whole segment"],
    ["/{a}{b}", "mixes text and a parameter", "write {name} for the whole segment"],
    ["/{a}/x/{a}", '"{a}" is repeated', "a different name"],
    ["/{ id }", "is not a parameter", 'letters, digits, "_", "$" and "-"'],
    ["/{a.b}", "is not a parameter", 'letters, digits, "_", "$" and "-"'],
    ['/{a"b}', "is not a parameter", 'letters, digits, "_", "$" and "-"'],
    ["/100%", 'a "%" that is neither "%2F"', "as itself"],
    ["/a%20b", 'a "%" that is neither "%2F"', "as itself"],
    ["/a%2fb", 'a "%" that is neither "%2F"', "as itself"],
    ["/\ud800", "lone surrogate", "whole characters"],
  ])("rejects %s with method, path, error and the fix", (path, fault, way) => {
    const register = (): void => new RadixRouter().addRoute("PATCH", path, null);
    expect(register).toThrow(ConfigurationError);
    expect(register).toThrow(`PATCH ${path}: "`);
    expect(register).toThrow(fault);
    expect(register).toThrow(way);
  });

  it("rejects a path that is not a string", () => {
    const path: unknown = /users/;
    // A program without types can hand in anything.
    expect(() => PathPattern.parse(path as string, "GET")).toThrow("GET: the path of a route is text");
  });

  it.each([
    ["/users/{id}", ["id"]],
    ["/{user_id}/{user-id}/{userId2}/{$id}/{größe}/{0}", ["user_id", "user-id", "userId2", "$id", "größe", "0"]],
    ["/a:b/:id/~x/a+b/@me/(x)/a.b", []],
    ["/a%2Fb/100%25/%252F", []],
    ["", []],
  ])("reads the parameters of %s", (path, names) => {
    expect(PathPattern.parse(path, "GET").names).toEqual(names);
  });

  it("drops empty segments, and keeps them when it is exact", () => {
    expect(PathPattern.parse("//a//{b}/", "GET").segments.map(({ text }) => text)).toEqual(["a", "b"]);
    expect(PathPattern.parse("//a//{b}/", "GET", { exact: true }).segments.map(({ text }) => text)).toEqual([
      "",
      "a",
      "",
      "b",
      "",
    ]);
  });
});

describe("a pattern's other forms", () => {
  it.each([
    ["//users//{id}/", "/users/{id}", "/users/{}"],
    ["/{a}/{b}", "/{a}/{b}", "/{}/{}"],
    ["", "/", "/"],
    ["/a%2Fb", "/a%2Fb", "/a%2Fb"],
  ])("writes %j as the template %s and the shape %s", (text, template, shape) => {
    const pattern = PathPattern.parse(text, "GET");
    expect([pattern.text, pattern.template, pattern.shape]).toEqual([text, template, shape]);
  });
});

function build(pattern: string, params: PathValues, options?: SegmentOptions): string {
  return PathPattern.parse(pattern, "GET", options).build(params);
}

describe("PathPattern#build", () => {
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
    ["/{x}", { x: [1, 2, 3] }, "/1,2,3"],
    ["/{x}", { x: ["a,b", "c/d", ""] }, "/a%2Cb,c%2Fd,"],
    ["/@me/a:b/c=d/é/a%2Fb/100%25", {}, "/@me/a:b/c=d/%C3%A9/a%2Fb/100%25"],
    ["/{__proto__}", JSON.parse('{"__proto__":"x"}') as Record<string, string>, "/x"],
  ])("builds %s with %j to %s", (pattern, params, path) => {
    expect(build(pattern, params)).toBe(path);
  });

  it("keeps every slash when it is exact", () => {
    expect(build("/ws/{room}/", { room: "a" }, { exact: true })).toBe("/ws/a/");
    expect(build("/", {}, { exact: true })).toBe("/");
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
    ["/users/{id}", { id: [] }, '"id" is empty'],
    ["/users/{id}", { id: [".."] }, '"id" is ".."'],
    ["/users/{id}", { id: ["a", "\ud800"] }, "lone surrogate"],
    ["/users/{id?}", { id: "1" }, "optional segment"],
  ])("rejects %s with %j", (pattern, params, message) => {
    expect(() => build(pattern, params)).toThrow(ConfigurationError);
    expect(() => build(pattern, params)).toThrow(message);
  });

  it.each([{ id: {} }, { id: ["a", {}] }, { id: [[null]] }])("rejects a value that is not a scalar: %j", (params) => {
    // A program without types can hand in anything.
    expect(() => build("/{id}", params as unknown as PathValues)).toThrow("not object");
  });

  it("builds a path that leads back to the same values", () => {
    const value = fc.unicode({ minLength: 1 }).filter((text) => text !== "." && text !== ".." && text.isWellFormed());
    const router = new RadixRouter();
    router.addRoute("GET", "/a/{x}/b/{y}", null);
    fc.assert(
      fc.property(value, value, (x, y) => {
        const target = build("/a/{x}/b/{y}", { x, y });
        expect(target).toBe(new URL(target, "http://localhost").pathname);
        const path = canonicalPath(target, new TextEncoder().encode(target)) ?? "";
        expect(router.resolve("GET", path)?.[1]).toEqual({ x, y });
      }),
    );
  });
});
