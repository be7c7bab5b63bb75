/**
 * uWebSockets.js: `@tsgi/uwebsockets`.
 *
 * These errors are thrown when the package is called without its library. `serve` then uses the event loop of Node. See
 * [uwebsockets.md](uwebsockets.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** `serve` uses `@tsgi/uwebsockets`, but the package uWebSockets.js is not installed. */
  TSGI_MISSING_UWEBSOCKETS:
    "@tsgi/uwebsockets requires the package uWebSockets.js, which cannot be loaded: it is not installed, or has no binary " +
    "for this Node and C library. Run: npm install uWebSockets.js@github:uNetworking/uWebSockets.js#v20.52.0",
};

/** Makes an error of this package. */
export const uwebsocketsError = errorsOf(MESSAGES);
