/** A client of HTTP/1.1 that checks that only the next response follows a response. @module */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import type { ClientResponse, HandshakeResponse, TextHeaders } from "@tsgi/conformance";
import { valuesOf } from "../../../conformance/src/bytes.js";
import { readText } from "../../../conformance/src/client.js";
import { FramedWebSocket } from "../../../conformance/src/frames.js";
import { type ResponseHead, Wire } from "../../../conformance/src/wire.js";
import { type Handshake, Lost, type Request, Surplus } from "./_driver.js";

/** The path of the request that the client sends after a response, and of the fence of a statement. It gets a 204. */
export const PROBE = "/.probe";

/** Turns the errors of a connection that has ended into a {@link Lost}. */
async function untilLost<Value>(value: Promise<Value>): Promise<Value> {
  try {
    return await value;
  } catch (error) {
    throw new Lost(error);
  }
}

/** Does not read until a promise resolves. */
function pause({ socket }: Wire, until: Promise<void>): void {
  socket.pause();
  void until.then(() => socket.resume());
}

/** One request on a separate connection. */
class Exchange {
  readonly #wire: Wire;
  readonly #host: string;
  readonly #request: Request;
  #isSent = false;

  constructor(wire: Wire, host: string, request: Request) {
    this.#wire = wire;
    this.#host = host;
    this.#request = request;
  }

  async run(): Promise<ClientResponse> {
    const { pausedUntil } = this.#request;
    if (pausedUntil !== undefined) pause(this.#wire, pausedUntil);
    this.#send().catch(() => this.#wire.socket.destroy());
    const head = await untilLost(this.#wire.readHead());
    return { ...head, body: this.#readBody(head) };
  }

  async #send(): Promise<void> {
    const { method = "GET", target = "/", headers = [], body, halfClose = false } = this.#request;
    const hasLength = valuesOf(headers, "content-length").length > 0;
    const framing: TextHeaders = body && !hasLength ? [["transfer-encoding", "chunked"]] : [];
    this.#write(`${method} ${target} HTTP/1.1\r\n`);
    for (const [name, value] of [["host", this.#host], ...headers, ...framing] as TextHeaders) {
      this.#write(`${name}: ${value}\r\n`);
    }
    this.#write("\r\n");
    for await (const part of body ?? []) {
      if (!hasLength) this.#write(`${part.length.toString(16)}\r\n`);
      if (!this.#wire.socket.write(part)) await once(this.#wire.socket, "drain");
      if (!hasLength) this.#write("\r\n");
    }
    if (body && !hasLength) this.#write("0\r\n\r\n");
    this.#isSent = true;
    if (halfClose) this.#wire.socket.end();
  }

  /** Writes latin-1, as headers are. */
  #write(text: string): void {
    if (this.#wire.socket.writable) this.#wire.socket.write(text, "latin1");
  }

  /** The body after a head, as RFC 9112 §6.3 delimits it. */
  async *#readBody(head: ResponseHead): AsyncGenerator<Uint8Array, void, undefined> {
    const { status, headers } = head;
    const isWithout = this.#request.method === "HEAD" || status === 204 || status === 304;
    const [length] = valuesOf(headers, "content-length");
    if (!isWithout && valuesOf(headers, "transfer-encoding").length > 0) yield* this.#readChunks();
    else if (!isWithout && length !== undefined) yield* this.#readBytes(Number(length));
    else if (!isWithout) yield* this.#readToEnd();
    if (this.#isSent) await this.#checkEnd(head);
    this.#wire.socket.destroy();
  }

  async *#readChunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const length = Number.parseInt(await untilLost(this.#wire.readLine()), 16);
      if (length === 0) break;
      yield await untilLost(this.#wire.read(length));
      await untilLost(this.#wire.readLine());
    }
    while ((await untilLost(this.#wire.readLine())) !== ""); // trailers
  }

  async *#readBytes(length: number): AsyncGenerator<Uint8Array, void, undefined> {
    for (let left = length; left > 0;) {
      const part = await this.#wire.readSome(left);
      if (part === null) throw new Lost();
      left -= part.length;
      yield part;
    }
  }

  async *#readToEnd(): AsyncGenerator<Uint8Array, void, undefined> {
    for (let part = await this.#wire.readSome(65_536); part !== null; part = await this.#wire.readSome(65_536)) {
      yield part;
    }
  }

  /** The next response follows, or if this one closes the connection its end: RFC 9112 §9.6 forbids another response. */
  async #checkEnd({ status, headers }: ResponseHead): Promise<void> {
    const { halfClose = false, mayClose = false } = this.#request;
    const closes = halfClose || valuesOf(headers, "connection").some((value) => value.toLowerCase() === "close");
    if (!halfClose) this.#write(`GET ${PROBE} HTTP/1.1\r\nhost: ${this.#host}\r\n\r\n`);
    const next = "HTTP/1.1 204";
    let found = "";
    for (let part = await this.#wire.readSome(1024); part !== null; part = await this.#wire.readSome(1024)) {
      found += part.toString("latin1");
      if (closes || found.length >= next.length || !next.startsWith(found)) break;
    }
    if (closes || (mayClose && found === "") ? found === "" : found.startsWith(next)) return;
    throw new Surplus(`The ${status} is followed by ${JSON.stringify(found)}.`);
  }
}

/** A WebSocket whose `send` waits until the connection takes more. */
class PacedWebSocket extends FramedWebSocket {
  readonly #socket: Socket;

  constructor(wire: Wire, subprotocol: string | null) {
    super(wire, subprotocol);
    this.#socket = wire.socket;
  }

  override async send(data: string | Uint8Array): Promise<void> {
    await super.send(data);
    if (this.#socket.writableNeedDrain) await Promise.race([once(this.#socket, "drain"), this.closed]);
  }
}

/** A client of one server. Each request has a separate connection. */
export class HTTP1Client {
  readonly #url: URL;
  readonly #wires = new Set<Wire>();

  constructor(url: string) {
    this.#url = new URL(url);
  }

  async #connect(signal: AbortSignal | undefined): Promise<Wire> {
    const wire = await Wire.open(this.#url);
    this.#wires.add(wire);
    // A reset: ending only one side is a half-close, after which the client may read.
    signal?.addEventListener("abort", () => wire.socket.resetAndDestroy());
    return wire;
  }

  readonly request = async (request: Request): Promise<ClientResponse> =>
    new Exchange(await this.#connect(request.signal), this.#url.host, request).run();

  readonly websocket = async (handshake: Handshake): Promise<HandshakeResponse> => {
    const { target = "/", headers = [], subprotocols = [], signal, pausedUntil } = handshake;
    const wire = await this.#connect(signal);
    const own: TextHeaders = [
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", randomBytes(16).toString("base64")],
      ...subprotocols.map((name) => ["sec-websocket-protocol", name] as const),
    ];
    const request = { target, headers: [...own, ...headers] };
    const { body, ...head } = await new Exchange(wire, this.#url.host, request).run();
    if (head.status !== 101) return { ...head, body: await readText(body), webSocket: null };
    const [subprotocol = null] = valuesOf(head.headers, "sec-websocket-protocol");
    if (pausedUntil !== undefined) pause(wire, pausedUntil);
    return { ...head, body: "", webSocket: new PacedWebSocket(wire, subprotocol) };
  };

  readonly cut = (): void => {
    for (const { socket } of this.#wires) socket.destroy();
  };
}
