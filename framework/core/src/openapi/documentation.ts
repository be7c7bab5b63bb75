/** Serves the OpenAPI document and the pages that show it, also below a `root_path`. @module */
import { encodeUTF8 } from "../protocol/header-list.js";
import { sha256 } from "../common/digest.js";
import { configurationError } from "../common/exceptions.js";
import { mapValues } from "../common/records.js";
import { PathPattern } from "../routing/path-pattern.js";
import { Request } from "../http/request.js";
import { HTMLResponse } from "../http/response/kinds.js";
import { listsTag, tagOf } from "../http/response/conditions.js";
import { Response } from "../http/response/response.js";
import type { AppRouteEntry } from "../routing/entries.js";
import { buildDocument, type OpenAPIOptions } from "./document.js";
import {
  contentSecurityPolicy,
  type DocsPage,
  fileNames,
  PAGE_HEADERS,
  type PageFiles,
  REDOC,
  SCALAR,
  SWAGGER_UI,
  writePage,
} from "./page.js";
import type { DocumentedRoute } from "./route.js";
import type { OpenAPIDocument } from "./types.js";
import { type Webhooks, webhookVerbs } from "./webhooks.js";
import type { HTTPScope } from "../protocol/asgi.js";
import { encodePath, rootPathOf, sentPath } from "../protocol/scope.js";
import { splitPath } from "../protocol/path.js";
import type { SecuritySchemeObject } from "../parameters/security/scheme.js";

/** An address with a host (RFC 3986 §4.2). */
function isElsewhere(url: string): boolean {
  return url.startsWith("//") || /^[a-z][a-z0-9+.-]*:/i.test(url);
}

/** The addresses in the flows of a scheme, each changed. */
function mapURLs(scheme: SecuritySchemeObject, change: (url: string) => string): SecuritySchemeObject {
  if (scheme.type !== "oauth2") return scheme;
  const flows = mapValues(scheme.flows, (flow) =>
    mapValues({ ...flow }, (value: unknown) => (typeof value === "string" ? change(value) : value)),
  );
  return { ...scheme, flows };
}

/**
 * The document as it is served below a `root_path`: that is where its paths begin, and where a client gets its tokens. A
 * path in a flow is the application's own, which §4.7.29 would read from the root of the host.
 */
function placeBelow(document: OpenAPIDocument, rootPath: string): OpenAPIDocument {
  if (rootPath === "") return document;
  const { servers, components } = document;
  const isListed = servers.some(({ url }) => url === rootPath);
  const place = (url: string) => (isElsewhere(url) ? url : `${rootPath}/${url.replace(/^\/+/, "")}`);
  const securitySchemes =
    components?.securitySchemes && mapValues(components.securitySchemes, (scheme) => mapURLs(scheme, place));
  return {
    ...document,
    servers: isListed ? servers : [{ url: rootPath }, ...servers.filter(({ url }) => url !== "/")],
    ...(securitySchemes && { components: { ...components, securitySchemes } }),
  };
}

/** The addresses at which the document says that tokens are given, or that describe where. */
function tokenURLs({ components }: OpenAPIDocument): string[] {
  return Object.values(components?.securitySchemes ?? {}).flatMap((scheme) => {
    if (scheme.type === "openIdConnect") return [scheme.openIdConnectUrl];
    const flows = scheme.type === "oauth2" ? Object.values(scheme.flows) : [];
    return flows.flatMap(({ tokenUrl, refreshUrl }) => [tokenUrl, refreshUrl].filter((url) => url !== undefined));
  });
}

/**
 * The relative address, from a request's target, at which the application's own paths begin: `"./"` for `/docs`, `"../"`
 * for `/docs/` and for `/api/docs`. It holds below a mount and behind a proxy that cuts a prefix off.
 *
 * @param path - The route's own path, which the target ends with.
 */
function upToRoot(scope: HTTPScope, path: string): string {
  const parts = sentPath(scope).split("/");
  let missing = splitPath(path).length;
  let index = parts.length;
  while (missing > 0 && index > 0) if (parts[--index] !== "") missing--;
  return "../".repeat(parts.length - 1 - index) || "./";
}

/** A path of the application, relative to where `upToRoot` leads, percent-encoded: `docs/x`. */
function relativePath(path: string): string {
  return splitPath(path).map(encodeURIComponent).join("/");
}

/** A page and its path. */
interface PlacedPage {
  readonly path: string;
  readonly page: DocsPage;
}

/** The document as it is served below one `root_path`. */
interface PlacedDocument {
  readonly rootPath: string;
  readonly bytes: Uint8Array;
  /** Quotes included. */
  readonly etag: string;
}

async function placeDocument(document: OpenAPIDocument, rootPath: string): Promise<PlacedDocument> {
  const text = JSON.stringify(placeBelow(document, rootPath));
  return { rootPath, bytes: encodeUTF8(text), etag: tagOf(await sha256(text)) };
}

const REQUEST_ONLY = Object.freeze({ request: Request });

type RequestHandler = (args: { request: Request }) => Promise<Response>;

/** The document of an application, built on first use and kept until a route is added, and the pages that show it. */
export class Documentation {
  readonly #options: OpenAPIOptions;
  readonly #routes: () => readonly DocumentedRoute[];
  readonly #files: PageFiles | null;
  readonly #documentPath: string | null;
  readonly #pages: readonly PlacedPage[];
  readonly #webhooks: DocumentedRoute[] = [];
  #document: OpenAPIDocument | null = null;
  /** The document for the `root_path` that was asked for last: an application has one, or hardly ever two. */
  #placed: PlacedDocument | null = null;

  /**
   * @param routes - The application's routes, asked for whenever the document is built.
   * @param files - Those of the pages; `null` on a platform without files.
   * @throws ConfigurationError if a path is invalid, or two are the same.
   */
  constructor(options: OpenAPIOptions, routes: () => readonly DocumentedRoute[], files: PageFiles | null) {
    this.#options = options;
    this.#files = files;
    this.#routes = routes;
    this.#documentPath = pathOf("openapiUrl", options.openapiUrl, "/openapi.json");
    this.#pages = [
      { path: pathOf("docsUrl", options.docsUrl, "/docs"), page: SWAGGER_UI },
      { path: pathOf("redocUrl", options.redocUrl, "/redoc"), page: REDOC },
      { path: pathOf("scalarUrl", options.scalarUrl, null), page: SCALAR },
    ].filter((placed): placed is PlacedPage => placed.path !== null);
    const paths = [this.#documentPath, ...this.#pages.map(({ path }) => path)].filter((path) => path !== null);
    if (new Set(paths).size < paths.length) throw configurationError("TSGI_DUPLICATE_DOCUMENT_URL", paths);
  }

  /**
   * The document. The same object until a route is added; if you change it before the first request, the changed
   * document is served.
   *
   * @throws ConfigurationError when a route cannot be described.
   */
  get document(): OpenAPIDocument {
    return (this.#document ??= buildDocument(this.#options, this.#routes(), this.#webhooks));
  }

  /** The verbs that add webhooks. `assertOpen` throws once the application serves. */
  webhooks(assertOpen: (place: string) => void): Webhooks {
    return webhookVerbs(this.#webhooks, (place) => {
      assertOpen(place);
      this.clear();
    });
  }

  /** The options and the routes of which the document is made. */
  get source(): readonly [options: OpenAPIOptions, routes: readonly DocumentedRoute[]] {
    return [this.#options, this.#routes()];
  }

  /** Forgets the document, because there is another route. */
  clear(): void {
    this.#document = null;
    this.#placed = null;
  }

  /** The paths of the pages whose files are missing on a platform that has files. */
  get incompletePages(): readonly string[] {
    const files = this.#files;
    return files === null ? [] : this.#pages.flatMap(({ path, page }) => (files.isComplete(page) ? [] : [path]));
  }

  /** The routes that serve the document, the pages and their files. */
  get entries(): readonly AppRouteEntry[] {
    const entries = this.#pages.flatMap((placed) => [
      entryOf(placed.path, async ({ request }) => this.#sendPage(placed, request)),
      ...this.#fileEntries(placed),
    ]);
    if (this.#documentPath !== null) {
      entries.push(entryOf(this.#documentPath, async ({ request }) => this.#sendDocument(request)));
    }
    return entries;
  }

  #fileEntries({ path, page }: PlacedPage): AppRouteEntry[] {
    const files = this.#files;
    return files === null
      ? []
      : fileNames(page).map((name) => entryOf(`${path}/${name}`, async () => files.open(page, name)));
  }

  async #sendDocument(request: Request): Promise<Response> {
    const rootPath = encodePath(rootPathOf(request.scope));
    if (this.#placed?.rootPath !== rootPath) this.#placed = await placeDocument(this.document, rootPath);
    const { bytes, etag } = this.#placed;
    const headers = { "cache-control": "no-cache", etag };
    const condition = request.header("if-none-match");
    return condition !== undefined && listsTag(condition, etag, "weak")
      ? new Response(null, { statusCode: 304, headers })
      : new Response(bytes, { mediaType: "application/json", headers });
  }

  #sendPage({ path, page }: PlacedPage, request: Request): Response {
    const up = upToRoot(request.scope, path);
    const elsewhere = [
      ...(this.#options.servers ?? []),
      ...(this.#documentPath === null ? [] : tokenURLs(this.document).map((url) => ({ url }))),
    ];
    const document = this.#documentPath === null ? null : up + relativePath(this.#documentPath);
    const html = writePage(page, {
      title: this.#options.title ?? "tsgi",
      folder: up + relativePath(path),
      document,
      hasScripts: this.#files?.isComplete(page) ?? false,
    });
    return new HTMLResponse(html, {
      headers: {
        ...PAGE_HEADERS,
        "cache-control": "no-cache",
        "content-security-policy": contentSecurityPolicy(page, elsewhere),
      },
    });
  }
}

function pathOf(name: string, value: string | null | undefined, fallback: string | null): string | null {
  const path = value === undefined ? fallback : value;
  if (path === null) return null;
  if (typeof path !== "string" || !path.startsWith("/") || /[{}?#%*]/.test(path) || /^\/+$/.test(path)) {
    throw configurationError("TSGI_INVALID_DOCUMENT_URL", name, fallback ?? "/scalar", path);
  }
  return PathPattern.parse(path, name).template;
}

function entryOf(path: string, handler: RequestHandler): AppRouteEntry {
  return {
    method: "GET",
    path,
    pattern: PathPattern.parse(path, "GET"),
    handler,
    options: { params: REQUEST_ONLY },
    dependencies: [],
    responses: [],
    middleware: [],
    exceptionHandlers: [],
  };
}
