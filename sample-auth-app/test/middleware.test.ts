import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HeaderPair, Middleware, Scope, SendMessage } from "tsgi";

import { noStore, requestId, securityHeaders } from "../src/middleware.js";

/** Sends one request through a middleware; gives the headers of the answer and the scope that the application saw. */
async function pass(
  middleware: Middleware,
  scope: Scope,
  own: HeaderPair[] = [[Buffer.from("x-own"), Buffer.from("1")]],
) {
  const sent: SendMessage[] = [];
  let seen: Scope | undefined;
  const app: ASGIApp = async (inner, _, send) => {
    seen = inner;
    await send({ type: "http.response.start", status: 200, headers: own });
    await send({ type: "http.response.body", body: Buffer.from("body") });
  };
  await middleware(app)(
    scope,
    async () => ({ type: "http.disconnect" }),
    (message) => void sent.push(message),
  );
  const start = sent.find((message) => message.type === "http.response.start");
  const pairs = [...(start?.headers ?? [])].map(([name, value]) => [String(name), String(value)]);
  return { seen, sent, pairs, headers: Object.fromEntries(pairs) as Record<string, string> };
}

const http = { type: "http", method: "GET", path: "/" } as const;

describe("the security headers", () => {
  it("keep browsers from guessing, and on https where they are there", async () => {
    const plain = await pass(securityHeaders, http);
    expect(plain.headers).toEqual({ "x-own": "1", "x-content-type-options": "nosniff" });
    const secure = await pass(securityHeaders, { ...http, scheme: "https" });
    expect(secure.headers).toEqual({
      "x-own": "1",
      "x-content-type-options": "nosniff",
      "strict-transport-security": "max-age=31536000; includeSubDomains",
    });
  });
});

describe("the request id", () => {
  it("is in the answer and in the state of the application's own scope", async () => {
    const scope = { ...http, state: { shared: 1 } };
    const { seen, headers } = await pass(requestId, scope);
    expect(seen).toMatchObject({ state: { shared: 1, requestId: headers["x-request-id"] } });
    expect(scope.state).toEqual({ shared: 1 });
  });
});

describe("no-store", () => {
  it("takes the place of what the application says itself", async () => {
    const { pairs } = await pass(noStore, http, [[Buffer.from("cache-control"), Buffer.from("public")]]);
    expect(pairs).toEqual([["cache-control", "no-store"]]);
  });

  it("adds its header and leaves the rest as it is", async () => {
    const { headers, sent } = await pass(noStore, http);
    expect(headers).toEqual({ "x-own": "1", "cache-control": "no-store" });
    expect(sent[1]).toEqual({ type: "http.response.body", body: Buffer.from("body") });
  });
});

describe.each([
  ["requestId", requestId],
  ["securityHeaders", securityHeaders],
  ["noStore", noStore],
])("%s", (_, middleware) => {
  it.each([{ type: "lifespan" } as const, { type: "websocket", path: "/" } as const])(
    "passes a scope that is not HTTP straight through: $type",
    async (scope) => {
      const { seen } = await pass(middleware, scope);
      expect(seen).toBe(scope);
    },
  );
});
