/** The sample application with an identity provider, which replaces its login. */
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { Agent } from "./support/agent.js";
import { type IdentityProvider, startIdentityProvider } from "./support/identity-provider.js";
import { type RunningSample, startSample } from "./support/sample.js";

/** A port that is free now. The metadata of the application contain its address, so it must be known before. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe("the sample application with OIDC_ISSUER", () => {
  let provider: IdentityProvider;
  let sample: RunningSample;
  let audience: string;

  beforeAll(async () => {
    provider = await startIdentityProvider();
    const port = await freePort();
    audience = `http://127.0.0.1:${port}`;
    sample = await startSample({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: audience, PORT: String(port) });
  });
  afterAll(async () => {
    await sample?.[Symbol.asyncDispose]();
    await provider?.stop();
  });

  const call = async (path: string, token: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(sample.url + path, { ...init, headers });
    return [response.status, await response.json()] as const;
  };

  it("adds a user at the first login, and keeps the items of each user apart", async () => {
    const token = await provider.issue(audience, "items:read items:write");
    expect(await call("/users/me", token)).toEqual([200, { username: "machine", email: "", disabled: false }]);
    expect(await call("/items", token, { method: "POST", body: '{"name":"pen"}' })).toMatchObject([
      201,
      { name: "pen" },
    ]);
    expect(await call("/items", token)).toMatchObject([200, [{ name: "pen", owner: "machine" }]]);
    const reader = await provider.issue(audience, "items:read");
    expect(await call("/items", reader, { method: "POST", body: '{"name":"pen"}' })).toMatchObject([403, {}]);
    expect(await call("/users/me", await provider.issue("https://other.example"))).toMatchObject([401, {}]);
  });

  it("sends a browser to the provider, and returns no token to its page without a login", async () => {
    const begun = await fetch(`${sample.url}/login?returnTo=/`, { redirect: "manual" });
    const location = new URL(begun.headers.get("location") ?? "");
    expect([begun.status, location.origin]).toEqual([303, provider.issuer]);
    expect(location.searchParams.get("redirect_uri")).toBe(`${audience}/login/callback`);
    const session = await fetch(`${sample.url}/auth/session`);
    expect(await session.json()).toEqual({ hasCookie: false, demo: null, hasProvider: true });
    expect((await fetch(`${sample.url}/auth/refresh`, { method: "POST" })).status).toBe(401);
  });

  it("has no other login, registration or password", async () => {
    for (const [path, method] of [
      ["/auth/token", "POST"],
      ["/users", "POST"],
      ["/users/me/password", "PUT"],
    ] as const) {
      expect((await fetch(sample.url + path, { method })).status).toBe(404);
    }
  });

  it("lets the official client of the Model Context Protocol log in by discovery, and use the items of the user", async () => {
    await using agent = await Agent.connect(`${sample.url}/mcp`, "ada");
    expect(agent.login.searchParams.get("scope")).toMatch(/items:read.*items:write/);
    const { tools } = await agent.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(["who_am_i", "list_items", "add_item", "read_item", "remove_item"]);
    const added = await agent.client.callTool({ name: "add_item", arguments: { newItem: { name: "book" } } });
    expect(added.structuredContent).toMatchObject({ name: "book", owner: "ada" });
  });
});
