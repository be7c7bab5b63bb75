/** `@tsgi/uwebsockets`: serves an application on the I/O loop of uWebSockets.js. `tsgi/node` finds it by itself. @module */
import { uwebsocketsError } from "./errors.js";
import { findLoopPackage, type LoopDriver, type NativeLoop } from "tsgi/internals";
import type { UwsModule } from "./module.js";
import { UwsServer } from "./server.js";

/**
 * Makes a server on uWebSockets.js, for `serve` of `tsgi/node`.
 *
 * @throws ConfigurationError if uWebSockets.js is not installed, or has no binary for this Node and C library.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { serve } from "tsgi/node";
 *
 * const server = await serve(new App(), { port: 8000, loop: "uwebsockets" });
 * server.loop; // "uwebsockets"
 * ```
 */
export const createServer: LoopDriver["createServer"] = (context, lifespan, settings) => {
  const found = findLoopPackage();
  if (found === null || !isUws(found.native)) throw uwebsocketsError("TSGI_MISSING_UWEBSOCKETS");
  return new UwsServer(found.native, context, lifespan, settings);
};

/** `findLoopPackage` has checked the members that distinguish the package from a stand-in. */
function isUws(native: NativeLoop): native is UwsModule {
  return typeof native.App === "function";
}
