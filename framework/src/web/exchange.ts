/** One request of a platform and its answer, around one call of the application. @module */
import type { ASGIApp, HeaderPair, HTTPResponseBodyMessage, HTTPScope, Send, SendMessage } from "../asgi.js";
import { createBytes, rawHeaders } from "../datastructures.js";
import { ClientDisconnect, ProtocolError } from "../exceptions.js";
import { type Logger, logOnce } from "../logger.js";
import { markHandled } from "../promises.js";
import { AnswerBody } from "./answer-body.js";
import { toWebHeaders } from "../request.js";
import { responseFacts } from "../response-facts.js";
import { releaseBody, RequestBody } from "./request-body.js";

/** nginx's status for a client that left before its answer. Nobody reads it: no platform sends it on. */
const CLIENT_CLOSED_REQUEST = 499;

/** Headers about the connection and the framing, which are the platform's (ASGI, RFC 9110 §7.6.1). */
const PLATFORMS_OWN: ReadonlySet<string> = new Set(["connection", "keep-alive", "trailer", "transfer-encoding"]);

const EMPTY = createBytes(0);

type WebBody = ConstructorParameters<typeof globalThis.Response>[0];

/** The head of an answer. */
interface Head {
  readonly status: number;
  /** The headers but `Content-Length`. */
  readonly headers: Headers;
  /** For workerd: the body has its `Content-Encoding` already. Without this it would be compressed once more. */
  readonly encodeBody: "manual";
  /** Bytes of the body as the head announces them; `null` where it does not. */
  readonly contentLength: number | null;
  readonly bodyless: boolean;
}

/** A class of workerd. */
type FixedLengthStreamClass = new (bytes: number) => {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
};

/**
 * The exchanges whose end somebody waits for. A platform holds a request's signal weakly: an application that only waits for
 * its client would be collected as garbage with its listener, and never hear of the disconnect.
 */
const watched = new Set<Exchange>();

/** State of the answer. `gone`: the client left, or was answered in the application's place. */
type Phase = "idle" | "started" | "streaming" | "complete" | "gone";

/** Calls the application for one request, and gives exactly one answer. */
export class Exchange {
  /** Settles with the head and the first part of the body. Never rejects. */
  readonly answer: Promise<globalThis.Response>;
  #resolve!: (answer: globalThis.Response) => void;
  readonly #request: globalThis.Request;
  readonly #scope: HTTPScope;
  readonly #logger: Logger;
  readonly #onSettled: () => void;
  /** Made with the first call of `receive`. */
  #source: RequestBody | null = null;
  /** The listener for the client's leave; `null` while nobody can learn of it. */
  #onAbort: (() => void) | null = null;
  #phase: Phase = "idle";
  #head: Head | null = null;
  #body: AnswerBody | null = null;
  #writtenBytes = 0;

  /** @param onSettled - Called when the application has settled, and what it has not read is let go. */
  constructor(request: globalThis.Request, scope: HTTPScope, logger: Logger, onSettled: () => void) {
    this.#request = request;
    this.#scope = scope;
    this.#logger = logger;
    this.#onSettled = onSettled;
    this.answer = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** Calls the application, and resolves when it has settled. Never rejects. */
  async run(app: ASGIApp): Promise<void> {
    // In front of `send`: a function that is younger than the object which holds it outlives collections in V8 14. A third of
    // Deno's processor time, a seventh of Node 26's, went into them.
    const text: Send["text"] = (status, headers, content) => {
      if (!this.#takes()) return;
      const head = this.#start(status, headers);
      if (!head.bodyless) this.#count(head, content.length, true);
      this.#answerWhole(head, content, true);
    };
    const send: Send = (message) => markHandled(this.#send(message));
    send.text = text;
    try {
      await app(this.#scope, () => this.#bodyOf().receive(), send);
      this.#returned();
    } catch (error) {
      this.#failed(error);
    }
    try {
      const released = this.#source === null ? releaseBody(this.#request) : this.#source.release();
      if (released) await released;
    } catch {
      // The platform's stream has failed, or Deno has closed the request: nothing is left to let go.
    }
    if (this.#onAbort !== null) this.#request.signal.removeEventListener("abort", this.#onAbort);
    watched.delete(this);
    this.#onSettled();
  }

  #bodyOf(): RequestBody {
    if (this.#source !== null) return this.#source;
    const watch = (): void => this.#watch();
    this.#source = new RequestBody(this.#request, watch, (reason) => this.#leave(reason));
    if (this.#isOver) this.#source.end();
    return this.#source;
  }

  /** Listens for the client's leave once somebody can learn of it: a listener costs 700 ns on Bun. */
  #watch(): void {
    if (this.#onAbort !== null) return;
    watched.add(this);
    const { signal } = this.#request;
    this.#onAbort = () => this.#leave(signal.reason);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener("abort", this.#onAbort);
  }

  /** Answers a handshake with the response that opens the WebSocket, or with 403. */
  answerHandshake(answer: globalThis.Response | null): void {
    this.#resolve(answer ?? errorAnswer(this.#request, 403, "Forbidden"));
    this.#phase = "complete";
  }

  get #isOver(): boolean {
    return this.#phase === "complete" || this.#phase === "gone";
  }

  /** The client has gone: `receive` gives `http.disconnect`, and messages are refused. */
  #leave(reason: unknown): void {
    if (this.#isOver) return;
    this.#phase = "gone";
    this.#source?.end();
    if (this.#body === null) this.#resolve(new globalThis.Response(null, { status: CLIENT_CLOSED_REQUEST }));
    else this.#body.fail(reason);
  }

  /** Takes one message. What follows the last body is ignored, as ASGI asks. */
  #send(message: SendMessage): Promise<void> | void {
    if (!this.#takes()) return;
    if (message.type === "http.response.body") return this.#takeBody(message);
    if (message.type !== "http.response.start") {
      throw new ProtocolError(`Expected "http.response.start" or "http.response.body", not "${message.type}".`);
    }
    this.#start(message.status, message.headers);
  }

  /** @returns `false` for a message behind the end, which is ignored. */
  #takes(): boolean {
    if (this.#phase === "gone") throw new ClientDisconnect();
    return this.#phase !== "complete";
  }

  #start(status: number, headers: Iterable<HeaderPair> | undefined): Head {
    if (this.#phase !== "idle") throw new ProtocolError('"http.response.start" was sent twice.');
    this.#head = createHead(status, headers, this.#scope.method);
    this.#phase = "started";
    return this.#head;
  }

  #takeBody({ body = EMPTY, more_body: more = false }: HTTPResponseBodyMessage): Promise<void> | void {
    const head = this.#head;
    if (head === null) throw new ProtocolError('"http.response.body" was sent before "http.response.start".');
    if (typeof body === "string")
      throw new ProtocolError('Expected the body of "http.response.body" to be bytes, not text.');
    if (!head.bodyless) this.#count(head, body.length, !more);
    // The platform copies the bytes. None of those that an application sends is shared between threads.
    if (head.bodyless || (!more && this.#body === null)) {
      return this.#answerWhole(head, body as Uint8Array<ArrayBuffer>, !more);
    }
    const stream = (this.#body ??= this.#answerStreaming(head));
    const taken = stream.write(body);
    if (more) return taken;
    return new Promise((resolve, reject) => {
      Promise.resolve(taken).catch(reject);
      stream.end(() => {
        this.#complete();
        resolve();
      });
    });
  }

  #answerWhole(head: Head, body: Uint8Array<ArrayBuffer> | string, isLast: boolean): void {
    if (this.#phase === "started") {
      this.#resolve(createAnswer(head.bodyless ? null : body, head));
      this.#phase = "streaming";
    }
    if (isLast) this.#complete();
  }

  #answerStreaming(head: Head): AnswerBody {
    this.#watch();
    if (this.#phase === "gone") throw new ClientDisconnect();
    const body = new AnswerBody(() => this.#leave(null));
    this.#resolve(createAnswer(withLength(body.stream, head.contentLength), head));
    this.#phase = "streaming";
    return body;
  }

  #complete(): void {
    if (this.#phase !== "gone") this.#phase = "complete";
    this.#source?.end();
  }

  /** RFC 9112 §6.3: a body unlike its `Content-Length` makes the client read the next answer wrong. */
  #count({ contentLength }: Head, bytes: number, isLast: boolean): void {
    this.#writtenBytes += bytes;
    const written = this.#writtenBytes;
    if (contentLength === null || (isLast ? written === contentLength : written <= contentLength)) return;
    throw new ProtocolError(
      `The body has ${isLast ? "" : "at least "}${written} bytes, but Content-Length said ${contentLength}.`,
    );
  }

  /** The application has returned; its answer may be missing or cut off. */
  #returned(): void {
    if (this.#isOver) return;
    const missing = this.#phase === "streaming" ? "the end of its response" : "a response";
    const { method, path } = this.#scope;
    this.#logger.error({ path }, `The application returned without ${missing}: ${method} ${path}`);
    this.#cut(new ProtocolError(`The application returned without ${missing}.`));
  }

  #failed(error: unknown): void {
    const { method, path } = this.#scope;
    if (this.#phase === "gone" && !(error instanceof ProtocolError)) {
      this.#logger.debug({ err: error, path }, `The application threw after its client had gone: ${method} ${path}`);
      return;
    }
    logOnce(this.#logger, error, this.#scope, { path }, `The application threw: ${method} ${path}`);
    if (!this.#isOver) this.#cut(error);
  }

  /** Answers in the application's place; a stream that has begun ends with the error. */
  #cut(error: unknown): void {
    this.#phase = "gone";
    this.#body?.fail(error);
    this.#resolve(errorAnswer(this.#request));
  }
}

/** An answer in the application's place. */
export function errorAnswer(
  { method }: { readonly method: string },
  status = 500,
  detail = "Internal Server Error",
): globalThis.Response {
  const text = JSON.stringify({ detail });
  const headers = { "content-type": "application/json", "content-length": String(text.length) };
  return new globalThis.Response(method === "HEAD" ? null : text, { status, headers });
}

const isDeno = "Deno" in globalThis;

/** A response of the platform. Its length is set behind: a second header in the constructor takes 2 µs and more on Deno. */
function createAnswer(body: WebBody, head: Head): globalThis.Response {
  const answer = isDeno ? createOnDeno(body, head) : new globalThis.Response(body, head);
  // Deno's server writes the length of a whole body itself: to set it took 2.6 of 19.7 µs of a small GET.
  const isWritten = isDeno && body !== null && !(body instanceof ReadableStream);
  if (head.contentLength !== null && !isWritten) answer.headers.set("content-length", String(head.contentLength));
  return answer;
}

/** Deno 2.9 takes 5 µs for a response with two headers, and 10 for one with eight; added behind the constructor, 1 and 4. */
function createOnDeno(body: WebBody, { status, headers }: Head): globalThis.Response {
  const type = headers.get("content-type");
  const answer = new globalThis.Response(body, { status, headers: type === null ? {} : { "content-type": type } });
  if (type === null) answer.headers.delete("content-type"); // that of text
  headers.forEach((value, name) => {
    if (name !== "content-type") answer.headers.append(name, value);
  });
  return answer;
}

/** workerd sends the length of a stream only where the stream itself has one. */
function withLength(stream: ReadableStream<Uint8Array>, length: number | null): ReadableStream<Uint8Array> {
  const { FixedLengthStream: Fixed } = globalThis as { FixedLengthStream?: FixedLengthStreamClass };
  return length === null || Fixed === undefined ? stream : stream.pipeThrough(new Fixed(length));
}

function createHead(status: number, list: Iterable<HeaderPair> | undefined, method: string): Head {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new ProtocolError(`Expected a status from 200 to 599 in "http.response.start", not ${String(status)}.`);
  }
  const { bodyless, length } = responseFacts(status, method);
  const { headers, contentLength } = fieldsOf(rawHeaders(list));
  const ownLength = length === "content" || length === "given" ? contentLength : null;
  return { status, headers, encodeBody: "manual", contentLength: length === "zero" ? 0 : ownLength, bodyless };
}

/** The headers of lists that are frozen, as those of JSON are: made anew they take 500 ns on Bun. */
const keptFields = new WeakMap<readonly string[], Pick<Head, "headers" | "contentLength">>();

function fieldsOf(raw: readonly string[]): Pick<Head, "headers" | "contentLength"> {
  const known = keptFields.get(raw);
  if (known !== undefined) return known;
  const headers = toWebHeaders(raw, PLATFORMS_OWN);
  const fields = { headers, contentLength: lengthOf(headers) };
  headers.delete("content-length");
  if (Object.isFrozen(raw)) keptFields.set(raw, fields);
  return fields;
}

function lengthOf(headers: Headers): number | null {
  const value = headers.get("content-length");
  if (value === null) return null;
  if (!/^\d{1,15}$/.test(value)) {
    throw new ProtocolError(`Expected one number of bytes as Content-Length, not ${JSON.stringify(value)}.`);
  }
  return Number(value);
}
