/** Addresses of the document and of its pages below a `root_path`. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import { decodeLatin1 } from "../protocol/bytes.js";
import { rootPathOf, splitPath } from "../protocol/path.js";
import type { SecuritySchemeObject } from "../parameters/security/scheme.js";
import type { OpenAPIDocument } from "./types.js";

/** An address with a host of its own (RFC 3986 §4.2). */
function isElsewhere(url: string): boolean {
  return url.startsWith("//") || /^[a-z][a-z0-9+.-]*:/i.test(url);
}

/** The addresses in the flows of a scheme, each changed. */
function mapURLs(scheme: SecuritySchemeObject, change: (url: string) => string): SecuritySchemeObject {
  if (scheme.type !== "oauth2") return scheme;
  const flows = Object.entries(scheme.flows).map(([name, flow]) => [
    name,
    Object.fromEntries(
      Object.entries(flow).map(([key, value]) => [key, typeof value === "string" ? change(value) : value]),
    ),
  ]);
  return { ...scheme, flows: Object.fromEntries(flows) as typeof scheme.flows };
}

/**
 * The document as it is served below a `root_path`: that is where its paths begin, and where a client gets its tokens. A
 * path in a flow is the application's own, which §4.7.29 would read from the root of the host.
 */
export function placeBelow(document: OpenAPIDocument, rootPath: string): OpenAPIDocument {
  if (rootPath === "") return document;
  const { servers, components } = document;
  const isListed = servers.some(({ url }) => url === rootPath);
  const { securitySchemes } = components ?? {};
  const place = (url: string) => (isElsewhere(url) ? url : `${rootPath}/${url.replace(/^\/+/, "")}`);
  return {
    ...document,
    servers: isListed ? servers : [{ url: rootPath }, ...servers.filter(({ url }) => url !== "/")],
    ...(securitySchemes
      ? {
          components: {
            ...components,
            securitySchemes: Object.fromEntries(
              Object.entries(securitySchemes).map(([name, scheme]) => [name, mapURLs(scheme, place)]),
            ),
          },
        }
      : {}),
  };
}

/** The addresses at which the document says that tokens are given. */
export function tokenURLs({ components }: OpenAPIDocument): string[] {
  return Object.values(components?.securitySchemes ?? {}).flatMap((scheme) =>
    scheme.type === "oauth2"
      ? Object.values(scheme.flows).flatMap(({ tokenUrl, refreshUrl }) =>
          [tokenUrl, refreshUrl].filter((url) => url !== undefined),
        )
      : [],
  );
}

/**
 * The relative address, from a request's target, at which the application's own paths begin: `"./"` for `/docs`, `"../"`
 * for `/docs/` and for `/api/docs`. It holds below a mount and behind a proxy that cuts a prefix off.
 *
 * @param path - The route's own path, which the target ends with.
 */
export function upToRoot(scope: HTTPScope, path: string): string {
  const parts = (scope.raw_path ? decodeLatin1(scope.raw_path) : scope.path).split("/");
  let missing = splitPath(path).length;
  let index = parts.length;
  while (missing > 0 && index > 0) if (parts[--index] !== "") missing--;
  return "../".repeat(parts.length - 1 - index) || "./";
}

/** A path of the application, relative to where `upToRoot` leads, percent-encoded: `docs/x`. */
export function relativePath(path: string): string {
  return splitPath(path).map(encodeURIComponent).join("/");
}

/** The application's `root_path` as the path of a URL, without a slash at its end. */
export function rootURLOf(scope: HTTPScope): string {
  return encodeURI(rootPathOf(scope)).replaceAll("%25", "%");
}
