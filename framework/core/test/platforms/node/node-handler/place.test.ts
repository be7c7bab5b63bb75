import type { IncomingMessage } from "node:http";
import { describe, expect, it } from "@jest/globals";
import { pathBelow, hostedPlaceOf } from "../../../../src/platforms/node/node-handler/place.js";

const place = (url: string, originalUrl?: string, prefix = "") =>
  hostedPlaceOf({ url, originalUrl } as unknown as IncomingMessage, prefix);

describe("the place of an application", () => {
  it.each([
    ["/items", "/api/items", "/api/items", "/api"],
    ["/items?a=1", "/api/items?a=1", "/api/items?a=1", "/api"],
    ["/", "/api", "/api", "/api"],
    ["/?x", "/api?x", "/api?x", "/api"],
    ["/", "/api/", "/api/", "/api"],
    ["/", "/", "/", ""],
    ["/items", "/items", "/items", ""],
    ["/inner/items", "/outer/inner/items", "/outer/inner/items", "/outer"],
    ["/API/items", "/v1/API/items", "/v1/API/items", "/v1"],
    ["/items", "http://a.example/api/items", "http://a.example/api/items", "/api"],
    ["http://a.example/items", "http://a.example/api/items", "http://a.example/api/items", "/api"],
  ])("is the part of the path that the host has removed: %j of %j", (url, originalUrl, target, rootPath) => {
    expect(place(url, originalUrl)).toEqual({ target, rootPath });
  });

  it("has the query of url, which a middleware may have changed", () => {
    expect(place("/items?b=2", "/api/items?a=1")).toEqual({ target: "/api/items?b=2", rootPath: "/api" });
    expect(place("/?b", "/api?a")).toEqual({ target: "/api?b", rootPath: "/api" });
  });

  it.each([
    ["/new", "/api/old"],
    ["/x", "/apix"],
    ["items", "/api/items"],
    ["/.json", "/api.json"],
  ])("is the whole path if the host has rewritten it: %j of %j", (url, originalUrl) => {
    expect(place(url, originalUrl)).toEqual({ target: url, rootPath: "" });
  });

  it.each([
    ["/a%2Fb", "/a%2Fb"],
    ["/caf%C3%A9", "/café"],
    ["/100%25", "/100%25"],
    ["/%61pi", "/api"],
    ["//api/", "/api"],
    ["/%ff", ""],
  ])("decodes the prefix %j once, in canonical form", (prefix, rootPath) => {
    expect(place("/items", `${prefix}/items`)).toMatchObject({ rootPath });
  });

  it.each([
    ["/api/where", "/api"],
    ["/api", "/api"],
    ["/%61pi//where", "/api"],
    ["http://a.example/api/where", "/api"],
  ])("is the option prefix for %j, if the host does not show what it has removed", (url, rootPath) => {
    expect(place(url, undefined, "/api")).toEqual({ target: url, rootPath });
  });

  it.each(["/where", "/apiary", "/", "*", "/x/api/where", "/api%2Fwhere"])(
    "is null for %j, which is not below the option prefix",
    (url) => expect(place(url, undefined, "/api")).toBeNull(),
  );

  it("does not read the option prefix if the host shows what it has removed", () => {
    expect(place("/where", "/v2/where", "/api")).toEqual({ target: "/v2/where", rootPath: "/v2" });
  });
});

describe("the path below the prefix", () => {
  it.each([
    ["/api//items/?a=1", "http", "/items"],
    ["/api/items/", "websocket", "/items/"],
    ["/api", "http", "/"],
    ["/api/%ff", "http", null],
    ["/api/a%2Fb", "http", "/a%2Fb"],
  ] as const)("of %j for %s is %j", (target, type, path) => {
    expect(pathBelow({ target, rootPath: "/api" }, type)).toBe(path);
  });
});
