/** WebSockets of one application, seen from both sides. @module */
import type { WebSocketAcceptMessage, WebSocketCloseMessage } from "../../src/protocol/asgi.js";
import type { ClientClose, ClientWebSocket, HandshakeResponse, TextHeaders } from "@tsgi/conformance";
import { Deferred } from "../../src/common/promises.js";
import { bytes, toPairs, type WebSocketCall } from "./_calls.js";
import { type Handshake, NotKept } from "./_driver.js";
import type { Server, Stage } from "./_stage.js";

export const ACCEPT: WebSocketAcceptMessage = { type: "websocket.accept" };

/** A message of text. */
export const say = (text: string) => ({ type: "websocket.send", text }) as const;

/** A close of the application. */
export function close(code?: number, reason?: string | null): WebSocketCloseMessage {
  return { type: "websocket.close", ...(code !== undefined && { code }), ...(reason !== undefined && { reason }) };
}

/** The head of a response that rejects a handshake. */
export function refuse(status: number, headers: TextHeaders = []) {
  return { type: "websocket.http.response.start", status, headers: toPairs(headers) } as const;
}

/** The body of such a response, or a part of it. */
export function refusal(content = "", more = false) {
  return { type: "websocket.http.response.body", body: bytes(content), more_body: more } as const;
}

/** Both sides of a WebSocket. */
export interface Talk<Value, Seen> {
  /** The result of the application, or its error. */
  readonly value: Promise<Value>;
  readonly seen: Seen;
  readonly log: readonly string[];
}

/** The client of a handshake, after its response. */
type Use<Seen> = (answer: HandshakeResponse, server: Server) => Promise<Seen> | Seen;

/** Sends one handshake to an application. */
export async function talk<Value, Seen>(
  stage: Stage,
  handle: (call: WebSocketCall) => Promise<Value>,
  use: Use<Seen>,
  handshake: Handshake = {},
): Promise<Talk<Value, Seen>> {
  const value = new Deferred<Value>();
  const websocket = async (call: WebSocketCall): Promise<void> => {
    const result = handle(call);
    void result.then(value.resolve, value.reject);
    await result;
  };
  const server = await stage.start({ websocket });
  const seen = await use(await server.websocket(handshake), server);
  return { value: value.promise, seen, log: await server.log() };
}

/** The same with a WebSocket that the application accepts first. */
export function talkOpen<Value, Seen>(
  stage: Stage,
  handle: (call: WebSocketCall) => Promise<Value>,
  use: (webSocket: ClientWebSocket, server: Server) => Promise<Seen> | Seen,
): Promise<Talk<Value, Seen>> {
  const accepting = async (call: WebSocketCall): Promise<Value> => {
    await call.receive();
    await call.send(ACCEPT);
    return handle(call);
  };
  return talk(stage, accepting, (answer, server) => use(opened(answer), server));
}

/** The WebSocket of a handshake that is completed. */
export function opened({ status, webSocket }: HandshakeResponse): ClientWebSocket {
  if (webSocket === null) throw new NotKept(`The handshake was rejected with ${status}.`);
  const receive = async (): Promise<string | Uint8Array> => {
    try {
      return await webSocket.receive();
    } catch {
      const { code } = await webSocket.closed;
      throw new NotKept(`The WebSocket was closed with ${code} before the next message.`);
    }
  };
  return new Proxy(webSocket, {
    get: (target, key) => {
      const value: unknown = key === "receive" ? receive : Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** The status of a handshake, and the end of a WebSocket that is closed immediately after it. */
export async function endOf({ status, body, webSocket }: HandshakeResponse): Promise<object> {
  return webSocket === null ? { status, body } : { status, ...plain(await webSocket.closed) };
}

export function plain({ code, reason }: ClientClose): { code: number; reason: string } {
  return { code, reason };
}
