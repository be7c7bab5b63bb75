/** The server on `node:http`, and the handler for servers that somebody else made. @module */
export { ClientDisconnectError, ProtocolError, ServerStartError, ShutdownTimeoutError } from "./node/errors.js";
export { toNodeHandler, type NodeHandlerOptions } from "./node/handler.js";
export type { ServerLogger } from "./node/logger.js";
export { serve, type RunningServer, type ServeOptions } from "./node/serve.js";
