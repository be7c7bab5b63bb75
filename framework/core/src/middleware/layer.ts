/** Building blocks of middleware for HTTP: the layer around an application, and the response on its way out. @module */
import type {
  ASGIApp,
  HeaderPair,
  HTTPResponseStartMessage,
  HTTPScope,
  Receive,
  ReceiveMessage,
  Send,
  SendMessage,
  WebSocketScope,
} from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { relaying } from "../protocol/response.js";
import { headerValues } from "../protocol/header-list.js";
import { type Host, parseHost } from "../protocol/http-grammar.js";
import { HTTPException } from "../common/exceptions.js";
import { markHandled } from "../common/promises.js";
import { FROM_LIST, GET_LIST, type HeadersInit, ResponseHeaders } from "../http/response/headers.js";
import { errorResponse } from "../http/error-format.js";
import { tooLarge } from "../http/request/body.js";
import type { Response } from "../http/response/response.js";

/** The result of a `send`. */
type Sent = Promise<void> | void;

/** Handles one HTTP request: responds, or calls the application. */
type HTTPLayer = (scope: HTTPScope, receive: Receive, send: Send) => Promise<void>;

/** A middleware only for HTTP: the application gets every other scope unchanged. */
export function onHTTP(layerOf: (app: ASGIApp) => HTTPLayer): Middleware {
  return (app) => {
    const layer = layerOf(app);
    return (scope, receive, send) =>
      scope.type === "http" ? markHandled(layer(scope, receive, send)) : app(scope, receive, send);
  };
}

/**
 * A `send` that processes messages one at a time, even if an application does not wait before it sends the next. Once
 * one fails, all later ones fail with it.
 */
export function sendInOrder(handle: (message: SendMessage) => Promise<void> | void): Send {
  let last: Promise<void> | null = null;
  return (message) => {
    if (last !== null) return (last = markHandled(last.then(() => handle(message))));
    const done = handle(message);
    if (!(done instanceof Promise)) return undefined;
    const settled = markHandled(
      done.then(() => {
        if (last === settled) last = null;
      }),
    );
    return (last = settled);
  };
}

/** The host of a request; `null` if it is missing or repeated (RFC 9112 §3.2). */
export function hostOf(scope: HTTPScope): Host | null {
  const values = headerValues(scope.headers ?? [], "host");
  const [host] = values;
  return host !== undefined && values.length === 1 ? parseHost(host) : null;
}

/** The headers of a response that is about to start, to be read and changed. */
export function headersOf(message: HTTPResponseStartMessage): ResponseHeaders {
  return ResponseHeaders[FROM_LIST](message.headers);
}

/** The head of a response, of the handshake of a WebSocket, or of its rejection. */
function isHead(message: SendMessage): message is Extract<SendMessage, { headers?: Iterable<HeaderPair> }> {
  const { type } = message;
  return type === "http.response.start" || type === "websocket.accept" || type === "websocket.http.response.start";
}

/** A `send` that lets the headers of the response be changed on their way out. */
export function changingHeaders(send: Send, change: (headers: ResponseHeaders) => Promise<void> | void): Send {
  const withChanges = (list: Iterable<HeaderPair> | undefined, pass: (changed: Iterable<HeaderPair>) => Sent): Sent => {
    const headers = ResponseHeaders[FROM_LIST](list);
    const finish = () => pass(headers[GET_LIST]());
    const changed = change(headers);
    return changed instanceof Promise ? changed.then(finish) : finish();
  };
  return relaying(
    (message) =>
      isHead(message) ? withChanges(message.headers, (headers) => send({ ...message, headers })) : send(message),
    send,
    (next) => (status, list, body) => withChanges(list, (headers) => next.respond(status, headers, body)),
  );
}

/** A response to a request that does not reach the application. */
interface Refusal {
  readonly statusCode: number;
  readonly detail: string;
  readonly headers?: HeadersInit;
}

/** Responds instead of the application, in the format of its errors. */
export async function refuse(scope: HTTPScope, send: Send, { statusCode, detail, headers }: Refusal): Promise<void> {
  await refusalOf(scope, { statusCode, detail, headers }).send(send, scope.method === "HEAD");
}

/** Responds with 413 before the body is received. */
export function refuseLarge(scope: HTTPScope, send: Send, maxBytes: number): Promise<void> {
  return refuse(scope, send, { statusCode: 413, detail: String(tooLarge(maxBytes).detail) });
}

/**
 * Calls an application whose body may be rejected with an `HTTPException` while it is read, and responds with that if the
 * application lets it escape before its response has started.
 *
 * @param next - Gives the next message of the body. After it has rejected the body, later readers get the same error.
 */
export async function callWithBody(
  app: ASGIApp,
  scope: HTTPScope,
  next: () => Promise<ReceiveMessage>,
  send: Send,
): Promise<void> {
  let isStarted = false;
  const rejections: HTTPException[] = [];
  const receive = async (): Promise<ReceiveMessage> => {
    if (rejections[0] !== undefined) throw rejections[0];
    try {
      return await next();
    } catch (error) {
      if (error instanceof HTTPException) rejections.push(error);
      throw error;
    }
  };
  const tracked: Send = (message) => {
    isStarted ||= message.type === "http.response.start";
    return send(message);
  };
  try {
    await app(scope, () => markHandled(receive()), tracked);
  } catch (error) {
    const rejection = rejections.find((one) => one === error);
    if (isStarted || rejection === undefined) throw error;
    await refuse(scope, send, { statusCode: rejection.statusCode, detail: String(rejection.detail) });
  }
}

/** The response that {@link refuse} sends. */
export function refusalOf(scope: HTTPScope | WebSocketScope, { statusCode, detail, headers }: Refusal): Response {
  return errorResponse({ scope }, { status: statusCode, detail }, headers);
}

/** Work that continues after its request got a 504, because code cannot be stopped from outside. */
const LATE: unique symbol = Symbol("tsgi.lateWork");

/** A scope whose reader waits for late work. */
interface WatchedScope {
  readonly [LATE]?: Promise<unknown>[];
}

/** Reports work that continues. @param work - Settles when it has ended, and does not reject. */
export function reportLateWork(scope: HTTPScope & WatchedScope, work: Promise<unknown>): void {
  scope[LATE]?.push(work);
}

/** A scope for an application, and a list of the work that continues after its response. */
export function watchLateWork(scope: HTTPScope & WatchedScope): [watched: HTTPScope, late: Promise<unknown>[]] {
  const late = scope[LATE] ?? [];
  const watched: HTTPScope & WatchedScope = { ...scope, [LATE]: late };
  return [watched, late];
}
