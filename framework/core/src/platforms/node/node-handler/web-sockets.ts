/** The WebSockets of an application in another server. @module */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clearTimeout, setTimeout } from "../../../common/timers.js";
import type { WebSocketScope } from "../../../protocol/asgi.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import type { ServerContext } from "../../../protocol/server-context.js";
import { DEFAULT_REQUEST_LIMITS } from "../header-section.js";
import { Connection, type ConnectionSettings } from "../http1/connection.js";
import { createHeadEnd } from "../http1/output.js";
import { type SocketServerOptions, toRules } from "../websocket/handshake-rules.js";
import { UpgradeHandler } from "../websocket/upgrade.js";
import { nodeExtension } from "./node-request.js";
import type { HostedPlace } from "./place.js";
import { ELSEWHERE, headOf } from "./request.js";

/** Milliseconds between two pings, as `serve` has them by default. */
const PING_MS = 20_000;
/** Milliseconds for which the socket of a refused upgrade is kept for its client to end it. */
const LINGER_MS = 1000;

const noUpgrade = new ErrorResponse(400, "Expected Upgrade: websocket.");

/** A request for a WebSocket. */
interface HostedHandshake {
  readonly req: IncomingMessage;
  readonly socket: Socket;
  readonly firstBytes: Buffer;
  /** `null` for a path that is not the application's. */
  readonly place: HostedPlace | null;
}

/** The WebSockets of an application in another server. */
export class HostedWebSockets {
  readonly #options: SocketServerOptions;
  readonly #sockets = new Set<Duplex>();
  #handler: { readonly context: ServerContext; readonly upgrades: UpgradeHandler } | null = null;

  constructor(options: SocketServerOptions) {
    this.#options = options;
  }

  /** @param refusal - The response if the application does not serve. */
  open(context: ServerContext, handshake: HostedHandshake, refusal: ErrorResponse | null): void {
    const { req, socket, firstBytes, place } = handshake;
    const connection = new Connection(socket, null, this.#settings(context, handshake));
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket)).once("finish", () => destroyLater(socket));
    const head = place === null ? ELSEWHERE : (refusal ?? headOf(req, place.target));
    if (head instanceof ErrorResponse) connection.refuse(head);
    else if (!head.section.upgrade) connection.refuse(noUpgrade);
    else connection.adopt(head, firstBytes);
  }

  /** Closes all sockets. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #upgradesOf(context: ServerContext): UpgradeHandler {
    if (this.#handler?.context !== context) {
      const upgrades = new UpgradeHandler(context, toRules(this.#options, PING_MS, null));
      this.#handler = { context, upgrades };
    }
    return this.#handler.upgrades;
  }

  #settings(context: ServerContext, { req, place }: HostedHandshake): ConnectionSettings {
    const prepare = (scope: WebSocketScope) => {
      scope.root_path = place?.rootPath ?? "";
      scope.extensions = { ...scope.extensions, ...nodeExtension(req) };
    };
    return {
      context,
      limits: DEFAULT_REQUEST_LIMITS,
      timeouts: { headersMs: 0, requestMs: 0, keepAliveMs: 0, webSocketPingMs: PING_MS },
      headEnd: createHeadEnd(0),
      checkIntervalMs: 0,
      now: 0,
      waitingBytes: 0,
      isCrowded: false,
      acceptHTTP2: null,
      wake: () => {},
      upgrade: (connection, head) => this.#upgradesOf(context).upgrade(connection, head, prepare),
    };
  }
}

/** A client that has its last response may end its own side for a moment: RFC 9112 §9.6. */
function destroyLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
}
