/** One client connection: its two ends, and the exchanges on it. @module */
import type { Socket } from "node:net";
import type { Address } from "../asgi.js";
import type { Exchange } from "./exchange.js";

/** What a connection's requests share, worked out once for each socket. */
export class Connection {
  readonly socket: Socket;
  readonly client: Address | null;
  readonly server: Address | null;
  readonly encrypted: boolean;
  /** The last `Host` that was found to be well formed, so that a kept-alive client's is checked once. */
  knownHost: string | undefined;
  readonly #exchanges = new Set<Exchange>();

  constructor(socket: Socket) {
    this.socket = socket;
    this.encrypted = "encrypted" in socket && socket.encrypted === true;
    this.client = address(socket.remoteAddress, socket.remotePort);
    this.server = address(socket.localAddress, socket.localPort);
    socket.once("close", () => this.#closed());
  }

  /** The connection of a socket; made with its first request, whoever owns the server. */
  static of(socket: Socket): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket);
      connections.set(socket, connection);
    }
    return connection;
  }

  /** Whether no exchange is under way. */
  get idle(): boolean {
    return this.#exchanges.size === 0;
  }

  add(exchange: Exchange): void {
    this.#exchanges.add(exchange);
  }

  delete(exchange: Exchange): void {
    this.#exchanges.delete(exchange);
  }

  #closed(): void {
    for (const exchange of this.#exchanges) {
      exchange.disconnect();
    }
    this.#exchanges.clear();
  }
}

const connections = new WeakMap<Socket, Connection>();

function address(host: string | undefined, port: number | undefined): Address | null {
  return host === undefined || port === undefined ? null : [host, port];
}
