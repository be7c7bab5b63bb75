/** WebSockets of workerd: the platform takes one end of a pair with its response, the application has the other. @module */
import type { HTTPScope, WebSocketScope } from "../../protocol/asgi.js";
import { asBytes, isLonger } from "../../protocol/bytes.js";
import {
  type Acceptance,
  CLOSE,
  DEFAULT_MESSAGE_BYTES,
  type OpenWebSocket,
  type PendingHandshake,
  type WebSocketEvents,
} from "../../protocol/websocket-handshake.js";
import type { ErrorResponse } from "../../protocol/error-response.js";
import { Exchange } from "../../protocol/exchange.js";
import { HeldMessages } from "../../protocol/message-queue.js";
import { toWebSocketScope } from "../../protocol/scope.js";
import type { ServerContext } from "../../protocol/server-context.js";
import { toWebHeaders } from "../../http/request/web.js";
import type { FetchStream } from "./fetch-stream.js";

/** The parts of the application's end of a pair that are used here. */
interface PlatformSocket extends Pick<WebSocket, "addEventListener" | "binaryType" | "close" | "send"> {
  accept(): void;
}
type PairClass = new () => { readonly 0: object; readonly 1: PlatformSocket };

/** The platform makes no client wait: one that sends more than this to a slow application is closed with 1008. */
const HELD = { messages: 65_536, bytes: 16 << 20 };

const hasPairs = "WebSocketPair" in globalThis;

/** Returns whether a request asks for a WebSocket, on a platform that opens one in this way. */
export function isWebSocketRequest(request: globalThis.Request): boolean {
  return hasPairs && request.method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** The scope of a WebSocket, from the scope of its request. */
export function toPairScope(scope: HTTPScope): WebSocketScope {
  const webSocketScope = toWebSocketScope(scope);
  webSocketScope.extensions = { ...scope.extensions, ...webSocketScope.extensions };
  return webSocketScope;
}

/** A handshake that the application has not responded to. */
export class PairHandshake implements PendingHandshake {
  readonly #context: ServerContext;
  readonly #stream: FetchStream;
  readonly #scope: HTTPScope;

  constructor(context: ServerContext, stream: FetchStream, scope: HTTPScope) {
    this.#context = context;
    this.#stream = stream;
    this.#scope = scope;
  }

  open(acceptance: Acceptance, events: WebSocketEvents): OpenWebSocket | null {
    if (this.#stream.destroyed) return null;
    const { subprotocol, headers, maxMessageBytes } = acceptance;
    const lines = toWebHeaders(headers);
    if (subprotocol !== null) lines.set("sec-websocket-protocol", subprotocol);
    const { 0: theirs, 1: ours } = new (globalThis as unknown as { WebSocketPair: PairClass }).WebSocketPair();
    const socket = new PairSocket(ours, events, maxMessageBytes ?? DEFAULT_MESSAGE_BYTES);
    this.#stream.complete(new Response(null, { status: 101, headers: lines, webSocket: theirs } as ResponseInit));
    return socket;
  }

  refuse({ head, body }: ErrorResponse): void {
    this.#stream.respond(head, body);
  }

  respond(): Exchange {
    return new Exchange(this.#context, this.#stream, this.#scope, null);
  }
}

/** An open WebSocket. */
class PairSocket implements OpenWebSocket {
  /** The platform does not report the waiting bytes. */
  readonly bufferedAmount = 0;
  readonly #socket: PlatformSocket;
  readonly #events: WebSocketEvents;
  readonly #messages: HeldMessages;

  constructor(socket: PlatformSocket, events: WebSocketEvents, maxMessageBytes: number) {
    this.#socket = socket;
    this.#events = events;
    this.#messages = new HeldMessages(HELD, (data) => events.messaged(data));
    socket.accept();
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => this.#take(data, maxMessageBytes));
    socket.addEventListener("close", ({ code, reason }) => this.#closed(code, reason));
    socket.addEventListener("error", () => this.#closed(CLOSE.abnormal, ""));
  }

  get isPaused(): boolean {
    return this.#messages.isPaused;
  }

  #take(data: unknown, maxMessageBytes: number): void {
    const message = typeof data === "string" ? data : asBytes(new Uint8Array(data as ArrayBuffer));
    if (isLonger(message, maxMessageBytes)) this.#violate(CLOSE.tooBig);
    else if (!this.#messages.take(message)) this.#violate(CLOSE.policyViolation);
  }

  #violate(code: number): void {
    this.#events.violated(code);
    this.close(code);
  }

  #closed(code: number, reason: string): void {
    this.#messages.flush();
    this.#events.closed(code, code === CLOSE.abnormal ? "" : reason);
  }

  pause(): void {
    this.#messages.isPaused = true;
  }

  resume(): void {
    this.#messages.resume();
  }

  write(data: string | Uint8Array, done: ((error?: Error | null) => void) | null): void {
    this.#socket.send(data);
    done?.();
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }
}
