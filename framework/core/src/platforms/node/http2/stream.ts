/** One stream of HTTP/2: a request and its response. @module */
import { nextTick } from "node:process";
import { constants, type ServerHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import type { ResponseStream } from "../../../protocol/engine.js";
import { type BodyFlow, RequestBody } from "../../../protocol/request-body.js";
import { ErrorResponse } from "../../../protocol/error-response.js";
import { trimOWS } from "../../../protocol/http-grammar.js";
import type { Exchange } from "../../../protocol/exchange.js";
import type { HeaderSection, RequestLimits } from "../header-section.js";
import type { ServerResponseHead } from "../../../protocol/response.js";
import { SlowReader } from "../slow-reader.js";
import { METHODS } from "node:http";
import { checkTarget, createHead, type RequestHead } from "../request-head.js";

/**
 * Bytes of an unread body that are discarded after the response; beyond that the client is told to stop (RFC 9113
 * §8.1). More than in HTTP/1.1: the connection stays, and curl 7.88 and Node's client lose a response that this follows
 * closely.
 */
const MAX_DISCARDED_BYTES = 1_048_576;

const EMPTY = Buffer.alloc(0);
const timeout = new ErrorResponse(408);

/** The response to one request, and the source of its body. */
export class RequestStream implements ResponseStream, BodyFlow {
  /** The body that is being received; `null` if it is complete or not needed. */
  body: RequestBody | null = null;
  readonly #stream: ServerHttp2Stream;
  #exchange: Exchange | null = null;
  /** Bytes of the body that may still arrive: 0 if it is complete, `Infinity` if the length is unknown. */
  #outstanding = 0;
  #awaitsContinue = false;
  #isEnding = false;
  #isCompleted = false;
  #discardedBytes = 0;
  /** Callers that wait until the client has read the written data. */
  #waiting: (() => void)[] | null = null;
  /** `true` once the server has reset the stream. */
  isReset = false;
  /** The arrival time of the request, in milliseconds. */
  readonly #since: number;
  readonly #reader = new SlowReader();
  /** Bytes of the response, those that wait for the client included. */
  #writtenBytes = 0;

  /** @param onBytes - Called with the length of each received chunk of the body. */
  constructor(stream: ServerHttp2Stream, now: number, onBytes: (bytes: number) => void) {
    this.#stream = stream;
    this.#since = now;
    stream.on("error", ignore);
    if (stream.endAfterHeaders) return;
    this.#outstanding = Infinity;
    stream.on("data", (chunk: Buffer) => {
      onBytes(chunk.length);
      this.#outstanding -= chunk.length;
      this.#awaitsContinue = false; // RFC 9110 §10.1.1: the client has not waited
      if (this.#isCompleted) this.#discardedBytes += chunk.length;
      if (this.#discardedBytes > MAX_DISCARDED_BYTES) this.#stop();
      else if (this.body?.take(chunk, false) === false) stream.pause();
    });
    stream.on("end", () => {
      this.#outstanding = 0;
      this.body?.take(EMPTY, true);
    });
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed || this.#stream.aborted;
  }

  /** `true` until the response is complete or the client has disconnected. */
  get isOpen(): boolean {
    return !this.#isCompleted && !this.destroyed;
  }

  /** Bytes of the response that the client has not taken. */
  get waitingBytes(): number {
    return this.#stream.writableLength;
  }

  /** The body of the request, or `null`. */
  expectBody({ bodyBytes, expectsContinue }: HeaderSection): RequestBody | null {
    if (this.#outstanding === 0) return null;
    this.#awaitsContinue = expectsContinue;
    if (bodyBytes > 0) this.#outstanding = bodyBytes;
    this.body = new RequestBody(this, Number.NaN);
    return this.body;
  }

  /** Reports a disconnect. */
  attach(exchange: Exchange): void {
    this.#exchange = exchange;
    const stream = this.#stream;
    stream.on("close", () => exchange.disconnect());
    stream.on("aborted", () => {
      exchange.disconnect();
      nextTick(() => stream.destroy()); // `close` waits for unread data, and for data that cannot be sent
    });
  }

  respond(head: ServerResponseHead, body: Uint8Array | string): void {
    this.#isEnding = true;
    this.#sendHead(head, body.length === 0);
    this.#writtenBytes = body.length;
    if (!this.#stream.writableEnded) this.#stream.end(body); // 205 and responses to HEAD have ended
    this.#completed();
  }

  begin(head: ServerResponseHead): void {
    this.#sendHead(head, false);
  }

  #sendHead(head: ServerResponseHead, endStream: boolean): void {
    try {
      this.#stream.respond(toFields(head, false), { endStream });
    } catch (error) {
      // `node:http2` does not send a second Content-Type and the like; HTTP/1.1 has them as the application wrote them.
      if ((error as NodeJS.ErrnoException).code !== "ERR_HTTP2_HEADER_SINGLE_VALUE") throw error;
      this.#stream.respond(toFields(head, true), { endStream });
    }
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0 || this.#stream.writableEnded) return true;
    this.#writtenBytes += chunk.length;
    return this.#stream.write(chunk);
  }

  end(): void {
    this.#isEnding = true;
    this.#stream.end();
    this.#completed();
  }

  #completed(): void {
    this.body = null;
    this.#exchange = null;
    this.#isCompleted = true;
    this.#stream.resume();
  }

  flushed(): Promise<void> | undefined {
    const stream = this.#stream;
    if (this.destroyed || stream.writableFinished || !(this.#isEnding || stream.writableNeedDrain)) return undefined;
    if (this.#waiting === null) {
      for (const event of ["drain", "finish", "aborted", "close"]) stream.on(event, () => this.#resolveFlushed());
      this.#waiting = [];
    }
    return new Promise((resolve) => this.#waiting?.push(resolve));
  }

  #resolveFlushed(): void {
    if (this.#isEnding && !this.#stream.writableFinished && !this.destroyed) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting ?? []) resolve();
  }

  destroy(): void {
    this.isReset = true;
    // `close` would end the response first, and its client take it for whole.
    this.#stream.destroy(new Error("The response was cut."));
  }

  want(): null {
    if (this.#awaitsContinue && !this.destroyed) this.#stream.additionalHeaders({ ":status": 100 });
    this.#awaitsContinue = false;
    return null;
  }

  resume(): void {
    this.#stream.resume();
  }

  /** Enforces the time limits of a request, and of a client that does not read its response. */
  checkTime(now: number, requestMs: number): void {
    const { writableLength } = this.#stream;
    if (this.#reader.isLate(this.#writtenBytes - writableLength, writableLength, now, requestMs)) {
      this.destroy();
    } else if (requestMs > 0 && this.#outstanding > 0 && now - this.#since >= requestMs) {
      if (this.#exchange === null) this.#stop();
      else this.#exchange.refuse(timeout);
    }
  }

  /** RFC 9113 §8.1: after the response, asks the client not to send the rest of the body. */
  #stop(): void {
    this.isReset = true;
    this.#stream.close(constants.NGHTTP2_NO_ERROR);
  }
}

function ignore(): void {}

const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  connect: new ErrorResponse(405, undefined, ["allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE"]),
  headerBytes: new ErrorResponse(431, "The header lines are too long."),
  host: new ErrorResponse(400, "Expected one well-formed host, the same in :authority and Host."),
};

/**
 * Reads the head of a request.
 *
 * `node:http2` has refused what RFC 9113 §8 calls malformed: pseudo-header fields that are missing, repeated, unknown or
 * behind others, names in upper case, fields about the connection, a `:path` that is neither in origin form nor `*`.
 *
 * @param fields - `[name, value, …]` as received, pseudo-header fields included.
 */
export function readHead(fields: readonly string[], limits: RequestLimits): RequestHead | ErrorResponse {
  const { pseudo, headers, hosts, bytes } = sortFields(fields);
  const { ":method": method = "", ":path": path = "", ":scheme": scheme = "", ":authority": authority } = pseudo;
  if (method === "CONNECT") return errors.connect;
  if (!KNOWN_METHODS.has(method) || !/^https?$/i.test(scheme)) return errors.malformed;
  const host = authority ?? hosts[0];
  // RFC 9113 §8.3.1: a Host unlike the authority is another party's idea of where the request goes.
  if (host === undefined || hosts.some((other) => other.toLowerCase() !== host.toLowerCase())) return errors.host;
  if (hosts.length > 1) return errors.host;
  const fault = checkTarget(path, limits);
  if (fault !== null) return fault;
  if (bytes > limits.headerBytes) return errors.headerBytes;
  return createHead(method, path, 1, ["host", host, ...headers], limits);
}

function sortFields(fields: readonly string[]) {
  const pseudo: Partial<Record<string, string>> = {};
  const headers: string[] = [];
  const hosts: string[] = [];
  let cookieAt = -1;
  let bytes = 0;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? "";
    const value = fields[index + 1] ?? "";
    if (name.startsWith(":")) {
      pseudo[name] = value;
      continue;
    }
    bytes += name.length + value.length + 4; // as in HTTP/1.1, where a colon, a blank and the line's end are counted
    if (name === "host") {
      hosts.push(value);
    } else if (name === "cookie" && cookieAt !== -1) {
      headers[cookieAt] += `; ${value}`; // RFC 9113 §8.2.3
    } else {
      if (name === "cookie") cookieAt = headers.length + 1;
      headers.push(name, value);
    }
  }
  return { pseudo, headers, hosts, bytes };
}

/** RFC 9113 §8.2.2: fields about the connection, in addition to those that no response keeps; and the server's own. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  "upgrade",
  "proxy-connection",
  "http2-settings",
  "te",
  "content-length",
]);

/**
 * The fields of a response, repeated ones in a list.
 *
 * @param joined - Whether repeated ones are joined (RFC 9110 §5.3), except for `Set-Cookie`, which cannot be joined.
 */
function toFields({ status, headers, contentLength }: ServerResponseHead, joined: boolean): OutgoingHttpHeaders {
  const fields = Object.create(null) as Record<string, string | string[] | number>;
  fields[":status"] = status;
  for (let index = 0; index < headers.raw.length; index += 2) {
    const name = (headers.raw[index] ?? "").toLowerCase();
    const value = trimOWS(headers.raw[index + 1] ?? ""); // RFC 9113 §8.2.1
    if (LEFT_OUT.has(name)) continue;
    const before = fields[name];
    if (before === undefined) fields[name] = value;
    else if (joined && name !== "set-cookie") fields[name] = `${String(before)}, ${value}`;
    else fields[name] = [before, value].flat().map(String);
  }
  if (contentLength !== -1) fields["content-length"] = contentLength;
  return fields;
}
