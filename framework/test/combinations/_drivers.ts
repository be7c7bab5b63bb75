/** The ways to reach the tool library: each driver starts it, sends requests and opens WebSockets. @module */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { connect, constants } from "node:http2";
import type { AddressInfo } from "node:net";
import type { App, ASGIApp, LifespanResponseMessage, Receive } from "tsgi";
import { type RunningServer, serve, toNodeHandler } from "tsgi/node";
import { TestClient } from "tsgi/testing";
import { type Answer, createAnswer, outgoingOf, type Sent } from "../support/call.js";
import { KeptLog } from "../support/kept-log.js";
import { IS_SLOW } from "../support/on-demand.js";
import { sendOverHTTP2, sendTo } from "../support/send.js";
import { SocketPeer } from "../support/socket-peer.js";
import type { Need, Send } from "./_calls.js";

/** The client's end of a WebSocket. */
export type Peer = Pick<
  SocketPeer,
  "subprotocol" | "sendText" | "sendBytes" | "sendJson" | "receive" | "receiveText" | "receiveBytes" | "receiveJson"
> & {
  /** Of the response that completed the handshake. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(code?: number, reason?: string): Promise<void>;
};

export interface Handshake {
  readonly headers?: Readonly<Record<string, string>>;
  readonly subprotocols?: readonly string[];
}

/** The library behind one driver. */
export interface Served {
  readonly send: Send;
  /** The library as it was at its start. */
  readonly reset: () => Promise<unknown>;
  /** Sends a GET, reads the first chunk of the body, and disconnects. */
  readonly leave: (target: string) => Promise<string>;
  /** Opens a WebSocket; `null` if the driver does not support it. */
  readonly connect: ((path: string, handshake?: Handshake) => Promise<Peer>) | null;
  /** Its address, if it has a port. */
  readonly url: string | null;
  readonly close: () => Promise<void>;
}

export interface Driver {
  readonly name: string;
  readonly lacks: readonly Need[];
  readonly hasWebSockets: boolean;
  readonly start: (app: App) => Promise<Served>;
}

const OPTIONS = { port: 0, signals: false } as const;

const settled = async (): Promise<void> => {};

/** Opens a WebSocket by the package `ws`. */
export const connectTo =
  (url: string) =>
  (path: string, { headers = {}, subprotocols = [] }: Handshake = {}): Promise<Peer> =>
    SocketPeer.open(url.replace("http", "ws") + path, subprotocols, headers, settled);

async function leaveHTTP1(url: string, target: string): Promise<string> {
  const sending = request(url + target, { agent: false }).end();
  sending.on("error", () => {}); // its own end
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  const [part] = (await once(response, "data")) as [Buffer];
  sending.destroy();
  return part.toString();
}

async function leaveHTTP2(url: string, target: string): Promise<string> {
  const session = connect(url);
  session.on("error", () => {});
  const stream = session.request({ ":path": target });
  const [part] = (await once(stream, "data")) as [Buffer];
  stream.close(constants.NGHTTP2_CANCEL);
  await once(stream, "close");
  session.destroy();
  return part.toString();
}

/** A client: the ways to send a request, and to leave one. */
const HTTP1 = { send: sendTo, leave: leaveHTTP1 };
const HTTP2 = { send: sendOverHTTP2, leave: leaveHTTP2 };

/** The library at an address. */
export function servedAt(url: string, close: () => Promise<void>, client: typeof HTTP1 = HTTP1): Served {
  const send: Send = (...asked) => client.send(url, ...asked);
  const leave = (target: string) => client.leave(url, target);
  return { send, leave, reset: () => send("POST", "/admin/reset"), connect: connectTo(url), url, close };
}

export async function onHTTP1(app: App): Promise<Served> {
  const server = await serve(app, { ...OPTIONS, logger: new KeptLog() });
  return servedAt(server.url, () => server.close());
}

async function overHTTP2(app: App): Promise<Served> {
  const server: RunningServer = await serve(app, { ...OPTIONS, http2: true, logger: new KeptLog() });
  return servedAt(server.url, () => server.close(), HTTP2);
}

/** Runs the lifespan of an application, as the maker of a server has to. Gives its state, and what ends it. */
async function startLifespan(app: ASGIApp) {
  const state: Record<string, unknown> = {};
  const told = new Map<string, (answer: LifespanResponseMessage) => void>();
  const answered = (type: string) => new Promise<LifespanResponseMessage>((resolve) => void told.set(type, resolve));
  const started = answered("lifespan.startup.complete");
  let stop = (): void => {};
  const stopping = new Promise<void>((resolve) => (stop = resolve));
  let received = 0;
  const receive: Receive = async () => {
    if (received++ === 0) return { type: "lifespan.startup" };
    await stopping;
    return { type: "lifespan.shutdown" };
  };
  const over = app({ type: "lifespan", state }, receive, (message) => {
    told.get(message.type)?.(message as LifespanResponseMessage);
  });
  await started;
  return {
    state,
    close: () => {
      stop();
      return over;
    },
  };
}

async function onNode(app: App): Promise<Served> {
  const lifespan = await startLifespan(app);
  const handler = toNodeHandler(app, { logger: new KeptLog(), state: lifespan.state });
  const server: Server = createServer(handler).on("upgrade", handler.upgrade);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return servedAt(`http://127.0.0.1:${port}`, async () => {
    server.close();
    server.closeAllConnections();
    await once(server, "close");
    await lifespan.close();
  });
}

async function byFetch({ fetch: handle }: App): Promise<Served> {
  const send: Send = async (method, target, sent = {}) => {
    const response = await handle(requestOf(method, target, sent));
    return createAnswer(response.status, [...response.headers], Buffer.from(await response.arrayBuffer()));
  };
  const leave = async (target: string) => {
    const { body } = await handle(new Request(`http://127.0.0.1${target}`));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return Buffer.from(value ?? []).toString();
  };
  const reset = () => send("POST", "/admin/reset");
  return { send, leave, reset, connect: null, url: null, close: () => handle.close() };
}

/** The request as the platform's. */
export function requestOf(method: string, target: string, sent: Sent): Request {
  const { headers, chunks } = outgoingOf(sent);
  const list = headers.map(([name, value]): [string, string] => [name, value]);
  if (!sent.chunks && chunks[0]?.length) list.push(["content-length", String(chunks[0].length)]);
  const url = `http://127.0.0.1${target}`;
  if (chunks.every(({ length }) => length === 0)) return new Request(url, { method, headers: list });
  return new Request(url, { method, headers: list, body: ReadableStream.from(chunks), duplex: "half" });
}

const VERBS = {
  GET: "get",
  POST: "post",
  PUT: "put",
  PATCH: "patch",
  DELETE: "delete",
  HEAD: "head",
  OPTIONS: "options",
  TRACE: "trace",
} as const;

/** Its cookies are kept from one request to the next, so each row has a separate client. */
async function byTestClient(app: App): Promise<Served> {
  const open = () => TestClient.open(app, { logger: new KeptLog() });
  let client = await open();
  return {
    send: (method, target, sent = {}) => sendBy(client, method as keyof typeof VERBS, target, sent),
    leave: (target) => leaveHTTP1(client.url, target),
    reset: async () => {
      await client.close();
      client = await open();
    },
    connect: async (path, handshake) => peerOf(await client.websocket(path, handshake)),
    url: null,
    close: () => client.close(),
  };
}

async function sendBy(client: TestClient, method: keyof typeof VERBS, target: string, sent: Sent): Promise<Answer> {
  const { headers, chunks } = outgoingOf(sent);
  const asked = client[VERBS[method]](target).redirects(0).buffer(true).parse(readBytes);
  const named = new Map<string, string[]>();
  for (const [name, value] of headers) named.set(name, [...(named.get(name) ?? []), value]);
  if (!named.has("accept-encoding")) asked.set("accept-encoding", "identity"); // supertest accepts gzip by default
  for (const [name, values] of named) asked.set(name, (values.length === 1 ? values[0] : values) as string);
  if (sent.chunks) for (const chunk of chunks) asked.write(Buffer.from(chunk));
  else if (chunks[0]?.length) asked.send(bodyFor(chunks[0], named.get("content-type")));
  const response = await asked;
  const lines = Object.entries(response.headers as Record<string, string | string[]>).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  );
  return createAnswer(response.status, lines, method === "HEAD" ? Buffer.alloc(0) : (response.body as Buffer));
}

/** Bytes of JSON would be serialized again, and bytes of a form as fields. */
function bodyFor(body: Uint8Array, [type = ""]: readonly string[] = []): string {
  const bytes = Buffer.from(body);
  return /^application\/(?:json|x-www-form-urlencoded)/.test(type) ? bytes.toString() : (bytes as unknown as string);
}

/** supertest's parser of a body: the bytes as they are. */
function readBytes(response: NodeJS.EventEmitter, done: (error: Error | null, body: Buffer) => void): void {
  const parts: Buffer[] = [];
  response.on("data", (part: Buffer) => parts.push(part));
  response.on("end", () => done(null, Buffer.concat(parts)));
}

function peerOf(socket: Awaited<ReturnType<TestClient["websocket"]>>): Peer {
  return Object.assign(socket, {});
}

export const drivers: readonly Driver[] = [
  { name: "serve over HTTP/1.1", lacks: ["workers"], hasWebSockets: true, start: onHTTP1 },
  { name: "serve over HTTP/2", lacks: ["twice", "workers"], hasWebSockets: true, start: overHTTP2 },
  { name: "toNodeHandler on node:http", lacks: ["workers"], hasWebSockets: true, start: onNode },
  { name: "app.fetch", lacks: ["trace", "client", "workers"], hasWebSockets: false, start: byFetch },
  { name: "TestClient", lacks: ["workers"], hasWebSockets: true, start: byTestClient },
];

/** All drivers in a slow run, and otherwise one. `observed.test.ts` reaches the library by `serve` over HTTP/1.1 in each. */
export function driversOfRun(name: string): readonly Driver[] {
  return IS_SLOW ? drivers : drivers.filter((driver) => driver.name === name);
}
