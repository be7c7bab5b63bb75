/** Passes the bytes of a client to `node:http2` one frame at a time. @module */
import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { checkFrameHead, FRAME_HEAD_BYTES, type FrameHead, isControl, isPong, readFrameHead } from "./frame-head.js";

/** RFC 9113 §3.4: `PRI * HTTP/2.0` and the rest of the preface. `node:http2` checks its content. */
const PREFACE_BYTES = 24;
const EMPTY = Buffer.alloc(0);

interface WrittenChunk {
  readonly chunk: Buffer;
}

/**
 * The connection as `node:http2` sees it.
 *
 * If a session is destroyed while it reads, `node:http2` goes on with the bytes that it was given together, until an
 * assertion ends the process: 78 bytes do that to Node 20 (nghttp2 1.61, `NGHTTP2_IB_IGN_ALL`), 519 to Node 22
 * (nodejs/node#64850). So a session gets one frame at a time, and none after its end or after a frame that RFC 9113
 * forbids.
 */
export class FrameGate extends Duplex {
  /** PINGs that the server has sent and the client has not answered. */
  pings = 0;
  /** Bytes that the session has got. */
  passedBytes = 0;
  readonly #socket: Socket;
  #session: ServerHttp2Session | null = null;
  /** Received bytes, from `#at` on, that the session has not got. */
  #input: Buffer = EMPTY;
  #at = 0;
  /** Bytes of the preface or of a checked frame that the session has not got. */
  #left = PREFACE_BYTES;

  constructor(socket: Socket) {
    super();
    this.#socket = socket;
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("close", () => this.destroy());
    socket.on("error", ignore); // `close` follows
    this.on("error", ignore);
  }

  /** Begins to pass bytes: those that were received already, then those of the socket. */
  open(session: ServerHttp2Session, received: Buffer): void {
    this.#session = session;
    this.#receive(received);
  }

  /** `true` if the session does not read, and does not wait for the client to read. */
  get isHeld(): boolean {
    return this.isPaused() && this.writableLength === 0 && this.#socket.writableLength === 0;
  }

  /** The session reads on. */
  override resume(): this {
    super.resume();
    process.nextTick(() => this.#deliver());
    return this;
  }

  #receive(chunk: Buffer): void {
    this.#input = this.#at === this.#input.length ? chunk : Buffer.concat([this.#input.subarray(this.#at), chunk]);
    this.#at = 0;
    this.#deliver();
  }

  /**
   * Passes frames until the session waits, as it does while it writes: Node 26 drops the GOAWAY of a session that is
   * destroyed in the middle of a write.
   */
  #deliver(): void {
    while (!this.isPaused()) {
      const part = this.#next();
      if (part === null) break;
      this.push(part);
    }
    if (this.isPaused() && this.#at < this.#input.length) this.#socket.pause();
    else if (this.#socket.isPaused()) this.#socket.resume();
  }

  /** The next bytes for the session: a frame, or the part of it that was received. */
  #next(): Buffer | null {
    const start = this.#at;
    while (this.#session !== null && !this.#session.destroyed) {
      const head = this.#left === 0 ? this.#readHead() : null;
      const length = Math.min(this.#left, this.#input.length - this.#at);
      this.#at += length;
      this.#left -= length;
      this.passedBytes += length;
      // Together: nghttp2 ends a session that owes 1,000 ACKs, and sends more bytes after several WINDOW_UPDATEs.
      if (head !== null && this.#left === 0 && isControl(head) && this.#isControlNext()) continue;
      return this.#at === start ? null : this.#input.subarray(start, this.#at);
    }
    return null;
  }

  #isControlNext(): boolean {
    const head = readFrameHead(this.#input, this.#at);
    return head !== null && isControl(head);
  }

  /** Begins the next frame. Returns `null` if its head is incomplete, or the connection ends here. */
  #readHead(): FrameHead | null {
    const head = readFrameHead(this.#input, this.#at);
    if (head === null) return null;
    const code = isPong(head) && this.pings-- <= 0 ? constants.NGHTTP2_PROTOCOL_ERROR : checkFrameHead(head);
    if (code === constants.NGHTTP2_NO_ERROR) {
      this.#left = FRAME_HEAD_BYTES + head.length;
      return head;
    }
    this.#session?.destroy(new Error("The client sent a frame that RFC 9113 forbids."), code);
    return null;
  }

  override _read(): void {
    // `#deliver` pushes.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(chunks: readonly WrittenChunk[], done: (error?: Error | null) => void): void {
    this.#socket.cork();
    for (const [index, { chunk }] of chunks.entries()) {
      if (index < chunks.length - 1) this.#socket.write(chunk);
      else this.#socket.write(chunk, done);
    }
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}

function ignore(): void {}
