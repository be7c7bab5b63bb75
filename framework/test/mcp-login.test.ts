/** The official client of the Model Context Protocol logs in to an endpoint that it knows only by its address. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mcp } from "@tsgi/mcp";
import { JWTBearer, protectedResource } from "@tsgi/oauth";
import { App, Security, t } from "tsgi";
import { serve } from "tsgi/node";
import { KeptLog } from "./support/kept-log.js";
import { Agent } from "./support/agent.js";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.js";

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
    await using agent = await Agent.connect(endpoint.resource, "ada");
    const { client, login } = agent;
    expect(login.origin).toBe(provider.issuer);
    expect(login.searchParams.get("code_challenge_method")).toBe("S256");
    expect(login.searchParams.get("resource")).toBe(endpoint.resource);
    expect(login.searchParams.get("scope")).toMatch(/\bitems:read\b/);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(tools);
    expect(await client.callTool({ name: "who" })).toMatchObject({ content: [{ type: "text", text: "ada" }] });
  });

  it("is rejected with the address of the metadata, which lists the scopes of the tools", async () => {
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
