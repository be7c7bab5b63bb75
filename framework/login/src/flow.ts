/** The routes of a login: to the provider, back from it, and out again. @module */
import * as client from "openid-client";
import { HTTPException, RedirectResponse, type Request, Response } from "tsgi";
import { clearSession } from "tsgi/middleware";
import { ask, isNavigation, loginFailure, pageOf, report } from "./failure.js";
import { readLogoutToken } from "./logout-token.js";
import type { Logins } from "./logins.js";
import type { Settings } from "./options.js";
import { localPath, PendingLogins } from "./pending.js";
import type { Provider } from "./provider.js";
import type { LoginTokens } from "./tokens.js";

const NO_STORE = { "Cache-Control": "no-store" };

/** Sends a browser on with GET, and without the form of a POST (RFC 9700 §4.12). */
export function redirect(url: string | URL): RedirectResponse {
  return new RedirectResponse(url, { statusCode: 303, headers: NO_STORE });
}

/** The parameters of a callback. One that is repeated is refused: another program may have looked at the other one. */
function callbackOf(request: Request, redirectURI: string): URL {
  const url = new URL(redirectURI);
  for (const name of ["state", "code", "iss", "error"]) {
    const values = request.queryParams.getAll(name);
    if (values.length > 1) throw rejectCallback(request, `The parameter ${name} is repeated`);
    for (const value of values) url.searchParams.set(name, value);
  }
  if (url.searchParams.has("code") || url.searchParams.has("error")) return url;
  throw rejectCallback(request, "The parameter code is missing");
}

function rejectCallback(request: Request, reason: string): HTTPException {
  report(request, 400, new Error(reason));
  return loginFailure(400);
}

/** The parts of a login. */
export interface FlowParts {
  readonly settings: Settings;
  readonly provider: Provider;
  readonly logins: Logins;
  readonly tokens: LoginTokens;
}

type Args = { readonly request: Request };

/** The handlers of the routes. */
export class LoginFlow {
  readonly #parts: FlowParts;
  readonly #pending: PendingLogins;

  constructor(parts: FlowParts) {
    this.#parts = parts;
    this.#pending = new PendingLogins(parts.settings);
  }

  /** Begins a login, and sends the browser to the provider. */
  readonly begin = async ({ request }: Args): Promise<Response> =>
    this.#paged(request, async () => {
      const { settings, provider } = this.#parts;
      const { baseURL, parameters, scopes, redirectURI } = settings;
      const [state, nonce, verifier] = [client.randomState(), client.randomNonce(), client.randomPKCECodeVerifier()];
      const returnTo = localPath(request.queryParams.get("returnTo"), baseURL);
      const challenge = await client.calculatePKCECodeChallenge(verifier);
      const url = await ask(request, async () =>
        client.buildAuthorizationUrl(await provider.configuration(), {
          ...parameters,
          scope: scopes.join(" "),
          redirect_uri: redirectURI,
          state,
          nonce,
          code_challenge: challenge,
          code_challenge_method: "S256",
        }),
      );
      const response = redirect(url);
      this.#pending.add(request, response, state, { nonce, verifier, returnTo });
      return response;
    });

  /** Completes a login with the code that the browser brings back. */
  readonly callback = async ({ request }: Args): Promise<Response> =>
    this.#paged(request, async () => {
      const { settings, provider, logins, tokens } = this.#parts;
      const state = request.queryParams.get("state") ?? "";
      const pending = this.#pending.find(request, state);
      if (pending === null) throw loginFailure(400); // often an old page: no line in the log
      const url = callbackOf(request, settings.redirectURI);
      const { nonce: expectedNonce, verifier: pkceCodeVerifier, returnTo } = pending;
      const startedAt = Date.now(); // a logout from now on ends this login
      const checks = { expectedState: state, expectedNonce, pkceCodeVerifier, idTokenExpected: true };
      const [response, claims] = await ask(request, async () => {
        const granted = await client.authorizationCodeGrant(await provider.configuration(), url, checks);
        const verified = granted.claims();
        if (verified === undefined) throw new Error("The response has no ID token");
        return [granted, verified] as const;
      });
      const previous = await logins.find(request);
      if (previous !== null) await tokens.remove(request, previous);
      logins.start(request, claims, startedAt, await tokens.add(request, response));
      const done = redirect(localPath(returnTo, settings.baseURL));
      this.#pending.remove(done, state);
      return done;
    });

  /** Ends the session, and then the one at the provider (OpenID Connect RP-Initiated Logout 1.0). */
  readonly logout = async ({ request }: Args): Promise<Response> => {
    const { logins, tokens } = this.#parts;
    const login = await logins.find(request);
    const idToken = login === null ? undefined : await tokens.remove(request, login);
    clearSession(request);
    return redirect(await this.#afterLogout(request, idToken));
  };

  /** The provider's address that ends its session. If it does not have one or is unavailable, this application's own. */
  async #afterLogout(request: Request, idToken: string | undefined): Promise<string | URL> {
    const { provider, settings } = this.#parts;
    const home = `${settings.baseURL}/`;
    const parameters = { post_logout_redirect_uri: home, ...(idToken !== undefined && { id_token_hint: idToken }) };
    const leave = async () => {
      const configuration = await provider.configuration();
      const hasLogout = configuration.serverMetadata().end_session_endpoint !== undefined;
      return hasLogout ? client.buildEndSessionUrl(configuration, parameters) : home;
    };
    return ask(request, leave).catch(() => home);
  }

  /** Ends the logins that a logout token of the provider identifies (OpenID Connect Back-Channel Logout 1.0). */
  readonly backchannelLogout = async ({ request }: Args): Promise<Response> => {
    const { provider, settings, logins } = this.#parts;
    const form = await request.form().catch(() => null);
    const [token, ...others] = form?.getAll("logout_token") ?? [];
    const { kind, value } = await readLogoutToken(request, provider, settings, others.length === 0 ? token : undefined);
    await logins.endAll(request, kind, value);
    return new Response(null, { headers: NO_STORE });
  };

  /** Responds to a person with a page if the login fails, and to a program in the format of the App. */
  async #paged(request: Request, work: () => Promise<Response>): Promise<Response> {
    try {
      return await work();
    } catch (error) {
      const { baseURL, prefix } = this.#parts.settings;
      if (error instanceof HTTPException && isNavigation(request)) return pageOf(error, baseURL + prefix);
      throw error;
    }
  }
}
