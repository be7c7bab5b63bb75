/** One HTTP/1.1 connection: its requests, one after the other, and its end. @module */
import type { Socket } from "node:net";
import type { Address } from "../../asgi.js";
import type { ServerContext } from "../context.js";
import type { BodyFlow } from "../engine.js";
import { ErrorResponse } from "../error-response.js";
import { Exchange } from "../exchange.js";
import { RequestBody } from "../request-body.js";
import type { RequestHead, RequestLimits } from "../request-head.js";
import { type ResponseHead, SERVER_OPTIONS } from "../response-head.js";
import { createScope, type Endpoints } from "../scope.js";
import { BodyReader } from "./body-reader.js";
import { type HeadEnd, Output, type OutputOwner } from "./output.js";
import { parseHead } from "./parse-head.js";

/** Time-outs of a server, in milliseconds; 0 waits for ever. */
export interface Timeouts {
  /** Until the head of a request must be complete (408). Defaults to 20,000. */
  headersMs: number;
  /** Until a whole request must be complete, body included (408). Defaults to 300,000. */
  requestMs: number;
  /** Time for which a connection without a request is kept. Defaults to 65,000. */
  keepAliveMs: number;
  /** Between two pings of a WebSocket; a client that has not answered one by the next is cut. Defaults to 20,000. */
  webSocketPingMs: number;
}

/** The properties of a server that its connections share. */
export interface ConnectionSettings {
  readonly context: ServerContext;
  readonly limits: RequestLimits;
  readonly timeouts: Timeouts;
  /** The end of a head whose connection stays open. */
  readonly headEnd: HeadEnd;
  /** Milliseconds between two calls of {@link Connection.checkTime}. */
  readonly checkIntervalMs: number;
  /** Milliseconds as of the last check, from an arbitrary point in time. */
  now: number;
  /** Takes a request for a WebSocket. */
  readonly upgrade: (connection: Connection, head: RequestHead) => void;
  /** Takes a connection that begins with the preface of HTTP/2; `null` where that is refused. */
  readonly acceptHTTP2: ((connection: Connection) => void) | null;
}

/** A request for a WebSocket that the application has not answered. */
export interface PendingUpgrade {
  disconnect(): void;
}

/**
 * Bytes of an unread body that are let pass so that the connection can be kept. Beyond that closing it is cheaper than
 * waiting for bytes that nobody wants, and is all that helps against a body without an end.
 */
const MAX_DISCARDED_BYTES = 65_536;
/** Bytes behind the request under way that are kept before the client has to wait. */
const MAX_PIPELINED_BYTES = 65_536;
/** Requests that are served one after the other before other connections have their turn. */
const MAX_SERVED_AT_ONCE = 64;
/** Milliseconds for which a closed connection still takes in what its client sends: RFC 9112 §9.6. */
const LINGER_MS = 1000;

/** RFC 9113 §3.4: the first bytes of a client that knows that the server speaks HTTP/2. */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

const EMPTY = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  timeout: new ErrorResponse(408),
};

/**
 * - `idle`: no byte of a next request has come.
 * - `head`: part of a head has come, or the connection is new.
 * - `request`: a request is read or answered.
 * - `upgrade`: a WebSocket handshake waits for the application.
 * - `closing`: nothing is read any more, and the socket is about to end.
 * - `detached`: the socket belongs to somebody else.
 */
type Phase = "idle" | "head" | "request" | "upgrade" | "closing" | "detached";

/** Serves the requests of one socket. */
export class Connection implements OutputOwner, BodyFlow, Endpoints {
  readonly socket: Socket;
  readonly client: Address | null;
  readonly server: Address | null;
  readonly encrypted: boolean;
  minorVersion = 1;
  readonly output: Output;
  readonly #settings: ConnectionSettings;
  #phase: Phase = "head";
  /** When the phase, or the part of a request that is waited for, began; as of the check before it. */
  #since: number;
  /** Bytes that are not parsed, from `#at` on. */
  #input: Buffer | null = null;
  #at = 0;
  /** Bytes from `#at` on that were found to be part of a head. */
  #checked = 0;
  /** The head before this one, whose header lines may come again. */
  #lastHead: RequestHead | null = null;
  #isParsing = false;
  #hasEnded = false;
  #exchange: Exchange | null = null;
  #upgrade: PendingUpgrade | null = null;
  /** The body of the request that came last; `null` for one without. */
  #body: BodyReader | null = null;
  /** Whether something is waited for between the last response and the next request. */
  #isPausing = false;
  /** Responses since the last of these pauses. */
  #served = 0;
  #keepAlive = true;
  /** Whether the client has asked to close behind this response. */
  #clientCloses = false;
  /** Whether the client waits for `100 Continue`, and was not sent it. */
  #awaitsContinue = false;
  /** `null` once the socket belongs to somebody else: an idle WebSocket keeps them for long. */
  #listeners: { data: (chunk: Buffer) => void; end: () => void; close: () => void } | null;

  /** @param path - The Unix socket that the server listens on, if it does. */
  constructor(socket: Socket, path: string | null, settings: ConnectionSettings) {
    this.socket = socket;
    this.encrypted = "encrypted" in socket && socket.encrypted === true;
    this.client = toAddress(socket.remoteAddress, socket.remotePort);
    this.server = path === null ? toAddress(socket.localAddress, socket.localPort) : [path, null];
    this.output = new Output(socket, this, settings.headEnd);
    this.#settings = settings;
    this.#since = settings.now;
    const data = (chunk: Buffer) => this.#onData(chunk);
    const end = () => this.#onEnd();
    const close = () => this.#onClose();
    this.#listeners = { data, end, close };
    socket.on("data", data).on("end", end).on("close", close).on("error", ignore);
  }

  /** Whether no request is being served. */
  get isIdle(): boolean {
    return this.#phase === "idle" || this.#phase === "head";
  }

  /** Empty lines are none: some clients end a body with one (RFC 9112 §2.2). */
  get hasPipelined(): boolean {
    return this.#input !== null && !isBlank(this.#input, this.#at);
  }

  /** Bytes of the body that may still come: 0 when all are here, `Infinity` where nobody said. */
  get #outstanding(): number {
    return this.#body === null ? 0 : this.#body.outstanding;
  }

  #onData(chunk: Buffer): void {
    if (this.#phase === "closing") return;
    this.#input = this.#input === null ? chunk : Buffer.concat([this.#input.subarray(this.#at), chunk]);
    this.#at = 0;
    this.#parse();
    if (this.#input !== null && this.#phase !== "head" && this.#input.length - this.#at > MAX_PIPELINED_BYTES) {
      this.socket.pause();
    }
  }

  /** The client has ended its side, and may still read. */
  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#phase === "upgrade") {
      this.socket.destroy(); // RFC 6455 §7.1.1: a WebSocket has no half of it
    } else if (this.#outstanding > 0) {
      this.#fail(errors.malformed); // RFC 9112 §8: the body will not be whole
    } else if (this.#phase === "request") {
      this.#exchange?.halfClose();
    } else {
      this.#endInput(errors.malformed);
    }
  }

  /** Nothing more is awaited, and nothing that has come can be served. */
  #endInput(error: ErrorResponse): void {
    if (this.#phase === "head" && this.hasPipelined) this.refuse(error);
    else this.close();
  }

  #onClose(): void {
    this.#phase = "closing";
    this.#input = null;
    this.#exchange?.disconnect();
    this.#upgrade?.disconnect();
  }

  /** Holds the connection to its time-outs. Called at each check. */
  checkTime(): void {
    const { headersMs, requestMs, keepAliveMs } = this.#settings.timeouts;
    switch (this.#phase) {
      case "idle":
        if (this.#isLate(keepAliveMs)) this.close();
        break;
      case "head":
        if (this.#isLate(headersMs) || this.#isLate(requestMs)) this.#endInput(errors.timeout);
        break;
      case "request":
        if (this.#outstanding > 0 && this.#isLate(requestMs)) this.#fail(errors.timeout);
        break;
      case "closing":
        if (this.socket.writableLength > 0) this.#since = this.#settings.now;
        else if (this.#isLate(LINGER_MS)) this.socket.destroy();
        break;
      default: // upgrade: the application's to answer; detached
    }
  }

  #isLate(ms: number): boolean {
    const { now, checkIntervalMs } = this.#settings;
    return ms > 0 && now - this.#since >= ms + checkIntervalMs;
  }

  /**
   * Ends the connection in good order. A reset, which closing over unread bytes causes, would make the client throw the
   * last response away: what it sends is taken in for a moment (RFC 9112 §9.6).
   */
  close(): void {
    if (this.#phase === "closing" || this.#phase === "detached") return;
    this.#enter("closing");
    this.#input = null;
    this.output.flush();
    this.socket.end();
    this.socket.resume();
  }

  /** Closes behind the last response: at once where the client has said that it sends nothing more. */
  #closeBehindLast(): void {
    const isDone = this.#clientCloses && this.#outstanding === 0 && !this.hasPipelined;
    this.close();
    if (isDone) this.socket.destroySoon();
  }

  /** Sends an error response in place of whatever comes next, and closes the connection. */
  refuse(error: ErrorResponse): void {
    if (this.#phase === "closing" || this.#phase === "detached") return;
    this.#keepAlive = false;
    if (this.#exchange !== null) {
      this.#exchange.refuse(error);
      return;
    }
    this.#input = null;
    this.output.respond(error.head, error.body);
    this.close();
  }

  /** The handshake of a WebSocket waits for the application. */
  beginUpgrade(upgrade: PendingUpgrade): void {
    this.#phase = "upgrade";
    this.#upgrade = upgrade;
  }

  /** Serves a request whose head somebody else has parsed. */
  adopt(head: RequestHead, rest: Buffer): void {
    if (rest.length > 0) this.#input = rest;
    this.#begin(head);
  }

  /** Gives the socket away, and the bytes that have come behind the last head. */
  detach(): Buffer {
    const rest = this.#input?.subarray(this.#at) ?? EMPTY;
    this.#phase = "detached";
    this.#upgrade = null;
    this.#lastHead = null;
    this.#input = null;
    if (this.#listeners !== null) {
      const { data, end, close } = this.#listeners;
      this.socket.off("data", data).off("end", end).off("close", close);
    }
    this.#listeners = null;
    if (this.socket.isPaused()) this.socket.resume();
    return rest;
  }

  closesBehind({ headers, contentLength, bodyless }: ResponseHead): boolean {
    const isDelimited = bodyless || contentLength !== -1 || this.minorVersion === 1;
    const closes =
      headers.close ||
      !isDelimited ||
      (this.#hasEnded && !this.hasPipelined) ||
      this.#awaitsContinue || // the client may send the body or the next request
      this.#outstanding > MAX_DISCARDED_BYTES ||
      this.#settings.context.draining;
    this.#awaitsContinue = false; // a 100 behind this head would be read as part of the response
    if (closes) this.#keepAlive = false;
    return !this.#keepAlive;
  }

  /** The response is complete: the next request may be parsed. */
  completed(): void {
    this.#exchange = null;
    this.#upgrade = null;
    this.#body?.discard();
    if (!this.#keepAlive) {
      this.#closeBehindLast();
      return;
    }
    const pause = this.#pause();
    if (pause === undefined) {
      this.#goOn();
      return;
    }
    this.#isPausing = true;
    void pause.then(() => {
      this.#isPausing = false;
      this.#goOn();
    });
  }

  /** A client that does not read gets no further requests served, and one that sends many at once lets others in between. */
  #pause(): Promise<void> | undefined {
    if (this.socket.writableNeedDrain) return this.output.flushed();
    if (++this.#served < MAX_SERVED_AT_ONCE || !this.hasPipelined) return undefined;
    this.#served = 0;
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** The application asks for the body for the first time. */
  start(): null {
    if (this.#awaitsContinue) this.output.continue();
    this.#awaitsContinue = false;
    return null;
  }

  /** The application takes more of the body. */
  resume(): void {
    this.socket.resume();
  }

  #goOn(): void {
    if (this.#phase !== "request" && this.#phase !== "upgrade") return;
    if (this.#outstanding === 0) this.#enter("idle");
    if (this.socket.isPaused()) this.socket.resume();
    if (this.#isParsing) return;
    if (this.#input !== null) this.#parse();
    if (this.#hasEnded && this.isIdle) this.#endInput(errors.malformed);
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#since = this.#settings.now;
  }

  /** Parses what has come, as far as the request under way lets it. */
  #parse(): void {
    this.#isParsing = true;
    while (this.#input !== null && this.#step(this.#input));
    this.#isParsing = false;
    if (this.#input !== null && this.#at === this.#input.length) this.#input = null;
    if (this.#phase === "idle" || this.#phase === "closing") this.output.flush();
  }

  /** Takes one step. Returns whether another one may follow. */
  #step(input: Buffer): boolean {
    if (this.#body !== null && this.#body.outstanding > 0) {
      return this.#at < input.length && this.#readBody(input, this.#body);
    }
    if ((this.#phase !== "idle" && this.#phase !== "head") || this.#at === input.length) return false;
    if (this.#phase === "idle" && this.hasPipelined) this.#enter("head");
    const head = parseHead(input, this.#at, this.#settings.limits, this.#checked, this.#lastHead);
    if (head === null) {
      this.#checked = input.length - this.#at;
      return false;
    }
    this.#checked = 0;
    if (head instanceof ErrorResponse) {
      if (this.#settings.acceptHTTP2 === null || !this.#beginsWithPreface(input)) this.refuse(head);
      else if (input.length >= PREFACE.length) this.#settings.acceptHTTP2(this);
      return false;
    }
    this.#at = head.end;
    this.#lastHead = head;
    this.#begin(head);
    return true;
  }

  /** Whether the first bytes of the connection are the preface, as far as they have come. */
  #beginsWithPreface(input: Buffer): boolean {
    const length = Math.min(input.length, PREFACE.length);
    const isFirst = this.#at === 0 && this.socket.bytesRead === input.length;
    return isFirst && PREFACE.compare(input, 0, length, 0, length) === 0;
  }

  #begin(head: RequestHead): void {
    const { context } = this.#settings;
    const { method, target, minorVersion, bodyBytes } = head;
    this.#phase = "request";
    this.minorVersion = minorVersion;
    this.#clientCloses = !head.keepAlive;
    this.#keepAlive = head.keepAlive && !head.upgrade;
    if (head.upgrade) {
      this.#settings.upgrade(this, head);
      return;
    }
    this.#body = null;
    const body = bodyBytes === 0 ? null : this.#expectBody(head);
    if (target === "*") {
      this.output.respond(SERVER_OPTIONS, EMPTY);
      this.completed();
      return;
    }
    const scope = createScope(method, minorVersion === 1 ? "1.1" : "1.0", target, head.headers, this, context);
    const exchange = new Exchange(context, this.output, scope, body);
    this.#exchange = exchange;
    exchange.run();
    if (this.#hasEnded) this.#exchange?.halfClose();
  }

  #expectBody({ bodyBytes, expectsContinue }: RequestHead): RequestBody {
    const body = new RequestBody(this, bodyBytes);
    this.#body = new BodyReader(body, bodyBytes, this.#settings.limits);
    this.#awaitsContinue = expectsContinue;
    return body;
  }

  /** Reads the body of the request under way. Returns whether the bytes behind it may be parsed. */
  #readBody(input: Buffer, body: BodyReader): boolean {
    this.#awaitsContinue = false; // RFC 9110 §10.1.1: the client has not waited
    const end = body.read(input, this.#at);
    if (end instanceof ErrorResponse) {
      this.#fail(end);
      return false;
    }
    this.#at = end;
    if (body.isFull) this.socket.pause();
    if (body.outstanding > 0) return false;
    if (this.#exchange === null && this.#phase === "request" && !this.#isPausing) this.#enter("idle");
    return true;
  }

  /** The body will not be whole: nothing behind it can be trusted. */
  #fail(error: ErrorResponse): void {
    this.#body = null;
    if (this.#exchange === null) this.close();
    else this.refuse(error);
  }
}

function ignore(): void {}

/** Whether nothing but line ends stands from `at` on. */
function isBlank(bytes: Buffer, at: number): boolean {
  for (let index = at; index < bytes.length; index++) {
    if (bytes[index] !== CR && bytes[index] !== LF) return false;
  }
  return true;
}

function toAddress(host: string | undefined, port: number | undefined): Address | null {
  return host === undefined || port === undefined ? null : [host, port];
}
