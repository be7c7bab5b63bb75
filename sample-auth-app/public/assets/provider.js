/**
 * The login at an identity provider: the authorization code flow with PKCE (RFC 7636). Its secret is kept in the session
 * storage of this tab until the provider sends the browser back.
 */

const KEY = "login";
const SCOPES = "items:read items:write";

const base64url = (bytes) =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** The redirect URI that is registered at the provider. */
const redirectUri = () => `${location.origin}/`;

async function endpointsOf({ issuer }) {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
  const metadata = await response.json();
  if (metadata.issuer !== issuer) throw new Error("The metadata is from another issuer.");
  return metadata;
}

/** Sends the browser to the login page of the provider. */
export async function startLogin(provider) {
  const { authorization_endpoint: endpoint } = await endpointsOf(provider);
  const [state, verifier] = [random(), random()];
  sessionStorage.setItem(KEY, JSON.stringify({ state, verifier }));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  const url = new URL(endpoint);
  url.search = new URLSearchParams({
    response_type: "code",
    client_id: provider.clientId,
    redirect_uri: redirectUri(),
    scope: SCOPES,
    resource: provider.audience,
    state,
    code_challenge: base64url(new Uint8Array(hash)),
    code_challenge_method: "S256",
  });
  location.assign(url);
}

/** Returns the access token if the provider has just sent the browser back; `null` otherwise. */
export async function finishLogin(provider) {
  const answer = new URLSearchParams(location.search);
  const started = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  if (!answer.has("state")) return null;
  sessionStorage.removeItem(KEY);
  history.replaceState(null, "", "/");
  // RFC 6749 §10.12 and RFC 9207 §2.4: a response to another login, or of another provider.
  if (answer.get("state") !== started?.state || (answer.get("iss") ?? provider.issuer) !== provider.issuer) return null;
  const { token_endpoint: endpoint } = await endpointsOf(provider);
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    client_id: provider.clientId,
    redirect_uri: redirectUri(),
    resource: provider.audience,
    code: answer.get("code") ?? "",
    code_verifier: started.verifier,
  });
  const response = await fetch(endpoint, { method: "POST", body });
  return response.ok ? (await response.json()).access_token : null;
}
