/** Applications of the checks of servers, and the exchanges with them. @module */
import type { ASGIApp, HTTPScope, LifespanScope, Receive, Scope, Send, WebSocketScope } from "tsgi";
import { Deferred } from "tsgi/internals";
import { bytesOf, type TextHeaders } from "./bytes.js";
import {
  type ClientHandshake,
  type ClientRequest,
  type ClientWebSocket,
  type HandshakeResponse,
  readText,
  type StartedServer,
  type StartServer,
  withServer,
} from "./client.js";
import { must } from "./statement.js";

/** One call of an application. */
export interface Call<CallScope extends Scope> {
  readonly scope: CallScope;
  readonly receive: Receive;
  readonly send: Send;
}

/** A response that is read to its end. */
export interface WholeResponse {
  readonly status: number;
  readonly headers: TextHeaders;
  readonly body: string;
}

/** Sends values that may not be a message, to check how a server responds. */
export async function sendAnything(send: Send, message: object): Promise<void> {
  // The type prevents messages that a server has to reject here.
  await send(message as Parameters<Send>[0]);
}

/** Sends a whole response. */
export async function respond(send: Send, body = "ok"): Promise<void> {
  await send({ type: "http.response.start", status: 200, headers: [] });
  await send({ type: "http.response.body", body: bytesOf(body) });
}

/** A startup and a shutdown without a word. */
export async function respondToLifespan(receive: Receive, send: Send): Promise<void> {
  await receive();
  await send({ type: "lifespan.startup.complete" });
  await receive();
  await send({ type: "lifespan.shutdown.complete" });
}

/** The handlers of an application, by type of scope. Without one for the lifespan, each message gets its `complete`. */
export interface Parts {
  readonly http?: (call: Call<HTTPScope>) => Promise<void>;
  readonly websocket?: (call: Call<WebSocketScope>) => Promise<void>;
  readonly lifespan?: (call: Call<LifespanScope>) => Promise<void>;
}

/** An application of parts. */
export function application({ http, websocket, lifespan }: Parts): ASGIApp {
  return async (scope, receive, send) => {
    if (scope.type === "http") await (http?.({ scope, receive, send }) ?? respond(send));
    else if (scope.type === "websocket") await websocket?.({ scope, receive, send });
    else await (lifespan?.({ scope, receive, send }) ?? respondToLifespan(receive, send));
  };
}

/** Stores the result or the error of the first call of a handler, and responds if the handler has not. */
export function keepFirst<CallScope extends Scope, Value>(handle: (call: Call<CallScope>) => Promise<Value>) {
  const value = new Deferred<Value>();
  const run = async (call: Call<CallScope>): Promise<void> => {
    try {
      value.resolve(await handle(call));
    } catch (error) {
      value.reject(error);
      throw error;
    }
  };
  return { run, value: value.promise };
}

/** Waits for both sides. The application's error takes precedence: the client sees only its consequence. */
async function bothSides<Value, Seen>(value: Promise<Value>, seen: Promise<Seen>): Promise<[Value, Seen]> {
  const [ours, theirs] = await Promise.allSettled([value, seen]);
  if (ours.status === "rejected") throw ours.reason;
  if (theirs.status === "rejected") throw theirs.reason;
  return [ours.value, theirs.value];
}

/** Reads the response to a request. */
export async function fetchWhole(server: StartedServer, request: ClientRequest = {}): Promise<WholeResponse> {
  const { status, headers, body } = await server.request(request);
  return { status, headers, body: await readText(body) };
}

/** Sends one request to an application, and returns the result of the handler and the response. */
export function exchange<Value>(
  start: StartServer,
  request: ClientRequest,
  handle: (call: Call<HTTPScope>) => Promise<Value>,
): Promise<[Value, WholeResponse]> {
  const { run, value } = keepFirst(handle);
  return withServer(start, application({ http: run }), (server) => bothSides(value, fetchWhole(server, request)));
}

/** Inspects one call of a request, which then gets a response. */
export async function inspect(
  start: StartServer,
  request: ClientRequest,
  look: (call: Call<HTTPScope>) => Promise<void> | void,
): Promise<void> {
  await exchange(start, request, async (call) => {
    await look(call);
    await respond(call.send);
  });
}

/** Opens a WebSocket of a server. */
export async function handshake(server: StartedServer, request: ClientHandshake): Promise<HandshakeResponse> {
  must(server.websocket !== undefined, "Expected the driver of the server to open WebSockets.");
  return server.websocket(request);
}

/** The WebSocket of a handshake that was to be completed. */
export function opened({ status, webSocket }: HandshakeResponse): ClientWebSocket {
  must(webSocket !== null, `Expected the handshake to be completed, not rejected with ${status}.`);
  return webSocket;
}

/** Sends one handshake to an application, and returns the result of the handler and the state of the client. */
export function connectWith<Value, Seen>(
  start: StartServer,
  request: ClientHandshake,
  handle: (call: Call<WebSocketScope>) => Promise<Value>,
  use: (answer: HandshakeResponse) => Promise<Seen>,
): Promise<[Value, Seen]> {
  const { run, value } = keepFirst(handle);
  return withServer(start, application({ websocket: run }), (server) =>
    bothSides(
      value,
      handshake(server, request).then((answer) => use(answer)),
    ),
  );
}

/** Does the same with a WebSocket that the application accepts first. */
export function converse<Value, Seen>(
  start: StartServer,
  handle: (call: Call<WebSocketScope>) => Promise<Value>,
  use: (webSocket: ClientWebSocket) => Promise<Seen>,
): Promise<[Value, Seen]> {
  const accepting = async (call: Call<WebSocketScope>): Promise<Value> => {
    await call.receive();
    await call.send({ type: "websocket.accept" });
    return handle(call);
  };
  return connectWith(start, {}, accepting, (answer) => use(opened(answer)));
}
