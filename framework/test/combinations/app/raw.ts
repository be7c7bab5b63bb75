/** An application on the protocol itself, without the framework: a clock, over HTTP and WebSockets. @module */
import {
  type Address,
  type ASGIApp,
  type ContentHeaders,
  HeaderList,
  type HeaderPair,
  type HTTPDisconnectMessage,
  type HTTPRequestMessage,
  type HTTPResponseBodyMessage,
  type HTTPResponseStartMessage,
  type HTTPScope,
  type LifespanResponseMessage,
  type LifespanEventMessage,
  type LifespanScope,
  RadixRouter,
  type RadixNode,
  type Receive,
  type ReceiveMessage,
  type Scope,
  type Send,
  type SendMessage,
  type WebSocketAcceptMessage,
  type WebSocketCloseMessage,
  type WebSocketConnectMessage,
  type WebSocketDisconnectMessage,
  type WebSocketHTTPResponseBodyMessage,
  type WebSocketHTTPResponseStartMessage,
  type WebSocketReceiveMessage,
  type WebSocketScope,
  type WebSocketSendMessage,
} from "tsgi";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

type Answerer = (scope: HTTPScope, body: Uint8Array, params: Record<string, string>) => string;

const router = new RadixRouter<Answerer>();
router.addRoute("GET", "/time/{zone}", ({ root_path = "" }, _body, { zone }) => `${root_path} 12:00 ${zone}`);
router.addRoute("POST", "/time", ({ client }, body) => `${body.length} bytes, ${hostOf(client)}`);

/** The number of segments that the clock knows. */
export const segments = (node: RadixNode<Answerer> = router.root): number =>
  [...node.children.values()].reduce((sum, child) => sum + segments(child), node.children.size);

const hostOf = (client: Address | null | undefined) => typeof client?.[0];

async function readBody(receive: Receive): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const message = (await receive()) as HTTPRequestMessage | HTTPDisconnectMessage;
    if (message.type === "http.disconnect") return null;
    if (message.body) parts.push(message.body);
    if (message.more_body !== true) return Uint8Array.from(parts.flatMap((part) => [...part]));
  }
}

async function answer(scope: HTTPScope, receive: Receive, send: Send): Promise<void> {
  const path = scope.path.slice((scope.root_path ?? "").length) || "/";
  const found = router.resolve(scope.method, path);
  const body = await readBody(receive);
  if (body === null) return;
  const [text, status] = found ? [found[0](scope, body, found[1]), 200] : ["no such time", 404];
  const pair: HeaderPair = [encoder.encode("x-clock"), encoder.encode("1")];
  const content: ContentHeaders = { type: "text/plain", length: Number.NaN };
  const list = new HeaderList(["content-type", "text/plain", "x-segments", String(segments())], content);
  const start: HTTPResponseStartMessage = { type: "http.response.start", status, headers: [...list, pair] };
  await send(start);
  const last: HTTPResponseBodyMessage = { type: "http.response.body", body: encoder.encode(text) };
  await send(last);
}

async function refuse(send: Send): Promise<void> {
  const start: WebSocketHTTPResponseStartMessage = { type: "websocket.http.response.start", status: 426, headers: [] };
  const last: WebSocketHTTPResponseBodyMessage = { type: "websocket.http.response.body", body: encoder.encode("no") };
  await send(start);
  await send(last);
}

type Incoming = WebSocketConnectMessage | WebSocketReceiveMessage | WebSocketDisconnectMessage;

async function tick({ path }: WebSocketScope, receive: Receive, send: Send): Promise<void> {
  if (path.endsWith("/never")) return refuse(send);
  for (;;) {
    const message: Incoming | ReceiveMessage = await receive();
    if (message.type === "websocket.connect") {
      const accept: WebSocketAcceptMessage = { type: "websocket.accept", headers: [] };
      await send(accept);
    } else if (message.type === "websocket.receive") {
      await send(reply(message));
    } else {
      return;
    }
  }
}

function reply({ text, bytes }: WebSocketReceiveMessage): SendMessage {
  if (text === "stop")
    return { type: "websocket.close", code: 4001, reason: "stopped" } satisfies WebSocketCloseMessage;
  const told = text ?? decoder.decode(bytes ?? new Uint8Array(0));
  return { type: "websocket.send", text: `tick ${told}` } satisfies WebSocketSendMessage;
}

async function live(scope: LifespanScope, receive: Receive, send: Send): Promise<void> {
  for (;;) {
    const { type } = (await receive()) as LifespanEventMessage;
    if (type === "lifespan.startup" && scope.state) scope.state["clock"] = "wound up";
    const complete: LifespanResponseMessage = { type: `${type}.complete` };
    await send(complete);
    if (type === "lifespan.shutdown") return;
  }
}

/** The clock. */
export const clock: ASGIApp = async (scope: Scope, receive, send) => {
  if (scope.type === "lifespan") return live(scope, receive, send);
  return scope.type === "http" ? answer(scope, receive, send) : tick(scope, receive, send);
};
