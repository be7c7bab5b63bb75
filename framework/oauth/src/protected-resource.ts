/** The metadata by which a client finds the authorization servers of a resource (RFC 9728). @module */
import { Router } from "tsgi";
import { assertOptions, expecting, IDENTIFIER, isSecure, LIST, type OptionRules } from "tsgi/internals";

/** The options of `protectedResource`. */
export interface ProtectedResourceOptions {
  /** The URL of the resource, as clients know it: `"https://api.example.com/mcp"`. */
  resource: string;
  /** The issuers whose tokens the resource accepts. */
  authorizationServers: readonly string[];
  /** The scopes that a client can request. */
  scopes?: readonly string[];
}

/** The metadata of a resource. @see RFC 9728 §2 */
export interface ResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly scopes_supported?: readonly string[];
  readonly bearer_methods_supported: readonly string[];
}

const OPTIONS: OptionRules<ProtectedResourceOptions> = {
  resource: IDENTIFIER,
  authorizationServers: expecting("a list of https: URLs", (value) => {
    return Array.isArray(value) && value.length > 0 && value.every(isSecure);
  }),
  scopes: LIST,
};

/** The metadata of a resource, and its path: the well-known path, followed by the path of the resource (RFC 9728 §3.1). */
export function describeResource({ resource, authorizationServers, scopes }: ProtectedResourceOptions) {
  const path = `/.well-known/oauth-protected-resource${new URL(resource).pathname.replace(/\/$/, "")}`;
  const document: ResourceMetadata = {
    resource,
    authorization_servers: authorizationServers,
    ...(scopes && { scopes_supported: scopes }),
    bearer_methods_supported: ["header"],
  };
  return { path, document };
}

/**
 * Makes a router that describes a resource to clients: they find the authorization server by it, and log in without any
 * configuration. Include it in the App that serves the origin of `resource`, without a prefix.
 *
 * @throws ConfigurationError if a URL is not encrypted, and for an unknown option.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { protectedResource } from "@tsgi/oauth";
 *
 * const app = new App();
 * app.includeRouter(
 *   protectedResource({
 *     resource: "https://api.example.com/items",
 *     authorizationServers: ["https://login.example.com"],
 *     scopes: ["items:read"],
 *   }),
 * );
 * ```
 * @see RFC 9728
 */
export function protectedResource(options: ProtectedResourceOptions): Router {
  assertOptions("protectedResource()", options, OPTIONS);
  OPTIONS.resource("protectedResource()", "resource", options.resource);
  OPTIONS.authorizationServers("protectedResource()", "authorizationServers", options.authorizationServers);
  const router = new Router({ includeInSchema: false });
  const { path, document } = describeResource(options);
  router.get(path, async () => document);
  return router;
}
