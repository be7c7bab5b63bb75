/** The driver of another I/O loop, as `serve` uses it, such as the one of `@tsgi/uwebsockets`. @module */
import type { Lifespan } from "../../protocol/lifespan.js";
import type { ServerContext } from "../../protocol/server-context.js";
import type { RequestLimits } from "./header-section.js";
import type { StoppableServer } from "./stoppable-server.js";
import type { WebSocketRules } from "./websocket/handshake-rules.js";

/** The settings of a server on another loop. */
export interface LoopServerSettings {
  readonly limits: RequestLimits;
  readonly webSockets: WebSocketRules;
  readonly host: string;
  /** The port to listen on. @throws ServerStartError if another process has it. */
  readonly claimPort: () => Promise<number>;
  readonly shutdownTimeoutMs: number;
  /** Milliseconds that a client has to read a response. */
  readonly requestMs: number;
}

/** The exports of the package of a loop. */
export interface LoopDriver {
  createServer(context: ServerContext, lifespan: Lifespan, settings: LoopServerSettings): StoppableServer;
}
