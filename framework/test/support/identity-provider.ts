/** A certified identity provider on loopback, in a separate process, and a user who logs in. @module */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

/** A client that is registered at the provider. */
interface RegisteredClient {
  readonly client_id: string;
  readonly redirect_uris: readonly string[];
  /** Other metadata of a client, such as its secret (OpenID Connect Dynamic Client Registration §2). */
  readonly [name: string]: unknown;
}

/** The provider as tests use it. */
export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Gives the provider another key instead of the current one. */
  rotate(): Promise<void>;
  /** Stops the provider. */
  stop(): Promise<void>;
  /** Requests an access token for a resource, as a program does (RFC 6749 §4.4, RFC 8707). */
  issue(resource: string, scope?: string): Promise<string>;
}

/**
 * Starts a provider. Its clients use the authorization code flow with PKCE; they are public unless they have a secret. Others can
 * register themselves.
 */
export async function startIdentityProvider(
  options: { clients?: readonly RegisteredClient[]; defaultResource?: string } = {},
): Promise<IdentityProvider> {
  const { clients = [], defaultResource } = options;
  const registered = clients.map((client) =>
    "client_secret" in client ? client : { ...client, token_endpoint_auth_method: "none" },
  );
  const child = fork(path.join(import.meta.dirname, "identity-provider-process.js"), {
    env: {
      PATH: process.env["PATH"],
      CLIENTS: JSON.stringify(registered),
      ...(defaultResource !== undefined && { DEFAULT_RESOURCE: defaultResource }),
    },
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const closed = once(child, "close");
  const ready = async () => {
    const ended = closed.then(() => {
      throw new Error("The identity provider has ended.");
    });
    const [message] = (await Promise.race([once(child, "message"), ended])) as [{ issuer: string }];
    return message.issuer;
  };
  const issuer = await ready();
  const stop = async () => {
    child.kill();
    await closed;
  };
  return {
    issuer,
    stop,
    [Symbol.asyncDispose]: stop,
    rotate: async () => {
      const rotated = ready();
      child.send("rotate");
      await rotated;
    },
    issue: async (resource, scope = "items:read") => {
      const form = { grant_type: "client_credentials", resource, scope };
      const authorization = `Basic ${btoa("machine:a-secret-of-the-tests-with-32-bytes")}`;
      const init = { method: "POST", headers: { authorization }, body: new URLSearchParams(form) };
      const response = await fetch(`${issuer}/token`, init);
      const { access_token: token } = (await response.json()) as { access_token?: string };
      if (token === undefined) throw new Error(`The identity provider responded with ${response.status}.`);
      return token;
    },
  };
}

/**
 * Logs a user in, and consents, as a browser does that is sent to the authorization endpoint.
 *
 * @returns The address to which the provider sends the browser in the end.
 */
export async function logIn(authorization: URL, login: string): Promise<URL> {
  const { origin } = authorization;
  const cookies = new Map<string, string>();
  const send = async (url: URL, body: URLSearchParams | null = null) => {
    const cookie = Array.from(cookies, (pair) => pair.join("=")).join("; ");
    const init = { method: body === null ? "GET" : "POST", body, headers: { cookie }, redirect: "manual" } as const;
    const response = await fetch(url, init);
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  };
  let url = authorization;
  let response = await send(url);
  while (url.origin === origin) {
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url);
      if (url.origin === origin) response = await send(url);
      continue;
    }
    const page = await response.text();
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(page) ?? [];
    if (prompt === undefined) throw new Error(`The identity provider shows ${response.status}: ${page}`);
    const [, action = ""] = /action="([^"]+)"/.exec(page) ?? [];
    url = new URL(action, url);
    response = await send(url, new URLSearchParams({ prompt, login, password: "any" }));
  }
  return url;
}
