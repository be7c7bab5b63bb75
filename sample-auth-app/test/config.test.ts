import { describe, expect, it } from "@jest/globals";

import { ConfigError, INSECURE_SECRET_KEY, loadConfig, weaknessOf } from "../src/config.js";

const KEY_OF_32_BYTES = "0123456789abcdef0123456789abcdef";

describe("the configuration", () => {
  it("has a default for everything in development", () => {
    expect(loadConfig({})).toMatchObject({
      environment: "development",
      host: "127.0.0.1",
      port: 8000,
      database: { url: "file:./dev.db", waitMs: 6_000, poolSize: 10 },
      redisUrl: null,
      trustedProxies: [],
      secretKey: INSECURE_SECRET_KEY,
      passwordHashCost: { memoryKiB: 19_456, passes: 2, lanes: 1 },
    });
  });

  it("takes each value from the environment", () => {
    const env = {
      NODE_ENV: "production",
      HOST: "0.0.0.0",
      PORT: "8001",
      DATABASE_URL: "postgresql://app:secret@db.example/app",
      DATABASE_POOL_SIZE: "20",
      REDIS_URL: "redis://cache.example:6379",
      TRUSTED_PROXIES: "10.0.0.0/8, ::1",
      SECRET_KEY: KEY_OF_32_BYTES,
    };
    expect(loadConfig(env)).toMatchObject({
      environment: "production",
      host: "0.0.0.0",
      port: 8001,
      database: { url: "postgresql://app:secret@db.example/app", waitMs: 2_000, poolSize: 20 },
      redisUrl: "redis://cache.example:6379",
      trustedProxies: ["10.0.0.0/8", "::1"],
      secretKey: KEY_OF_32_BYTES,
    });
  });

  it("reads an empty value as none", () => {
    expect(loadConfig({ PORT: "", HOST: "", SECRET_KEY: "" })).toMatchObject({ port: 8000, host: "127.0.0.1" });
  });

  it.each([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["PORT", "8e3"],
    ["PORT", "0x50"],
    ["PORT", " 80"],
    ["HOST", "two words"],
    ["DATABASE_URL", "mysql://localhost/test"],
    ["DATABASE_URL", "postgres://localhost"],
    ["DATABASE_POOL_SIZE", "0"],
    ["REDIS_URL", "localhost:6379"],
    ["DATABASE_URL", "file:"],
    ["DATABASE_URL", "file::memory:"],
    ["NODE_ENV", "staging"],
  ])("refuses %s=%j with one line that names both", (name, value) => {
    const load = () => loadConfig({ [name]: value });
    expect(load).toThrow(ConfigError);
    expect(load).toThrow(new RegExp(`^${name}: expected .+, got "${value}"$`));
  });

  it.each([
    ["no key", { SECRET_KEY: undefined }],
    ["an empty key", { SECRET_KEY: "" }],
    ["the placeholder", { SECRET_KEY: INSECURE_SECRET_KEY }],
    ["a key of 31 bytes", { SECRET_KEY: KEY_OF_32_BYTES.slice(1) }],
  ])("refuses %s in production, without showing it", (_, env) => {
    const load = () => loadConfig({ NODE_ENV: "production", ...env });
    expect(load).toThrow(/^SECRET_KEY: production needs a random key of at least 32 bytes[^\n]+$/);
    expect(load).not.toThrow(env.SECRET_KEY || "undefined");
  });

  it("shows no password of a URL that is wrong", () => {
    const load = () => loadConfig({ DATABASE_URL: "mysql://app:se:cret@p@db.example/app" });
    expect(load).toThrow(/got "mysql:\/\/app:\*\*\*@db\.example\/app"$/);
  });

  it("counts the bytes of a key, not its characters", () => {
    expect(loadConfig({ NODE_ENV: "production", SECRET_KEY: "é".repeat(16) }).secretKey).toHaveLength(16);
  });

  it("names what is weak about a key that development bears", () => {
    expect(weaknessOf(INSECURE_SECRET_KEY)).toMatch(/insecure placeholder.* make a key with: openssl rand -base64 48$/);
    expect(weaknessOf("short")).toMatch(/less than 32 bytes.* Make one with: openssl rand -base64 48$/);
    expect(weaknessOf(KEY_OF_32_BYTES)).toBeNull();
  });
});
