import { createHash } from "node:crypto";

import { Redis } from "ioredis";
import { JWTBearer } from "@tsgi/oauth";
import { oidcLogin } from "@tsgi/login";
import { redisStore } from "@tsgi/redis";
import { memoryStore, sessions } from "tsgi/middleware";

import { readProvider, readSettings } from "../config.js";

/** The identity provider, if `OIDC_ISSUER` is set. */
export const provider = readProvider();

/** Verifies the tokens of the provider; `null` without one. */
export const bearer =
  provider && new JWTBearer({ issuer: provider.issuer, audience: provider.audience, resource: provider.audience });

/** The login of the page at the provider. Programs and agents send access tokens instead. */
export const login =
  provider &&
  oidcLogin({
    issuer: provider.issuer,
    clientId: provider.clientId,
    ...(provider.clientSecret !== undefined && { clientSecret: provider.clientSecret }),
    baseURL: provider.audience.replace(/\/$/, ""),
    scopes: ["items:read", "items:write"],
    parameters: { resource: provider.audience },
  });

/** The sessions of the page: in Redis for all replicas; without it, in this process. */
export function createSessions() {
  const { redisUrl } = readSettings();
  const redis = redisUrl === undefined ? null : new Redis(redisUrl, { lazyConnect: true });
  const store = redis === null ? memoryStore() : redisStore(redis, { prefix: "sessions:" });
  const secure = provider?.audience.startsWith("https:") ?? true;
  return { middleware: sessions({ store, secure }), close: () => redis?.disconnect() };
}

/** The addresses to which the page may send forms, for its policy: the logout continues at the provider. */
export const formTargets = provider === null ? "'self'" : `'self' ${new URL(provider.issuer).origin}`;

/**
 * The user name of a subject of the provider: the subject itself if it is a name in lower case, else its hash. Names are
 * case-insensitive here and subjects are not, so two subjects never share a name.
 */
export function usernameOf(subject: string): string {
  const isName = /^(?!user-|constructor$)[a-z0-9][a-z0-9._@+-]{0,63}$/.test(subject);
  return isName ? subject : `user-${createHash("sha256").update(subject).digest("hex").slice(0, 40)}`;
}
