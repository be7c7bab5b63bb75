/** What VitePress makes of `framework/docs`; `scripts/site.js` puts it beside them. */
const page = (text, link) => ({ text, link });

/** A link out of the documentation, to a file of the repository around it, which a site of its own does not have. */
const OUTSIDE = /^(?:\.\.\/){2}/;

/** Shows links to the repository's other files as their text, with the path to look at. */
function unlinkRepository(md) {
  md.core.ruler.push("unlink-repository", ({ tokens }) => {
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") {
          const href = token.attrGet("href") ?? "";
          isOutside = OUTSIDE.test(href);
          if (isOutside) token.attrs = [["title", `${href.replace(OUTSIDE, "")}, in the repository`]];
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

export const site = {
  title: "tsgi",
  description: "ASGI for TypeScript: typed parameters, dependency injection and OpenAPI on one callable",
  rewrites: { "README.md": "index.md" },
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }]],
  // Without `attrs`, which would take the {id} of a path for attributes.
  markdown: { anchor: { slugify }, attrs: { disable: true }, config: unlinkRepository },
  // Its tables are as wide as a page can be.
  transformPageData: ({ relativePath }) =>
    relativePath === "specification.md" ? { frontmatter: { aside: false } } : {},
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [
      page("Overview", "/"),
      page("Tutorial", "/tutorial"),
      {
        text: "Learn",
        items: [
          page("The App", "/application"),
          page("Router", "/router"),
          page("Parameters", "/parameters"),
          page("Dependencies", "/dependencies"),
          page("Validation errors", "/validation-errors"),
          page("Responses", "/responses"),
          page("Requests, forms and uploads", "/uploads"),
          page("Middleware", "/middleware"),
          page("Security", "/security"),
          page("WebSockets", "/websockets"),
          page("OpenAPI", "/openapi"),
          page("Typed clients", "/clients"),
          page("Testing", "/testing"),
          page("Plain handlers", "/concurrency"),
          page("The server", "/server"),
          page("uWebSockets.js", "/uwebsockets"),
          page("The command", "/cli"),
        ],
      },
      {
        text: "Do",
        items: [
          page("Deployment", "/deployment"),
          page("Several workers", "/several-workers"),
          page("PostgreSQL", "/postgresql"),
          page("API versions", "/api-versions"),
          page("From Express", "/migrate-from-express"),
          page("From Fastify", "/migrate-from-fastify"),
          page("From NestJS", "/migrate-from-nestjs"),
          page("From FastAPI", "/migrate-from-fastapi"),
          page("Unlike FastAPI", "/fastapi-differences"),
        ],
      },
      {
        text: "Look up",
        items: [
          page("Reference", "/reference/"),
          page("Errors at start", "/errors"),
          page("Errors of the compiler", "/type-errors"),
          page("The life of a request", "/architecture"),
          page("Benchmarks", "/benchmarks"),
          page("Specification", "/specification"),
          page("Versions", "/versioning"),
        ],
      },
    ],
  },
};
