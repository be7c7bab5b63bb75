/** Requests to a server over a socket, and their responses read to the end. */
import { once } from "node:events";
import { Agent, request, type ClientRequest, type IncomingMessage } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import type { Socket } from "node:net";
import { type Answer, createAnswer, outgoingOf, type Sent } from "./call.js";

/** Headers that a server adds to any response, or that describe only its connection. */
const ABOUT_THE_CONNECTION = new Set(["connection", "date", "keep-alive", "transfer-encoding"]);

/** A connection to a server, which is opened again if it has ended. Requests have to be sent one at a time. */
export interface Connection {
  /**
   * Sends one request, and reads the response.
   *
   * @param onConnect - Gets the port of this end.
   */
  send(method: string, target: string, sent?: Sent, onConnect?: (port: number) => void): Promise<Answer>;
  close(): void;
}

function whenConnected(socket: Socket, onConnect: (port: number) => void): void {
  if (socket.connecting) socket.once("connect", () => onConnect(socket.localPort ?? 0));
  else onConnect(socket.localPort ?? 0);
}

/** A connection of HTTP/1.1. */
export class HTTP1Connection implements Connection {
  readonly #url: URL;
  readonly #agent: Agent;

  constructor(url: string, { keepAlive = true } = {}) {
    this.#url = new URL(url);
    this.#agent = new Agent({ keepAlive, maxSockets: 1 });
  }

  async send(
    method: string,
    target: string,
    sent: Sent = {},
    onConnect: (port: number) => void = () => {},
  ): Promise<Answer> {
    const { headers, chunks } = outgoingOf(sent);
    const { hostname, port, host } = this.#url;
    const given = new Set(headers.map(([name]) => name.toLowerCase()));
    const raw = headers.flat();
    const length = chunks[0]?.length ?? 0;
    if (!given.has("host")) raw.push("host", host);
    if (sent.chunks) raw.push("transfer-encoding", "chunked");
    else if (!given.has("content-length") && (length > 0 || !/^(?:GET|HEAD)$/.test(method))) {
      raw.push("content-length", String(length));
    }
    const path = this.#url.pathname.replace(/\/$/, "") + target; // the server may be at a prefix
    const sending = request({ hostname, port, method, path, headers: raw, agent: this.#agent });
    sending.once("socket", (socket) => whenConnected(socket, onConnect));
    return answerTo(sending, chunks);
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function answerTo(sending: ClientRequest, chunks: readonly Uint8Array[]): Promise<Answer> {
  const responded = once(sending, "response") as Promise<[IncomingMessage]>;
  sending.on("error", () => {}); // a rejection may interrupt the sending, but the response has arrived
  for (const chunk of chunks) sending.write(chunk);
  sending.end();
  const [response] = await responded;
  const body = Buffer.concat((await response.toArray()) as Buffer[]);
  const lines: [string, string][] = [];
  for (let index = 0; index < response.rawHeaders.length; index += 2) {
    const name = response.rawHeaders[index] as string;
    if (!ABOUT_THE_CONNECTION.has(name.toLowerCase())) lines.push([name, response.rawHeaders[index + 1] as string]);
  }
  return createAnswer(response.statusCode ?? 0, lines, body);
}

/** A connection of HTTP/2. */
export class HTTP2Connection implements Connection {
  readonly #url: string;
  #session: ClientHttp2Session | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  async send(
    method: string,
    target: string,
    sent: Sent = {},
    onConnect: (port: number) => void = () => {},
  ): Promise<Answer> {
    const { headers, chunks } = outgoingOf(sent);
    const session = this.#open(onConnect);
    const fields: Record<string, string | string[]> = { ":method": method, ":path": target };
    for (const [name, written] of headers) {
      const value = written.replaceAll(/^[\t ]+|[\t ]+$/g, ""); // as an HTTP/2 client has to send it
      const before = fields[name];
      fields[name] = before === undefined ? value : [before, value].flat();
    }
    const length = chunks[0]?.length ?? 0;
    if (length > 0 && !sent.chunks) fields["content-length"] ??= String(length);
    const stream = session.request(fields, { endStream: length === 0 && !sent.chunks });
    const lines: [string, string][] = [];
    stream.on("response", (_headers: unknown, _flags: number, raw: readonly string[]) => {
      for (let index = 0; index < raw.length; index += 2) lines.push([raw[index] as string, raw[index + 1] as string]);
    });
    if (!stream.writableEnded) {
      for (const chunk of chunks) stream.write(chunk);
      stream.end();
    }
    const body = Buffer.concat((await stream.toArray()) as Buffer[]);
    const kept = lines.filter(([name]) => !name.startsWith(":") && !ABOUT_THE_CONNECTION.has(name));
    return createAnswer(Number(lines[0]?.[1]), kept, body);
  }

  #open(onConnect: (port: number) => void): ClientHttp2Session {
    if (this.#session === null || this.#session.closed || this.#session.destroyed) {
      this.#session = connect(this.#url);
      this.#session.on("error", () => {}); // the request fails as well
      this.#session.once("connect", (_session, { localPort }) => onConnect(localPort ?? 0));
    } else {
      onConnect(this.#session.socket.localPort ?? 0);
    }
    return this.#session;
  }

  close(): void {
    this.#session?.destroy();
  }
}

/** Sends one request to a server, on a separate connection. */
export async function sendTo(url: string, method: string, target: string, sent: Sent = {}): Promise<Answer> {
  const connection = new HTTP1Connection(url, { keepAlive: false });
  return connection.send(method, target, sent);
}

/** The same over HTTP/2. */
export async function sendOverHTTP2(url: string, method: string, target: string, sent: Sent = {}): Promise<Answer> {
  const connection = new HTTP2Connection(url);
  try {
    return await connection.send(method, target, sent);
  } finally {
    connection.close();
  }
}
