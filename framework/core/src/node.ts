/** The server on `node:http`, and the handler for other servers. @module */
import { installLoop } from "./platforms/concurrency/loop.js";

export type { ServerStartCode } from "./common/error-codes.js";
export { ProtocolError } from "./common/exceptions.js";
export { ShutdownTimeoutError } from "./protocol/shutdown.js";
export { ServerStartError } from "./platforms/node/stoppable-server.js";
export { fromNodeHandler } from "./platforms/node/from-node-handler.js";
export type { NodeListener } from "./platforms/node/from-node-handler/inner-server.js";
export { nodeRequest } from "./platforms/node/node-handler/node-request.js";
export { toNodeHandler, type NodeHandler, type NodeHandlerOptions } from "./platforms/node/node-handler.js";
export type { Timeouts } from "./platforms/node/server-settings.js";
export type { RunningServer } from "./platforms/node/stoppable-server.js";
export { serve, type ConnectionLimits, type ServeOptions } from "./platforms/node/serve.js";
export type { SocketServerOptions as WebSocketOptions } from "./platforms/node/websocket/handshake-rules.js";

// Uses uWebSockets.js as the loop if it is available; `serve(app, { loop: "libuv" })` does not.
installLoop();
