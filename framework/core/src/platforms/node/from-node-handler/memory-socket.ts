/** Two ends of a connection in memory, which `node:http` takes for sockets. @module */
import { clearTimeout, setTimeout } from "../../../common/timers.js";
import { Duplex } from "node:stream";

type Callback = (error?: Error | null) => void;

/** The end of the connection that a socket shows. */
export interface SocketFacts {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly encrypted: boolean;
}

/** One end. Bytes wait for the reader of the other end, and the end of one closes the other. */
export class MemorySocket extends Duplex {
  readonly remoteAddress: string | undefined;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly encrypted: boolean;
  readonly remoteFamily: string;
  #peer: MemorySocket | null = null;
  /** Called once this end has been read: the write of the other end that waits. */
  #onRead: Callback | null = null;
  #timeoutMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ remoteAddress, remotePort, localAddress, localPort, encrypted }: SocketFacts) {
    super({ allowHalfOpen: true });
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.localAddress = localAddress;
    this.localPort = localPort;
    this.encrypted = encrypted;
    this.remoteFamily = remoteAddress?.includes(":") ? "IPv6" : "IPv4";
  }

  /** Connects two ends. */
  static pair(left: SocketFacts, right: SocketFacts): [MemorySocket, MemorySocket] {
    const ends: [MemorySocket, MemorySocket] = [new MemorySocket(left), new MemorySocket(right)];
    ends[0].#peer = ends[1];
    ends[1].#peer = ends[0];
    return ends;
  }

  override _read(): void {
    const callback = this.#onRead;
    this.#onRead = null;
    callback?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#active();
    const peer = this.#peer;
    if (peer === null || peer.destroyed) return callback(reset());
    peer.#active();
    if (peer.push(chunk)) callback();
    else peer.#onRead = callback;
  }

  override _final(callback: Callback): void {
    this.#peer?.push(null);
    callback();
  }

  /** As for a socket, the other end reads the data that was written before, and then the end. Its own data is lost. */
  override _destroy(error: Error | null, callback: Callback): void {
    clearTimeout(this.#timer);
    const peer = this.#peer;
    this.#peer = null;
    this.#onRead?.(reset());
    this.#onRead = null;
    if (peer !== null && !peer.destroyed) {
      peer.#peer = null;
      if (!this.writableFinished) peer.push(null);
    }
    callback(error);
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  setTimeout(timeoutMs: number, listener?: () => void): this {
    this.#timeoutMs = timeoutMs;
    if (listener !== undefined) {
      if (timeoutMs > 0) this.once("timeout", listener);
      else this.off("timeout", listener);
    }
    this.#active();
    return this;
  }

  get timeout(): number {
    return this.#timeoutMs;
  }

  #active(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs === 0 || this.destroyed) return;
    this.#timer = setTimeout(() => this.emit("timeout"), this.#timeoutMs);
    this.#timer.unref();
  }

  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  address(): object {
    return { address: this.localAddress, port: this.localPort, family: this.remoteFamily };
  }
}

/** The error of a socket whose peer has closed the connection before the end. */
function reset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", errno: -104, syscall: "read" });
}
