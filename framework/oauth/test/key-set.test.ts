import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";
import { JWTBearer } from "../src/index.js";
import { AUDIENCE, call, createApp, createKey, INVALID, Provider } from "./_provider.js";

let provider: Provider;
beforeEach(async () => {
  provider = await Provider.start();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await provider[Symbol.asyncDispose]();
});

const open = (options: { jwks?: string } = {}) =>
  createApp(new JWTBearer({ issuer: provider.issuer, audience: AUDIENCE, ...options }));

/** Moves the clock of the key set. Tokens are verified by another clock. */
function waitFor(milliseconds: number): void {
  const time = Date.now() + milliseconds;
  jest.spyOn(Date, "now").mockReturnValue(time);
}

const UNAVAILABLE = {
  status: 503,
  challenge: null,
  retryAfter: "5",
  body: { detail: "The identity provider is unavailable" },
};
const away = (_: string, response: { destroy(): void }) => response.destroy();

describe("the key set of a provider", () => {
  it("is fetched once for concurrent requests, and not before the first one", async () => {
    const app = open();
    expect(provider.requests).toEqual([]);
    const token = await provider.sign();
    const responses = await Promise.all(Array.from({ length: 50 }, () => call(app, token)));
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200));
    await call(app, token);
    expect(provider.requests).toEqual(["/.well-known/openid-configuration", "/jwks"]);
  });

  it("is not fetched for tokens that no key of a provider can verify", async () => {
    const app = open();
    for (const token of [
      "nonsense",
      "a.b.c",
      "eyJhbGciOiJub25lIn0.e30.",
      "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
      "x".repeat(64_000),
    ]) {
      expect(await call(app, token)).toEqual(INVALID);
    }
    expect(provider.requests).toEqual([]);
  });

  it("is fetched from the configured address, without discovery", async () => {
    const app = open({ jwks: `${provider.issuer}/jwks` });
    expect(await call(app, await provider.sign())).toMatchObject({ status: 200 });
    expect(provider.requests).toEqual(["/jwks"]);
  });

  it("is fetched again when the provider has rotated its keys", async () => {
    const app = open();
    const old = await provider.sign();
    await call(app, old);
    provider.keys.push(await createKey("second"));
    const token = await provider.sign();
    const responses = await Promise.all(Array.from({ length: 20 }, () => call(app, token)));
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    expect(await call(app, old)).toMatchObject({ status: 200 });
    expect(provider.fetches).toBe(2);
    provider.keys.shift();
    provider.keys.push(await createKey("third"));
    expect(await call(app, await provider.sign())).toEqual(INVALID);
    waitFor(60_001);
    expect(await call(app, await provider.sign())).toMatchObject({ status: 200 });
    expect(await call(app, old)).toEqual(INVALID);
    expect(provider.fetches).toBe(3);
    expect(provider.requests.filter((path) => path !== "/jwks")).toHaveLength(1);
  });

  it("is fetched at most once per minute in a flood of tokens with unknown kid", async () => {
    const app = open();
    await call(app, await provider.sign());
    for (const minute of [1, 2]) {
      for (let round = 0; round < 5; round++) {
        const tokens = await Promise.all(
          Array.from({ length: 50 }, (_, index) => provider.sign({}, { kid: `${round} ${index}` })),
        );
        const responses = await Promise.all(tokens.map((token) => call(app, token)));
        expect(responses.every(({ status }) => status === 401)).toBe(true);
      }
      expect(provider.fetches).toBe(1 + minute);
      waitFor(60_001);
    }
    expect(await call(app, await provider.sign())).toMatchObject({ status: 200 });
  });

  it("is renewed after an hour, while requests use the cached keys", async () => {
    const app = open();
    const token = await provider.sign();
    await call(app, token);
    waitFor(3_600_001);
    const renewed = new Promise<void>((resolve) => {
      provider.respond = (_, response) => {
        response.end(JSON.stringify({ keys: [] }), resolve);
      };
    });
    expect(await call(app, token)).toMatchObject({ status: 200 });
    await renewed;
    while ((await call(app, token)).status === 200); // until the response has been read
    expect(await call(app, token)).toEqual(INVALID);
  });
});

describe("a provider that is unavailable", () => {
  it.each<[string, NonNullable<Provider["respond"]>]>([
    ["closes the connection", away],
    ["responds with 500", (_, response) => response.writeHead(500).end("{}")],
    ["responds with HTML", (_, response) => response.end("<!doctype html>")],
    ["responds with null", (_, response) => response.end("null")],
    ["responds with more than a megabyte", (_, response) => response.end(`{"x":"${"x".repeat(1_048_576)}"}`)],
    ["redirects", (_, response) => response.writeHead(302, { location: `${provider.issuer}/jwks` }).end()],
    [
      "is another issuer",
      (_, response) =>
        response.end(JSON.stringify({ issuer: `${provider.issuer}/`, jwks_uri: `${provider.issuer}/jwks` })),
    ],
    [
      "has keys without encryption",
      (_, response) => response.end(JSON.stringify({ issuer: provider.issuer, jwks_uri: "http://example.com/jwks" })),
    ],
    ["has no address of keys", (_, response) => response.end(JSON.stringify({ issuer: provider.issuer }))],
  ])("is a 503 with Retry-After if it %s, and is requested again after five seconds", async (_, respond) => {
    const app = open();
    provider.respond = respond;
    const token = await provider.sign();
    const responses = await Promise.all([call(app, token), call(app, token), call(app, token, "/open")]);
    expect(responses).toEqual([UNAVAILABLE, UNAVAILABLE, UNAVAILABLE]);
    expect(await call(app, null)).toMatchObject({ status: 401 });
    const { length } = provider.requests;
    waitFor(4_000);
    provider.respond = undefined;
    expect(await call(app, token)).toEqual({ ...UNAVAILABLE, retryAfter: "1" });
    expect(provider.requests).toHaveLength(length);
    waitFor(1_000);
    expect(await call(app, token)).toMatchObject({ status: 200 });
  });

  it.each(["{}", '{"keys":{}}', '{"keys":[1]}', "[]"])("is a 503 if its key set is %s", async (text) => {
    const app = open({ jwks: `${provider.issuer}/jwks` });
    provider.respond = (_, response) => response.end(text);
    expect(await call(app, await provider.sign())).toEqual(UNAVAILABLE);
  });

  it("is given up after five seconds, whether it is silent or slow", async () => {
    const signals: number[] = [];
    jest.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      signals.push(milliseconds);
      return AbortSignal.abort(new DOMException("", "TimeoutError"));
    });
    expect(await call(open(), await provider.sign())).toEqual(UNAVAILABLE);
    expect(signals).toEqual([5_000]);
  });

  it("does not matter while keys are cached", async () => {
    const app = open();
    const token = await provider.sign();
    await call(app, token);
    provider.respond = away;
    waitFor(3_600_001);
    expect(await call(app, token)).toMatchObject({ status: 200 });
    expect(await call(app, await provider.sign({}, { kid: "unknown" }))).toEqual(INVALID);
    expect(await call(app, token)).toMatchObject({ status: 200 });
  });

  it("keeps the cached keys if its next key set is invalid, and is called again after five seconds", async () => {
    const app = open();
    const token = await provider.sign();
    await call(app, token);
    provider.respond = (_, response) => response.end('{"keys":7}');
    provider.keys.push(await createKey("second"));
    const next = await provider.sign();
    expect(await call(app, next)).toEqual(INVALID);
    expect(await call(app, token)).toMatchObject({ status: 200 });
    provider.respond = undefined;
    expect(await call(app, next)).toEqual(INVALID);
    waitFor(5_001);
    expect(await call(app, next)).toMatchObject({ status: 200 });
  });

  it("rejects tokens that an unusable key would have to verify", async () => {
    const app = open();
    const token = await provider.sign();
    provider.keys = [
      { ...provider.keys[0], jwk: { kty: "EC", crv: "P-256", kid: "first", x: "AAAA", y: "AAAA" } } as never,
    ];
    expect(await call(app, token)).toEqual(INVALID);
  });
});
