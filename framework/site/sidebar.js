/** The sidebar: pages in the order of learning, recipes in that of the cookbook, and the modules of the reference. */
import { readFileSync } from "node:fs";

const page = (text, link) => ({ text, link });
const group = (text, items, collapsed = false) => ({ text, items, collapsed });

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

/** @param modules - The names by which the package's entry points are imported. */
export function makeSidebar(cookbook, modules) {
  const sections = recipesOf(readFileSync(cookbook, "utf8"));
  return [
    group("Start", [page("Tutorial", "/tutorial"), page("All pages", "/overview"), page("Glossary", "/glossary")]),
    group("Learn", [
      page("The App", "/application"),
      page("Router", "/router"),
      page("Parameters", "/parameters"),
      page("Validation errors", "/validation-errors"),
      page("Responses", "/responses"),
      page("Dependencies", "/dependencies"),
      page("Requests, forms and uploads", "/uploads"),
      page("Middleware", "/middleware"),
      page("Security", "/security"),
      page("Settings", "/settings"),
      page("Health checks", "/health"),
      page("Testing", "/testing"),
      page("Reusable pieces", "/packages"),
      page("WebSockets", "/websockets"),
      page("OpenAPI", "/openapi"),
      page("Typed clients", "/clients"),
      page("Plain handlers", "/concurrency"),
      page("The command", "/cli"),
    ]),
    group("Cookbook", [
      page("All recipes", "/cookbook/"),
      ...sections.map(({ title, recipes }) => group(title, recipes, true)),
    ]),
    group("Production", [
      page("Deployment", "/deployment"),
      page("The server", "/server"),
      page("HTTP/1.1", "/http1"),
      page("uWebSockets.js", "/uwebsockets"),
      page("Several workers", "/several-workers"),
      page("PostgreSQL", "/postgresql"),
      page("Databases", "/databases"),
    ]),
    group("Move to tsgi", [
      page("From Express", "/migrate-from-express"),
      page("From Fastify", "/migrate-from-fastify"),
      page("From NestJS", "/migrate-from-nestjs"),
      page("From FastAPI", "/migrate-from-fastapi"),
      page("Unlike FastAPI", "/fastapi-differences"),
    ]),
    group("Look up", [
      page("Errors at start", "/errors"),
      page("Errors of the compiler", "/type-errors"),
      page("The life of a request", "/architecture"),
      page("Benchmarks", "/benchmarks"),
      page("Specification", "/specification"),
      page("Versions", "/versioning"),
      group(
        "Reference",
        [page("All modules", "/reference/"), ...modules.map((name) => page(name, `/reference/${name}/`))],
        true,
      ),
    ]),
  ];
}
