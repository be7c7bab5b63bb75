/** The client of a WebSocket route, in memory and over the servers. @module */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { App, ASGIApp } from "../../core/src/index.js";
import { type RunningServer, serve, toNodeHandler } from "../../core/src/node.js";
import { TestClient, WebSocketRefusedError } from "../../core/src/platforms/testing/index.js";
import { Client } from "../../core/test/platforms/node/_websocket.js";
import { KeptLog } from "../support/kept-log.js";
import { startLifespan } from "./_pairs-drivers.js";
import { SECRET } from "./_pairs-samples.js";
import type { SocketCombination } from "./_pairs-socket-factors.js";
import { SOCKET_PREFIXES } from "./_pairs-socket-model.js";

/** A WebSocket as its client sees it. */
export interface SeenSocket {
  readonly status: number;
  readonly close?: { readonly code: number; readonly reason: string };
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body?: string;
  readonly message?: string | Uint8Array | undefined;
}

interface Handshake {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly subprotocols: string[];
}

function handshakeOf(c: SocketCombination): Handshake {
  const query: string[] = [];
  const cookies: string[] = [];
  const headers: Record<string, string> = {};
  const [kind, how] = c.parameter.split(", ");
  const value = how === "unfit" ? "12" : "5";
  if (kind === "query") query.push(`value=${value}`);
  if (kind === "object") query.push("count=5");
  if (kind === "header") headers["value"] = value;
  if (kind === "cookie" && how === undefined) cookies.push("value=5");
  const level = c.guard === "own fault" ? "x" : "1";
  if (c.parameter === "header") query.push(`level=${level}`);
  else headers["x-level"] = level;
  if (!/none|absent|missing/.test(c.credentials)) {
    const secret = c.credentials.endsWith("malformed") ? "" : c.credentials.endsWith("unknown") ? "stranger" : SECRET;
    if (c.scheme === "bearer") headers["authorization"] = `Bearer ${secret}`.trim();
    else (c.scheme === "key query" ? query : cookies).push(`key=${secret}`);
  }
  if (cookies.length > 0) headers["cookie"] = cookies.join("; ");
  const path = `${SOCKET_PREFIXES[c.mount]}/ws${kind === "path" ? `/${value}` : ""}`;
  // Offered only to a handler that selects one: a client fails without (RFC 6455 §4.1).
  const subprotocols = c.opening === "with subprotocol and header" ? ["a", "b"] : [];
  return { path: query.length === 0 ? path : `${path}?${query.join("&")}`, headers, subprotocols };
}

/** The messages of the client. */
const MESSAGES: Readonly<Record<SocketCombination["receives"], string | Buffer>> = {
  text: "one",
  bytes: Buffer.from([1, 2]),
  fits: '{"n":1}',
  extra: '{"n":1,"other":2}',
  iterates: '{"n":1}',
  unfit: '{"n":"one"}',
  "not JSON": '{"n":',
  binary: Buffer.from('{"n":1}'),
  "text for bytes": "one",
};

const isClosedByClient = ({ end }: SocketCombination): boolean => end === "client closes" || end === "iteration ends";

async function overSocket(c: SocketCombination, url: string): Promise<SeenSocket> {
  const { path, headers, subprotocols } = handshakeOf(c);
  await using client = new Client({ url }, path, subprotocols, { headers });
  let answered: SeenSocket["headers"] = {};
  client.socket.on("upgrade", (response) => (answered = response.headers));
  client.socket.on("unexpected-response", (_request, response) => (answered = response.headers));
  const refusal = await Promise.race([client.opened.then(() => null), client.refused]);
  if (refusal !== null) return { status: refusal[0] ?? 0, headers: answered, body: refusal[1] };
  client.socket.send(MESSAGES[c.receives], () => {});
  const [message] = await client.received(1);
  if (message !== undefined && c.end === "client terminates") client.socket.terminate();
  if (message !== undefined && isClosedByClient(c)) client.socket.close(4321, "bye");
  const [code, reason] = await client.closed;
  return { status: 101, close: { code, reason }, headers: answered, message };
}

async function inMemory(c: SocketCombination, app: ASGIApp): Promise<SeenSocket> {
  await using client = await TestClient.open(app, { logger: new KeptLog() });
  const { path, headers, subprotocols } = handshakeOf(c);
  try {
    const ws = await client.websocket(path, { headers, subprotocols });
    await ws.send(MESSAGES[c.receives]).catch(() => {});
    const message = await ws.receive().catch(() => undefined);
    if (message !== undefined && c.end === "client terminates") await ws.terminate();
    if (message !== undefined && isClosedByClient(c)) await ws.close(4321, "bye");
    const { code, reason } = await ws.closed;
    const protocol = ws.subprotocol === null ? {} : { "sec-websocket-protocol": ws.subprotocol };
    return { status: 101, close: { code, reason }, headers: { ...ws.headers, ...protocol }, message };
  } catch (error) {
    if (!(error instanceof WebSocketRefusedError)) throw error;
    const { statusCode, headers: answered, code, reason } = error;
    if (statusCode === null) return { status: 101, close: { code, reason }, headers: answered };
    return { status: statusCode, headers: answered, body: error.text() };
  }
}

/** Serves the application of the current call. */
export class SocketCaller implements AsyncDisposable {
  #app: ASGIApp | null = null;
  #running: Promise<void> = Promise.resolve();
  readonly #current: ASGIApp = (scope, receive, send) => {
    if (this.#app === null || scope.type === "lifespan") return Promise.resolve();
    this.#running = this.#app(scope, receive, send);
    return this.#running;
  };
  readonly #servers = new Map<SocketCombination["driver"], Promise<RunningServer>>();
  readonly #handler = toNodeHandler(this.#current, { logger: new KeptLog() });
  readonly #node = createServer(this.#handler).on("upgrade", this.#handler.upgrade);

  /** Opens the WebSocket of a combination, and waits until the application has settled. */
  async call(c: SocketCombination, app: App): Promise<SeenSocket> {
    if (c.driver === "memory") return inMemory(c, app);
    this.#app = app;
    const stop = await startLifespan(app);
    try {
      const seen = await overSocket(c, await this.#urlOf(c.driver));
      await this.#running.catch(() => {}); // The server has seen it.
      return seen;
    } finally {
      await stop();
    }
  }

  async #urlOf(driver: SocketCombination["driver"]): Promise<string> {
    if (driver === "node:http") {
      if (!this.#node.listening) await once(this.#node.listen(0, "127.0.0.1"), "listening");
      return `http://127.0.0.1:${(this.#node.address() as AddressInfo).port}`;
    }
    const loop = driver === "serve" ? "libuv" : "uwebsockets";
    const start = () => serve(this.#current, { port: 0, signals: false, logger: new KeptLog(), loop });
    let server = this.#servers.get(driver);
    if (server === undefined) this.#servers.set(driver, (server = start()));
    return (await server).url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const servers = await Promise.all(this.#servers.values());
    await Promise.all(servers.map((server) => server.close()));
    if (this.#node.listening) await once(this.#node.close(), "close");
  }
}
