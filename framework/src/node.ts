/** The server on `node:http`, and the handler for servers that somebody else made. @module */
import { installLoop } from "./concurrency.js";

export type { ServerStartCode } from "./error-codes.js";
export { ProtocolError } from "./exceptions.js";
export { ServerStartError, ShutdownTimeoutError } from "./node/errors.js";
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from "./node/node-handler.js";
export type { Timeouts } from "./node/server-settings.js";
export type { RunningServer } from "./node/stoppable-server.js";
export { serve, type ConnectionLimits, type ServeOptions } from "./node/serve.js";
export type { WebSocketOptions } from "./node/websocket/upgrade.js";

// Installs uWebSockets.js as the loop where it is available; `serve(app, { loop: "libuv" })` does without.
installLoop();
