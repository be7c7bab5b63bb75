/** The security scheme of API keys: `Authorization: Bearer`, or another header. @module */
import { Header, HTTPException, type SecurityScopes, t } from "tsgi";
import { AUTHORIZATION, parseAuthorization } from "tsgi/internals";
import { type SchemeOptions, SecurityScheme } from "tsgi/security";
import type { VerifiedApiKey } from "./store.js";

/** The place of a key in a request. */
function placeOf(header: string) {
  if (header.toLowerCase() === "authorization") {
    return {
      definition: { type: "http", scheme: "bearer" } as const,
      source: AUTHORIZATION,
      parse: (text: string) => parseAuthorization(text, "bearer")?.credentials ?? null,
      challenge: "Bearer",
    };
  }
  return {
    definition: { type: "apiKey", in: "header", name: header } as const,
    source: Header(t.Array(t.String()), { alias: header, default: [], includeInSchema: false }),
    parse: (text: string) => (text === "" ? null : text),
    // RFC 9110 §15.5.2 requires a challenge, and no registered scheme is for keys in another header.
    challenge: "APIKey",
  };
}

/**
 * Creates the scheme, with the errors of RFC 6750 §3.1.
 *
 * @param verify - Returns `null` for a key that is not valid.
 */
export function createScheme<AutoError extends boolean>(
  header: string,
  options: SchemeOptions<AutoError>,
  verify: (key: string) => Promise<VerifiedApiKey | null>,
): SecurityScheme<Promise<VerifiedApiKey>, AutoError> {
  const place = placeOf(header);
  const refuse = (status: 401 | 403, detail: string, parameters: string) =>
    new HTTPException(status, detail, { headers: { "WWW-Authenticate": `${place.challenge} ${parameters}` } });
  const check = async (text: string, { scopes, scopeString }: SecurityScopes): Promise<VerifiedApiKey> => {
    const key = await verify(text);
    if (key === null) throw refuse(401, "Invalid API key", 'error="invalid_token"');
    if (scopes.every((scope) => key.scopes.includes(scope))) return key;
    throw refuse(403, "Not enough scopes", `error="insufficient_scope", scope="${scopeString}"`);
  };
  return new SecurityScheme<Promise<VerifiedApiKey>, AutoError>(options, {
    ...place,
    defaultName: "ApiKey",
    verify: check,
  });
}
