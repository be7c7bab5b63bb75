/** The configuration of VitePress for `framework/docs`. `scripts/site.js` copies it there, with `facts.json`. */
import { readFileSync } from "node:fs";
import path from "node:path";

import { linkOnSite, nameOnSite } from "./for-programs.js";
import { miniSearch, renderForSearch } from "./search.js";
import { makeSidebar } from "./sidebar.js";

const { version, repository, modules, description } = JSON.parse(
  readFileSync(path.join(import.meta.dirname, "facts.json"), "utf8"),
);

/**
 * Links lead to the pages of the site. Links to the repository's other files, which are not part of the site, become
 * text with the path.
 */
function mendLinks(md) {
  md.core.ruler.push("mend-links", ({ tokens, env }) => {
    const folder = path.posix.dirname(env.relativePath ?? "");
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href") ?? "";
          const target = path.posix.join("framework/docs", folder, href);
          isOutside = href.startsWith("../") && !target.startsWith("framework/docs/");
          if (isOutside) token.attrs = [["title", `${target}, in the repository`]];
          else token.attrSet("href", linkOnSite(href, folder));
        }
        if (isOutside && token.type.startsWith("link_")) token.tag = "abbr";
        if (token.type === "link_close") isOutside = false;
      }
    }
  });
}

/** The anchors of headings as GitHub makes them, so that a link leads to its heading on both. */
const slugify = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");

/** Two brackets around a call. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2563eb"/><path d="M12 8 6 16l6 8M20 8l6 8-6 8" fill="none" stroke="#fff" stroke-width="3"/></svg>`;
const icon = `data:image/svg+xml,${encodeURIComponent(ICON)}`;

/** From a page to a file at the root of the site, wherever that is served. */
const toRoot = (page) => "../".repeat(page.split("/").length - 1) || "./";

export const site = {
  lang: "en",
  title: "tsgi",
  description,
  rewrites: nameOnSite,
  head: [["link", { rel: "icon", href: icon }]],
  // Without `attrs`, which would take the {id} of a path for attributes.
  markdown: {
    anchor: { slugify },
    attrs: { disable: true },
    config: mendLinks,
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
  },
  transformHead: ({ page }) => [
    ["link", { rel: "alternate", type: "text/markdown", href: `${toRoot(page)}${page}` }],
    ["link", { rel: "help", type: "text/plain", href: `${toRoot(page)}llms.txt` }],
  ],
  themeConfig: {
    logo: { src: icon, alt: "" },
    search: { provider: "local", options: { detailedView: "auto", _render: renderForSearch, miniSearch } },
    outline: [2, 3],
    nav: [
      { text: "Tutorial", link: "/tutorial", activeMatch: "^/tutorial" },
      { text: "Cookbook", link: "/cookbook/", activeMatch: "^/cookbook/" },
      { text: "Reference", link: "/reference/", activeMatch: "^/reference/" },
      { text: `v${version}`, link: "/versioning" },
      { text: "Repository", ...repository },
    ],
    sidebar: makeSidebar(path.join(import.meta.dirname, "../cookbook/README.md"), modules),
  },
};
