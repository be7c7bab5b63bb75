/** Helpers of the WebSocket tests: applications written by hand, and a client of which everything is kept. */
import { once } from "node:events";
import { WebSocket, type ClientOptions } from "ws";
import type { ASGIApp, Receive, Send, SendMessage, WebSocketScope } from "../../../src/protocol/asgi.js";
import { httpApp, respond, type Served } from "./_http.js";

export type SocketApp = (scope: WebSocketScope, receive: Receive, send: Send) => Promise<void>;

/** An application for WebSockets that responds to HTTP with the path. */
export function socketApp(app: SocketApp): ASGIApp {
  const http = httpApp((scope, _receive, send) => respond(send, 200, `http ${scope.path}`));
  return async (scope, receive, send) => {
    await (scope.type === "websocket" ? app(scope, receive, send) : http(scope, receive, send));
  };
}

/** Accepts, and echoes messages until the client disconnects. */
export const echo = socketApp(async (_scope, receive, send) => {
  await receive();
  await send({ type: "websocket.accept" });
  for (;;) {
    const message = await receive();
    if (message.type !== "websocket.receive") return;
    await send({ type: "websocket.send", text: message.text, bytes: message.bytes });
  }
});

export const accept: SendMessage = { type: "websocket.accept" };
export const sending = (...messages: SendMessage[]) =>
  socketApp(async (_scope, _receive, send) => {
    for (const message of messages) await send(message);
  });

/** A client that records everything from the start. */
export class Client implements AsyncDisposable {
  readonly socket: WebSocket;
  readonly messages: (string | Buffer)[] = [];
  readonly opened: Promise<unknown>;
  readonly closed: Promise<[code: number, reason: string]>;
  /** The status and the body of a handshake that was refused. */
  readonly refused: Promise<[status: number | undefined, body: string]>;
  #wake: () => void = () => {};

  constructor(server: Pick<Served, "url">, path = "/", protocols: string[] = [], options: ClientOptions = {}) {
    this.socket = new WebSocket(`${server.url.replace("http", "ws")}${path}`, protocols, options);
    this.opened = once(this.socket, "open").catch(() => {});
    this.closed = new Promise((resolve) =>
      this.socket.once("close", (code, reason) => {
        this.#wake();
        resolve([code, reason.toString()]);
      }),
    );
    this.refused = new Promise((resolve) => {
      this.socket.once("unexpected-response", (request, response) => {
        void response.toArray().then((parts) => {
          resolve([response.statusCode, Buffer.concat(parts).toString()]);
          request.destroy();
        });
      });
    });
    this.socket.on("error", () => {});
    this.socket.on("message", (data: Buffer, isBinary) => {
      this.messages.push(isBinary ? data : data.toString());
      this.#wake();
    });
  }

  async received(count: number): Promise<(string | Buffer)[]> {
    while (this.messages.length < count && this.socket.readyState !== WebSocket.CLOSED) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.messages;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.terminate();
    if (this.socket.readyState !== WebSocket.CLOSED) await this.closed;
  }
}

export const handshake = (headers: string, path = "/") =>
  `GET ${path} HTTP/1.1\r\nHost: example.org\r\nConnection: Upgrade\r\n${headers}\r\n`;
export const GOOD =
  "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
