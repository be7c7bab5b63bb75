import { createHash } from "node:crypto";

import { JWTBearer } from "@tsgi/oauth";

import { readProvider } from "../config.js";

/** The identity provider, if `OIDC_ISSUER` is set. */
export const provider = readProvider();

/** Verifies the tokens of the provider; `null` without one. */
export const bearer =
  provider && new JWTBearer({ issuer: provider.issuer, audience: provider.audience, resource: provider.audience });

/** The origins that the page may send requests to, for its policy. */
export const connectSources = provider === null ? "'self'" : `'self' ${new URL(provider.issuer).origin}`;

/**
 * The user name of a subject of the provider: the subject itself if it is a name in lower case, else its hash. Names are
 * case-insensitive here and subjects are not, so two subjects never share a name.
 */
export function usernameOf(subject: string): string {
  const isName = /^(?!user-|constructor$)[a-z0-9][a-z0-9._@+-]{0,63}$/.test(subject);
  return isName ? subject : `user-${createHash("sha256").update(subject).digest("hex").slice(0, 40)}`;
}
