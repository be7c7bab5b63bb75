/** Loads the module that exports the application. @module */
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { App } from "../app.js";
import type { ASGIApp } from "../asgi.js";
import { setEntry } from "../concurrency.js";
import { CommandError } from "./errors.js";
import { findModule } from "./find-module.js";
import { enableTypeScript, isTypeScript } from "./typescript.js";

/** An application with where it came from. */
export interface LoadedApp {
  app: ASGIApp;
  /** The module's absolute path. */
  file: string;
  /** As the user would write it. */
  shownFile: string;
}

/** Imports a module and gives its export `default` or `app`. @throws CommandError, or whatever the module throws. */
export async function loadApp(name: string | undefined): Promise<LoadedApp> {
  const file = findModule(name);
  const shownFile = path.relative(process.cwd(), file) || file;
  if (isTypeScript(file)) await enableTypeScript(file);
  setEntry(pathToFileURL(file));
  const exports = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const app = exports["app"] ?? unwrapDefault(exports["default"]);
  if (typeof app === "function") return { app: app as ASGIApp, file, shownFile };
  throw new CommandError(`${shownFile} exports no application.\n${describe(exports, app)}`);
}

/** A compiled CommonJS module has its exports below `default`. */
function unwrapDefault(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { app, default: inner } = value as { app?: unknown; default?: unknown };
  return app ?? inner ?? value;
}

function describe(exports: Record<string, unknown>, found: unknown): string {
  const way = "Write `export const app = new App()` or `export default app`.";
  if (found !== undefined) return `Its app is of type ${found === null ? "null" : typeof found}. ${way}`;
  const names = Object.keys(exports).filter((key) => key !== "default");
  if (names.length === 0) return `It exports nothing. ${way}`;
  return `It exports ${names.join(", ")}, but neither app nor default. ${way}`;
}

/**
 * The same, for commands that need more than a callable: routes and documents.
 *
 * @throws CommandError when it is an ASGI application of another kind.
 */
export async function loadTsgiApp(name: string | undefined): Promise<LoadedApp & { app: App }> {
  const loaded = await loadApp(name);
  if (!("openapi" in loaded.app)) {
    throw new CommandError(
      `${loaded.shownFile} exports an ASGI application, but no App of tsgi: its routes cannot be known.`,
    );
  }
  return loaded as LoadedApp & { app: App };
}
