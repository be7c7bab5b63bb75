/** Functions that are instances of a class: an App, a folder of files, a security scheme. @module */
import { markCopy } from "../common/copies.js";
import { configurationError, unknownScope } from "../common/exceptions.js";
import type { ASGIApp, HTTPScope, Receive, Send } from "./asgi.js";

/**
 * The base of a class whose instances are called: each is the function that it is made with. `instanceof` holds, and so
 * do the methods of functions, by which Node calls a listener.
 */
export class CallableInstance {
  static {
    Object.setPrototypeOf(this.prototype, Function.prototype);
    markCopy(this);
  }

  constructor(call: (...args: never) => unknown) {
    return Object.setPrototypeOf(call, new.target.prototype) as CallableInstance;
  }
}

/** The code with which a WebSocket is closed that no route matches. The specification fixes it. */
export const NO_ROUTE = 4004;

/** Makes an application that has no WebSockets. */
export function onlyHTTP(serve: (scope: HTTPScope, receive: Receive, send: Send) => Promise<void>): ASGIApp {
  return async (scope, receive, send) => {
    if (scope.type === "http") return serve(scope, receive, send);
    if (scope.type !== "websocket") throw unknownScope(scope.type, '"http" or "websocket"');
    await send({ type: "websocket.close", code: NO_ROUTE, reason: "No route" });
  };
}

/** Checks that a value is an application. @throws ConfigurationError when `app` is not an application: often the module that exports it. */
export function assertApplication(caller: string, app: unknown): void {
  if (typeof app === "function") return;
  throw configurationError("TSGI_NOT_AN_ASGI_APPLICATION.call", caller, app);
}

/**
 * Tells if a route, a mount or a page of the documentation has a path.
 *
 * @param path - In the canonical form, below the application's `root_path`.
 * @param method - Of HTTP; without it, a route of any method is sufficient.
 */
export type HasPath = (type: "http" | "websocket", path: string, method?: string) => boolean;

/** Under this key, an application has its {@link HasPath}. Registered, so that another copy of the package can read it. */
export const HAS_PATH: unique symbol = Symbol.for("tsgi.has-path");

/** The function of an application that knows its paths; `null` for any other. */
export function hasPathOf(app: ASGIApp): HasPath | null {
  const { [HAS_PATH]: hasPath }: ASGIApp & { readonly [HAS_PATH]?: HasPath } = app;
  return hasPath ?? null;
}
