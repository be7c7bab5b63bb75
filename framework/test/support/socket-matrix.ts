/** Every test of a WebSocket route in memory and over a socket, from one table. */
import { afterEach, describe } from "@jest/globals";
import type { ASGIApp } from "../../core/src/protocol/asgi.js";
import { serve, type RunningServer } from "../../core/src/node.js";
import { type TestWebSocket, WebSocketRefusedError } from "../../core/src/platforms/testing/index.js";
import { ServerContext } from "../../core/src/protocol/server-context.js";
import { CONNECT, TestWebSocket as MemoryPeer } from "../../core/src/platforms/testing/test-websocket.js";
import { MemoryWebSocket } from "../../core/src/platforms/testing/memory-websocket.js";
import { KeptLog } from "./kept-log.js";
import { IS_SLOW } from "./on-demand.js";
import { Ended, SocketPeer } from "./socket-peer.js";

/** The client's end. */
export type Peer = Pick<
  TestWebSocket,
  "subprotocol" | "sendText" | "sendBytes" | "sendJson" | "receive" | "receiveText" | "receiveBytes" | "receiveJson"
> & {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Closes, and waits until the application has settled. */
  close(code?: number, reason?: string): Promise<void>;
  /** Goes without a close frame. */
  terminate(): Promise<void>;
  /** Waits until the application has settled, cleanup and background tasks included. */
  settled(): Promise<void>;
};

export interface Handshake {
  readonly headers?: Readonly<Record<string, string>>;
  readonly subprotocols?: readonly string[];
}

/** The failure of a handshake. */
export interface Refusal {
  /** `null` where the handshake is completed, so that the client sees the close code. */
  readonly statusCode: number | null;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  /** The close code where the client sees it, else 1006. */
  readonly code: number;
}

/** One way to reach an application. */
export interface SocketMatrixClient {
  readonly transport: "memory" | "socket";
  /** Opens a WebSocket. Rejects when it is refused. */
  readonly connect: (app: ASGIApp, path: string, handshake?: Handshake) => Promise<Peer>;
  /** Opens one that is to be refused, and waits until the application has settled. */
  readonly refused: (app: ASGIApp, path: string, handshake?: Handshake) => Promise<Refusal>;
}

async function connectInMemory(app: ASGIApp, path: string, { headers, subprotocols }: Handshake = {}): Promise<Peer> {
  let over: Promise<void> = Promise.resolve();
  const tracked: ASGIApp = (...args) => (over = app(...args));
  const context = new ServerContext(tracked, new KeptLog(), { state: {} });
  const handshake = { target: path, headers, subprotocols, server: ["127.0.0.1", 80] } as const;
  const peer = await MemoryPeer[CONNECT](new MemoryWebSocket(context, handshake));
  return Object.assign(peer, { settled: () => over });
}

const memory: SocketMatrixClient = {
  transport: "memory",
  connect: connectInMemory,
  async refused(app, path, handshake) {
    const error: unknown = await connectInMemory(app, path, handshake).catch((refusal: unknown) => refusal);
    if (!(error instanceof WebSocketRefusedError)) throw new Error("The handshake was not refused.");
    const { statusCode, headers, code } = error;
    return { statusCode, headers, body: error.text(), code: statusCode === null ? code : 1006 };
  },
};

class Sockets implements SocketMatrixClient {
  readonly transport = "socket";
  readonly #servers = new Map<ASGIApp, Promise<RunningServer>>();
  /** The calls of the applications, by the port of their client. */
  readonly #calls = new Map<number, Promise<void>>();
  readonly #peers: Peer[] = [];

  readonly connect: SocketMatrixClient["connect"] = async (app, path, { headers = {}, subprotocols = [] } = {}) => {
    const { url } = await this.#serve(app);
    const callAt = (port: number) => this.#calls.get(port);
    const peer = await SocketPeer.open(url.replace("http", "ws") + path, subprotocols, headers, callAt);
    this.#peers.push(peer);
    return peer;
  };

  readonly refused: SocketMatrixClient["refused"] = async (app, path, handshake) => {
    const error: unknown = await this.connect(app, path, handshake).then(
      async (peer) => {
        const how = await peer.closed;
        await peer.settled();
        return how;
      },
      (refusal: unknown) => refusal,
    );
    if (!(error instanceof Ended)) throw error;
    return error;
  };

  #serve(app: ASGIApp): Promise<RunningServer> {
    let server = this.#servers.get(app);
    if (server === undefined) {
      const tracked: ASGIApp = (scope, receive, send) => {
        const result = app(scope, receive, send);
        if (scope.type === "websocket") this.#calls.set(scope.client?.[1] ?? 0, result);
        return result;
      };
      server = serve(tracked, { port: 0, signals: false, logger: new KeptLog() });
      this.#servers.set(app, server);
    }
    return server;
  }

  async close(): Promise<void> {
    await Promise.all(this.#peers.splice(0).map((peer) => peer.terminate()));
    const servers = await Promise.all(this.#servers.values());
    this.#servers.clear();
    await Promise.all(servers.map((server) => server.close()));
  }
}

/**
 * Defines the same tests twice: with WebSockets in memory, and with WebSockets of the Node server.
 *
 * @param always - The transports over which the tests always run. Over the others they run with `TSGI_SLOW=1`, and are
 * skipped otherwise.
 */
export function describeSocketMatrix(
  title: string,
  define: (client: SocketMatrixClient) => void,
  always: readonly SocketMatrixClient["transport"][] = ["memory"],
): void {
  describe(`${title} (in memory)`, () => {
    define(memory);
  });
  const describeOrSkip = IS_SLOW || always.includes("socket") ? describe : describe.skip;
  describeOrSkip(`${title} (over a socket)`, () => {
    const sockets = new Sockets();
    afterEach(() => sockets.close());
    define(sockets);
  });
}
