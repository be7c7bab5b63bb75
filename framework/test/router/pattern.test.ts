import { describe, expect, it } from "@jest/globals";
import { ConfigurationError } from "../../src/exceptions.js";
import { paramNames, parsePattern } from "../../src/router/pattern.js";
import { RadixRouter } from "../../src/router/radix-router.js";

describe("parsePattern", () => {
  it.each([
    ["/users/{id:\\d+}", '"{id:\\d+}" has a constraint', "params: { id: t.Integer() }"],
    ["/users/{id:int}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id(\\d+)}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id<int>}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id:[^/]+}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id:\\d{2}}", "has a constraint", "params: { id: t.Integer() }"],
    ["/users/{id?}", "optional segment", "a route of its own"],
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
    ["/{a}/x/{a}", '"{a}" stands there twice', "a name of its own"],
    ["/{ id }", "is no parameter", 'letters, digits, "_", "$" and "-"'],
    ["/{a.b}", "is no parameter", 'letters, digits, "_", "$" and "-"'],
    ['/{a"b}', "is no parameter", 'letters, digits, "_", "$" and "-"'],
    ["/100%", 'a "%" that is no "%2F"', "as itself"],
    ["/a%20b", 'a "%" that is no "%2F"', "as itself"],
    ["/a%2fb", 'a "%" that is no "%2F"', "as itself"],
    ["/\ud800", "lone surrogate", "whole characters"],
  ])("refuses %s with method, path, fault and the way out", (path, fault, way) => {
    const register = (): void => new RadixRouter().addRoute("PATCH", path, null);
    expect(register).toThrow(ConfigurationError);
    expect(register).toThrow(`PATCH ${path}: "`);
    expect(register).toThrow(fault);
    expect(register).toThrow(way);
  });

  it("refuses a path that is no text", () => {
    const path: unknown = /users/;
    // A program without types can hand in anything.
    expect(() => parsePattern(path as string, "GET")).toThrow("GET: the path of a route is text");
  });

  it.each([
    ["/users/{id}", ["id"]],
    ["/{user_id}/{user-id}/{userId2}/{$id}/{größe}/{0}", ["user_id", "user-id", "userId2", "$id", "größe", "0"]],
    ["/a:b/:id/~x/a+b/@me/(x)/a.b", []],
    ["/a%2Fb/100%25/%252F", []],
    ["", []],
  ])("reads the parameters of %s", (path, names) => {
    expect(paramNames(path, "GET")).toEqual(names);
  });

  it("drops empty segments, and keeps them when it is exact", () => {
    expect(parsePattern("//a//{b}/", "GET").map(({ text }) => text)).toEqual(["a", "b"]);
    expect(parsePattern("//a//{b}/", "GET", { exact: true }).map(({ text }) => text)).toEqual(["", "a", "", "b", ""]);
  });
});
