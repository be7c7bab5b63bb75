/** Loads the module that exports the application. @module */
import cluster from "node:cluster";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { App, ASGIApp } from "tsgi";
import { setEntry } from "tsgi/internals";
import { commandError } from "./errors.js";
import { findModule } from "./find-module.js";
import { enableTypeScript, isTypeScript } from "./typescript.js";

/** An application with its origin. */
export interface LoadedApp {
  app: ASGIApp;
  /** The module's absolute path. */
  file: string;
  /** As the user would write it. */
  shownFile: string;
}

/** Loads the modules that are needed to import a module. @throws CommandError for TypeScript without a loader. */
export async function prepareToLoad(file: string): Promise<void> {
  // Before TypeScript's loader, which would look at each of their files as well.
  // One after the other: they share modules, which Jest cannot link for two importers at a time.
  await import("tsgi");
  await import("tsgi/middleware");
  await import("tsgi/security");
  if (isTypeScript(file)) await enableTypeScript(file);
}

/** Imports a module and returns its export `default` or `app`. @throws CommandError, or the error of the module. */
export async function loadApp(name: string | undefined): Promise<LoadedApp> {
  const file = findModule(name);
  const shownFile = path.relative(process.cwd(), file) || file;
  await prepareToLoad(file);
  setEntry(pathToFileURL(file));
  const exports = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const app = exports["app"] ?? unwrapDefault(exports["default"]);
  if (typeof app === "function") return { app: app as ASGIApp, file, shownFile };
  throw commandError("TSGI_NO_APP_EXPORTED", shownFile, describe(exports, app));
}

/** A compiled CommonJS module has its exports below `default`. */
function unwrapDefault(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { app, default: inner } = value as { app?: unknown; default?: unknown };
  return app ?? inner ?? value;
}

function describe(exports: Record<string, unknown>, found: unknown): string {
  const way = "Write `export const app = new App()` or `export default app`.";
  if (found instanceof Promise) return "Its app is a promise. Write `export const app = await …`.";
  if (found !== undefined) return `Its app is of type ${found === null ? "null" : typeof found}. ${way}`;
  const names = Object.keys(exports).filter((key) => key !== "default");
  const meant = names.find((name) => isTsgiApp(exports[name]));
  if (meant !== undefined) return `It exports an App as ${meant}. Write \`export { ${meant} as app }\`.`;
  if (names.length === 0) return `It has no exports. ${way}`;
  return `It exports ${names.join(", ")}, but neither app nor default. ${way}`;
}

/** Tells if it is an App itself, and not a wrapped one. */
export function isTsgiApp(value: unknown): value is App {
  return typeof value === "function" && "openapi" in value;
}

/** Tells if this process listens: importing the module has started a server. */
export function startsServer(): boolean {
  return process.getActiveResourcesInfo().some((name) => name === "TCPServerWrap" || name === "PipeServerWrap");
}

/** The same, for commands that serve: warns where the module serves as well. */
export async function loadServedApp(name: string | undefined): Promise<LoadedApp> {
  const loaded = await loadApp(name);
  if (startsServer() && cluster.isPrimary) {
    process.stderr.write(
      `${loaded.shownFile} starts another server when it is imported, in addition to this command. Start it with ` +
        "node or tsx, or put serve() into another file.\n",
    );
  }
  return loaded;
}

/**
 * The same, for commands that need more than a callable: routes and documents.
 *
 * @throws CommandError when it is an ASGI application of another kind.
 */
export async function loadTsgiApp(name: string | undefined): Promise<LoadedApp & { app: App }> {
  const loaded = await loadApp(name);
  if (!isTsgiApp(loaded.app)) throw commandError("TSGI_NOT_A_TSGI_APP", loaded.shownFile);
  return loaded as LoadedApp & { app: App };
}
