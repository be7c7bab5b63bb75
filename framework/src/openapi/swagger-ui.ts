import type { Asset } from "./assets.js";
import { escapeHTML } from "./html.js";

const PACKAGE = "swagger-ui-dist";

function file(name: string, mediaType: string): Asset {
  return { name, mediaType, packageName: PACKAGE, content: name };
}

/** Starts Swagger UI with what the page's own markup says. A file, because the page allows no inline script. */
const START = `"use strict";
const { url, redirect } = document.getElementById("swagger-ui").dataset;
window.ui = SwaggerUIBundle({
  url,
  dom_id: "#swagger-ui",
  deepLinking: true,
  oauth2RedirectUrl: new URL(redirect, document.baseURI).href,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
`;

/** The files that the page consists of. */
export const SWAGGER_UI_ASSETS: readonly Asset[] = [
  file("swagger-ui.css", "text/css"),
  file("swagger-ui-bundle.js", "text/javascript"),
  file("favicon-32x32.png", "image/png"),
  file("oauth2-redirect.html", "text/html"),
  file("oauth2-redirect.js", "text/javascript"),
  { name: "start.js", mediaType: "text/javascript", packageName: null, content: START },
];

/** Where a page finds what it needs, relative to itself. */
export interface PageLinks {
  /** The folder of the page's files, without a slash at its end. */
  readonly assets: string;
  /** The document; `null` where it is not published. */
  readonly document: string | null;
}

/** Says why a page lists nothing. */
export const NOT_PUBLISHED =
  "This application does not publish its OpenAPI document (openapiUrl is null), so there is nothing to list here.";

/** Swagger UI as a page. */
export function swaggerUIPage(title: string, { assets, document }: PageLinks): string {
  const body =
    document === null
      ? `<p>${NOT_PUBLISHED}</p>`
      : `<div id="swagger-ui" data-url="${escapeHTML(document)}" data-redirect="${escapeHTML(assets)}/oauth2-redirect.html"></div>
<script src="${escapeHTML(assets)}/swagger-ui-bundle.js"></script>
<script src="${escapeHTML(assets)}/start.js"></script>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHTML(title)} - Swagger UI</title>
<link rel="icon" type="image/png" href="${escapeHTML(assets)}/favicon-32x32.png">
<link rel="stylesheet" href="${escapeHTML(assets)}/swagger-ui.css">
</head>
<body>
${body}
</body>
</html>
`;
}
