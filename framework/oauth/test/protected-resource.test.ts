import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError } from "tsgi";
import { protectedResource, type ProtectedResourceOptions } from "../src/index.js";

const authorizationServers = ["https://login.example.com"];

describe("protectedResource", () => {
  it.each([
    ["https://api.example.com", "/.well-known/oauth-protected-resource"],
    ["https://api.example.com/", "/.well-known/oauth-protected-resource"],
    ["https://api.example.com/mcp", "/.well-known/oauth-protected-resource/mcp"],
    ["https://api.example.com/a/b", "/.well-known/oauth-protected-resource/a/b"],
    ["http://127.0.0.1:8000/mcp", "/.well-known/oauth-protected-resource/mcp"],
  ])("describes %s at %s (RFC 9728 §3.1)", async (resource, path) => {
    const app = new App();
    app.includeRouter(protectedResource({ resource, authorizationServers, scopes: ["items:read"] }));
    const response = await app.fetch(new Request(`http://localhost${path}`));
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({
      resource,
      authorization_servers: authorizationServers,
      scopes_supported: ["items:read"],
      bearer_methods_supported: ["header"],
    });
    expect(app.openapi().paths).toEqual({});
  });

  it.each<[string, object, RegExp]>([
    ["no resource", { authorizationServers }, /resource should be/],
    ["a resource with a fragment", { resource: "https://a.example/#x", authorizationServers }, /resource should be/],
    ["a resource without encryption", { resource: "http://a.example/", authorizationServers }, /resource should be/],
    ["no servers", { resource: "https://a.example", authorizationServers: [] }, /authorizationServers should be/],
    [
      "a server without encryption",
      { resource: "https://a.example", authorizationServers: ["http://b.example"] },
      /a list of https: URLs/,
    ],
    ["one scope", { resource: "https://a.example", authorizationServers, scopes: "read" }, /scopes should be a list/],
  ])("does not accept %s", (_, options, message) => {
    const create = () => protectedResource(options as ProtectedResourceOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });
});
