import { renderPage } from "./html.js";
import type { Page } from "./page.js";

/**
 * The one address of another host in ReDoc's bundle: the logo under its menu. ReDoc leaves the logo out when the image
 * cannot be shown, which is so for an empty one.
 */
const LOGO = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/**
 * The hashes of the two style sheets that ReDoc inserts: an empty one, to which it then adds rules by script, which is
 * no concern of the policy, and that of its scroll bars. No other style that stands in the markup is allowed.
 */
const STYLES = [
  "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
  "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='",
].join(" ");

/** Starts ReDoc with what the page's own markup says. A file, because the page allows no inline script. */
const START = `"use strict";
const root = document.getElementById("redoc");
Redoc.init(root.dataset.url, {}, root);
`;

/** ReDoc. */
export const REDOC: Page = {
  assets: [
    {
      name: "redoc.standalone.js",
      mediaType: "text/javascript",
      packageName: "redoc",
      content: "bundles/redoc.standalone.js",
      edit: (text) => text.replaceAll(LOGO, "data:,"),
    },
    { name: "page.css", mediaType: "text/css", packageName: null, content: "body { margin: 0; }\n" },
    { name: "start.js", mediaType: "text/javascript", packageName: null, content: START },
  ],
  policy: { styles: STYLES, workers: "blob:" },
  render: (title, links) =>
    renderPage(
      {
        title: `${title} - ReDoc`,
        icon: "data:,",
        styles: ["page.css"],
        scripts: ["redoc.standalone.js", "start.js"],
        root: "redoc",
      },
      links,
    ),
};
