import { describe, expect, it } from "@jest/globals";
import { type CookieOptions, Response } from "../../../src/index.js";

function cookie(name: string, value: string, options?: CookieOptions): string {
  const response = new Response();
  response.setCookie(name, value, options);
  return response.headers.get("set-cookie") as string;
}

function deletion(name: string, options?: Parameters<Response["deleteCookie"]>[1]): string {
  const response = new Response();
  response.deleteCookie(name, options);
  return response.headers.get("set-cookie") as string;
}

describe("setCookie", () => {
  it.each<[string, string, CookieOptions | undefined, string]>([
    ["a", "1", undefined, "a=1; Path=/; SameSite=Lax"],
    ["a", "", {}, "a=; Path=/; SameSite=Lax"],
    ["a", "1", { maxAge: 60 }, "a=1; Max-Age=60; Path=/; SameSite=Lax"],
    ["a", "1", { expires: new Date(0) }, "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/; SameSite=Lax"],
    ["a", "1", { path: "/auth", domain: "example.com" }, "a=1; Domain=example.com; Path=/auth; SameSite=Lax"],
    [
      "a",
      "1",
      { secure: true, httpOnly: true, sameSite: "strict", partitioned: true },
      "a=1; Path=/; Secure; HttpOnly; SameSite=Strict; Partitioned",
    ],
    ["a", "1", { sameSite: "none", secure: true }, "a=1; Path=/; Secure; SameSite=None"],
    ["a", "1", { sameSite: "Strict" as "strict" }, "a=1; Path=/; SameSite=Strict"],
    ["__Host-id", "1", { secure: true }, "__Host-id=1; Path=/; Secure; SameSite=Lax"],
    ["__Secure-id", "1", { secure: true, path: "/a" }, "__Secure-id=1; Path=/a; Secure; SameSite=Lax"],
    ["a", 'é; "\\,\r\n\0', undefined, "a=%C3%A9%3B%20%22%5C%2C%0D%0A%00; Path=/; SameSite=Lax"],
    ["a", "\ud800", undefined, "a=%EF%BF%BD; Path=/; SameSite=Lax"],
  ])("writes %s=%j with %j", (name, value, options, header) => {
    expect(cookie(name, value, options)).toBe(header);
  });

  it.each<[string, string, CookieOptions, string]>([
    ["a name with a space", "a b", {}, "is not a token"],
    ["a name with CR and LF", "a\r\nX: y", {}, "is not a token"],
    ["an empty name", "", {}, "is not a token"],
    ["a path that ends the attribute", "a", { path: "/; Secure" }, "The cookie attribute Path"],
    ["a path with CR and LF", "a", { path: "/\r\nX: y" }, "The cookie attribute Path"],
    ["a domain with NUL", "a", { domain: "a\0" }, "The cookie attribute Domain"],
    ["a maxAge that is no whole number", "a", { maxAge: 1.5 }, "whole seconds"],
    ["a maxAge that is no number", "a", { maxAge: Number.NaN }, "whole seconds"],
    ["a date that is none", "a", { expires: new Date(Number.NaN) }, "a valid Date"],
    ["a year of five digits", "a", { expires: new Date(8.64e15) }, "a valid Date"],
    ["another sameSite", "a", { sameSite: "__proto__" as "lax" }, "sameSite should be"],
    // RFC 6265bis §5.7: browsers throw these away
    ["SameSite=None without Secure", "a", { sameSite: "none" }, "needs `secure: true`"],
    ["Partitioned without Secure", "a", { partitioned: true }, "needs `secure: true`"],
    ["__Secure- without Secure", "__Secure-a", {}, "needs `secure: true`"],
    ["__Host- without Secure", "__host-a", {}, "needs `secure: true`"],
    ["__Host- with a path", "__Host-a", { secure: true, path: "/a" }, "takes no domain"],
    ["__Host- with a domain", "__Host-a", { secure: true, domain: "example.com" }, "takes no domain"],
  ])("rejects %s", (_what, name, options, message) => {
    expect(() => cookie(name, "1", options)).toThrow(message);
  });

  it("adds a header line for each cookie", () => {
    const response = new Response();
    response.setCookie("a", "1");
    response.setCookie("b", "2");
    expect([...response.headers].map(([name]) => name)).toEqual(["set-cookie", "set-cookie"]);
  });
});

describe("deleteCookie", () => {
  it("ends the cookie immediately, with the attributes that browsers require", () => {
    const over = "Max-Age=0; Expires=Thu, 01 Jan 1970 00:00:00 GMT";
    expect(deletion("a")).toBe(`a=; ${over}; Path=/; SameSite=Lax`);
    expect(deletion("a", { path: "/auth", domain: "b.c" })).toBe(`a=; ${over}; Domain=b.c; Path=/auth; SameSite=Lax`);
    expect(deletion("__Host-a")).toBe(`__Host-a=; ${over}; Path=/; Secure; SameSite=Lax`);
    expect(deletion("a", { sameSite: "none" })).toBe(`a=; ${over}; Path=/; Secure; SameSite=None`);
  });
});
