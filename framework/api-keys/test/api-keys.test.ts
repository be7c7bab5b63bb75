import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App, ConfigurationError, Depends, WebSocket } from "tsgi";
import { TestClient } from "tsgi/testing";
import { ApiKeys, type ApiKeyStore, memoryKeys } from "../src/index.js";
import { bearer, call, countingStore, createApp, INVALID } from "./_app.js";

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** CRC-32 bit by bit (ISO 3309), in base 62. */
function checksumOf(text: string): string {
  let crc = 0xffff_ffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  const digits = [];
  for (let rest = (crc ^ 0xffff_ffff) >>> 0; digits.length < 6; rest = Math.floor(rest / 62)) {
    digits.unshift(DIGITS[rest % 62]);
  }
  return digits.join("");
}

/** The same key with another random part, and a right checksum. */
function forge(key: string): string {
  const [prefix, id] = key.split("_");
  const text = `${prefix}_${id}_${"0".repeat(43)}`;
  return `${text}_${checksumOf(text)}`;
}

afterEach(() => {
  jest.restoreAllMocks();
});

/** Sets the clock. */
const at = (ms: number) => jest.spyOn(Date, "now").mockReturnValue(ms);

describe("a key", () => {
  it("is prefix, id, 43 random characters and the CRC-32 of the text before it, in base 62", async () => {
    const { keys } = createApp({ prefix: "acme_live" });
    for (let round = 0; round < 50; round++) {
      const { id, key } = await keys.create({ owner: "ada" });
      expect(key).toMatch(new RegExp(`^acme_live_${id}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$`));
      expect(key.slice(-6)).toBe(checksumOf(key.slice(0, -7)));
    }
  });

  it("is different each time", async () => {
    const { keys } = createApp();
    const created = await Promise.all(Array.from({ length: 100 }, () => keys.create({ owner: "ada" })));
    expect(new Set(created.map(({ id }) => id)).size).toBe(100);
    expect(new Set(created.map(({ key }) => key.split("_")[2])).size).toBe(100);
  });

  it("is not in the store, which has its SHA-256 and the last four characters of the random part", async () => {
    const store = memoryKeys();
    const { keys } = createApp({ store });
    const { id, key } = await keys.create({ owner: "ada", scopes: ["a", "b", "a"], name: "ci" });
    const record = await store.find(id);
    const random = key.split("_")[2] ?? "";
    expect(record).toEqual({
      id,
      owner: "ada",
      name: "ci",
      scopes: ["a", "b"],
      hash: createHash("sha256").update(key).digest("hex"),
      hint: random.slice(-4),
      createdAt: expect.any(Date),
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
    });
    expect(JSON.stringify(record)).not.toContain(random);
  });
});

describe("the scheme", () => {
  it("returns id, owner, scopes and name", async () => {
    const { app, keys } = createApp();
    const { id, key } = await keys.create({ owner: "ada", scopes: ["items:read", "items:list"], name: "ci" });
    const body = { id, owner: "ada", scopes: ["items:read", "items:list"], name: "ci" };
    for (const path of ["/me", "/items", "/maybe"]) {
      expect(await call(app, path, bearer(key))).toEqual({ status: 200, challenge: null, body });
    }
  });

  it("responds with a challenge without a code if the request has no key", async () => {
    const { app } = createApp();
    const body = { detail: "Not authenticated" };
    expect(await call(app, "/me")).toEqual({ status: 401, challenge: "Bearer", body });
    expect(await call(app, "/maybe")).toEqual({ status: 200, challenge: null, body: null });
  });

  it.each<[string, (key: string) => string]>([
    ["another prefix", (key) => key.replace("sk_", "pk_")],
    ["a wrong checksum", (key) => key.slice(0, -1) + (key.endsWith("0") ? "1" : "0")],
    [
      "two characters swapped",
      (key) => key.replace(/(.)(.)_(.{6})$/, (_, a, b, c) => (a === b ? `xy_${c}` : `${b}${a}_${c}`)),
    ],
    ["a guessed random part", forge],
    ["a character in front", (key) => `x${key}`],
    ["a line break in the percent encoding", (key) => `${key}%0a`],
    ["64 KB", (key) => key.repeat(800)],
    ["no parts", () => "sk"],
    ["the id only", (key) => key.split("_").slice(0, 2).join("_")],
  ])("rejects a key with %s", async (_, change) => {
    const { app, keys } = createApp();
    const { key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", bearer(change(key)))).toEqual(INVALID);
    expect(await call(app, "/maybe", bearer(change(key)))).toEqual(INVALID);
  });

  it("does not look up a key with a typing error", async () => {
    const { store, calls } = countingStore();
    const { app, keys } = createApp({ store });
    const { key } = await keys.create({ owner: "ada" });
    await call(app, "/me", bearer(`${key.slice(0, -1)}${key.endsWith("0") ? "1" : "0"}`));
    expect(calls.find).toBe(0);
    await call(app, "/me", bearer(forge(key)));
    expect(calls.find).toBe(1);
  });

  it("responds with 403 and all required scopes if the key lacks one", async () => {
    const { app, keys } = createApp();
    const { key } = await keys.create({ owner: "ada", scopes: ["items:read", "items"] });
    expect(await call(app, "/items", bearer(key))).toEqual({
      status: 403,
      challenge: 'Bearer error="insufficient_scope", scope="items:read items:list"',
      body: { detail: "Not enough scopes" },
    });
  });

  it("rejects a key from the time of its expiry on", async () => {
    const { app, keys } = createApp();
    const expiresAt = new Date(Date.now() + 60_000);
    const { key } = await keys.create({ owner: "ada", expiresAt });
    at(expiresAt.getTime() - 1);
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
    at(expiresAt.getTime());
    expect(await call(app, "/me", bearer(key))).toEqual(INVALID);
  });

  it("reads a key without a word from another header, and its challenge is APIKey", async () => {
    const { app, keys } = createApp({ header: "X-API-Key" });
    const { key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", { "x-api-key": key })).toMatchObject({ status: 200 });
    expect(await call(app, "/me", { "x-api-key": `Bearer ${key}` })).toEqual({
      ...INVALID,
      challenge: 'APIKey error="invalid_token"',
    });
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 401, challenge: "APIKey" });
    expect(await call(app, "/items", { "x-api-key": key })).toMatchObject({
      status: 403,
      challenge: 'APIKey error="insufficient_scope", scope="items:read items:list"',
    });
  });

  it("rejects two keys, of which a proxy may have checked the other one", async () => {
    const { app, keys } = createApp();
    const { key } = await keys.create({ owner: "ada" });
    await using client = await TestClient.open(app);
    await client
      .get("/me")
      .set("authorization", [`Bearer ${key}`, `Bearer ${key}`] as never)
      .expect(401);
    await client.get("/me").set("authorization", `Bearer ${key}`).expect(200);
  });

  it("protects WebSockets", async () => {
    const { app, keys } = createApp();
    app.websocket("/live", { params: { ws: WebSocket, key: Depends(keys.scheme) } }, async ({ ws, key }) => {
      await ws.accept();
      await ws.sendText(key.owner);
    });
    const { key } = await keys.create({ owner: "ada" });
    await using client = await TestClient.open(app);
    await using socket = await client.websocket("/live", { headers: bearer(key) });
    expect(await socket.receiveText()).toBe("ada");
    await expect(client.websocket("/live")).rejects.toMatchObject({ name: "WebSocketRefusedError" });
  });

  it("passes errors of the store on", async () => {
    const { store } = countingStore();
    const find = async () => {
      throw new Error("the store has failed");
    };
    const keys = new ApiKeys({ store: { ...store, find } });
    const logger = { debug() {}, info() {}, warn() {}, error: jest.fn() };
    const app = new App({ logger });
    app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => key);
    const { key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 500 });
  });

  it("is in the OpenAPI document, with 401, and with 403 if scopes are required", () => {
    const { paths, components } = createApp().app.openapi();
    expect(components?.securitySchemes).toEqual({ ApiKey: { type: "http", scheme: "bearer" } });
    const statusesOf = (path: string) => Object.keys(paths[path]?.get?.responses ?? {});
    expect(statusesOf("/me")).toEqual(["200", "401"]);
    expect(statusesOf("/items")).toEqual(["200", "401", "403"]);
    expect(paths["/items"]?.get?.security).toEqual([{ ApiKey: [] }]);
    const other = createApp({ header: "X-API-Key", schemeName: "Key", description: "A key." }).app.openapi();
    const definition = { type: "apiKey", in: "header", name: "X-API-Key", description: "A key." };
    expect(other.components?.securitySchemes).toEqual({ Key: definition });
  });

  it("has errors in the format of the App", async () => {
    const keys = new ApiKeys({ store: memoryKeys() });
    const app = new App({ problemDetails: true });
    app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => key);
    const { body } = await call(app, "/me", bearer("nonsense"));
    expect(body).toMatchObject({ title: "Unauthorized", status: 401, detail: "Invalid API key" });
  });
});

describe("list", () => {
  it("returns the keys of an owner, the oldest first, without hashes and without revoked ones", async () => {
    const store = memoryKeys();
    const { keys } = createApp({ store });
    const expiresAt = new Date(Date.now() + 1_000);
    const first = await keys.create({ owner: "ada", name: "first", scopes: ["a"], expiresAt });
    const second = await keys.create({ owner: "ada" });
    const third = await keys.create({ owner: "ada", name: "third" });
    await keys.create({ owner: "eve" });
    await keys.revoke(second.id, "ada");
    await store.update(third.id, { createdAt: new Date(3_000_000_000_000) });
    const latest = await keys.create({ owner: "ada", name: "before the third" });
    const [one, ...others] = await keys.list("ada");
    expect(others).toMatchObject([{ id: latest.id }, { id: third.id, name: "third", scopes: [] }]);
    expect(one).toEqual({
      id: first.id,
      name: "first",
      scopes: ["a"],
      hint: first.key.slice(-11, -7),
      createdAt: expect.any(Date),
      lastUsedAt: null,
      expiresAt,
    });
    expect(await keys.list("bob")).toEqual([]);
  });
});

describe("revoke", () => {
  it("ends a key with the next request", async () => {
    const { app, keys } = createApp();
    const { id, key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
    expect(await keys.revoke(id, "ada")).toBe(true);
    expect(await call(app, "/me", bearer(key))).toEqual(INVALID);
  });

  it("returns false for the key of another owner and for an unknown id, without a change", async () => {
    const { store, calls } = countingStore();
    const { app, keys } = createApp({ store });
    const { id, key } = await keys.create({ owner: "ada" });
    for (const other of [id.replace(/.$/, (last) => (last === "0" ? "1" : "0")), "", "\0", "x".repeat(100)]) {
      expect(await keys.revoke(other, "ada")).toBe(false);
    }
    expect(await keys.revoke(id, "eve")).toBe(false);
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
    expect(calls.find).toBe(3); // texts that are not ids are not looked up
  });

  it("keeps the time of the first revocation", async () => {
    const store = memoryKeys();
    const { keys } = createApp({ store });
    const { id } = await keys.create({ owner: "ada" });
    await keys.revoke(id, "ada");
    const revokedAt = new Date(5);
    await store.update(id, { revokedAt });
    expect(await keys.revoke(id, "ada")).toBe(true);
    expect((await store.find(id))?.revokedAt).toEqual(revokedAt);
  });
});

describe("rotate", () => {
  it("replaces a key by one with another id, and the same owner, name, scopes and lifetime", async () => {
    const store = memoryKeys();
    const { app, keys } = createApp({ store });
    const start = Date.now();
    const old = await keys.create({ owner: "ada", name: "ci", scopes: ["a"], expiresAt: new Date(start + 90_000_000) });
    const { createdAt, expiresAt } = (await store.find(old.id)) ?? {};
    const now = start + 1_000_000;
    at(now);
    const rotated = await keys.rotate(old.id, "ada");
    expect(rotated?.id).not.toBe(old.id);
    expect(await call(app, "/me", bearer(old.key))).toEqual(INVALID);
    const body = { id: rotated?.id, owner: "ada", scopes: ["a"], name: "ci" };
    expect(await call(app, "/me", bearer(rotated?.key ?? ""))).toMatchObject({ status: 200, body });
    const [entry, ...others] = await keys.list("ada");
    expect(others).toEqual([]);
    expect(entry?.expiresAt?.getTime()).toBe(now + Number(expiresAt) - Number(createdAt));
  });

  it("leaves a key without expiry without one, unless a time is passed", async () => {
    const { keys } = createApp();
    const expiresAt = new Date(Date.now() + 1_000);
    const first = await keys.create({ owner: "ada" });
    const second = await keys.rotate(first.id, "ada");
    expect(await keys.list("ada")).toMatchObject([{ id: second?.id, expiresAt: null }]);
    const third = await keys.rotate(second?.id ?? "", "ada", { expiresAt });
    expect(await keys.list("ada")).toMatchObject([{ id: third?.id, expiresAt }]);
    const fourth = await keys.rotate(third?.id ?? "", "ada", { expiresAt: null });
    expect(await keys.list("ada")).toMatchObject([{ id: fourth?.id, expiresAt: null }]);
  });

  it("lets the old key work until the end of the grace, or its own expiry if that is earlier", async () => {
    const { app, keys } = createApp();
    const start = Date.now();
    const forever = await keys.create({ owner: "ada" });
    const short = await keys.create({ owner: "ada", expiresAt: new Date(start + 10_000) });
    at(start);
    for (const { id } of [forever, short]) await keys.rotate(id, "ada", { graceSeconds: 60 });
    const statusAt = async (ms: number, { key }: { key: string }) => {
      at(ms);
      return (await call(app, "/me", bearer(key))).status;
    };
    expect(await statusAt(start + 59_999, forever)).toBe(200);
    expect(await statusAt(start + 60_000, forever)).toBe(401);
    expect(await statusAt(start + 9_999, short)).toBe(200);
    expect(await statusAt(start + 10_000, short)).toBe(401);
  });

  it("returns null for another owner's key, and for one that has ended", async () => {
    const { keys } = createApp();
    const active = await keys.create({ owner: "ada" });
    const revoked = await keys.create({ owner: "ada" });
    await keys.revoke(revoked.id, "ada");
    const expired = await keys.create({ owner: "ada", expiresAt: new Date(0) });
    expect(await keys.rotate(active.id, "eve")).toBeNull();
    for (const { id } of [revoked, expired, { id: "none" }]) expect(await keys.rotate(id, "ada")).toBeNull();
    expect(await keys.list("ada")).toHaveLength(2);
  });

  it("keeps the old key if the store fails before it has the new one", async () => {
    const { store } = countingStore();
    const { app, keys } = createApp({ store });
    const { id, key } = await keys.create({ owner: "ada" });
    store.add = async () => {
      throw new Error("full");
    };
    await expect(keys.rotate(id, "ada")).rejects.toThrow("full");
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
  });
});

describe("the time of the last use", () => {
  it("is written once per minute, and the request does not wait for it", async () => {
    const inner = memoryKeys();
    let written = 0;
    const update = (...args: Parameters<ApiKeyStore["update"]>) => {
      written++;
      void inner.update(...args);
      return new Promise<void>(() => {});
    };
    const { app, keys } = createApp({ store: { ...inner, update } });
    const { id, key } = await keys.create({ owner: "ada" });
    const other = await keys.create({ owner: "ada" });
    const start = Date.now();
    for (const [ms, expected] of [
      [0, 1],
      [1, 1],
      [59_999, 1],
      [60_000, 2],
      [119_999, 2],
      [180_000, 3],
    ] as const) {
      at(start + ms);
      expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
      expect(written).toBe(expected);
    }
    expect((await inner.find(id))?.lastUsedAt).toEqual(new Date(start + 180_000));
    await call(app, "/me", bearer(other.key));
    expect(written).toBe(4);
  });

  it("is not written for a key that is rejected", async () => {
    const { store, calls } = countingStore();
    const { app, keys } = createApp({ store });
    const { key } = await keys.create({ owner: "ada", expiresAt: new Date(0) });
    await call(app, "/me", bearer(key));
    await call(app, "/me", bearer(forge(key)));
    expect(calls.update).toBe(0);
  });

  it("may fail without an effect on the request", async () => {
    const update = async () => {
      throw new Error("read only");
    };
    const { app, keys } = createApp({ store: { ...memoryKeys(), update } });
    const { key } = await keys.create({ owner: "ada" });
    expect(await call(app, "/me", bearer(key))).toMatchObject({ status: 200 });
  });
});

describe("invalid options", () => {
  const create = (options: object) => () => new ApiKeys({ store: memoryKeys(), ...options });

  it.each<[string, object]>([
    ["no store", { store: undefined }],
    ["a store without update", { store: { ...memoryKeys(), update: undefined } }],
    ["an empty prefix", { prefix: "" }],
    ["a prefix with a space", { prefix: "s k" }],
    ["a prefix that is a pattern", { prefix: ".*" }],
    ["a long prefix", { prefix: "x".repeat(33) }],
    ["a prefix that is a number", { prefix: 5 }],
    ["a header that is not a token", { header: "X Key" }],
    ["an unknown option", { headers: "X-API-Key" }],
  ])("of the constructor are rejected: %s", (_, options) => {
    expect(create(options)).toThrow(ConfigurationError);
  });

  it.each<[string, object]>([
    ["no owner", { owner: undefined }],
    ["an empty owner", { owner: "" }],
    ["an owner with a NUL", { owner: "a\0" }],
    ["a scope with a space", { scopes: ["a b"] }],
    ["a scope that could end the header's text", { scopes: ['a"'] }],
    ["a scope with a line break", { scopes: ["a\nb"] }],
    ["scopes as text", { scopes: "items:read" }],
    ["101 scopes", { scopes: Array.from({ length: 101 }, (_, index) => `s${index}`) }],
    ["a long name", { name: "x".repeat(256) }],
    ["an invalid date", { expiresAt: new Date(Number.NaN) }],
    ["a date as text", { expiresAt: "2030-01-01" }],
    ["an unknown option", { expires: null }],
  ])("of create are rejected: %s", async (_, options) => {
    const { keys } = createApp();
    await expect(keys.create({ owner: "ada", ...options })).rejects.toThrow(ConfigurationError);
  });

  it.each([{ graceSeconds: -1 }, { graceSeconds: 1.5 }, { graceSeconds: Infinity }, { grace: 5 }])(
    "of rotate are rejected: %j",
    async (options) => {
      const { keys } = createApp();
      const { id } = await keys.create({ owner: "ada" });
      await expect(keys.rotate(id, "ada", options)).rejects.toThrow(ConfigurationError);
    },
  );
});
