/** A handshake that the application has not answered yet. @module */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** Up to these bytes are kept of what a client sends before its handshake is answered; then it waits. */
const MAX_EARLY_BYTES = 65_536;

/**
 * Reads a connection while the application makes up its mind: a socket that nobody reads never says that its client has
 * gone. A client that ends its side has gone as well, since a WebSocket has no half of it (RFC 6455 §7.1.1).
 */
export class Handshake {
  readonly req: IncomingMessage;
  readonly #socket: Socket;
  readonly #bytes: Buffer[];
  #length: number;

  /** @param firstBytes - What came behind the head in the same read. */
  constructor(req: IncomingMessage, socket: Socket, firstBytes: Buffer) {
    this.req = req;
    this.#socket = socket;
    this.#bytes = [firstBytes];
    this.#length = firstBytes.length;
    socket.on("data", this.#onData);
    socket.on("end", this.#onEnd);
    socket.on("error", ignore);
  }

  /** Stops reading, and gives what has come so far. */
  release(): Buffer {
    this.#socket.off("data", this.#onData);
    this.#socket.off("end", this.#onEnd);
    this.#socket.off("error", ignore);
    if (this.#socket.isPaused()) this.#socket.resume();
    return Buffer.concat(this.#bytes);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes.push(chunk);
    this.#length += chunk.length;
    if (this.#length > MAX_EARLY_BYTES) {
      this.#socket.pause();
    }
  };

  readonly #onEnd = (): void => {
    this.#socket.destroy(); // its "close" tells the application
  };
}

function ignore(): void {}
