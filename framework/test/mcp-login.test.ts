/** The official client of the Model Context Protocol logs in to an endpoint that it knows only by its address. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { mcp } from "@tsgi/mcp";
import { JWTBearer, protectedResource } from "@tsgi/oauth";
import { App, Security, t } from "tsgi";
import { serve } from "tsgi/node";
import { KeptLog } from "./support/kept-log.js";
import { type IdentityProvider, logIn, startIdentityProvider } from "./support/identity-provider.js";

const REDIRECT = "http://127.0.0.1:1/callback";

/** An agent on the machine of a user, with a browser that is sent to the login. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "agent",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  /** The address of the login. */
  login: URL | undefined;
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  clientInformation = () => this.#client;
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens);
  redirectToAuthorization = (url: URL) => void (this.login = url);
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
  codeVerifier = () => this.#verifier;
  saveDiscoveryState = (state: OAuthDiscoveryState) => void (this.#discovery = state);
  discoveryState = () => this.#discovery;
}

describe("an agent that knows only the address of an endpoint", () => {
  let provider: IdentityProvider;
  beforeAll(async () => {
    provider = await startIdentityProvider();
  });
  afterAll(() => provider.stop());

  /** Serves tools. Its address, and so the resource, is known once the server listens. */
  async function start(extend: (app: App, scheme: JWTBearer, resource: string) => void) {
    const served = { app: new App({ logger: new KeptLog() }) };
    const server = await serve(async (scope, receive, send) => served.app(scope, receive, send), {
      port: 0,
      signals: false,
      shutdownTimeoutMs: 1_000,
      logger: new KeptLog(),
    });
    const resource = new URL("/mcp", server.url).href;
    const scheme = new JWTBearer({ issuer: provider.issuer, audience: resource, resource });
    const app = new App({ logger: new KeptLog() });
    const read = Security(scheme, { scopes: ["items:read"] });
    app.get(
      "/who",
      { params: { claims: read }, returns: t.String(), mcp: { name: "who" } },
      async ({ claims }) => claims.sub ?? "",
    );
    app.delete(
      "/all",
      { dependencies: [Security(scheme, { scopes: ["items:write"] })], mcp: { name: "remove_all" } },
      async () => null,
    );
    extend(app, scheme, resource);
    served.app = app;
    return { resource, [Symbol.asyncDispose]: () => server.close() };
  }

  it.each<[string, string[], (app: App, scheme: JWTBearer, resource: string) => void]>([
    ["of the endpoint", ["who", "remove_all"], (app, auth) => app.includeRouter(mcp(app, { auth }))],
    [
      "of its own, before the endpoint",
      ["who"],
      (app, auth, resource) => {
        app.includeRouter(
          protectedResource({ resource, authorizationServers: [provider.issuer], scopes: ["items:read"] }),
        );
        app.includeRouter(mcp(app, { auth }));
      },
    ],
    [
      "of its own, after the endpoint",
      ["who"],
      (app, auth, resource) => {
        app.includeRouter(mcp(app, { auth }));
        app.includeRouter(
          protectedResource({ resource, authorizationServers: [provider.issuer], scopes: ["items:read"] }),
        );
      },
    ],
  ])("registers, logs in with PKCE, and calls a tool as the user, by metadata %s", async (_, tools, extend) => {
    await using endpoint = await start(extend);
    const agent = new Agent();
    const connect = async () => {
      const transport = new StreamableHTTPClientTransport(new URL(endpoint.resource), { authProvider: agent });
      const client = new Client({ name: "agent", version: "1.0.0" });
      return { transport, client, connected: client.connect(transport) };
    };
    const first = await connect();
    await expect(first.connected).rejects.toBeInstanceOf(UnauthorizedError);
    const login = agent.login as URL;
    expect(login.origin).toBe(provider.issuer);
    expect(login.searchParams.get("code_challenge_method")).toBe("S256");
    expect(login.searchParams.get("resource")).toBe(endpoint.resource);
    expect(login.searchParams.get("scope")).toMatch(/\bitems:read\b/);
    const callback = await logIn(login, "ada");
    await first.transport.finishAuth(callback.searchParams);
    const { client, connected } = await connect();
    await connected;
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(tools);
    expect(await client.callTool({ name: "who" })).toMatchObject({ content: [{ type: "text", text: "ada" }] });
    await client.close();
  });

  it("is refused with the address of the metadata, which lists the scopes of the tools", async () => {
    await using endpoint = await start((app, auth) => {
      app.includeRouter(mcp(app, { auth }));
      app.includeRouter(mcp(app, { auth, path: "/second" }));
    });
    const response = await fetch(endpoint.resource, { method: "POST" });
    const [, url = ""] = /^Bearer resource_metadata="(.+)"$/.exec(response.headers.get("www-authenticate") ?? "") ?? [];
    expect([response.status, new URL(url).pathname]).toEqual([401, "/.well-known/oauth-protected-resource/mcp"]);
    expect(await (await fetch(url)).json()).toEqual({
      resource: endpoint.resource,
      authorization_servers: [provider.issuer],
      bearer_methods_supported: ["header"],
      scopes_supported: ["items:read", "items:write"],
    });
    expect((await fetch(`${url}/other`)).status).toBe(404);
  });
});
