/** What VitePress makes of `framework/docs`; `scripts/site.js` puts it beside them. */
const page = (text, link) => ({ text, link });

export const site = {
  title: "tsgi",
  description: "ASGI for TypeScript: typed parameters, dependency injection and OpenAPI on one callable",
  rewrites: { "README.md": "index.md" },
  // Pages of the repository around the documentation, which a site of its own does not have.
  ignoreDeadLinks: [/^(\.\/)?\.\.\/\.\.\//],
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    sidebar: [
      page("Overview", "/"),
      page("Tutorial", "/tutorial"),
      {
        text: "Learn",
        items: [
          page("Router", "/router"),
          page("Parameters", "/parameters"),
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
          page("The life of a request", "/architecture"),
          page("Specification", "/specification"),
          page("Versions", "/versioning"),
        ],
      },
    ],
  },
};
