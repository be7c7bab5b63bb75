import type { Asset } from "./assets.js";
import { escapeHTML, renderPage } from "./html.js";
import type { Page } from "./page.js";

const PACKAGE = "swagger-ui-dist";

function file(name: string, mediaType: string): Asset {
  return { name, mediaType, packageName: PACKAGE, content: name };
}

/** Starts Swagger UI with what the page's own markup says. A file, because the page allows no inline script. */
const START = `"use strict";
const { url, assets } = document.getElementById("swagger-ui").dataset;
window.ui = SwaggerUIBundle({
  url,
  dom_id: "#swagger-ui",
  deepLinking: true,
  oauth2RedirectUrl: new URL(assets + "/oauth2-redirect.html", document.baseURI).href,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  validatorUrl: null,
});
`;

/** Swagger UI. */
export const SWAGGER_UI: Page = {
  assets: [
    file("swagger-ui.css", "text/css"),
    file("swagger-ui-bundle.js", "text/javascript"),
    file("favicon-32x32.png", "image/png"),
    file("oauth2-redirect.html", "text/html"),
    file("oauth2-redirect.js", "text/javascript"),
    { name: "start.js", mediaType: "text/javascript", packageName: null, content: START },
  ],
  policy: {},
  render: (title, links) =>
    renderPage(
      {
        title: `${title} - Swagger UI`,
        icon: `${escapeHTML(links.assets)}/favicon-32x32.png`,
        styles: ["swagger-ui.css"],
        scripts: ["swagger-ui-bundle.js", "start.js"],
        root: "swagger-ui",
      },
      links,
    ),
};
