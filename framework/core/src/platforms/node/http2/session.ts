/** One HTTP/2 connection: its streams, its timeouts, and what a client may ask of it. @module */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { setImmediate } from "../../../common/timers.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { Exchange } from "../../../protocol/exchange.js";
import { SERVER_OPTIONS } from "../../../protocol/response.js";
import { createScope, type Endpoints } from "../../../protocol/scope.js";
import { socketEndpoints, isLate, type ServerSettings } from "../server-settings.js";
import { MIN_BYTES_PER_MS, SlowSocket } from "../slow-reader.js";
import type { FrameGate } from "./frame-gate.js";
import { readHead, RequestStream } from "./stream.js";

/**
 * Streams that a client resets, or makes the server reset, in a row, and additional ones per second: a browser that
 * leaves a page resets its pending requests, an attack (CVE-2023-44487, CVE-2025-8671) thousands per second.
 */
const MAX_RESETS = 200;
const RESETS_PER_S = 7;
/**
 * Bytes without a request or a body (PING, SETTINGS, WINDOW_UPDATE, PRIORITY, empty frames: CVE-2019-9511 to -9518), in
 * a row, and additional ones per second. A stream allows for its own window and the buffer of a stream of Node (64 KiB
 * since Node 22), whose bytes are not counted as a body yet; a response, for the updates of its window.
 */
const MAX_IDLE_BYTES = 1_048_576;
const IDLE_BYTES_PER_S = 65_536;
const IDLE_BYTES_PER_STREAM = 131_072;
const SENT_BYTES_PER_IDLE_BYTE = 16;
/**
 * Bytes of responses that may wait for a client, in addition to the largest response; beyond that, its next requests wait.
 * Attack: with a window of 0, 4 clients that sent 16 KB held 390 MB.
 */
const MAX_WAITING_BYTES = 8_388_608;
/**
 * Requests of a new client that begin when they arrive; one more for each response that it has taken. The others begin in
 * later turns of the event loop, as many at a time, when the responses before them are counted.
 */
const FIRST_STARTS = 16;
/** If more bytes wait, a client that takes them too slowly has a share of `requestMs`. */
const SLOW_SHARE = 1 / 30;
/** Milliseconds until a connection is cut that was told to close, or whose client broke the protocol. */
const LINGER_MS = 1000;

const EMPTY = Buffer.alloc(0);

/** The session of `node:http2`, the socket under it, and the gate between the two. */
interface SessionParts {
  readonly session: ServerHttp2Session;
  readonly socket: Socket;
  readonly gate: FrameGate;
}

/** Serves the requests of one socket that speaks HTTP/2. */
export class Session {
  readonly #socket: Socket;
  readonly #endpoints: Endpoints;
  readonly #settings: ServerSettings;
  readonly #gate: FrameGate;
  readonly #session: ServerHttp2Session;
  readonly #streams = new Set<RequestStream>();
  /** Requests that have not begun. */
  readonly #pending: (() => void)[] = [];
  #willStart = false;
  #maxStreams = FIRST_STARTS;
  /** Bytes that waited at the last check, and milliseconds for which the client has been too slow. */
  #waitingBytes = 0;
  #slowMs = 0;
  readonly #reader: SlowSocket;
  #hasServed = false;
  /** When the last stream closed, or the connection was told to close. */
  #since: number;
  #checkedAt: number;
  #pingedAt: number;
  #isPinged = false;
  /** Bytes that the session had got when the client was last asked for a sign of life. */
  #pingedBytes = 0;
  #isExpelled = false;
  #resets = 0;
  #idleBytes = 0;
  #readBytes = 0;
  #writtenBytes = 0;
  /** Bytes that went through the gate in both directions, and when the session last read or wrote any. */
  #movedBytes = 0;
  #movedAt: number;

  /** @param path - The Unix socket that the server listens on, if it does. */
  constructor({ session, socket, gate }: SessionParts, path: string | null, settings: ServerSettings) {
    this.#session = session;
    this.#socket = socket;
    this.#gate = gate;
    this.#settings = settings;
    this.#reader = new SlowSocket(socket);
    this.#endpoints = socketEndpoints(socket, path);
    this.#since = this.#checkedAt = this.#pingedAt = this.#movedAt = settings.now;
    session.on("error", ignore);
    session.on("stream", (stream: ServerHttp2Stream, _headers: unknown, _flags: number, fields: string[]) => {
      this.#onStream(stream, fields);
    });
    socket.on("end", () => session.destroy()); // a client that has ended its side cannot grant a window
  }

  /** The server is about to stop: a client that has received its response should use another connection. */
  drain(): void {
    if (this.#hasServed) this.close();
  }

  /**
   * Takes no further requests, and closes the connection behind those under way. GOAWAY names the last of them, so that
   * the client knows which it may send elsewhere (RFC 9113 §6.8).
   */
  close(): void {
    if (this.#session.closed || this.#session.destroyed) return;
    this.#since = this.#settings.now;
    this.#session.close();
  }

  /** Enforces the timeouts of the connection and the limits of its cost. Called at each check. */
  checkTime(): void {
    const { now, timeouts } = this.#settings;
    for (const stream of this.#streams) stream.checkTime(now, timeouts.requestMs);
    this.#checkIdleBytes(now);
    this.#checkReading(now);
    this.#checkWaitingBytes(now);
    if (this.#session.closed || this.#session.destroyed) {
      if (this.#streams.size === 0 && now - this.#since >= LINGER_MS) this.#socket.destroy();
    } else if (this.#streams.size === 0) {
      if (isLate(this.#settings, this.#since, this.#hasServed ? timeouts.keepAliveMs : timeouts.headersMs))
        this.close();
    }
    if (this.#streams.size > 0 && isLate(this.#settings, this.#pingedAt, timeouts.webSocketPingMs)) this.#ping();
    this.#checkedAt = now;
  }

  /** The bytes that wait for the client, with and without those of the largest response. */
  #countWaitingBytes(): { readonly all: number; readonly others: number } {
    let all = 0;
    let largest = 0;
    for (const { waitingBytes } of this.#streams) {
      all += waitingBytes;
      largest = Math.max(largest, waitingBytes);
    }
    return { all, others: all - largest };
  }

  #checkWaitingBytes(now: number): void {
    const { requestMs } = this.#settings.timeouts;
    const elapsedMs = now - this.#checkedAt;
    const { all, others: waitingBytes } = this.#countWaitingBytes();
    const isSlow = this.#waitingBytes - waitingBytes < elapsedMs * MIN_BYTES_PER_MS;
    this.#slowMs = waitingBytes > MAX_WAITING_BYTES && isSlow ? this.#slowMs + elapsedMs : 0;
    if (waitingBytes > MAX_WAITING_BYTES) this.#maxStreams = FIRST_STARTS;
    this.#waitingBytes = waitingBytes;
    this.#settings.waitingBytes += all;
    const isUnread = this.#reader.isLate(all, now, requestMs, this.#settings.isCrowded);
    if (isUnread || (requestMs > 0 && this.#slowMs >= requestMs * SLOW_SHARE)) {
      this.#expel("bytes that wait for the client");
    }
    this.#startLater();
  }

  /** Begins pending requests in the next turn, if not too many bytes wait for the client. */
  #startLater(): void {
    if (this.#pending.length === 0 || this.#willStart) return;
    this.#willStart = true;
    setImmediate(() => {
      this.#willStart = false;
      if (this.#countWaitingBytes().others > MAX_WAITING_BYTES) return;
      for (const begin of this.#pending.splice(0, FIRST_STARTS)) begin();
      this.#startLater();
    });
  }

  /**
   * After an error of the protocol nghttp2 sends GOAWAY and stops reading, and Node 20 reports neither that nor the end of
   * the client: it is noticed here.
   */
  #checkReading(now: number): void {
    const movedBytes = this.#gate.passedBytes + this.#socket.bytesWritten;
    if (!this.#gate.isHeld || movedBytes !== this.#movedBytes) this.#movedAt = now;
    this.#movedBytes = movedBytes;
    if (now - this.#movedAt >= LINGER_MS) this.#socket.destroy();
  }

  /**
   * A client that has neither acknowledged one ping nor sent anything else by the next has disconnected. On a busy machine
   * the acknowledgment may be behind megabytes of bodies.
   */
  #ping(): void {
    const { passedBytes } = this.#gate;
    if (this.#isPinged && passedBytes === this.#pingedBytes) {
      this.#socket.destroy();
      return;
    }
    this.#pingedAt = this.#settings.now;
    this.#pingedBytes = passedBytes;
    if (this.#isPinged || this.#session.destroyed) return;
    this.#isPinged = true;
    this.#gate.pings++;
    this.#session.ping(() => (this.#isPinged = false));
  }

  #checkIdleBytes(now: number): void {
    const { bytesRead, bytesWritten } = this.#socket;
    const elapsedMs = now - this.#checkedAt;
    this.#resets = Math.max(0, this.#resets - (elapsedMs * RESETS_PER_S) / 1000);
    this.#idleBytes += bytesRead - this.#readBytes - (bytesWritten - this.#writtenBytes) / SENT_BYTES_PER_IDLE_BYTE;
    this.#idleBytes = Math.max(0, this.#idleBytes - (elapsedMs * IDLE_BYTES_PER_S) / 1000);
    this.#readBytes = bytesRead;
    this.#writtenBytes = bytesWritten;
    const maxIdleBytes = MAX_IDLE_BYTES + this.#streams.size * IDLE_BYTES_PER_STREAM;
    if (this.#idleBytes > maxIdleBytes) this.#expel("bytes that bring no request");
  }

  #expel(reason: string): void {
    if (this.#isExpelled) return;
    this.#isExpelled = true;
    const { client } = this.#endpoints;
    const error = new Error(`The HTTP/2 connection was closed: too many ${reason}.`);
    this.#settings.context.logger.debug({ client }, error.message);
    this.#since = this.#settings.now;
    // Later: `node:http2` does not bear it in the middle of a packet (nodejs/node, Http2Session::receive).
    setImmediate(() => this.#session.destroy(error, constants.NGHTTP2_ENHANCE_YOUR_CALM));
  }

  #onStream(stream: ServerHttp2Stream, fields: readonly string[]): void {
    const { context, limits, now } = this.#settings;
    const request = new RequestStream(stream, now, (bytes) => (this.#idleBytes -= bytes));
    if (request.destroyed) {
      this.#countReset(); // by the client, in the same packet
      return;
    }
    this.#hasServed = true;
    this.#streams.add(request);
    if (this.#streams.size === 1) this.#pingedAt = now;
    stream.on("close", () => this.#onClose(request, stream));
    if (context.draining) this.close();
    const head = readHead(fields, limits);
    if (head instanceof ErrorResponse) {
      const refusal = head.as(context);
      request.respond(refusal.head, refusal.body);
      return;
    }
    if (head.target === "*") {
      request.respond(SERVER_OPTIONS, EMPTY);
      return;
    }
    const { method, target, section } = head;
    const { headers, content } = section;
    const requestHead = { httpVersion: "2", method, target, headers, content };
    const scope = createScope(requestHead, this.#endpoints, context);
    const exchange = new Exchange(context, request, scope, request.expectBody(section));
    request.attach(exchange);
    if (this.#streams.size <= this.#maxStreams) {
      void exchange.run();
    } else {
      this.#pending.push(() => void (request.isOpen && exchange.run()));
      this.#startLater();
    }
  }

  #onClose(request: RequestStream, { rstCode, aborted }: ServerHttp2Stream): void {
    this.#streams.delete(request);
    this.#idleBytes -= IDLE_BYTES_PER_STREAM;
    if (this.#streams.size === 0) this.#since = this.#settings.now;
    this.#startLater();
    if (rstCode === constants.NGHTTP2_NO_ERROR && !aborted && !request.isReset) this.#maxStreams++;
    if ((rstCode !== constants.NGHTTP2_NO_ERROR || aborted) && !request.isReset) this.#countReset();
  }

  #countReset(): void {
    this.#resets++;
    if (this.#resets > MAX_RESETS) this.#expel("resets");
  }
}

function ignore(): void {}
