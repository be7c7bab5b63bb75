import { inspect } from "node:util";

import { describe, expect, it } from "@jest/globals";
import { SettingsError } from "tsgi/settings";

import { INSECURE_SECRET_KEY, readSettings } from "../../src/config.js";
import { createPasswords } from "../../src/database.js";
import { cases } from "./support/cases.js";

const KEY_OF_32_BYTES = "0123456789abcdef0123456789abcdef";

describe("the configuration", () => {
  it("has a default for everything in development", async () => {
    expect({ ...readSettings({}) }).toEqual({
      nodeEnv: "development",
      host: "127.0.0.1",
      port: 8000,
      databaseUrl: "file:./dev.db",
      databasePoolSize: 10,
      trustedProxies: [],
      mailFrom: "noreply@localhost",
      secretKey: INSECURE_SECRET_KEY,
    });
    expect(await (await createPasswords()).hash("correct horse")).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
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
      CLIENT_ADDRESS_HEADER: "CF-Connecting-IP",
      SECRET_KEY: KEY_OF_32_BYTES,
    };
    expect({ ...readSettings(env) }).toEqual({
      nodeEnv: "production",
      host: "0.0.0.0",
      port: 8001,
      databaseUrl: "postgresql://app:secret@db.example/app",
      databasePoolSize: 20,
      redisUrl: "redis://cache.example:6379",
      trustedProxies: ["10.0.0.0/8", "::1"],
      clientAddressHeader: "CF-Connecting-IP",
      mailFrom: "noreply@localhost",
      secretKey: KEY_OF_32_BYTES,
    });
  });

  it("shows no password of a URL, valid or not", () => {
    const env = {
      DATABASE_URL: "postgresql://app:hunter2@db.example/app",
      REDIS_URL: "redis://:hunter2@cache.example",
    };
    const settings = readSettings(env);
    expect([JSON.stringify(settings), inspect(settings)].join()).not.toContain("hunter2");
    const wrong = { DATABASE_URL: "mysql://app:hunter2@db.example/app", REDIS_URL: "cache.example:hunter2" };
    let error: unknown;
    try {
      readSettings(wrong);
    } catch (thrown) {
      error = thrown;
    }
    expect(inspect(error)).toMatch(/DATABASE_URL[^]*REDIS_URL/);
    expect(inspect(error)).not.toContain("hunter2");
  });

  cases([
    ["PORT", "http"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["PORT", "80.5"],
    ["HOST", "two words"],
    ["DATABASE_URL", "mysql://localhost/test"],
    ["DATABASE_URL", "postgres://localhost"],
    ["DATABASE_URL", "file:"],
    ["DATABASE_URL", "file::memory:"],
    ["DATABASE_POOL_SIZE", "0"],
    ["REDIS_URL", "localhost:6379"],
    ["NODE_ENV", "staging"],
  ])("rejects a wrong value, with its variable", (name, value) => {
    const load = () => readSettings({ [name]: value });
    expect(load).toThrow(SettingsError);
    expect(load).toThrow(new RegExp(`\n  ${name}: [^\n]+$`));
  });

  it("rejects a short key in development too", () => {
    expect(() => readSettings({ SECRET_KEY: KEY_OF_32_BYTES.slice(1) })).toThrow(
      /SECRET_KEY: it is shorter than 32 bytes/,
    );
  });

  cases([
    ["no key", { SECRET_KEY: undefined }],
    ["an empty key", { SECRET_KEY: "" }],
    ["the placeholder", { SECRET_KEY: INSECURE_SECRET_KEY }],
    ["a key of 31 bytes", { SECRET_KEY: KEY_OF_32_BYTES.slice(1) }],
  ])("rejects a weak key in production, without showing it", (_, env) => {
    const load = () => readSettings({ NODE_ENV: "production", ...env });
    expect(load).toThrow(/SECRET_KEY: it is [^\n]+ openssl rand -base64 48$/);
    expect(load).not.toThrow(env.SECRET_KEY || "undefined");
  });
});
