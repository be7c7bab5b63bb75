/**
 * The sidebar: pages in the order of learning, recipes in the order of the cookbook, and the modules of the reference.
 */
import { readFileSync } from "node:fs";

const page = (text, link) => ({ text, link });
const group = (text, items) => ({ text, items, collapsed: false });

/** The pages but the recipes, in the order of learning. */
const PAGES = [
  group("Start", [
    page("Tutorial", "/tutorial"),
    page("All pages", "/overview"),
    page("Official packages", "/official-packages"),
    page("Glossary", "/glossary"),
  ]),
  group("Learn", [
    page("The App", "/application"),
    page("Router", "/router"),
    page("Parameters", "/parameters"),
    page("Validation errors", "/validation-errors"),
    page("Error format", "/error-format"),
    page("Responses", "/responses"),
    page("Dependencies", "/dependencies"),
    page("Requests, forms and uploads", "/uploads"),
    page("Middleware", "/middleware"),
    page("The scope", "/scope"),
    page("Security", "/security"),
    page("Sessions", "/sessions"),
    page("Idempotency", "/idempotency"),
    page("Login", "/login"),
    page("Access tokens", "/oauth"),
    page("API keys", "/api-keys"),
    page("Passkeys", "/passkeys"),
    page("Permissions", "/permissions"),
    page("Settings", "/settings"),
    page("Health checks", "/health"),
    page("Logs, metrics and traces", "/observation"),
    page("Inside another framework", "/coexistence"),
    page("Next.js", "/nextjs"),
    page("SvelteKit, Astro, React Router", "/sveltekit-astro-react-router"),
    page("Vite", "/vite"),
    page("Borders", "/borders"),
    page("Web platforms", "/web"),
    page("Conformance", "/conformance"),
    page("Testing", "/testing"),
    page("Reusable routers", "/packages"),
    page("WebSockets", "/websockets"),
    page("Cancel work", "/cancellation"),
    page("OpenAPI", "/openapi"),
    page("Typed clients", "/clients"),
    page("Frontend teams", "/frontend"),
    page("SDKs", "/sdk"),
    page("Broadcast and resumable streams", "/broadcast"),
    page("Resumable chats", "/resumable-chat"),
    page("MCP tools for agents", "/agents"),
    page("Worker pool", "/concurrency"),
    page("The command", "/cli"),
  ]),
  group("Production", [
    page("Deployment", "/deployment"),
    page("The server", "/server"),
    page("HTTP/1.1 parsing", "/http1"),
    page("uWebSockets.js", "/uwebsockets"),
    page("Multiple workers", "/several-workers"),
    page("Rollbacks", "/rollback"),
    page("Beyond one machine", "/scale"),
    page("AWS Lambda", "/lambda"),
    page("Vercel", "/vercel"),
    page("Netlify", "/netlify"),
    page("Cloudflare Workers", "/cloudflare"),
    page("Fly.io", "/fly"),
    page("Kubernetes", "/kubernetes"),
    page("Docker", "/docker"),
    page("Bun", "/bun"),
    page("Deno", "/deno"),
    page("One file", "/one-file"),
    page("Platforms", "/platforms"),
    page("PostgreSQL", "/postgresql"),
    page("Databases", "/databases"),
    page("Drizzle and Kysely", "/transactions"),
    page("Prisma", "/prisma"),
    page("Row-level security", "/row-level-security"),
    page("Test in a sandbox", "/sandbox"),
    page("Jobs", "/jobs"),
    page("Webhooks", "/webhooks"),
  ]),
  group("Migrate", [
    page("Why another framework?", "/why-another-framework"),
    page("Comparison", "/comparison"),
    page("From Express", "/migrate-from-express"),
    page("From Fastify", "/migrate-from-fastify"),
    page("From NestJS", "/migrate-from-nestjs"),
    page("From FastAPI", "/migrate-from-fastapi"),
    page("Differences from FastAPI", "/fastapi-differences"),
  ]),
  group("Look up", [
    page("Errors at start", "/errors"),
    page("Type errors", "/type-errors"),
    page("Who runs what?", "/who-runs-what"),
    page("Architecture", "/architecture"),
    page("Benchmarks", "/benchmarks"),
    page("Specification", "/specification"),
    page("Versions and support", "/versioning"),
  ]),
];

/** The sections of the cookbook's list, each with its recipes. */
export function recipesOf(list) {
  return list
    .split(/^## /m)
    .slice(1)
    .map((section) => {
      const links = [...section.matchAll(/^- \[(.+)\]\((.+)\.md\)$/gm)];
      return {
        title: section.slice(0, section.indexOf("\n")),
        recipes: links.map(([, text, name]) => page(text, `/cookbook/${name}`)),
      };
    });
}

/**
 * The groups of all pages.
 *
 * @param cookbook - The file that lists the recipes.
 * @param modules - The names by which the packages' entry points are imported.
 */
export function makeGroups(cookbook, modules) {
  const sections = recipesOf(readFileSync(cookbook, "utf8"));
  return {
    pages: PAGES,
    recipes: [
      group("Cookbook", [page("All recipes", "/cookbook/")]),
      ...sections.map(({ title, recipes }) => group(title, recipes)),
    ],
    reference: group(
      "Reference",
      modules.map((name) => page(name, `/reference/${name}/`)),
    ),
  };
}

/**
 * A sidebar for the pages, for the recipes and for the reference: each lists its own whole, and leads to the others. One
 * with everything is half of a page's elements, and of the time until it can be used.
 */
export function makeSidebar(cookbook, modules) {
  const { pages, recipes, reference } = makeGroups(cookbook, modules);
  const [start, learn, ...others] = pages;
  const [cookbookStart, ...topics] = recipes;
  const sections = topics.map(({ text }) =>
    page(text, `/cookbook/#${text.toLowerCase().replaceAll(",", "").replaceAll(" ", "-")}`),
  );
  const toPages = group("Documentation", [page("Tutorial", "/tutorial"), page("All pages", "/overview")]);
  return {
    "/": [
      start,
      learn,
      group("Cookbook", [...cookbookStart.items, ...sections]),
      ...others,
      group("Reference", [page("All modules", "/reference/")]),
    ],
    "/cookbook/": [toPages, ...recipes],
    "/reference/": [toPages, reference],
  };
}
