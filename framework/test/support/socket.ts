/** The same request as `call` sends, to the application behind the Node server, over a socket of its own. */
import { once } from "node:events";
import { request, type ClientRequest, type IncomingMessage } from "node:http";
import type { ASGIApp, HTTPScope } from "../../src/asgi.js";
import { serve, type RunningServer } from "../../src/node.js";
import { type Answer, type CallApp, createAnswer, outgoingOf, type Sent } from "./call.js";
import { KeptLog } from "./kept-log.js";

/** What a server adds to any answer, or says about its connection alone. */
const ABOUT_THE_CONNECTION = new Set(["connection", "date", "keep-alive", "transfer-encoding"]);

interface Served {
  readonly server: RunningServer;
  /** The calls of the application, by the port of their client. */
  readonly calls: Map<number, Promise<unknown>>;
}

/** Serves each application that it is asked to call, until it is closed. */
export class SocketCaller implements AsyncDisposable {
  readonly #served = new Map<ASGIApp, Promise<Served>>();

  /**
   * Sends one request and waits for the answer and for the application to settle, so that background tasks are over.
   *
   * @throws what the application throws, where the server cuts the connection for it.
   */
  readonly call: CallApp = async (app, method, target, sent = {}) => {
    let served = this.#served.get(app);
    if (served === undefined) this.#served.set(app, (served = serveTracked(app)));
    return exchange(await served, method, target, sent);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const all = await Promise.all(this.#served.values());
    this.#served.clear();
    await Promise.all(all.map(({ server }) => server.close()));
  }
}

async function serveTracked(app: ASGIApp): Promise<Served> {
  const calls: Served["calls"] = new Map();
  const tracked: ASGIApp = (scope, receive, send) => {
    const result = app(scope, receive, send);
    if (scope.type === "http") calls.set(portOf(scope), result);
    return result;
  };
  return { server: await serve(tracked, { port: 0, signals: false, logger: new KeptLog() }), calls };
}

function portOf({ client }: HTTPScope): number {
  return client?.[1] ?? 0;
}

async function exchange({ server, calls }: Served, method: string, target: string, sent: Sent): Promise<Answer> {
  let clientPort = 0;
  try {
    return await sendTo(server.url, method, target, sent, (port) => (clientPort = port));
  } finally {
    await calls.get(clientPort); // what the application throws counts more than a connection that was cut for it
    calls.delete(clientPort);
  }
}

/**
 * Sends one request to a server, on a connection of its own.
 *
 * @param onConnect - Gets the port of this end.
 */
export async function sendTo(
  url: string,
  method: string,
  target: string,
  sent: Sent = {},
  onConnect: (port: number) => void = () => {},
): Promise<Answer> {
  const { headers, chunks } = outgoingOf(sent);
  const { hostname, port, host } = new URL(url);
  const given = new Set(headers.map(([name]) => name.toLowerCase()));
  const raw = headers.flat();
  const length = chunks[0]?.length ?? 0;
  if (!given.has("host")) raw.push("host", host);
  if (sent.chunks) raw.push("transfer-encoding", "chunked");
  else if (!given.has("content-length") && (length > 0 || !/^(?:GET|HEAD)$/.test(method))) {
    raw.push("content-length", String(length));
  }
  const sending = request({ hostname, port, method, path: target, headers: raw, agent: false });
  sending.once("socket", (socket) => socket.once("connect", () => onConnect(socket.localPort ?? 0)));
  return answerTo(sending, chunks);
}

async function answerTo(sending: ClientRequest, chunks: readonly Uint8Array[]): Promise<Answer> {
  const responded = once(sending, "response") as Promise<[IncomingMessage]>;
  sending.on("error", () => {}); // a refusal may cut the sending; the answer is there all the same
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
