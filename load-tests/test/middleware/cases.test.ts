import { describe, expect, it } from "@jest/globals";
import { MIDDLEWARE_CASES, SECURITY_HEADERS } from "../../src/middleware/cases.js";
import { type Case, faultOfReply } from "../../src/suite/case.js";

const [health] = MIDDLEWARE_CASES as readonly [Case];

const HEADERS = {
  "content-type": "application/json",
  "access-control-allow-origin": "https://shop.example.org",
  ...SECURITY_HEADERS,
  vary: "Origin",
  "x-request-id": "0198c5b4-8b0e-4f51-9d0c-5a6a3e0f7c11",
};

const faultOf = (headers: Readonly<Record<string, string>>) =>
  faultOfReply(health, { status: 200, headers, body: '{"status":"ok"}' });

describe("the checks of answers with middleware", () => {
  it("accept an answer with all headers", () => {
    expect(faultOf(HEADERS)).toBeNull();
  });

  it.each(Object.keys(HEADERS))("refuse an answer without %s", (name) => {
    expect(faultOf({ ...HEADERS, [name]: "" })).toContain("expected");
  });

  it("refuse an answer to another origin", () => {
    const origin = { "access-control-allow-origin": "*" };
    expect(faultOf({ ...HEADERS, ...origin })).toContain(
      'access-control-allow-origin to be https://shop.example.org, got "*"',
    );
  });

  it("refuse an answer with a header that the others do not send", () => {
    expect(faultOf({ ...HEADERS, date: "now" })).toBeNull();
    expect(faultOf({ ...HEADERS, etag: '"1"' })).toContain("expected no header etag");
  });

  it("ask as a page of another origin", () => {
    expect(MIDDLEWARE_CASES.map(({ name }) => name)).toEqual(["GET /health", "GET /users/{id}", "POST /users"]);
    expect(MIDDLEWARE_CASES.map(({ headers }) => headers["origin"])).toEqual(Array(3).fill("https://shop.example.org"));
  });
});
