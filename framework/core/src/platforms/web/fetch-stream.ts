/** The driver of `fetch`: one request of a platform, and the platform's response to it. @module */
import type { ResponseStream } from "../../protocol/engine.js";
import type { BodyFlow, RequestBody } from "../../protocol/request-body.js";
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import { type PlatformHeaders, responseFacts, type ServerResponseHead } from "../../protocol/response.js";
import { valueToWeb } from "../../http/request/web.js";
import { type ContentHeaders, contentHeaders, textAt } from "../../protocol/header-list.js";
import { asBytes, createBytes } from "../../protocol/bytes.js";
import { ClientDisconnect, ProtocolError } from "../../common/exceptions.js";
import { isBun, isDeno } from "../../common/runtime.js";
import { nextTurn, RESOLVED } from "../../common/promises.js";

/**
 * A chunk is passed to the stream when its reader requests it, and only then may the sender continue: the stream itself
 * buffers nothing else.
 */
class ResponseBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** Parts that no reader has asked for. */
  #waiting: Uint8Array[] = [];
  /** `true` while a reader waits for a part. */
  #isAwaited = false;
  #isLast = false;
  /** The callers of {@link flushed}. */
  #flushing: (() => void)[] = [];

  /** @param onCancel - Called when the reader cancels. */
  constructor(onCancel: () => void) {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#pull(),
        cancel: () => {
          this.#drop();
          onCancel();
        },
      },
      { highWaterMark: 0 },
    );
  }

  /** Writes a part. Returns whether a reader has waited for it. */
  write(chunk: Uint8Array): boolean {
    if (chunk.length === 0) return true;
    if (this.#isAwaited) this.#give(chunk);
    else this.#waiting.push(chunk);
    return this.#waiting.length === 0;
  }

  /** Ends the body after the parts that wait. */
  end(): void {
    this.#isLast = true;
    this.#closeIfEmpty();
  }

  /** Ends the body with an error. */
  fail(error: unknown): void {
    this.#drop();
    this.#controller.error(error);
  }

  /** Resolves once no part waits. */
  flushed(): Promise<void> | undefined {
    return this.#waiting.length === 0 ? undefined : new Promise((resolve) => this.#flushing.push(resolve));
  }

  #pull(): void {
    this.#isAwaited = true;
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#give(next);
    this.#closeIfEmpty();
    if (this.#waiting.length === 0) this.#resolveFlushed();
  }

  #give(chunk: Uint8Array): void {
    this.#isAwaited = false; // before it is given: the stream may ask for the next one at once
    this.#controller.enqueue(chunk);
  }

  #closeIfEmpty(): void {
    if (this.#isLast && this.#waiting.length === 0) this.#controller.close();
  }

  #drop(): void {
    this.#waiting = [];
    this.#resolveFlushed();
  }

  #resolveFlushed(): void {
    for (const resolve of this.#flushing.splice(0)) resolve();
  }
}

/** nginx's status for a client that disconnected before the response. It is never read: no platform sends it. */
const CLIENT_CLOSED_REQUEST = 499;

type WebBody = ConstructorParameters<typeof globalThis.Response>[0];

/** A class of workerd. */
type FixedLengthStreamClass = new (bytes: number) => {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
};

/**
 * The streams whose end is awaited. A platform holds a request's signal weakly: an application that only waits for its
 * client would be collected as garbage with its listener, and never hear of the disconnect.
 */
const watched = new Set<FetchStream>();

export const invalidHost = new ErrorResponse(400, "Expected exactly one well-formed Host header.");

/** The call of the application for a request. */
interface FetchCall {
  disconnect(): void;
  /** `true` while another response can be sent; `undefined` for a WebSocket. */
  readonly untouched?: boolean;
  refuse(error: ErrorResponse): void;
}

/** The servers of Bun and Deno, which drop the parts of a request with its response. */
const ownsRequest = isBun || isDeno;

/** Turns of the queue in which most applications end after their response. */
const TURNS = 8;

/** The response to one request of a platform. */
export class FetchStream implements ResponseStream, BodyOwner {
  destroyed = false;
  /** The response; `null` before it begins. */
  #response: globalThis.Response | null = null;
  /** Passes the response to the platform; `null` if the handler has not returned. */
  #resolve: ((response: globalThis.Response) => void) | null = null;
  readonly #request: globalThis.Request;
  /** `true` if the platform drops parts of the request with its response. */
  readonly #isDropped: boolean;
  #isReleased = false;
  /** The call of the application and its scope; set before it runs. */
  #call: FetchCall | null = null;
  #scope: HTTPScope | WebSocketScope | null = null;
  /** The received headers: the application may replace those in its scope. */
  #headers: HTTPScope["headers"];
  #source: FetchBody | null = null;
  /** The listener for the client's disconnect; `null` until it is needed. */
  #onAbort: (() => void) | null = null;
  #body: ResponseBody | null = null;
  #isComplete = false;

  /** @param mayDrop - Whether the platform drops the client with the response. */
  constructor(request: globalThis.Request, mayDrop: boolean) {
    this.#request = request;
    this.#isDropped = ownsRequest || mayDrop;
  }

  /** The head and the first part of the body, once the application has run. Never rejects. */
  get response(): Promise<globalThis.Response> {
    if (this.#response !== null && (this.#isReleased || !this.#isDropped)) return Promise.resolve(this.#response);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#response !== null) void this.#keepRequest(this.#response);
    });
  }

  /** Takes the first response. */
  #take(response: globalThis.Response): void {
    if (this.#response !== null) return;
    this.#response = response;
    if (this.#isDropped && this.#resolve !== null) void this.#keepRequest(response);
    else this.#resolve?.(response);
  }

  /**
   * Reads the client and the headers before the response is passed on, unless the application ends soon: Bun and Deno drop them
   * with the response.
   */
  async #keepRequest(response: globalThis.Response): Promise<void> {
    for (let turn = 0; turn < TURNS && !this.#isReleased; turn++) await RESOLVED;
    if (!this.#isReleased) void [this.#scope?.client, this.#request.headers.has("host")];
    this.#resolve?.(response);
  }

  /** Not used for each request: the signal is made when it is read. */
  get hasLeft(): boolean {
    return this.destroyed || this.#request.signal.aborted;
  }

  /** Reports the client's disconnect to a call of the application. */
  attach(call: FetchCall, scope: HTTPScope | WebSocketScope): void {
    this.#call = call;
    this.#scope = scope;
    this.#headers = scope.headers;
  }

  rejectHost(): void {
    if (!this.#call?.untouched) return;
    this.#call.refuse(invalidHost);
    throw new ClientDisconnect();
  }

  get content(): ContentHeaders {
    return contentHeaders(this.#headers);
  }

  get source(): BodyFlow {
    return (this.#source ??= new FetchBody(this.#request, this));
  }

  respond(head: ServerResponseHead, body: Uint8Array | string): void {
    // No body instead of an empty one: Netlify sends the head of a response with its first chunk, and would lose it.
    const hasBody = !head.facts.bodyless && body.length > 0;
    // The platform copies the bytes. The application's messages are never shared between threads.
    this.complete(toResponse(hasBody ? (body as Uint8Array<ArrayBuffer> | string) : null, head));
  }

  /** Responds with a whole response of the platform: the one that opens a WebSocket. */
  complete(response: globalThis.Response): void {
    this.#isComplete = true;
    this.#take(response);
  }

  begin(head: ServerResponseHead): void {
    if (head.facts.bodyless) return this.#take(toResponse(null, head));
    this.watch();
    if (this.destroyed) return;
    this.#body = new ResponseBody(() => this.leave(null));
    this.#take(toResponse(withLength(this.#body.stream, head.contentLength), head));
  }

  write(chunk: Uint8Array): boolean {
    return this.#body?.write(chunk) ?? true;
  }

  end(): void {
    this.#isComplete = true;
    this.#body?.end();
  }

  flushed(): Promise<void> | undefined {
    return this.destroyed ? undefined : this.#body?.flushed();
  }

  destroy(reason?: unknown): void {
    if (this.destroyed || this.#isComplete) return;
    this.destroyed = true;
    this.#body?.fail(reason);
    this.#take(new globalThis.Response(null, { status: CLIENT_CLOSED_REQUEST }));
  }

  /** Listens for the client's disconnect only if it is needed: a listener costs 700 ns on Bun. */
  watch(): void {
    if (this.#onAbort !== null) return;
    watched.add(this);
    const { signal } = this.#request;
    this.#onAbort = () => this.leave(signal.reason);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort);
  }

  /** The client has disconnected. */
  leave(reason: unknown): void {
    this.destroy(reason);
    this.#call?.disconnect();
  }

  release(): void {
    this.#isReleased = true;
    if (this.#response !== null) this.#resolve?.(this.#response);
    if (this.#onAbort !== null) {
      this.#request.signal.removeEventListener("abort", this.#onAbort);
      watched.delete(this);
    }
    if (this.#source !== null) void this.#source.release();
    else if (this.#request.method !== "GET") void new FetchBody(this.#request, this).release();
  }
}

/** A response of the server itself, as one of the platform. */
export function toErrorResponse({ head, body }: ErrorResponse, method: string): globalThis.Response {
  const facts = responseFacts(head.status, method);
  return toResponse(facts.bodyless ? null : (body as Uint8Array<ArrayBuffer>), { ...head, facts });
}

/**
 * A response of the platform. Bun's and Deno's servers write the length of a whole body themselves: to set it takes 2.6 of 20 µs on
 * Deno. There, a second header takes 5 µs at the creation of the response, and 3 µs later (Deno 2.9).
 * For workerd, `encodeBody`: the body has its `Content-Encoding` already.
 */
function toResponse(
  body: WebBody,
  { status, headers: checked, contentLength }: ServerResponseHead,
): globalThis.Response {
  const { init, added } = (checked.platform ??= toPlatformHeaders(checked.raw));
  const options = { status, headers: init ?? undefined, encodeBody: "manual" };
  const response = new globalThis.Response(body, options);
  if (init === null) response.headers.delete("content-type"); // the type of text
  for (const [name, value] of added) response.headers.append(name, value);
  const isWritten = ownsRequest && body !== null && !(body instanceof ReadableStream);
  if (contentLength !== -1 && !isWritten) response.headers.set("content-length", String(contentLength));
  return response;
}

/** The headers without `Content-Length`. */
function toPlatformHeaders(raw: readonly string[]): PlatformHeaders {
  let init: PlatformHeaders["init"] = null;
  const added: [string, string][] = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = textAt(raw, index).toLowerCase();
    const value = valueToWeb(textAt(raw, index + 1));
    if (name === "content-type" && init === null) init = { "content-type": value };
    else if (name !== "content-length") added.push([name, value]);
  }
  return { init, added };
}

/** workerd sends the length of a stream only if the stream itself has one. */
function withLength(stream: ReadableStream<Uint8Array>, length: number): ReadableStream<Uint8Array> {
  const globals: typeof globalThis & { FixedLengthStream?: FixedLengthStreamClass } = globalThis;
  const { FixedLengthStream: Fixed } = globals;
  return length === -1 || Fixed === undefined ? stream : stream.pipeThrough(new Fixed(length));
}

const EMPTY = createBytes(0);

/**
 * A body up to this length, which is the size of a chunk over a socket, is read by one call of the platform. As a
 * stream it takes 2,300 ns longer on Bun.
 */
const MAX_WHOLE_BYTES = 65_536;

/** The request that a body belongs to. */
interface BodyOwner {
  readonly content: ContentHeaders;
  /**
   * Called before a part of a stream, or the end of the exchange, is waited for. A small body, which fails by itself when its
   * client disconnects, is read without it.
   */
  watch(): void;
  /** Called if the body is not received whole: the client has disconnected. */
  leave(reason: unknown): void;
}

/** The body of one request. */
class FetchBody implements BodyFlow {
  readonly #request: globalThis.Request;
  readonly #owner: BodyOwner;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #hasBegun = false;
  #hasEnded = false;

  constructor(request: globalThis.Request, owner: BodyOwner) {
    this.#request = request;
    this.#owner = owner;
  }

  want(body: RequestBody): Error | null {
    try {
      return this.#next(body);
    } catch (error) {
      this.#owner.leave(error); // Deno closes a request whose client has disconnected: its body throws
      return null;
    }
  }

  /** Each chunk is read on request: no flow has to be resumed. */
  resume(): void {}

  #next(body: RequestBody): Error | null {
    if (!this.#hasBegun && this.#isSmall) {
      this.#hasBegun = true;
      return this.#readWhole(body);
    }
    this.#owner.watch();
    if (this.#hasEnded) return null;
    this.#hasBegun = true;
    if (this.#request.body !== null) return this.#readPart(body);
    this.#end(body, EMPTY);
    return null;
  }

  /** Without a length, such as a body in chunks, it may have any size. */
  get #isSmall(): boolean {
    const { length } = this.#owner.content;
    return length > 0 && length <= MAX_WHOLE_BYTES;
  }

  #readWhole(body: RequestBody): Error | null {
    if (this.#request.bodyUsed) return taken();
    this.#request.arrayBuffer().then(
      (bytes) => this.#end(body, asBytes(new Uint8Array(bytes))),
      (error: unknown) => {
        if (this.#isLocked()) body.fail(taken(error));
        else this.#owner.leave(error);
      },
    );
    return null;
  }

  /** `true` if another owner has the body and has not read it. Not queried before: Bun creates a stream for it. */
  #isLocked(): boolean {
    try {
      const { bodyUsed, body } = this.#request;
      return !bodyUsed && body?.locked === true;
    } catch {
      return false; // Deno has closed the request
    }
  }

  #readPart(body: RequestBody): Error | null {
    try {
      this.#reader ??= (this.#request.body as ReadableStream<Uint8Array>).getReader();
    } catch (error) {
      return taken(error);
    }
    this.#reader.read().then(
      ({ done, value }) => {
        if (done) this.#end(body, EMPTY);
        else this.#takePart(body, value);
      },
      (reason: unknown) => this.#owner.leave(reason),
    );
    return null;
  }

  #takePart(body: RequestBody, value: unknown): void {
    if (value instanceof Uint8Array && value.length > 0) body.take(asBytes(value), false);
    else if (value instanceof Uint8Array) this.#readPart(body); // a message needs bytes
    else body.fail(new ProtocolError(`Expected bytes in the body, not ${typeof value}.`));
  }

  #end(body: RequestBody, last: Uint8Array): void {
    this.#hasEnded = true;
    body.take(last, true);
  }

  /**
   * Releases the unread bytes. It waits for the loop, because a stream of Node's `Readable.toWeb` throws into the process if it
   * is canceled after it resumed, and before its next chunk.
   *
   * @see {@link https://github.com/nodejs/node/issues/64529}
   */
  async release(): Promise<void> {
    if (this.#hasEnded) return;
    await nextTurn();
    try {
      if (this.#reader !== null) await this.#reader.cancel();
      else if (!this.#hasBegun) await releaseBody(this.#request);
    } catch {
      // The platform's stream has failed, or Deno has closed the request: no bytes are left to release.
    }
  }
}

/** Releases a body that was never read. A GET has no body (Fetch §5.4), and the query takes 10 µs on Deno. */
async function releaseBody(request: globalThis.Request): Promise<void> {
  const { body } = request;
  if (body !== null && !body.locked) await body.cancel();
}

function taken(cause?: unknown): ProtocolError {
  return new ProtocolError("The body of the platform's request is already read, or being read.", { cause });
}
