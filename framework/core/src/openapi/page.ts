/** The pages that show the document: Swagger UI, ReDoc and Scalar, and what they may load. @module */
import type { Response } from "../http/response/response.js";
import type { ServerObject } from "./types.js";

/** A page. Its scripts are files, because its policy does not allow inline scripts. */
export interface DocsPage {
  readonly name: string;
  /** Its folder in `@tsgi/docs-ui`. */
  readonly folder: string;
  /** The `id` of the element that the scripts fill. */
  readonly root: string;
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  /** Files that its scripts load. */
  readonly others?: readonly string[];
  readonly icon?: string;
  /** Further sources of styles, and sources of workers, for the policy. */
  readonly styleSources?: readonly string[];
  readonly workerSource?: string;
}

/** Swagger UI. */
export const SWAGGER_UI: DocsPage = {
  name: "Swagger UI",
  folder: "swagger-ui-dist",
  root: "swagger-ui",
  styles: ["swagger-ui.css"],
  scripts: ["swagger-ui-bundle.js", "start.js"],
  others: ["favicon-32x32.png", "oauth2-redirect.html", "oauth2-redirect.js"],
  icon: "favicon-32x32.png",
};

/** ReDoc. */
export const REDOC: DocsPage = {
  name: "ReDoc",
  folder: "redoc",
  root: "redoc",
  styles: ["page.css"],
  scripts: ["redoc.standalone.js", "start.js"],
  // The hashes of the two style sheets that ReDoc inserts: an empty one, to which a script adds rules, which the policy
  // does not restrict, and the one of its scroll bars. Other inline styles are not allowed.
  styleSources: [
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
    "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
  ],
  workerSource: "blob:",
};

/** Scalar. */
export const SCALAR: DocsPage = {
  name: "Scalar",
  folder: "@scalar/api-reference",
  root: "scalar",
  styles: ["page.css"],
  scripts: ["standalone.js", "start.js"],
  // Scalar writes the styles of its editors piece by piece, which no hash covers. A style can be loaded only from here.
  styleSources: ["'unsafe-inline'"],
};

/** The names of the files of a page. */
export function fileNames({ styles, scripts, others = [] }: DocsPage): string[] {
  return [...styles, ...scripts, ...others];
}

/** Finds the files that the pages load. */
export interface PageFiles {
  /** Tells if the files of a page are there. */
  isComplete(page: DocsPage): boolean;
  /** Opens a file of a page. @throws HTTPException with 404 if it is missing. */
  open(page: DocsPage, name: string): Response;
}

/** Headers of the pages and of their files. */
export const PAGE_HEADERS = Object.freeze({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });

const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Escapes text for an element or a quoted attribute. */
function escapeHTML(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

const NOT_PUBLISHED =
  "This application does not publish its OpenAPI document (openapiUrl is null), so this page cannot list its routes.";

const NO_FILES = "The files of this page are not available here. The OpenAPI document is:";

/** The title of a page and the addresses in it. */
export interface PageContent {
  readonly title: string;
  /** The address of its files, relative to the page, without a slash at its end. */
  readonly folder: string;
  /** The address of the document; `null` if it is not published. */
  readonly document: string | null;
  /** `false` if the files cannot be served: the page then links to the document. Defaults to `true`. */
  readonly hasScripts?: boolean;
}

/** Writes a page. It has no inline script or style, and text from outside is escaped. */
export function writePage(page: DocsPage, { title, folder, document, hasScripts = true }: PageContent): string {
  const files = escapeHTML(folder);
  const styles = page.styles.map((name) => `<link rel="stylesheet" href="${files}/${name}">\n`).join("");
  const loads = page.scripts.map((name) => `\n<script src="${files}/${name}"></script>`).join("");
  const body =
    document === null
      ? `<p>${NOT_PUBLISHED}</p>`
      : !hasScripts
        ? `<p>${NO_FILES} <a href="${escapeHTML(document)}">${escapeHTML(document)}</a></p>`
        : `<div id="${page.root}" data-url="${escapeHTML(document)}" data-assets="${files}"></div>${loads}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHTML(title)} - ${page.name}</title>
<link rel="icon" href="${hasScripts && page.icon !== undefined ? `${files}/${page.icon}` : "data:,"}">
${hasScripts ? styles : ""}</head>
<body>
${body}
</body>
</html>
`;
}

/** The addresses that a server with `{variables}` can have. */
function addressesOf({ url, variables = {} }: ServerObject): string[] {
  return Object.entries(variables).reduce(
    (addresses, [name, { enum: values = [], default: value }]) =>
      [...new Set([value, ...values])].flatMap((one) => addresses.map((text) => text.replaceAll(`{${name}}`, one))),
    [url],
  );
}

/** The origins of servers elsewhere, which "Try it out" and "Authorize" must be able to reach. */
function originsOf(servers: readonly ServerObject[]): string[] {
  return servers.flatMap(addressesOf).flatMap((url) => {
    const origin = /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : null;
    // An origin with a brace that no variable fills, or with a character of the policy's own, is left out.
    return origin !== null && /^[a-z0-9.:/[\]-]+$/i.test(origin) ? [origin] : [];
  });
}

/**
 * The policy of a page: its own files and no inline scripts, so that an unescaped title or description cannot run code.
 *
 * @see {@link https://www.w3.org/TR/CSP3/}
 */
export function contentSecurityPolicy(page: DocsPage, servers: readonly ServerObject[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    ["style-src 'self'", ...(page.styleSources ?? [])].join(" "),
    ...(page.workerSource === undefined ? [] : [`worker-src ${page.workerSource}`]),
    "img-src 'self' data:",
    "font-src 'self' data:",
    ["connect-src 'self'", ...new Set(originsOf(servers))].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}
