/** The login to an endpoint: the metadata by which an agent finds the authorization server. @module */
import type { App } from "tsgi";
import { type DependencyStep, endpointsOf, mountPublic } from "tsgi/internals";
import type { SecurityScheme } from "tsgi/security";
import { fromFetchHandler } from "tsgi/web";

/** A scheme that can describe the resource it protects, as `JWTBearer` of `@tsgi/oauth` does (RFC 9728). */
export type EndpointScheme = SecurityScheme & {
  readonly resourceMetadata?: { readonly path: string; readonly document: object } | null;
};

/** The paths at which each application serves metadata. Several endpoints can have one scheme. */
const served = new WeakMap<App, Set<string>>();

/**
 * Serves the metadata of a scheme that has some. It is mounted, because a route takes precedence over a mount: the application
 * may include its own `protectedResource()`, before or after the endpoint.
 */
export function serveMetadata(app: App, { resourceMetadata }: EndpointScheme): void {
  if (!resourceMetadata) return;
  const { path, document } = resourceMetadata;
  const paths = served.get(app) ?? new Set();
  served.set(app, paths);
  if (paths.has(path)) return;
  paths.add(path);
  let body: object | null = null;
  const describe = (request: globalThis.Request) => {
    if (!new URL(request.url).pathname.endsWith(path)) return new globalThis.Response(null, { status: 404 });
    return globalThis.Response.json((body ??= { ...document, ...scopesOf(app) }));
  };
  mountPublic(app, path, fromFetchHandler(describe));
}

/** The scopes of all tools: an agent requests them when it logs in. */
function scopesOf(app: App): { scopes_supported?: readonly string[] } {
  const tools = endpointsOf(app).filter(({ record }) => record.metadata.mcp);
  const steps = tools.flatMap(({ plan }) => [...plan.guards, ...plan.handler.dependencies]);
  const scopes = [...new Set(steps.flatMap(scopesBelow))].toSorted();
  return scopes.length > 0 ? { scopes_supported: scopes } : {};
}

function scopesBelow({ scopes, plan }: DependencyStep): readonly string[] {
  return [...scopes, ...plan.dependencies.flatMap(scopesBelow)];
}
