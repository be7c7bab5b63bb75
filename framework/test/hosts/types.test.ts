/** `app.fetch` in frameworks for the web, and the code of their pages, by their published types. They are fetched on demand. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { blocksOf, fileOf } from "../docs/_blocks.js";
import { installOnDemand, IS_SLOW } from "../support/on-demand.js";
import { compile, NEWEST } from "../support/typescript.js";

const PACKAGES = [
  "next@16.4.6",
  "react@19.3.1",
  "react-dom@19.3.1",
  "@types/react@19.3.3",
  "@sveltejs/kit@3.2.0",
  "astro@7.3.5",
  "react-router@8.5.3",
  "hono@4.13.19",
  "h3@2.0.8",
];

const MAIN = `import type { NextRequest } from "next/server.js";
import type { RequestHandler } from "@sveltejs/kit";
import type { APIRoute } from "astro";
import type { ActionFunction, LoaderFunction } from "react-router";
import { H3, fromWebHandler } from "h3";
import { Hono } from "hono";
import { App } from "tsgi";

const app = new App();

type NextHandler = (
  request: NextRequest,
  context: { params: Promise<{ path: string[] }> },
) => Promise<Response | void> | Response | void;

export const GET: NextHandler = app.fetch;
export const handler: RequestHandler = app.fetch;
export const ALL: APIRoute = app.fetch;
export const loader: LoaderFunction = app.fetch;
export const action: ActionFunction = app.fetch;
new Hono().mount("/api", app.fetch);
new H3().use("/api/**", fromWebHandler(app.fetch));
`;

const slow = IS_SLOW ? it : it.skip;

slow("app.fetch has the types of their handlers, without skipLibCheck (skipped without TSGI_SLOW=1)", () => {
  const home = installOnDemand("host-types", PACKAGES);
  const options = {
    skipLibCheck: false,
    exactOptionalPropertyTypes: true,
    lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
  };
  const [, compiler] = NEWEST;
  const output = compile(compiler(), path.join(home, "app"), { "main.ts": MAIN }, options);
  // The declarations of the frameworks have other mistakes.
  const own = output.split("\n").filter((line) => /^main\.ts|framework\/\w+\/dist/.test(line));
  expect(own).toEqual([]);
});

/** The files that a page shows in TypeScript, by their names. */
function filesOf(page: string): Record<string, string> {
  const text = readFileSync(path.join(import.meta.dirname, "../../docs", page), "utf8");
  const blocks = blocksOf(page, text).filter(({ language }) => /^tsx?$/.test(language));
  return Object.fromEntries(blocks.map((block) => [fileOf(block) ?? page, block.code]));
}

(IS_SLOW ? describe : describe.skip)("the files of a page (skipped without TSGI_SLOW=1)", () => {
  it.each(["nextjs.md", "sveltekit-astro-react-router.md", "vite.md"])("compile as a project: %s", (page) => {
    const home = installOnDemand("host-types", PACKAGES);
    const options = {
      module: "preserve",
      jsx: "react-jsx",
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      lib: ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    };
    const [, compiler] = NEWEST;
    const files = filesOf(page);
    expect(Object.keys(files).length).toBeGreaterThan(4);
    expect(compile(compiler(), path.join(home, path.parse(page).name), files, options)).toBe("");
  });
});
