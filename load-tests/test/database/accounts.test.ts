import { describe, expect, it } from "@jest/globals";
import { accountCases, LOGIN, REFUSALS, tokenOf } from "../../src/database/accounts.js";
import { type Case, faultOfReply, type Reply } from "../../src/suite/case.js";

const FUTURE = 4_102_444_800;
const COOKIE = "refresh_token=abc; Max-Age=604800; Path=/auth; HttpOnly; SameSite=Strict";

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const tokenFor = (claims: object) => `${encode({ alg: "HS256" })}.${encode(claims)}.signature`;
const answerOf = (access_token: string, token_type = "bearer") => JSON.stringify({ access_token, token_type });
const replyOf = (body: string, headers: Reply["headers"] = {}): Reply => ({ status: 200, headers, body });
const listing = (count: number, owner = "user7") =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => 6 + 100 * index).map((id) => ({ id, name: `item ${id}`, owner })),
  );

const good = answerOf(tokenFor({ sub: "user7", exp: FUTURE }));
const [, LISTING] = accountCases("a token") as readonly [Case, Case];

describe("the check of a login's answer", () => {
  it.each([COOKIE, COOKIE.toLowerCase()])("accepts a token with the cookie %s", (cookie) => {
    expect(faultOfReply(LOGIN, replyOf(good, { "set-cookie": cookie }))).toBeNull();
  });

  it.each([
    ["no JSON", "no JSON", COOKIE, "expected a token"],
    ["another type of token", answerOf(tokenFor({ sub: "user7", exp: FUTURE }), "mac"), COOKIE, "expected a token"],
    ["another's token", answerOf(tokenFor({ sub: "user8", exp: FUTURE })), COOKIE, "expected a token"],
    ["an expired token", answerOf(tokenFor({ sub: "user7", exp: 1 })), COOKIE, "expected a token"],
    ["a token without an end", answerOf(tokenFor({ sub: "user7" })), COOKIE, "expected a token"],
    ["no cookie", good, "", "expected refresh_token= in the cookie"],
    ["a cookie for scripts", good, COOKIE.replace(" HttpOnly;", ""), "expected HttpOnly in the cookie"],
  ])("refuses %s", (_name, body, cookie, fault) => {
    expect(faultOfReply(LOGIN, replyOf(body, { "set-cookie": cookie }))).toContain(fault);
  });

  it("differs for a wrong password and a wrong token, which must be refused", () => {
    for (const one of REFUSALS) {
      expect(faultOfReply(one, { ...replyOf(""), status: 401 })).toBeNull();
      expect(faultOfReply(one, replyOf(good))).toContain("expected the status 401, got 200");
    }
  });
});

describe("the check of a listing", () => {
  it("is asked with the token of a login", () => {
    const token = tokenFor({ sub: "user7", exp: FUTURE });
    const [, one] = accountCases(tokenOf(answerOf(token))) as readonly [Case, Case];
    expect(one.headers).toEqual({ authorization: `Bearer ${token}` });
    expect(tokenOf("no JSON")).toBe("");
  });

  it("accepts the first page of the account's items", () => {
    expect(faultOfReply(LISTING, replyOf(listing(20)))).toBeNull();
  });

  it.each([
    ["19 items", listing(19)],
    ["another's items", listing(20, "user8")],
    ["no JSON", "no JSON"],
  ])("refuses %s", (_name, body) => {
    expect(faultOfReply(LISTING, replyOf(body))).toContain("expected 20 items of user7");
  });
});
