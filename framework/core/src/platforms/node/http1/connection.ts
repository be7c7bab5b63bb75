/** One HTTP/1.1 connection: its requests, one after the other, and its end. @module */
import type { Socket } from "node:net";
import { setImmediate } from "../../../common/timers.js";
import { type BodyFlow, RequestBody } from "../../../protocol/request-body.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { Exchange } from "../../../protocol/exchange.js";
import type { HeaderSection } from "../header-section.js";
import { SERVER_OPTIONS } from "../../../protocol/response.js";
import { createScope, type Endpoints } from "../../../protocol/scope.js";
import { socketEndpoints, isLate, type ServerSettings } from "../server-settings.js";
import type { RequestHead } from "../request-head.js";
import { SlowSocket } from "../slow-reader.js";
import { BodyReader } from "./parse-chunked.js";
import { type HeadEnd, Output, type OutputOwner } from "./output.js";
import { type ParsedHead, parseHead } from "./parse-head.js";

/** The properties of a server that its connections share. */
export interface ConnectionSettings extends ServerSettings {
  /** The end of a head whose connection stays open. */
  readonly headEnd: HeadEnd;
  /** Takes a request for a WebSocket. */
  readonly upgrade: (connection: Connection, head: RequestHead) => void;
  /**
   * Checks a connection whose first bytes may be those of HTTP/2. Returns whether they are; `null` if HTTP/2 is
   * rejected.
   */
  readonly acceptHTTP2: ((connection: Connection, bytes: Buffer) => boolean) | null;
  /** Asks for checks of a connection that was found to rest. */
  readonly wake: (connection: Connection) => void;
}

/** A request for a WebSocket without a response from the application yet. */
export interface PendingUpgrade {
  /** Responds instead of the application, unless it has responded. */
  refuse(error: ErrorResponse): void;
  disconnect(): void;
}

/**
 * Bytes of an unread body that are let pass so that the connection can be kept. Beyond that, closing it is cheaper than
 * waiting for bytes that are not needed, and it is the only defense against an endless body.
 */
const MAX_DISCARDED_BYTES = 65_536;
/** Bytes after the current request that are buffered before the client has to wait. */
const MAX_PIPELINED_BYTES = 65_536;
/** Requests that are served one after the other before other connections have their turn. */
const MAX_SERVED_AT_ONCE = 64;
/** Milliseconds for which a closed connection still reads data of its client: RFC 9112 §9.6. */
const LINGER_MS = 1000;

const EMPTY = Buffer.alloc(0);
const CR = 0x0d;
const LF = 0x0a;

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  timeout: new ErrorResponse(408),
  handshake: new ErrorResponse(504, "The application did not respond to the WebSocket handshake in time."),
};

/**
 * - `idle`: no byte of a next request has come.
 * - `head`: part of a head has come, or the connection is new.
 * - `request`: a request is being read or processed.
 * - `upgrade`: a WebSocket handshake waits for the application.
 * - `closing`: reading has stopped, and the socket is about to end.
 * - `detached`: the socket belongs to another owner.
 */
type Phase = "idle" | "head" | "request" | "upgrade" | "closing" | "detached";

/**
 * The outcome of a check. A connection that is not active rests: except for the longest idle one, it needs no check
 * until it calls `wake`.
 */
export type Rest = "active" | "idle" | "detached";

/** The listeners of a connection on its socket. */
interface Listeners {
  readonly data: (chunk: Buffer) => void;
  readonly end: () => void;
  readonly close: () => void;
}

/** Serves the requests of one socket. */
export class Connection implements OutputOwner, BodyFlow {
  readonly socket: Socket;
  readonly endpoints: Endpoints;
  readonly output: Output;
  minorVersion = 1;
  readonly #settings: ConnectionSettings;
  #phase: Phase = "head";
  /** When the phase, or the part of a request that is waited for, began; as of the check before it. */
  #since: number;
  #rests = false;
  /** Bytes that are not parsed, from `#at` on, or `null`. */
  #input: Buffer | null = null;
  #at = 0;
  /** Bytes from `#at` on that were found to be part of a head. */
  #checked = 0;
  /** The head before this one, whose header lines may come again. */
  #lastHead: ParsedHead | null = null;
  #isParsing = false;
  #hasEnded = false;
  /** `null` while no bytes have waited for the client at a check. */
  #reader: SlowSocket | null = null;
  #exchange: Exchange | null = null;
  #upgrade: PendingUpgrade | null = null;
  /** The body of the last received request, until it is complete. */
  #body: BodyReader | null = null;
  /** `true` while the connection waits between the last response and the next request. */
  #isPausing = false;
  /** Responses since the last of these pauses. */
  #served = 0;
  #keepAlive = true;
  /** `true` if the client has requested to close after this response. */
  #clientCloses = false;
  /** `true` while the client waits for a `100 Continue` that was not sent. */
  #awaitsContinue = false;
  /** `null` after the socket belongs to another owner: an idle WebSocket keeps them for a long time. */
  #listeners: Listeners | null;

  /** @param path - The Unix socket that the server listens on, if it does. */
  constructor(socket: Socket, path: string | null, settings: ConnectionSettings) {
    this.socket = socket;
    this.endpoints = socketEndpoints(socket, path);
    this.output = new Output(socket, this, this.endpoints.encrypted, settings.headEnd);
    this.#settings = settings;
    this.#since = settings.now;
    this.#listeners = this.#listen();
  }

  #listen(): Listeners {
    const data = (chunk: Buffer) => {
      if (this.#phase === "closing") return;
      this.#input = this.#input === null ? chunk : Buffer.concat([this.#input.subarray(this.#at), chunk]);
      this.#at = 0;
      this.#parse();
      const waits = this.#input !== null && this.#phase !== "head";
      if (waits && this.#input.length - this.#at > MAX_PIPELINED_BYTES) this.socket.pause();
    };
    const end = () => this.#onEnd();
    const close = () => this.#onClose();
    this.socket.on("data", data).on("end", end).on("close", close).on("error", ignore);
    return { data, end, close };
  }

  /** `true` while no request is served. */
  get isIdle(): boolean {
    return this.#phase === "idle" || this.#phase === "head";
  }

  /** Empty lines are not a request: some clients end a body with one (RFC 9112 §2.2). */
  get hasPipelined(): boolean {
    return this.#input !== null && !isBlank(this.#input, this.#at);
  }

  /** The client has ended its side, and may still read. */
  #onEnd(): void {
    this.#hasEnded = true;
    if (this.#phase === "upgrade") {
      this.socket.destroy(); // RFC 6455 §7.1.1: a WebSocket has no half of it
    } else if (this.#body !== null) {
      this.#fail(errors.malformed); // RFC 9112 §8: the body will not be whole
    } else if (this.#phase === "request") {
      this.#exchange?.halfClose();
    } else {
      this.#endInput(errors.malformed);
    }
  }

  /** No more data is expected, and the received data cannot be served. */
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

  /** Holds the connection to its timeouts. */
  checkTime(): Rest {
    if (this.#phase === "detached") return "detached";
    const { keepAliveMs, requestMs } = this.#settings.timeouts;
    if (this.#isUnread(requestMs)) {
      this.output.destroy();
    } else if (this.#phase !== "idle") {
      this.#checkPhase();
    } else if (this.#isLate(keepAliveMs)) {
      this.close();
    } else {
      this.#rests = true;
      return "idle";
    }
    return "active";
  }

  #checkPhase(): void {
    const { headersMs, requestMs } = this.#settings.timeouts;
    switch (this.#phase) {
      case "head":
        if (this.#isLate(headersMs) || this.#isLate(requestMs)) this.#endInput(errors.timeout);
        break;
      case "request":
        if (this.#body !== null && this.#isLate(requestMs)) this.#fail(errors.timeout);
        break;
      case "upgrade":
        if (this.#isLate(requestMs)) this.#upgrade?.refuse(errors.handshake);
        break;
      case "closing":
        if (this.socket.writableLength > 0) this.#since = this.#settings.now;
        else if (this.#isLate(LINGER_MS)) this.socket.destroy();
        break;
      default: // idle and detached have no other wait
    }
  }

  /**
   * Tells if the client does not read its responses. A WebSocket, or a connection of HTTP/2, looks after that itself.
   */
  #isUnread(requestMs: number): boolean {
    const { writableLength } = this.socket;
    if (this.#reader === null && writableLength === 0) return false;
    this.#settings.waitingBytes += writableLength;
    this.#reader ??= new SlowSocket(this.socket);
    return this.#reader.isLate(writableLength, this.#settings.now, requestMs, this.#settings.isCrowded);
  }

  #wake(): void {
    this.#rests = false;
    this.#settings.wake(this);
  }

  #isLate(timeoutMs: number): boolean {
    return isLate(this.#settings, this.#since, timeoutMs);
  }

  /**
   * Ends the connection in good order. A reset, which closing with unread bytes causes, would make the client discard
   * the last response: its data is read for a moment (RFC 9112 §9.6).
   */
  close(): void {
    if (this.#phase === "closing" || this.#phase === "detached") return;
    this.#enter("closing");
    this.#input = null;
    this.output.flush();
    this.socket.end();
    this.socket.resume();
  }

  /** Closes after the last response: immediately if the client has reported that it sends no more data. */
  #closeBehindLast(): void {
    const isDone = this.#clientCloses && this.#body === null && !this.hasPipelined;
    this.close();
    if (isDone) this.socket.destroySoon();
  }

  /** Sends an error response instead of the next one, and closes the connection. */
  refuse(error: ErrorResponse): void {
    if (this.#phase === "closing" || this.#phase === "detached") return;
    this.#keepAlive = false;
    if (this.#exchange !== null) {
      this.#exchange.refuse(error);
      return;
    }
    this.#input = null;
    const { head, body } = error.as(this.#settings.context);
    this.output.respond(head, body);
    this.close();
  }

  /** The handshake of a WebSocket waits for the application. */
  beginUpgrade(upgrade: PendingUpgrade): void {
    this.#enter("upgrade");
    this.#upgrade = upgrade;
  }

  /** Serves a request whose head was parsed elsewhere. */
  adopt(head: RequestHead, rest: Buffer): void {
    if (rest.length > 0) this.#input = rest;
    this.#begin(head);
  }

  /** Passes on the socket, and the received bytes after the last head. */
  detach(): Buffer {
    const rest = this.#input?.subarray(this.#at) ?? EMPTY;
    this.output.flush();
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

  mustClose(isWanted: boolean): boolean {
    const closes =
      isWanted ||
      (this.#hasEnded && !this.hasPipelined) ||
      this.#awaitsContinue || // the client may send the body or the next request
      (this.#body !== null && this.#body.outstanding > MAX_DISCARDED_BYTES) ||
      this.#settings.context.draining;
    this.#awaitsContinue = false; // a 100 behind this head would be read as part of the response
    if (closes) this.#keepAlive = false;
    return !this.#keepAlive;
  }

  /**
   * The response is complete: the next request may be parsed. A client that does not read gets no further ones served,
   * and one that sends many at once lets others in between.
   */
  completed(): void {
    if (this.#phase !== "request" && this.#phase !== "upgrade") return;
    this.#exchange = null;
    this.#upgrade = null;
    this.#body?.discard();
    if (!this.#keepAlive) {
      this.#closeBehindLast();
    } else if (this.socket.writableNeedDrain) {
      this.#pause(this.output.flushed());
    } else if (++this.#served >= MAX_SERVED_AT_ONCE && this.hasPipelined) {
      this.#served = 0;
      this.#pause(new Promise((resolve) => setImmediate(resolve)));
    } else {
      this.#goOn();
    }
  }

  #pause(until: Promise<void> | undefined): void {
    this.#isPausing = true;
    void Promise.resolve(until).then(() => {
      this.#isPausing = false;
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#phase !== "request" && this.#phase !== "upgrade") return;
    if (this.#body === null) {
      this.#phase = "idle";
      this.#since = this.#settings.now;
    }
    if (this.socket.isPaused()) this.socket.resume();
    if (this.#isParsing) return;
    if (this.#input !== null) this.#parse();
    if (this.#hasEnded && this.isIdle) this.#endInput(errors.malformed);
  }

  /** The application waits for the body. */
  want(): null {
    if (this.#awaitsContinue) this.output.continue();
    this.#awaitsContinue = false;
    return null;
  }

  /** The application takes more of the body. */
  resume(): void {
    this.socket.resume();
  }

  #enter(phase: Phase): void {
    if (this.#rests) this.#wake();
    this.#phase = phase;
    this.#since = this.#settings.now;
  }

  /** Parses received bytes as the current request allows. */
  #parse(): void {
    this.#isParsing = true;
    while (this.#input !== null) {
      const goesOn = this.#body === null ? this.#readHead(this.#input) : this.#readBody(this.#input, this.#body);
      if (!goesOn) break;
    }
    this.#isParsing = false;
    if (this.#phase === "idle" || this.#phase === "closing") this.output.flush();
  }

  /** Reads the next head. Returns whether the bytes after it can be parsed. */
  #readHead(input: Buffer): boolean {
    if (this.#phase !== "idle" && this.#phase !== "head") return false;
    const head = parseHead(input, this.#at, this.#settings.limits, this.#checked, this.#lastHead);
    if (head === null) {
      this.#checked = input.length - this.#at;
      if (this.#phase === "idle" && this.hasPipelined) this.#enter("head");
      return false;
    }
    this.#checked = 0;
    if (head instanceof ErrorResponse) {
      const isFirst = this.#at === 0 && this.socket.bytesRead === input.length;
      if (!isFirst || this.#settings.acceptHTTP2?.(this, input) !== true) this.refuse(head);
      return false;
    }
    if (this.#phase === "idle") this.#since = this.#settings.now;
    this.#at = head.end;
    if (head.end === input.length) this.#input = null;
    this.#lastHead = head;
    this.#begin(head);
    return true;
  }

  #begin(head: RequestHead): void {
    const { context } = this.#settings;
    const { minorVersion, section } = head;
    if (this.#rests) this.#wake();
    this.#phase = "request";
    this.minorVersion = minorVersion;
    this.#clientCloses = !section.keepAlive;
    this.#keepAlive = section.keepAlive && !section.upgrade;
    if (section.upgrade) {
      // RFC 6455 §7.1.1: a WebSocket has no half of it, and the event of the client's end is past.
      if (this.#hasEnded) this.refuse(errors.malformed);
      else this.#settings.upgrade(this, head);
      return;
    }
    const body = section.bodyBytes === 0 ? null : this.#expectBody(section);
    if (head.target === "*") {
      this.output.respond(SERVER_OPTIONS, EMPTY);
      return;
    }
    const httpVersion = minorVersion === 1 ? "1.1" : "1.0";
    const { method, target } = head;
    const { headers, content } = section;
    const scope = createScope({ httpVersion, method, target, headers, content }, this.endpoints, context);
    this.#exchange = new Exchange(context, this.output, scope, body);
    void this.#exchange.run();
    if (this.#hasEnded) this.#exchange?.halfClose();
  }

  #expectBody({ bodyBytes, expectsContinue }: HeaderSection): RequestBody {
    const end = this.#at + bodyBytes;
    if (this.#input !== null && end <= this.#input.length) {
      const whole = new RequestBody(null, bodyBytes, this.#input.subarray(this.#at, end)); // as of most small bodies
      this.#at = end;
      if (end === this.#input.length) this.#input = null;
      return whole;
    }
    const body = new RequestBody(this, bodyBytes);
    this.#body = new BodyReader(body, bodyBytes, this.#settings.limits);
    this.#awaitsContinue = expectsContinue;
    return body;
  }

  /** Reads the body of the request under way. Returns whether the bytes after it can be parsed. */
  #readBody(input: Buffer, body: BodyReader): boolean {
    this.#awaitsContinue = false; // RFC 9110 §10.1.1: the client has not waited
    const end = body.read(input, this.#at);
    if (end instanceof ErrorResponse) {
      this.#fail(end);
      return false;
    }
    this.#at = end;
    if (end === input.length) this.#input = null;
    if (body.isFull) this.socket.pause();
    if (body.outstanding > 0) return false;
    this.#body = null;
    if (this.#exchange === null && this.#phase === "request" && !this.#isPausing) this.#enter("idle");
    return true;
  }

  /** The body will not be complete: bytes after it cannot be trusted. */
  #fail(error: ErrorResponse): void {
    this.#body = null;
    if (this.#exchange === null) this.close();
    else this.refuse(error);
  }
}

function ignore(): void {}

/** Tells if there are only line ends from `at` on. */
function isBlank(bytes: Buffer, at: number): boolean {
  for (let index = at; index < bytes.length; index++) {
    if (bytes[index] !== CR && bytes[index] !== LF) return false;
  }
  return true;
}
