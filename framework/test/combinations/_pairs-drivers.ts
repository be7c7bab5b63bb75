/** The ways to reach an application: each sends one request, and reads the response to its end. @module */
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { type ClientHttp2Session, connect } from "node:http2";
import type { AddressInfo } from "node:net";
import type { App, ASGIApp, ReceiveMessage } from "../../core/src/index.js";
import { Deferred } from "../../core/src/common/promises.js";
import { unfinishedWork } from "../../core/src/protocol/server-context.js";
import { type LoopName, useLoopPackage } from "../../core/src/platforms/concurrency/loop.js";
import { type RunningServer, serve, toNodeHandler } from "../../core/src/node.js";
import { toFetchHandler } from "../../core/src/platforms/web/index.js";
import { fetchedUws } from "../../uwebsockets/test/_uws.js";
import { KeptLog } from "../support/kept-log.js";
import type { Combination } from "./_pairs-factors.js";
import type { SentRequest } from "./_pairs-request.js";

/** A response, or the part of it before a cut. */
export interface Received {
  readonly status: number;
  /** By lower-case name; repeated ones joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The connection ended before the response did: the status is 0 if it did so before the head. */
  readonly isCut: boolean;
}

/** An application, and the way to call it. */
export interface Called {
  /** The application, wrapped or not. */
  readonly app: ASGIApp;
  /** The App itself, for its own `fetch`; `null` if that is not to be used. */
  readonly bare: App | null;
  /** True if its lifespan runs around the request. */
  readonly hasLifespan: boolean;
  /** Called with each message of the application, if it is not recorded elsewhere. */
  readonly onMessage: (event: "head" | "sent") => void;
  /** Called before a second request, whose response is the one to look at; `null` for one request. */
  readonly beforeSecond: (() => void) | null;
}

export interface Driver {
  /** Sends a request, and waits until the application has settled, background tasks included. */
  call(called: Called, request: SentRequest): Promise<Received>;
  close(): Promise<void>;
}

const NOTHING = Buffer.alloc(0);
const UNANSWERED: Received = { status: 0, headers: {}, body: NOTHING, isCut: true };

/** The parts of a body, at least one. */
function partsOf({ body, isChunked }: SentRequest): Buffer[] {
  if (body === null || !isChunked) return [body ?? NOTHING];
  return [body.subarray(0, 3), body.subarray(3)];
}

function combined(lines: Iterable<readonly [string, string]>): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [written, value] of lines) {
    const name = written.toLowerCase();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** Runs the start of a lifespan, and returns a function that runs its end. */
export async function startLifespan(app: ASGIApp): Promise<() => Promise<void>> {
  const [started, stopping, stopped] = [new Deferred<void>(), new Deferred<void>(), new Deferred<void>()];
  let isStarted = false;
  const receive = async (): Promise<ReceiveMessage> => {
    if (isStarted) await stopping.promise;
    const type = isStarted ? "lifespan.shutdown" : "lifespan.startup";
    isStarted = true;
    return { type };
  };
  const running = app({ type: "lifespan", state: {} }, receive, (message) => {
    if (message.type.endsWith("failed")) throw new Error(JSON.stringify(message));
    (message.type === "lifespan.startup.complete" ? started : stopped).resolve();
  });
  await Promise.race([started.promise, running]);
  return async () => {
    stopping.resolve();
    await Promise.all([stopped.promise, running]);
  };
}

/** Runs one request or two within the lifespan of the application, if it has one. */
async function withinLifespan(called: Called, run: () => Promise<Received>): Promise<Received> {
  if (!called.hasLifespan) return runAll(called, run);
  const stop = await startLifespan(called.app);
  try {
    return await runAll(called, run);
  } finally {
    await stop();
  }
}

async function runAll({ beforeSecond }: Called, run: () => Promise<Received>): Promise<Received> {
  const received = await run();
  if (beforeSecond === null) return received;
  beforeSecond();
  return run();
}

/** A call without a server: the messages of the application are the result. */
class Direct implements Driver {
  call(called: Called, request: SentRequest): Promise<Received> {
    return withinLifespan(called, () => this.#run(called, request));
  }

  async #run({ app, onMessage }: Called, request: SentRequest): Promise<Received> {
    const { method, target, headers } = request;
    const [path = "", query = ""] = target.split("?");
    const parts = partsOf(request);
    const completed = new Deferred<void>();
    const chunks: Uint8Array[] = [];
    let [status, lines, isComplete]: [number, [string, string][], boolean] = [0, [], false];
    const scope = {
      type: "http" as const,
      method,
      path: decodeURIComponent(path),
      raw_path: Buffer.from(path),
      query_string: Buffer.from(query),
      headers: headers.map((line) => line.map((text) => Buffer.from(text)) as [Buffer, Buffer]),
    };
    const receive = async (): Promise<ReceiveMessage> => {
      const part = parts.shift();
      if (part === undefined) {
        await completed.promise;
        return { type: "http.disconnect" };
      }
      return { type: "http.request", body: part, more_body: parts.length > 0 };
    };
    await app(scope, receive, (message) => {
      if (message.type === "http.response.start") {
        onMessage("head");
        status = message.status;
        lines = Array.from(message.headers ?? [], ([name, value]) => [
          Buffer.from(name).toString(),
          Buffer.from(value).toString(),
        ]);
      } else if (message.type === "http.response.body") {
        chunks.push(message.body ?? NOTHING);
        isComplete = message.more_body !== true;
        if (!isComplete) return;
        onMessage("sent");
        completed.resolve();
      }
    }).catch(() => unfinishedWork(scope)); // thrown after the head; the response is then not complete
    return { status, headers: combined(lines), body: Buffer.concat(chunks), isCut: !isComplete };
  }

  async close(): Promise<void> {}
}

/** A server whose application is replaced for each call. */
abstract class Served implements Driver {
  #called: ASGIApp | null = null;
  #running: Promise<void> = Promise.resolve();
  protected readonly app: ASGIApp = (scope, receive, send) => {
    if (this.#called === null || scope.type === "lifespan") return Promise.resolve();
    this.#running = this.#called(scope, receive, send);
    return this.#running;
  };

  call(called: Called, request: SentRequest): Promise<Received> {
    return withinLifespan(called, async () => {
      this.#called = called.app;
      try {
        return await this.send(request);
      } finally {
        await this.#running.catch(() => {}); // The server has seen it, and cut the connection.
      }
    });
  }

  protected abstract send(request: SentRequest): Promise<Received>;
  abstract close(): Promise<void>;
}

/** Sends a request over HTTP/1.1, on a connection that is kept. */
async function overHTTP1(agent: Agent, port: number, sent: SentRequest): Promise<Received> {
  const { method, target, headers, body } = sent;
  const lines = [...headers, ["host", `127.0.0.1:${port}`] as const];
  if (sent.isChunked) lines.push(["transfer-encoding", "chunked"]);
  else if (body !== null) lines.push(["content-length", String(body.length)]);
  else if (method !== "GET" && method !== "HEAD") lines.push(["content-length", "0"]);
  const sending = httpRequest({ host: "127.0.0.1", port, method, path: target, headers: lines.flat(), agent });
  const responded = once(sending, "response") as Promise<[IncomingMessage]>;
  sending.on("error", () => {}); // A rejection may interrupt the sending, but the response has arrived.
  for (const part of partsOf(sent)) sending.write(part);
  sending.end();
  const [response] = await responded.catch(() => []);
  if (response === undefined) return UNANSWERED;
  const chunks: Buffer[] = [];
  response.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {});
  if (!response.closed) await once(response, "close").catch(() => {});
  const raw = response.rawHeaders;
  const pairs = raw.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : [],
  );
  return {
    status: response.statusCode ?? 0,
    headers: combined(pairs),
    body: Buffer.concat(chunks),
    isCut: !response.complete,
  };
}

class ServedHTTP1 extends Served {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #loop: LoopName;
  #server: RunningServer | null = null;

  constructor(loop: LoopName) {
    super();
    this.#loop = loop;
  }

  protected async send(request: SentRequest): Promise<Received> {
    this.#server ??= await serve(this.app, { port: 0, signals: false, logger: new KeptLog(), loop: this.#loop });
    if (this.#server.loop !== this.#loop) throw new Error(`It runs on ${this.#server.loop}.`);
    return overHTTP1(this.#agent, Number(new URL(this.#server.url).port), request);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#server?.close();
  }
}

class ServedHTTP2 extends Served {
  #server: RunningServer | null = null;
  #session: ClientHttp2Session | null = null;

  protected async send(request: SentRequest): Promise<Received> {
    const { method, target, headers, body } = request;
    this.#server ??= await serve(this.app, { port: 0, signals: false, logger: new KeptLog(), http2: true });
    this.#session ??= connect(this.#server.url).on("error", () => {});
    const fields: Record<string, string | string[]> = { ":method": method, ":path": target };
    for (const [name, value] of headers) fields[name] = name in fields ? [fields[name] ?? "", value].flat() : value;
    if (body !== null && !request.isChunked) fields["content-length"] = String(body.length);
    const stream = this.#session.request(fields, { endStream: body === null });
    const chunks: Buffer[] = [];
    let lines: [string, string][] = [];
    stream.on("response", (_headers: unknown, _flags: number, raw: readonly string[]) => {
      lines = raw.flatMap((name, index): [string, string][] => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : []));
    });
    stream.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", () => {});
    if (body !== null) {
      for (const part of partsOf(request)) stream.write(part);
      stream.end();
    }
    if (!stream.closed) await once(stream, "close").catch(() => {});
    const { ":status": status, ...rest } = combined(lines);
    return { status: Number(status), headers: rest, body: Buffer.concat(chunks), isCut: stream.rstCode !== 0 };
  }

  async close(): Promise<void> {
    this.#session?.destroy();
    await this.#server?.close();
  }
}

class NodeHTTP extends Served {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #server = createServer(toNodeHandler(this.app, { logger: new KeptLog() }));

  protected async send(request: SentRequest): Promise<Received> {
    if (!this.#server.listening) await once(this.#server.listen(0, "127.0.0.1"), "listening");
    return overHTTP1(this.#agent, (this.#server.address() as AddressInfo).port, request);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await once(this.#server.close(), "close");
  }
}

/** The `fetch` of the App, or of a wrapped one. */
class Fetch implements Driver {
  async call(called: Called, sent: SentRequest): Promise<Received> {
    const { app, bare, hasLifespan } = called;
    const options = { logger: new KeptLog(), lifespan: hasLifespan ? "auto" : "off" } as const;
    const handler = hasLifespan && bare !== null ? bare.fetch : toFetchHandler(app, options);
    try {
      return await runAll(called, () => this.#send(handler, sent));
    } finally {
      await handler.close();
    }
  }

  async #send(handler: ReturnType<typeof toFetchHandler>, sent: SentRequest): Promise<Received> {
    const headers = sent.headers.map(([name, value]): [string, string] => [name, value]);
    const body = sent.isChunked ? ReadableStream.from(partsOf(sent)) : sent.body;
    const { method } = sent;
    const request = new Request(`http://127.0.0.1${sent.target}`, { method, headers, body, duplex: "half" });
    const running: Promise<unknown>[] = [];
    const response = await handler(request, { waitUntil: (promise) => void running.push(promise) });
    const chunks: Uint8Array[] = [];
    let isCut = false;
    try {
      for await (const chunk of response.body ?? []) chunks.push(chunk as Uint8Array);
    } catch {
      isCut = true;
    }
    await Promise.allSettled(running);
    return { status: response.status, headers: combined(response.headers), body: Buffer.concat(chunks), isCut };
  }

  async close(): Promise<void> {}
}

/** uWebSockets.js, if it was fetched. */
const uws = fetchedUws();
if (uws !== null) useLoopPackage(uws);

const MAKERS: Readonly<Record<Combination["driver"], () => Driver>> = {
  direct: () => new Direct(),
  "HTTP/1.1": () => new ServedHTTP1("libuv"),
  "HTTP/2": () => new ServedHTTP2(),
  "node:http": () => new NodeHTTP(),
  fetch: () => new Fetch(),
  "uWebSockets.js": () => new ServedHTTP1("uwebsockets"),
};

/** The drivers that there are. */
export const DRIVERS = (Object.keys(MAKERS) as Combination["driver"][]).filter(
  (name) => name !== "uWebSockets.js" || uws !== null,
);

export const makeDriver = (name: Combination["driver"]): Driver => MAKERS[name]();
