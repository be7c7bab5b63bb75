/** Passes the bytes of a client to `node:http2` one frame at a time. @module */
import { nextTick } from "node:process";
import { constants, type ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";

/** RFC 9113 §4.1: length, type, flags and stream. */
const FRAME_HEAD_BYTES = 9;
/** RFC 9113 §4.2. The server announces no other SETTINGS_MAX_FRAME_SIZE. */
const MAX_PAYLOAD_BYTES = 16_384;
const MAX_STREAM = 0x7f_ff_ff_ff;
const ACK = 0x1;
const PADDED = 0x8;
const PRIORITY = 0x20;

const PING_TYPE = 6;
/** PRIORITY, SETTINGS, PING, WINDOW_UPDATE. */
const CONTROL_TYPES: ReadonlySet<number> = new Set([2, 4, PING_TYPE, 8]);

interface FrameType {
  /** `true` for a frame of a stream, `false` for one of the connection, `null` for either. */
  readonly ofStream: boolean | null;
  allows(length: number, flags: number): boolean;
}

/** By type (RFC 9113 §6); PUSH_PROMISE is absent, because a client cannot push (§8.4). */
const TYPES: readonly (FrameType | null)[] = [
  { ofStream: true, allows: (length, flags) => length >= padding(flags) }, // DATA
  { ofStream: true, allows: (length, flags) => length >= padding(flags) + ((flags & PRIORITY) === 0 ? 0 : 5) }, // HEADERS
  { ofStream: true, allows: (length) => length === 5 }, // PRIORITY
  { ofStream: true, allows: (length) => length === 4 }, // RST_STREAM
  { ofStream: false, allows: (length, flags) => ((flags & ACK) === 0 ? length % 6 === 0 : length === 0) }, // SETTINGS
  null,
  { ofStream: false, allows: (length) => length === 8 }, // PING
  { ofStream: false, allows: (length) => length >= 8 }, // GOAWAY
  { ofStream: null, allows: (length) => length === 4 }, // WINDOW_UPDATE
  { ofStream: true, allows: () => true }, // CONTINUATION
];

const padding = (flags: number) => ((flags & PADDED) === 0 ? 0 : 1);

/** A frame's head. */
interface FrameHead {
  /** Bytes of the payload. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Reads the head at a position; `null` if it is incomplete. */
function readFrameHead(bytes: Buffer, at: number): FrameHead | null {
  if (bytes.length - at < FRAME_HEAD_BYTES) return null;
  return {
    length: bytes.readUIntBE(at, 3),
    type: bytes.readUInt8(at + 3),
    flags: bytes.readUInt8(at + 4),
    stream: bytes.readUInt32BE(at + 5) & MAX_STREAM,
  };
}

/** The error code of a frame that RFC 9113 forbids a client; `NGHTTP2_NO_ERROR` for any other. */
function checkFrameHead({ length, type, flags, stream }: FrameHead): number {
  if (length > MAX_PAYLOAD_BYTES) return constants.NGHTTP2_FRAME_SIZE_ERROR;
  const known = TYPES[type];
  if (known === undefined) return constants.NGHTTP2_NO_ERROR; // RFC 9113 §5.5
  if (known === null) return constants.NGHTTP2_PROTOCOL_ERROR;
  if (known.ofStream !== null && known.ofStream !== (stream !== 0)) return constants.NGHTTP2_PROTOCOL_ERROR;
  return known.allows(length, flags) ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_FRAME_SIZE_ERROR;
}

/** Tells if the frame acknowledges a PING of the server. */
function isPong({ type, flags }: FrameHead): boolean {
  return type === PING_TYPE && (flags & ACK) !== 0;
}

/** Tells if the frame does not open or end a stream, carry data or acknowledge one of the server. */
function isControl({ type, flags }: FrameHead): boolean {
  return CONTROL_TYPES.has(type) && (flags & ACK) === 0;
}

/** RFC 9113 §3.4: `PRI * HTTP/2.0` and the rest of the preface. `node:http2` checks its content. */
const PREFACE_BYTES = 24;
const EMPTY = Buffer.alloc(0);

interface WrittenChunk {
  readonly chunk: Buffer;
}

/**
 * The connection as `node:http2` sees it.
 *
 * If a session is destroyed while it reads, `node:http2` continues with the bytes of the same read until an assertion
 * ends the process: 78 bytes do that to Node 20 (nghttp2 1.61, `NGHTTP2_IB_IGN_ALL`), 519 to Node 22
 * (nodejs/node#64850). So a session gets one frame at a time, and no frame after its end or after one that RFC 9113
 * forbids.
 */
export class FrameGate extends Duplex {
  /** PINGs of the server that the client has not acknowledged. */
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

  /** Begins to pass bytes: first those that were received already, then those of the socket. */
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
    nextTick(() => this.#deliver());
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
