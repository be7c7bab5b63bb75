/** Servers behind a port that speaks HTTP/1.1. @module */
import { randomBytes } from "node:crypto";
import { responseFacts } from "tsgi/internals";
import { type TextHeaders, valuesOf } from "./bytes.js";
import {
  type ClientHandshake,
  type ClientRequest,
  type ClientResponse,
  type HandshakeResponse,
  readText,
  type StartedServer,
} from "./client.js";
import { FramedWebSocket } from "./frames.js";
import { type ResponseHead, Wire } from "./wire.js";

function toHead(method: string, target: string, headers: TextHeaders): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** Sends the parts of a body, each in a chunk, while the response is read. */
async function sendChunks(wire: Wire, body: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const part of body) {
    wire.write(`${part.length.toString(16)}\r\n`);
    wire.write(part);
    wire.write("\r\n");
  }
  wire.write("0\r\n\r\n");
}

async function* readChunks(wire: Wire): AsyncGenerator<Uint8Array, void, undefined> {
  for (;;) {
    const length = Number.parseInt(await wire.readLine(), 16);
    if (length === 0) break;
    yield await wire.read(length);
    await wire.readLine();
  }
  while ((await wire.readLine()) !== ""); // trailers
}

async function* readRest(wire: Wire, length: number): AsyncGenerator<Uint8Array, void, undefined> {
  for (let left = length; left > 0;) {
    const part = await wire.readSome(left);
    if (part === null && length === Infinity) return;
    if (part === null) throw new Error("The connection ended in the middle of a body.");
    left -= part.length;
    yield part;
  }
}

/** The body behind a head: RFC 9112 §6.3, for which a 205 ends with its content. Closes the connection after it. */
async function* readBody(
  wire: Wire,
  { status, headers }: ResponseHead,
  method: string,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [length = Infinity] = valuesOf(headers, "content-length").map(Number);
  const facts = responseFacts(status, method);
  if (!facts.bodyless || facts.length === "zero") {
    if (valuesOf(headers, "transfer-encoding").length > 0) yield* readChunks(wire);
    else yield* readRest(wire, length);
  }
  wire.socket.destroy();
}

/** Connections to one server. */
class SocketClient implements Required<StartedServer> {
  readonly #url: URL;
  readonly #stop: () => Promise<void>;
  readonly #wires = new Set<Wire>();

  constructor(url: string, stop: () => Promise<void>) {
    this.#url = new URL(url);
    this.#stop = stop;
  }

  async #open(): Promise<Wire> {
    const wire = await Wire.open(this.#url);
    this.#wires.add(wire);
    return wire;
  }

  async request(request: ClientRequest): Promise<ClientResponse> {
    const { method = "GET", target = "/", headers = [], body, signal } = request;
    const wire = await this.#open();
    signal?.addEventListener("abort", () => wire.socket.destroy());
    const framing: TextHeaders = body ? [["transfer-encoding", "chunked"]] : [];
    wire.write(toHead(method, target, [["host", this.#url.host], ...headers, ...framing]));
    if (body) sendChunks(wire, body).catch(() => wire.socket.destroy());
    const head = await wire.readHead();
    return { ...head, body: readBody(wire, head, method) };
  }

  async websocket({ target = "/", headers = [], subprotocols = [] }: ClientHandshake): Promise<HandshakeResponse> {
    const wire = await this.#open();
    const offer: TextHeaders = subprotocols.map((name) => ["sec-websocket-protocol", name]);
    const handshake: TextHeaders = [
      ["host", this.#url.host],
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", randomBytes(16).toString("base64")],
    ];
    wire.write(toHead("GET", target, [...handshake, ...offer, ...headers]));
    const head = await wire.readHead();
    if (head.status !== 101) return { ...head, body: await readText(readBody(wire, head, "GET")), webSocket: null };
    const [subprotocol = null] = valuesOf(head.headers, "sec-websocket-protocol");
    return { ...head, body: "", webSocket: new FramedWebSocket(wire, subprotocol) };
  }

  async close(): Promise<void> {
    for (const { socket } of this.#wires) socket.destroy();
    await this.#stop();
  }
}

/**
 * A server that a check reaches over TCP, in HTTP/1.1 and RFC 6455. Each request has a separate connection.
 *
 * @param url - The address: `http://127.0.0.1:8000`.
 * @param stop - Stops the server.
 * @example
 * ```ts
 * import { checkServer, overSocket } from "@tsgi/conformance";
 * import { serve } from "tsgi/node";
 *
 * const results = await checkServer(async (app) => {
 *   const server = await serve(app, { port: 0, signals: false });
 *   return overSocket(server.url, () => server.close());
 * });
 * ```
 */
export function overSocket(url: string, stop: () => Promise<void> = async () => {}): StartedServer {
  const client = new SocketClient(url, stop);
  return {
    request: (request) => client.request(request),
    websocket: (handshake) => client.websocket(handshake),
    close: () => client.close(),
  };
}
