/** A request of ASGI as a request of `node:http` on a connection in memory, and its response. @module */
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { HTTPRequestMessage, HTTPScope, Receive, ReceiveMessage, Send } from "../../../protocol/asgi.js";
import { headerBytes } from "../../../protocol/bytes.js";
import { setImmediate } from "../../../common/timers.js";
import { HTTPException, ProtocolError } from "../../../common/exceptions.js";
import { headerValue, rawHeaders } from "../../../protocol/header-list.js";
import { MAX_HEAD_BYTES, type Channel, type InnerServer } from "./inner-server.js";
import { MemorySocket } from "./memory-socket.js";
import { pathsOf, targetOf } from "./target.js";

/** Fields about one connection: RFC 9110 §7.6.1. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** Methods that `node:http` does not expect to have a body. */
const BODYLESS = /^(?:GET|HEAD|DELETE|OPTIONS|TRACE|CONNECT)$/;

/** The ends of a connection: the client's, and the listener's, which shows the addresses of the scope. */
export function connect({ client, server, scheme }: Pick<HTTPScope, "client" | "server" | "scheme">) {
  const [remoteAddress, remotePort] = client ?? [];
  const [localAddress, localPort] = server ?? [];
  return MemorySocket.pair(
    { encrypted: false },
    {
      remoteAddress,
      remotePort: remotePort ?? undefined,
      localAddress,
      localPort: localPort ?? undefined,
      encrypted: scheme === "https" || scheme === "wss",
    },
  );
}

/** The header lines of a request, and the facts in them about its body. */
interface RequestLines {
  readonly lines: string[];
  /** `true` if they tell where the body ends. */
  readonly isFramed: boolean;
  readonly expectsContinue: boolean;
}

/** The lines as received. A request that would be an upgrade is an ordinary one: RFC 9110 §7.8 lets a server ignore it. */
function linesOf(scope: HTTPScope): RequestLines {
  const raw = rawHeaders(scope.headers);
  const lines: string[] = [];
  const names = new Set<string>();
  for (let index = 0; index < raw.length; index += 2) {
    const [line = "", value = ""] = [raw[index], raw[index + 1]];
    const name = line.toLowerCase();
    if (name === "upgrade" || (name === "connection" && /upgrade/i.test(value))) continue;
    lines.push(line, value);
    names.add(name);
  }
  const isFramed = names.has("content-length") || names.has("transfer-encoding");
  return { lines, isFramed, expectsContinue: names.has("expect") };
}

/**
 * The lines that frame a body whose head does not: one of HTTP/2 may have no length. Attack: bytes without framing would be a second
 * request to the listener, past the checks of the App.
 */
function framing({ method }: HTTPScope, first: HTTPRequestMessage): readonly string[] {
  const isEmpty = (first.body?.length ?? 0) === 0 && first.more_body !== true;
  if (!isEmpty) return ["Transfer-Encoding", "chunked"];
  return BODYLESS.test(method) ? [] : ["Content-Length", "0"];
}

/** A handshake that `app.fetch` passes as a request, because its platform opens no WebSockets. */
function isHandshake(scope: HTTPScope): boolean {
  const isFetched = scope.extensions?.["tsgi.web"] !== undefined;
  return isFetched && headerValue(scope.headers ?? [], "upgrade")?.toLowerCase() === "websocket";
}

/** Calls the listener for one request. */
export async function serveInner(inner: InnerServer, scope: HTTPScope, { receive, send }: Channel): Promise<void> {
  if (isHandshake(scope)) throw new HTTPException(501);
  const { lines, isFramed, expectsContinue } = linesOf(scope);
  const first = isFramed ? null : await receive();
  if (first !== null && first.type !== "http.request") return; // the client has disconnected
  const [near, far] = connect(scope);
  const sending = request({
    method: scope.method,
    path: targetOf(scope),
    headers: first === null ? lines : [...lines, ...framing(scope, first)],
    setHost: false,
    maxHeaderSize: MAX_HEAD_BYTES,
    createConnection: () => near,
  });
  sending.maxHeadersCount = 0;
  // Attack: bytes after the announced length would be a second request. The types of Node lack this property of the sender.
  Object.assign(sending, { strictContentLength: true });
  for (const emitter of [sending, near, far]) emitter.on("error", () => {}); // who waits for it, gets it as well
  const exchange = new InnerExchange({ sending, far }, receive, first);
  inner.connect(far, { paths: pathsOf(scope), fail: (error, hasBegun) => exchange.fail(error, hasBegun) });
  await exchange.run(send, expectsContinue);
}

/** A request to the listener. */
class InnerExchange {
  readonly #sending: ClientRequest;
  /** The end of the listener. */
  readonly #far: MemorySocket;
  /** The error after which the response is cut. */
  #cause: { readonly error: unknown } | null = null;
  readonly #receive: Receive;
  /** A message of the body that was received before. */
  readonly #first: ReceiveMessage | null;
  #end: (failure: { readonly error: unknown } | null) => void = () => {};
  /** The listener has failed, or the client has disconnected. */
  readonly #ended = new Promise<{ readonly error: unknown } | null>((resolve) => (this.#end = resolve));
  #isOver = false;

  constructor(
    { sending, far }: { readonly sending: ClientRequest; readonly far: MemorySocket },
    receive: Receive,
    first: ReceiveMessage | null,
  ) {
    this.#sending = sending;
    this.#far = far;
    this.#receive = receive;
    this.#first = first;
  }

  /** @param hasBegun - `true` if the head of the response is on its way: the response is cut after it. */
  fail(error: unknown, hasBegun = false): void {
    if (hasBegun) {
      this.#cause = { error };
      setImmediate(() => this.#far.destroy()); // `node:http` writes at the end of this turn
    } else {
      this.#end({ error });
      this.#sending.destroy();
    }
  }

  /** @throws the error of the listener, and if it closes the connection before the end of its response. */
  async run(send: Send, expectsContinue: boolean): Promise<void> {
    this.#sending.flushHeaders();
    const responding = this.#respond(send);
    responding.catch(() => {}); // after a failure of the listener
    void this.#sendBody(expectsContinue);
    try {
      const failure = await Promise.race([responding, this.#ended]);
      if (failure) throw failure.error;
    } finally {
      this.#isOver = true;
      this.#sending.destroy();
    }
  }

  async #sendBody(expectsContinue: boolean): Promise<void> {
    const sending = this.#sending;
    try {
      if (expectsContinue) await Promise.race([once(sending, "continue"), once(sending, "response")]);
      let message = this.#first ?? (await this.#receive());
      while (await this.#write(message)) message = await this.#receive();
      if (message.type === "http.request") {
        sending.end();
        while ((await this.#receive()).type !== "http.disconnect");
      }
      this.#leave();
    } catch (error) {
      // If the listener has responded without the rest of the body, the response counts.
      if (!this.#isOver && !sending.destroyed) this.fail(error);
    }
  }

  /** Sends a chunk of the body. Returns whether more chunks follow. */
  async #write(message: ReceiveMessage): Promise<boolean> {
    if (message.type !== "http.request") return false;
    const { body, more_body: hasMore = false } = message;
    const accepts = body === undefined || body.length === 0 || this.#sending.write(body);
    if (hasMore && !accepts) await once(this.#sending, "drain");
    return hasMore;
  }

  /** The client has disconnected. The listener sees it as the end of its connection. */
  #leave(): void {
    if (this.#isOver) return;
    this.#end(null);
    this.#far.destroy();
    this.#sending.destroy();
  }

  async #respond(send: Send): Promise<null> {
    const [response] = (await once(this.#sending, "response")) as [IncomingMessage];
    const headers: [Uint8Array, Uint8Array][] = [];
    for (let index = 0; index < response.rawHeaders.length; index += 2) {
      const name = (response.rawHeaders[index] ?? "").toLowerCase();
      if (!HOP_BY_HOP.has(name)) headers.push([headerBytes(name), headerBytes(response.rawHeaders[index + 1] ?? "")]);
    }
    await send({ type: "http.response.start", status: response.statusCode ?? 500, headers });
    try {
      for await (const body of response as AsyncIterable<Buffer>) {
        await send({ type: "http.response.body", body, more_body: true });
      }
    } catch (error) {
      if (response.complete) throw error;
      await send({ type: "http.response.body", more_body: true }); // the head, so that the response is cut, not replaced
      if (this.#cause !== null) throw this.#cause.error;
      throw new ProtocolError("The listener closed the connection before the end of its response.");
    }
    await send({ type: "http.response.body" });
    return null;
  }
}
