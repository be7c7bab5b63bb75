/** Rules of options: addresses and names. @module */
import { expecting, type OptionRule } from "tsgi/internals";

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

/** The option is a string that is not empty, or an array of them. */
export const NAMES: OptionRule = expecting("a string, or a list of strings", (value) => {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every((name) => typeof name === "string" && name !== "");
});
