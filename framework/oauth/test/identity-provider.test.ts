import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type IdentityProvider, startIdentityProvider } from "../../test/support/identity-provider.js";
import { JWTBearer } from "../src/index.js";
import { call, createApp, INVALID } from "./_provider.js";

const RESOURCE = "https://api.example.com/items";

describe("JWTBearer with a certified provider", () => {
  let provider: IdentityProvider;
  beforeAll(async () => {
    provider = await startIdentityProvider();
  });
  afterAll(() => provider.stop());

  const open = (options: object = {}) =>
    createApp(new JWTBearer({ issuer: provider.issuer, audience: RESOURCE, ...options }), ["items:read"]);

  it("finds the keys by discovery, and checks audience and scopes", async () => {
    const app = open();
    expect(await call(app, await provider.issue(RESOURCE))).toMatchObject({ status: 200, body: { sub: "machine" } });
    expect(await call(app, await provider.issue(RESOURCE, "items:write"))).toMatchObject({
      status: 403,
      challenge: 'Bearer error="insufficient_scope", scope="items:read"',
    });
    expect(await call(app, await provider.issue("https://api.example.com/other"))).toEqual(INVALID);
  });

  it("accepts no other issuer and no other algorithm", async () => {
    const token = await provider.issue(RESOURCE);
    const jwks = `${provider.issuer}/jwks`;
    expect(await call(open({ issuer: "https://login.example.com", jwks }), token)).toEqual(INVALID);
    expect(await call(open({ algorithms: ["RS256"] }), token)).toEqual(INVALID);
    expect(await call(open({ issuer: `${provider.issuer}/` }), token)).toMatchObject({ status: 503 });
  });

  it("follows a rotation of the keys", async () => {
    const app = open();
    const old = await provider.issue(RESOURCE);
    expect(await call(app, old)).toMatchObject({ status: 200 });
    await provider.rotate();
    const next = await provider.issue(RESOURCE);
    const responses = await Promise.all([next, next, old].map((token) => call(app, token)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, expect.any(Number)]);
    expect(await call(app, old)).toEqual(INVALID);
  });

  it("uses cached keys when the provider stops, and is a 503 without them", async () => {
    await using own = await startIdentityProvider();
    const token = await own.issue(RESOURCE);
    const scheme = () => new JWTBearer({ issuer: own.issuer, audience: RESOURCE });
    const app = createApp(scheme());
    expect(await call(app, token)).toMatchObject({ status: 200 });
    await own.stop();
    expect(await call(app, token)).toMatchObject({ status: 200 });
    expect(await call(createApp(scheme()), token)).toMatchObject({ status: 503, retryAfter: "5" });
  });
});
