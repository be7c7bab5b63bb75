/** The options of `oidcLogin`. @module */
import type { IDToken } from "openid-client";
import {
  assertOptions,
  expecting,
  FLAG,
  FUNCTION,
  IDENTIFIER,
  isRecord,
  isSecure,
  MAX_TIMER_MS,
  type OptionRules,
  whole,
  withDefaults,
} from "tsgi/internals";

/** The claims of an ID token, after it is verified (OpenID Connect Core §2). */
export type IDTokenClaims = IDToken;

/** Options of `oidcLogin`. */
export interface OIDCLoginOptions<Kept extends object = IDTokenClaims> {
  /** The identity provider, exactly as in its metadata: `"https://login.example.com"`. */
  issuer: string;
  /** The id of this application at the provider. */
  clientId: string;
  /** The secret of this application at the provider. Omit it for a public client. */
  clientSecret?: string;
  /** The scopes to request; `openid` is always added. With `offline_access` the user is asked for consent. */
  scopes?: readonly string[];
  /** The address of this application in browsers, without a slash at its end: `"https://shop.example.com"`. */
  baseURL: string;
  /** The path of the login below `baseURL`. Register `<baseURL><prefix>/callback` at the provider. Defaults to `"/login"`. */
  prefix?: string;
  /** Other parameters of the authorization request, such as `audience`. */
  parameters?: Readonly<Record<string, string>>;
  /** Selects the data that the session keeps, and that `user` returns. Defaults to all claims of the ID token. */
  claims?: (all: IDTokenClaims) => Kept;
  /** Adds `POST <prefix>/backchannel-logout`, by which the provider ends logins. Defaults to `false`. */
  backchannelLogout?: boolean;
  /** Milliseconds after which a request to the provider fails. Defaults to 5,000. */
  timeoutMs?: number;
}

/** The options with their defaults. */
export interface Settings extends Required<OIDCLoginOptions<object>> {
  /** The address to which the provider sends the browser back. */
  readonly redirectURI: string;
}

const PLACE = "oidcLogin()";
const NAME = expecting("a text that is not empty", (value) => typeof value === "string" && value !== "");

/** Parameters that protect a login: one that is fixed would remove the protection. */
const OWN_PARAMETERS = new Set(
  `client_id code_challenge code_challenge_method nonce redirect_uri request request_uri response_mode response_type scope state`.split(
    " ",
  ),
);

const OPTIONS: OptionRules<OIDCLoginOptions<object>> = {
  issuer: IDENTIFIER,
  clientId: NAME,
  clientSecret: NAME,
  scopes: expecting("a list of scopes, each without spaces", (value) => {
    return Array.isArray(value) && value.every((scope) => typeof scope === "string" && /^[!#-[\]-~]+$/.test(scope));
  }),
  baseURL: expecting(
    'an https: URL without a slash at its end, such as "https://shop.example.com" (http: only on a loopback address)',
    (value) => {
      return typeof value === "string" && isSecure(value) && /^[^@/]+\/\/[^@/?#]+(?:\/[\w.~-]+)*$/.test(value);
    },
  ),
  prefix: expecting('a path such as "/login"', (value) => typeof value === "string" && /^(?:\/[\w.~-]+)+$/.test(value)),
  parameters: expecting(`texts by name, except for ${[...OWN_PARAMETERS].join(", ")}`, (value) => {
    return (
      isRecord(value) &&
      Object.entries(value).every(([name, text]) => !OWN_PARAMETERS.has(name) && typeof text === "string")
    );
  }),
  claims: FUNCTION,
  backchannelLogout: FLAG,
  timeoutMs: whole(1, MAX_TIMER_MS),
};

const DEFAULTS = {
  clientSecret: "",
  scopes: [],
  prefix: "/login",
  parameters: {},
  claims: (all: IDTokenClaims): object => all,
  backchannelLogout: false,
  timeoutMs: 5_000,
} as const;

/** @throws ConfigurationError for an option that is missing, unknown or cannot work. */
export function settingsOf(options: OIDCLoginOptions<object>): Settings {
  assertOptions(PLACE, options, OPTIONS);
  for (const name of ["issuer", "clientId", "baseURL"] as const) OPTIONS[name](PLACE, name, options[name]);
  const settings = withDefaults(options, DEFAULTS);
  const { baseURL, prefix, scopes, parameters } = settings;
  return {
    ...settings,
    scopes: [...new Set(["openid", ...scopes])],
    // OpenID Connect Core §11: without consent, a provider ignores `offline_access`.
    parameters: scopes.includes("offline_access") ? { prompt: "consent", ...parameters } : parameters,
    redirectURI: `${baseURL}${prefix}/callback`,
  };
}
