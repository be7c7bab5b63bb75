/** One client connection: its two ends, and the calls on it. @module */
import type { Socket } from "node:net";
import type { Address } from "../asgi.js";
import { RequestLines } from "./later-lines.js";
import { closeGently, type Refusal } from "./refusal.js";
import type { ResponseSink } from "./response-sink.js";

/** A call of the application on a connection: an HTTP exchange or a WebSocket. */
export interface Call {
  /** What it is called in a log line: `"GET /items"`. */
  readonly name: string;
  /** Whether all that the client has to send before it is answered has come in. */
  readonly received: boolean;
  /** Whether the whole answer has left. */
  readonly answered: boolean;
  /** The client has gone. */
  disconnect(): void;
  /** The server is about to stop: ends what has no end of its own. */
  drain(): void;
  /** The socket takes more. Called where the parser that says so has let go of it. */
  drained(): void;
  /** Answers in the application's place. */
  refuse(refusal: Refusal): void;
}

/** A connection, or on a loop that shows none the one request on it, as far as its calls need it. */
export interface Line {
  /** The calls under way, oldest first. */
  readonly calls: Call[];
  /** Whether the connection takes no more requests. */
  closing: boolean;
  /** Whether a refusal follows the answers that are under way. */
  readonly refuses: boolean;
  /** Whether it is cut. */
  readonly destroyed: boolean;
  delete(call: Call): void;
  /** Ends the connection behind a response. */
  closeAfter(res: Pick<ResponseSink, "once">): void;
  /** Ends a connection on which nothing runs, in good order. */
  close(): void;
  /** Cuts it. */
  destroy(): void;
}

/** What a connection's requests share, worked out once for each socket. */
export class Connection implements Line {
  readonly socket: Socket;
  readonly client: Address | null;
  readonly server: Address | null;
  readonly encrypted: boolean;
  /** The last `Host` that was found to be well formed, so that a kept-alive client's is checked once. */
  knownHost: string | undefined;
  /** Where its requests begin; of a server of our own only. */
  readonly lines: RequestLines | null;
  /** Whether the connection takes no more requests: it was refused, or answered before its request had come in. */
  closing = false;
  #refusal: Refusal | null = null;
  /** The calls under way, oldest first. */
  readonly calls: Call[] = [];
  /** The bytes that had come when the last request was answered: those behind them are of a request on its way. */
  #bytesAtRest = -1;
  /** The bytes that had come when somebody last looked, and how often nothing had changed. */
  #bytesSeen = 0;
  #idleLooks = 0;
  /** Where the connection stands as long as it is open or a call on it runs. */
  readonly #register: Set<Line> | null;

  constructor(socket: Socket, path: string | null, register: Set<Line> | null) {
    this.socket = socket;
    this.#register = register?.add(this) ?? null;
    this.lines = register === null ? null : new RequestLines();
    this.encrypted = "encrypted" in socket && socket.encrypted === true;
    this.client = address(socket.remoteAddress, socket.remotePort);
    this.server = path === null ? address(socket.localAddress, socket.localPort) : [path, null];
    socket.on("close", onClose);
  }

  /**
   * The connection of a socket; made with its first request where somebody else made the server.
   *
   * @param path - The Unix socket that the server listens on, if it does.
   * @param register - Where the connection is to stand while it lives.
   */
  static of(socket: Socket, path: string | null = null, register: Set<Line> | null = null): Connection {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, path, register);
      connections.set(socket, connection);
    }
    return connection;
  }

  /** Whether a refusal follows the answers that are under way; it is what closes the connection then. */
  get refuses(): boolean {
    return this.#refusal !== null;
  }

  delete(call: Call): void {
    this.calls.splice(this.calls.indexOf(call), 1);
    if (this.calls.length === 0) {
      this.rest();
      this.#refusal?.write(this.socket);
      this.#refusal = null;
      this.#mayBeOver();
    }
  }

  /** What came next is no request: says so to whoever still sends one, else once the requests before it are answered. */
  refuse(refusal: Refusal): void {
    if (this.closing) {
      return;
    }
    this.closing = true;
    const sending = this.calls.find((call) => !call.received);
    if (sending !== undefined) {
      sending.refuse(refusal);
    } else if (this.calls.every((call) => call.answered)) {
      refusal.write(this.socket);
    } else {
      this.#refusal = refusal;
    }
  }

  /**
   * The same behind a head for which the parser of `node:http` lets go of the socket: CONNECT and Upgrade. Requests before
   * it may still be answered, and nobody else hears then that the socket takes more, fails, or has lost its client.
   */
  refuseDetached(refusal: Refusal): void {
    const { socket } = this;
    socket.on("error", () => {}); // "close" follows
    socket.on("drain", () => this.calls[0]?.drained());
    socket.on("end", () => void (this.calls.length > 0 && socket.destroy()));
    socket.resume();
    this.refuse(refusal);
  }

  /** Ends the connection behind a response, and takes no request from it any more. */
  closeAfter(res: Pick<ResponseSink, "once">): void {
    this.closing = true;
    // Node calls this behind a response that says `Connection: close`; its own way resets a client that still sends.
    this.socket.destroySoon = () => closeGently(this.socket);
    res.once("finish", () => this.socket.destroySoon());
  }

  get destroyed(): boolean {
    return this.socket.destroyed;
  }

  close(): void {
    this.socket.destroySoon();
  }

  destroy(): void {
    this.socket.destroy();
  }

  /** All requests that have come are answered, or are about to be. */
  rest(): void {
    this.#bytesAtRest = this.socket.bytesRead;
  }

  /**
   * To be called at each look: whether so many in a row have found nothing running and no byte since.
   *
   * @param idle - How many where no request is on its way.
   * @param begun - How many where a part of one may have come.
   */
  wasIdleFor(idle: number, begun: number): boolean {
    const { bytesRead } = this.socket;
    this.#idleLooks = this.calls.length > 0 || bytesRead !== this.#bytesSeen ? 0 : this.#idleLooks + 1;
    this.#bytesSeen = bytesRead;
    return this.#idleLooks > (bytesRead === this.#bytesAtRest ? idle : begun);
  }

  /** The socket has closed. */
  closed(): void {
    for (const call of this.calls) {
      call.disconnect();
    }
    this.#mayBeOver();
  }

  #mayBeOver(): void {
    if (this.socket.destroyed && this.calls.length === 0) {
      this.#register?.delete(this);
    }
  }
}

const connections = new WeakMap<Socket, Connection>();

/** One function for all sockets: ten thousand idle ones would each keep their own. */
function onClose(this: Socket): void {
  connections.get(this)?.closed();
}

function address(host: string | undefined, port: number | undefined): Address | null {
  return host === undefined || port === undefined ? null : [host, port];
}
