/** The response of a request that another server has accepted. @module */
import type { IncomingMessage, ServerResponse } from "node:http";
import { ProtocolError } from "../../../common/exceptions.js";
import type { ErrorResponse } from "../../../protocol/error-response.js";
import type { ResponseStream } from "../../../protocol/engine.js";
import { textAt } from "../../../protocol/header-list.js";
import type { BodyFlow, RequestBody } from "../../../protocol/request-body.js";
import type { ServerResponseHead } from "../../../protocol/response.js";
import type { ServerContext } from "../../../protocol/server-context.js";
import { cutConnection } from "../cut-connection.js";
import { SlowSocket } from "../slow-reader.js";
import { SlowResponses, type WaitingResponse } from "../slow-responses.js";

/** Bytes of an unread body that are let pass so that the connection can be kept. */
const MAX_DISCARDED_BYTES = 65_536;

/** Headers of which the host's lines are sent too. */
const SHARED: ReadonlySet<string> = new Set(["link", "set-cookie", "vary"]);

function isLength(name: string): boolean {
  return name.length === 14 && name.toLowerCase() === "content-length";
}

/** `requestTimeout` of a server of `node:http` by default. */
const REQUEST_MS = 300_000;

const READ_BY_HOST =
  "The host has already read the body, and `req.body` is missing or cannot be written again as the Content-Type of the " +
  "request: install this handler before body parsers.";

const EMPTY = Buffer.alloc(0);
const slowResponses = new SlowResponses();

/** Calls the next function of the host, with an error for its error middleware. */
export type Next = (error?: unknown) => void;

/** The response to a request of `node:http`, and the source of its body. */
export class NodeResponse implements ResponseStream, BodyFlow, WaitingResponse {
  #body: RequestBody | null = null;
  /** Bytes of the body; `NaN` if the length is unknown. */
  #bodyBytes = 0;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  /** Takes an unexpected error in place of the response to it; `null` if the client gets the response. */
  readonly #next: Next | null;
  #unexpected: { readonly error: unknown } | null = null;
  #hasBegun = false;
  #received = 0;
  /** `true` once the application has asked for the body. */
  #isReading = false;
  /** The end of the connection is the end of the body, as `node:http` sends a stream on HTTP/1.0. */
  #endsWithConnection = false;
  /** `null` while no bytes have waited for the client at a check. */
  #reader: SlowSocket | null = null;
  /** The callers of `flushed`; `null` until the first call. */
  #waiting: (() => void)[] | null = null;

  /** `null` for a response without the application. */
  #context: ServerContext | null = null;

  constructor(req: IncomingMessage, res: ServerResponse, next: Next | null) {
    this.#req = req;
    this.#res = res;
    this.#next = next;
  }

  /** Also `true` if the host has responded, for example because its own time limit has passed. */
  get destroyed(): boolean {
    const { destroyed, headersSent } = this.#res;
    return destroyed || this.#req.socket.destroyed || (headersSent && !this.#hasBegun);
  }

  /** `true` if the host handles errors that the application does not expect. */
  get takesErrors(): boolean {
    return this.#next !== null;
  }

  /** The application responds. */
  serve(context: ServerContext): void {
    this.#context = context;
  }

  /** The stream of the request has this body. @param bodyBytes - Its bytes; `NaN` if the length is unknown. */
  expect(body: RequestBody, bodyBytes: number): void {
    this.#body = body;
    this.#bodyBytes = bodyBytes;
  }

  /** Responds in place of the application. */
  refuse({ head, body }: ErrorResponse): void {
    this.respond(head, body);
  }

  /** The application has failed with an error that the host may handle. */
  fail(error: unknown): void {
    if (this.#next !== null) this.#unexpected = { error };
  }

  respond(head: ServerResponseHead, body: Uint8Array | string): void {
    if (this.#unexpected !== null && head.status === 500) {
      this.#next?.(this.#unexpected.error);
      return;
    }
    this.begin(head);
    if (body.length === 0) this.#res.end();
    else if (typeof body !== "string") this.#res.end(body);
    // Node joins text with the head, and encodes both alike: the text is ASCII, and the head is latin-1.
    else this.#res.end(body, "latin1");
    this.#completed();
  }

  begin(head: ServerResponseHead): void {
    const res = this.#res;
    const { raw } = head.headers;
    this.#hasBegun = true;
    if (res.getHeaderNames().length > 0) this.#replace(raw);
    // Not as arguments of `writeHead`: it replaces repeated names, and wrappers of it expect other forms.
    for (let index = 0; index < raw.length; index += 2) {
      const name = textAt(raw, index);
      if (!isLength(name)) res.appendHeader(name, textAt(raw, index + 1));
    }
    // Last: Node cannot send latin-1 in a `Content-Disposition` after the length.
    if (head.contentLength !== -1) res.setHeader("content-length", head.contentLength);
    if (head.headers.close || this.#context?.draining === true || this.#outstanding > MAX_DISCARDED_BYTES)
      res.setHeader("connection", "close");
    this.#endsWithConnection = head.contentLength === -1 && this.#req.httpVersion === "1.0";
    res.writeHead(head.status);
  }

  /** Removes the headers that the host has set and the application sends. */
  #replace(raw: readonly string[]): void {
    this.#res.removeHeader("content-length");
    for (let index = 0; index < raw.length; index += 2) {
      const name = textAt(raw, index);
      if (!SHARED.has(name.toLowerCase())) this.#res.removeHeader(name);
    }
  }

  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) {
      this.#res.flushHeaders();
      return true;
    }
    const accepts = this.#res.write(chunk);
    if (!accepts) slowResponses.add(this);
    return accepts;
  }

  end(): void {
    this.#res.end();
    this.#completed();
  }

  #completed(): void {
    this.#body = null;
    const { socket } = this.#req;
    if (this.#context?.draining === true) this.#res.once("finish", () => socket.destroySoon());
    this.#req.resume();
    if (this.#res.writableLength > 0) slowResponses.add(this);
  }

  get waitingBytes(): number {
    return this.#res.writableFinished ? 0 : this.#res.writableLength;
  }

  isLate(now: number, isCrowded: boolean): boolean {
    const server: unknown = Reflect.get(this.#req.socket, "server");
    const { requestTimeout } = Object(server) as { requestTimeout?: unknown };
    const requestMs = typeof requestTimeout === "number" ? requestTimeout : REQUEST_MS;
    return (this.#reader ??= new SlowSocket(this.#req.socket)).isLate(this.waitingBytes, now, requestMs, isCrowded);
  }

  flushed(): Promise<void> | undefined {
    const res = this.#res;
    if (this.destroyed || res.writableLength === 0) return undefined;
    if (this.#waiting === null) {
      this.#waiting = [];
      for (const event of ["drain", "finish"]) res.on(event, () => this.resolveFlushed());
    }
    return new Promise((resolve) => this.#waiting?.push(resolve));
  }

  /** The client has read the written data, or has disconnected. */
  resolveFlushed(): void {
    if (this.#res.writableEnded && !this.#res.writableFinished && !this.destroyed && !this.#res.closed) return;
    const waiting = this.#waiting ?? [];
    if (this.#waiting !== null) this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  destroy(): void {
    if (this.#endsWithConnection && !this.destroyed) cutConnection(this.#req.socket);
    this.#res.destroy();
  }

  want(): Error | null {
    if (this.#isReading) return null;
    if (this.#req.readableDidRead) return new ProtocolError(READ_BY_HOST);
    this.#isReading = true;
    this.#req.on("data", (chunk: Buffer) => {
      this.#received += chunk.length;
      if (this.#body?.take(chunk, this.#received === this.#bodyBytes) === false) this.#req.pause();
    });
    this.#req.on("end", () => this.#body?.take(EMPTY, true));
    return null;
  }

  resume(): void {
    this.#req.resume();
  }

  /** Bytes of the body that may still arrive: `Infinity` if the length is unknown. */
  get #outstanding(): number {
    if (this.#req.complete) return 0;
    return Number.isNaN(this.#bodyBytes) ? Infinity : this.#bodyBytes - this.#received;
  }
}
