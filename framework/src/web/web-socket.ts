/** WebSockets of workerd: the platform takes one end of a pair with its answer, the application has the other. @module */
import type { ASGIApp, HTTPScope, ReceiveMessage, Send, SendMessage, WebSocketScope } from "../asgi.js";
import { asBytes, headerValue, rawHeaders } from "../datastructures.js";
import { ClientDisconnect, contentOf, findCloseFault, ProtocolError } from "../exceptions.js";
import { MessageQueue } from "../message-queue.js";
import { markHandled } from "../promises.js";
import { toWebHeaders } from "../request.js";

/** The application's end of a pair, as far as it is used. */
interface PlatformSocket extends Pick<WebSocket, "addEventListener" | "binaryType" | "close" | "send"> {
  accept(): void;
}
type Acceptance = Extract<SendMessage, { readonly type: "websocket.accept" }>;
type PairClass = new () => { readonly 0: object; readonly 1: PlatformSocket };

/** Bytes of one message where the application does not say otherwise, as on the own server. */
const DEFAULT_MESSAGE_BYTES = 1 << 20;
/** Bytes of messages that nobody has received, and of each message beside its content. The platform makes no client wait. */
const MAX_WAITING_BYTES = 16 << 20;
const OVERHEAD_BYTES = 256;

const hasPairs = "WebSocketPair" in globalThis;

/** Tells if a request asks for a WebSocket, on a platform that opens one in this way. */
export function isWebSocketRequest(request: globalThis.Request): boolean {
  return hasPairs && request.method === "GET" && request.headers.get("upgrade")?.toLowerCase() === "websocket";
}

/** Makes an application of WebSockets one that takes their handshakes as requests. @param answer - Answers one at once. */
export function acceptHandshakes(app: ASGIApp, answer: (response: Response | null) => void): ASGIApp {
  return async (scope, receive, send) => {
    const session = new Session(toWebSocketScope(scope as HTTPScope), send, answer);
    // The body of a handshake is empty: behind it comes the client's end, where it leaves before the answer.
    const left = receive().then(receive);
    void left.then(() => session.end(1006, "")).catch(() => {});
    await session.run(app);
  };
}

function toWebSocketScope({ method: _method, ...scope }: HTTPScope): WebSocketScope {
  const subprotocols = headerValue(scope.headers ?? [], "sec-websocket-protocol")?.split(",") ?? [];
  return {
    ...scope,
    type: "websocket",
    scheme: scope.scheme === "https" ? "wss" : "ws",
    subprotocols: subprotocols.map((name) => name.trim()),
    extensions: { ...scope.extensions, "websocket.http.response": {}, "tsgi.websocket.message_limit": {} },
  };
}

class Session {
  readonly #scope: WebSocketScope;
  readonly #respond: Send;
  readonly #answer: (response: Response | null) => void;
  readonly #inbox = new MessageQueue<ReceiveMessage>();
  #phase: "connecting" | "answering" | "open" | "closed" = "connecting";
  #socket: PlatformSocket | null = null;
  #waitingBytes = 0;

  constructor(scope: WebSocketScope, respond: Send, answer: (response: Response | null) => void) {
    this.#scope = scope;
    this.#respond = respond;
    this.#answer = answer;
    this.#inbox.push({ type: "websocket.connect" });
  }

  async run(app: ASGIApp): Promise<void> {
    try {
      await app(
        this.#scope,
        () => this.#receive(),
        (message) => markHandled(this.#send(message)),
      );
      if (this.#phase === "open") this.#close();
    } catch (error) {
      if (this.#inbox.hasEnded && !(error instanceof ProtocolError)) return;
      if (this.#phase === "open") this.#close(1011);
      throw error;
    }
  }

  end(code: number, reason: string): void {
    this.#inbox.end({ type: "websocket.disconnect", code, reason });
  }

  async #receive(): Promise<ReceiveMessage> {
    const message = await this.#inbox.take();
    if (message.type === "websocket.receive") this.#waitingBytes -= contentOf(message).length + OVERHEAD_BYTES;
    return message;
  }

  #send(message: SendMessage): Promise<void> | void {
    switch (message.type) {
      case "websocket.accept":
        this.#expect("connecting", message);
        return this.#accept(message);
      case "websocket.send":
        this.#expect("open", message);
        return this.#socket?.send(contentOf(message));
      case "websocket.close":
        if (this.#phase === "closed" || this.#inbox.hasEnded) return;
        if (this.#phase === "answering") this.#expect("open", message); // as on every server: the response has begun
        return this.#close(message.code, message.reason);
      case "websocket.http.response.start":
        this.#expect("connecting", message);
        this.#phase = "answering";
        return this.#respond({ ...message, type: "http.response.start" });
      case "websocket.http.response.body":
        return this.#respond({ ...message, type: "http.response.body" });
      default:
        throw new ProtocolError(`Expected a message of the WebSocket protocol, not "${message.type}".`);
    }
  }

  #expect(phase: "connecting" | "open", { type }: SendMessage): void {
    if (this.#phase === "closed" || this.#inbox.hasEnded) throw new ClientDisconnect();
    if (this.#phase !== phase) throw new ProtocolError(`"${type}" was sent while the WebSocket was ${this.#phase}.`);
  }

  #accept({ subprotocol, headers, max_message_bytes: maxBytes }: Partial<Acceptance>): void {
    const lines = toWebHeaders(rawHeaders(headers));
    if (subprotocol) lines.set("sec-websocket-protocol", subprotocol);
    if (subprotocol && !this.#scope.subprotocols?.includes(subprotocol)) {
      throw new ProtocolError(`The client did not offer the subprotocol ${JSON.stringify(subprotocol)}.`);
    }
    const { 0: theirs, 1: ours } = new (globalThis as unknown as { WebSocketPair: PairClass }).WebSocketPair();
    ours.accept();
    ours.binaryType = "arraybuffer";
    ours.addEventListener("message", ({ data }) => this.#take(data, maxBytes ?? DEFAULT_MESSAGE_BYTES));
    ours.addEventListener("close", ({ code, reason }) => this.end(code, reason));
    ours.addEventListener("error", () => this.end(1006, ""));
    this.#socket = ours;
    this.#phase = "open";
    this.#answer(new Response(null, { status: 101, headers: lines, webSocket: theirs } as ResponseInit));
  }

  #take(data: unknown, maxBytes: number): void {
    const content = typeof data === "string" ? { text: data } : { bytes: asBytes(new Uint8Array(data as ArrayBuffer)) };
    const size = (content.text ?? content.bytes).length;
    this.#waitingBytes += size + OVERHEAD_BYTES;
    if (size > maxBytes || this.#waitingBytes > MAX_WAITING_BYTES) this.#close(size > maxBytes ? 1009 : 1008);
    else this.#inbox.push({ type: "websocket.receive", ...content });
  }

  #close(code = 1000, reason: string | null = ""): void {
    const fault = findCloseFault(code, reason ?? "");
    if (fault !== null) throw new ProtocolError(fault);
    if (this.#phase === "connecting" && code < 4000) this.#answer(null);
    else if (this.#phase === "connecting") this.#accept({}); // an own code is seen only behind a handshake
    this.#phase = "closed";
    this.#socket?.close(code, reason ?? "");
  }
}
