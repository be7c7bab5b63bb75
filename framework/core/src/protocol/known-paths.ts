/** The paths that an application knows, without a call of it. @module */
import type { ASGIApp } from "./asgi.js";

/**
 * Tells if a route of any method, a mount or a page of the documentation has a path.
 *
 * @param path - In the canonical form, below the application's `root_path`.
 */
export type HasPath = (type: "http" | "websocket", path: string) => boolean;

/** Under this key, an application has its {@link HasPath}. Registered, so that another copy of the package can read it. */
export const HAS_PATH: unique symbol = Symbol.for("tsgi.has-path");

/** The function of an application that knows its paths; `null` for any other. */
export function hasPathOf(app: ASGIApp): HasPath | null {
  const { [HAS_PATH]: hasPath }: ASGIApp & { readonly [HAS_PATH]?: HasPath } = app;
  return hasPath ?? null;
}
