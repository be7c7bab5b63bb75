/** Rules of the addresses of other services. @module */
import { expecting, type OptionRule } from "./options.js";

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Tells if an address is encrypted, or does not leave this machine. Attack: on an unencrypted connection, anyone can replace the
 * keys that verify tokens.
 */
export function isSecure(url: unknown): url is string | URL {
  if (!(typeof url === "string" || url instanceof URL) || !URL.canParse(String(url))) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.test(hostname));
}

/** The option identifies an issuer or a resource (OpenID Connect Discovery §3, RFC 9728 §1.2). */
export const IDENTIFIER: OptionRule = expecting(
  "an https: URL without query and fragment (http: only on a loopback address)",
  (value) => typeof value === "string" && isSecure(value) && !/[?#]/.test(value),
);

/** The address of a provider's metadata (OpenID Connect Discovery 1.0 §4). */
export function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}
