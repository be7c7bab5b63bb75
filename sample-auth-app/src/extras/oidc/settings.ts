import { t } from "tsgi";
import { loadSettings, secret } from "tsgi/settings";

/** The settings of the identity provider: `OIDC_ISSUER`, and so on. */
const ProviderSettings = t.Object({
  issuer: t.Optional(t.String({ pattern: "^https?://[^?#\\s]+$" })),
  audience: t.String({ default: "http://127.0.0.1:8000", pattern: "^https?://[^?#\\s]+$" }),
  clientId: t.String({ default: "sample-auth-app" }),
  clientSecret: t.Optional(secret(t.String())),
});

/** The provider, or `null`. It decides which routes exist, so it is read before the other settings. */
export function readProvider(env: Readonly<Record<string, string | undefined>> = process.env) {
  const { issuer, ...client } = loadSettings(ProviderSettings, { env, prefix: "OIDC_" });
  return issuer === undefined ? null : { issuer, ...client };
}
