import { Depends, t } from "tsgi";
import { loadSettings, secret, SettingsError } from "tsgi/settings";

/**
 * Signs tokens if `SECRET_KEY` is not set. Everyone who has read this file can forge a token with it, so it serves
 * development only: production refuses it.
 */
export const INSECURE_SECRET_KEY = "insecure-development-key-do-not-deploy";

/** RFC 7518 §3.2: a key for HS256 has at least the size of the hash's output. */
const MIN_SECRET_KEY_BYTES = 32;

const DEVELOPMENT_DATABASE = "file:./dev.db"; // with sqlite
// without sqlite: const DEVELOPMENT_DATABASE = "postgresql://postgres:postgres@127.0.0.1:5432/sample_auth_app";
const DATABASE_URL = "^(?:file:(?!.*:memory:).+|postgres(?:ql)?://[^/\\s]+/\\S+)$"; // with sqlite postgresql
// without postgresql: const DATABASE_URL = "^file:(?!.*:memory:).+$";
// without sqlite: const DATABASE_URL = "^postgres(?:ql)?://[^/\\s]+/\\S+$";

/** The settings of a running application. `databaseUrl` is read from `DATABASE_URL`, and so on. */
const Settings = t.Object({
  nodeEnv: t.Union([t.Literal("development"), t.Literal("test"), t.Literal("production")], { default: "development" }),
  host: t.String({ default: "127.0.0.1", pattern: "^\\S+$" }),
  port: t.Integer({ default: 8000, minimum: 0, maximum: 65_535 }),
  databaseUrl: secret(t.String({ default: DEVELOPMENT_DATABASE, pattern: DATABASE_URL })),
  databasePoolSize: t.Integer({ default: 10, minimum: 1, maximum: 1_000 }), // with postgresql
  redisUrl: t.Optional(secret(t.String({ pattern: "^(?:rediss?:/)?/\\S+$" }))), // with redis
  smtpUrl: t.Optional(secret(t.String({ pattern: "^smtps?://\\S+$" }))), // with mail
  mailFrom: t.String({ default: "noreply@localhost" }), // with mail
  trustedProxies: t.Array(t.String(), { default: [] }),
  clientAddressHeader: t.Optional(t.String()),
  secretKey: secret(t.String({ default: INSECURE_SECRET_KEY })),
});

export type Settings = ReturnType<typeof readSettings>;

/** @throws SettingsError that names every variable which is wrong */
export function readSettings(env: Readonly<Record<string, string | undefined>> = process.env) {
  const settings = loadSettings(Settings, { env });
  const message = weaknessOf(settings.secretKey);
  const isTolerated = settings.nodeEnv !== "production" && settings.secretKey === INSECURE_SECRET_KEY;
  if (message !== null && !isTolerated) {
    throw new SettingsError([{ variable: "SECRET_KEY", message }]);
  }
  return settings;
}

export const getSettings = async () => readSettings();
export const settings = Depends(getSettings, { scope: "app" });

/** Returns the problem of a key that only development accepts, or `null`. */
export function weaknessOf(secretKey: string): string | null {
  if (secretKey !== INSECURE_SECRET_KEY && Buffer.byteLength(secretKey) >= MIN_SECRET_KEY_BYTES) {
    return null;
  }
  return (
    `it is ${secretKey === INSECURE_SECRET_KEY ? "the insecure placeholder" : "shorter than 32 bytes"}, and anyone can ` +
    "forge tokens. Before you deploy, make a random one: openssl rand -base64 48"
  );
}
