/** The server on `node:http`, and the handler for servers that somebody else made. @module */
import { installLoop } from "./concurrency.js";

export type { ServerStartCode } from "./error-codes.js";
export { ProtocolError, ServerStartError, ShutdownTimeoutError } from "./node/errors.js";
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from "./node/handler.js";
export type { Timeouts } from "./node/http-server.js";
export type { RunningServer } from "./node/running-server.js";
export { serve, type ConnectionLimits, type ServeOptions } from "./node/serve.js";
export type { WebSocketOptions } from "./node/websocket-gate.js";

// Whoever serves on Linux and has uWebSockets.js installed wants it; `serve(app, { loop: "libuv" })` does without.
installLoop();
