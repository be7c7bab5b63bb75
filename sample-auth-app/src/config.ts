import { Type as t, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

import type { DatabaseConfig } from "./database/driver.js";

/**
 * Signs tokens where no `SECRET_KEY` is set. Everyone who has read this file can forge a token with it, so it serves
 * development only: production refuses it.
 */
export const INSECURE_SECRET_KEY = "insecure-development-key-do-not-deploy";

/** RFC 7518 §3.2: a key for HS256 has at least the size of the hash's output. */
const MIN_SECRET_KEY_BYTES = 32;

const MAKE_SECRET_KEY = "openssl rand -base64 48";

/** What is read from the environment. A description says what is expected, for the message about a wrong value. */
const Environment = t.Object({
  NODE_ENV: t.Union([t.Literal("development"), t.Literal("test"), t.Literal("production")], {
    default: "development",
    description: "development, test or production",
  }),
  HOST: t.String({ default: "127.0.0.1", pattern: "^\\S+$", description: "a host name or an address" }),
  PORT: t.Integer({ default: 8000, minimum: 0, maximum: 65_535, description: "a number from 0 to 65535" }),
  DATABASE_URL: t.String({
    default: "file:./dev.db",
    pattern: "^(?:file:(?!.*:memory:).+|postgres(?:ql)?://[^/\\s]+/\\S+)$",
    description: "file: and the path of an SQLite file, or postgresql://user:password@host/database",
  }),
  DATABASE_POOL_SIZE: t.Integer({ default: 10, minimum: 1, maximum: 1_000, description: "a number from 1 to 1000" }),
  REDIS_URL: t.Optional(
    t.String({ pattern: "^(?:rediss?:/)?/\\S+$", description: "redis://host:6379, or the path of a socket" }),
  ),
  TRUSTED_PROXIES: t.String({
    default: "",
    description: "a list with commas between its members", // which the server checks
  }),
  SECRET_KEY: t.String({ default: INSECURE_SECRET_KEY, description: "text" }),
});

type Name = keyof typeof Environment.properties;

/** How hard a password is to hash: RFC 9106's parameters. */
export interface PasswordHashCost {
  /** Memory in KiB. */
  memoryKiB: number;
  /** How often that memory is passed over. */
  passes: number;
  /** Degree of parallelism. */
  lanes: number;
}

/** Everything that differs between one running application and another. */
export interface Config {
  environment: Static<typeof Environment>["NODE_ENV"];
  host: string;
  /** 0 takes any free port. */
  port: number;
  database: DatabaseConfig;
  /** Where the counts of the login throttle are shared; `null` keeps them in this process. */
  redisUrl: string | null;
  /** The proxies whose `X-Forwarded-*` headers are believed, as `serve` takes them. */
  trustedProxies: readonly string[];
  secretKey: string;
  passwordHashCost: PasswordHashCost;
}

/** A variable of the environment is missing or wrong; the message names it on one line. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/**
 * Reads the configuration from environment variables; one that is not set, or empty, has its default.
 *
 * @throws ConfigError for the first value that does not fit
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.entries(Environment.properties).map(
    ([name, schema]) => [name, parse(env[name], schema)] as const,
  );
  const values = Object.fromEntries(given.filter(([, value]) => value !== undefined));
  if (!Value.Check(Environment, values)) {
    const name = Value.Errors(Environment, values).First()?.path.slice(1) as Name; // a property of Environment: all others have been left behind
    throw unexpected(name, env);
  }
  if (values.NODE_ENV === "production") {
    checkProductionKey(values.SECRET_KEY);
  }
  return {
    environment: values.NODE_ENV,
    host: values.HOST,
    port: values.PORT,
    database: {
      url: values.DATABASE_URL,
      // A lock of SQLite's passes. Of a server that is silent nobody knows, so who asks is told sooner.
      waitMs: values.DATABASE_URL.startsWith("file:") ? 6_000 : 2_000,
      poolSize: values.DATABASE_POOL_SIZE,
    },
    redisUrl: values.REDIS_URL ?? null,
    trustedProxies: values.TRUSTED_PROXIES.split(/[, ]+/).filter(Boolean),
    secretKey: values.SECRET_KEY,
    // The least that OWASP's Password Storage Cheat Sheet names for argon2id: about 20 ms.
    passwordHashCost: { memoryKiB: 19_456, passes: 2, lanes: 1 },
  };
}

function unexpected(name: Name, env: Readonly<Record<string, string | undefined>>): ConfigError {
  const value = JSON.stringify(withoutPassword(env[name] ?? ""));
  return new ConfigError(`${name}: expected ${Environment.properties[name].description}, got ${value}`);
}

/** A URL as it may be shown: what stands between the user and the host is the password. */
export function withoutPassword(url: string): string {
  return url.replace(/(:\/\/[^/\s:@]*:).*@/, "$1***@");
}

/** Says what is wrong with a key that development bears, or `null`. */
export function weaknessOf(secretKey: string): string | null {
  if (secretKey === INSECURE_SECRET_KEY) {
    return (
      "SECRET_KEY is not set: tokens are signed with the insecure placeholder, and anyone can forge them. " +
      `This is enough on your own machine; before you deploy, make a key with: ${MAKE_SECRET_KEY}`
    );
  }
  if (Buffer.byteLength(secretKey) < MIN_SECRET_KEY_BYTES) {
    return `SECRET_KEY has less than ${MIN_SECRET_KEY_BYTES} bytes: it can be guessed. Make one with: ${MAKE_SECRET_KEY}`;
  }
  return null;
}

function checkProductionKey(secretKey: string): void {
  if (weaknessOf(secretKey) !== null) {
    throw new ConfigError(
      `SECRET_KEY: production needs a random key of at least ${MIN_SECRET_KEY_BYTES} bytes, not the placeholder; ` +
        `make one with: ${MAKE_SECRET_KEY}`,
    );
  }
}

/** Text becomes a number only where the schema wants one and the text is nothing but digits: `8e3` stays wrong. */
function parse(text: string | undefined, schema: { type?: string; default?: unknown }): unknown {
  if (text === undefined || text === "") {
    return schema.default;
  }
  return schema.type === "integer" && /^\d{1,9}$/.test(text) ? Number(text) : text;
}
