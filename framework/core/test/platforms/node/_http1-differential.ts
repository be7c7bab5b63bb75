/** Two servers that are sent the same bytes: `serve`, and `node:http` with the parser of Node. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { HTTPScope } from "../../../src/protocol/asgi.js";
import { decodeLatin1 } from "../../../src/protocol/bytes.js";
import { httpApp, readBody, served, type Served } from "./_http.js";

/** A request as an application gets it. */
export interface View {
  method: string;
  version: string;
  target: string;
  /** `[name, value]`, names in lower case. */
  headers: [string, string][];
  body: string;
}

/** A server's result for a connection's bytes: the requests that it served, and the final status. */
export interface Outcome {
  views: View[];
  /** The status instead of a next request, or `null` without a next request or without a response to it. */
  refusal: number | null;
}

/** The requests of each connection, by the client's port. */
type Views = Record<"ours" | "nodes", Map<number, View[]>>;

/** Both servers, on free ports. */
export class Differential implements AsyncDisposable {
  readonly #ours: Served;
  readonly #nodes: Server;
  readonly #views: Views;
  /** Errors that `serve` has logged. */
  readonly logged: readonly object[];

  private constructor(ours: Served, nodes: Server, views: Views, logged: readonly object[]) {
    this.logged = logged;
    this.#ours = ours;
    this.#nodes = nodes;
    this.#views = views;
  }

  static async start(): Promise<Differential> {
    const logged: object[] = [];
    // Of an hour's requests no line but an error's is kept.
    const logger = { debug: ignore, info: ignore, warn: ignore, error: (fields: object) => void logged.push(fields) };
    const views: Views = { ours: new Map(), nodes: new Map() };
    const ours = await served(
      httpApp(async (scope, receive, send) => {
        const body = await readBody(receive).catch(() => null);
        if (body !== null) views.ours.get(scope.client?.[1] ?? 0)?.push(viewOfScope(scope, body));
        await send({ type: "http.response.start", status: 200 });
        await send({ type: "http.response.body" });
      }),
      { logger },
    );
    // An early rejection of a missing Host would hide that request, and continue with the next one.
    const nodes = createServer({ requireHostHeader: false }, (req, res) => takeFromNode(req, res, views.nodes));
    Object.assign(nodes, { httpAllowHalfOpen: true }); // so that a client that has ended its side gets its responses
    // By default the socket is destroyed immediately, together with complete requests before the malformed one.
    nodes.on("clientError", (error: Error & { code?: string }, socket) => {
      const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : 400;
      setImmediate(() => socket.end(`HTTP/1.1 ${status} Refused\r\n\r\n`));
    });
    // With the option above a connection whose client has ended its side is else kept for its timeout.
    nodes.on("connection", (socket) => {
      socket.on("end", () => setImmediate(() => setImmediate(() => socket.end())));
    });
    await new Promise<void>((resolve) => nodes.listen(0, "127.0.0.1", resolve));
    return new Differential(ours, nodes, views, logged);
  }

  /** Sends these bytes, in as many packets as there are parts, to `serve`. */
  ours(parts: readonly string[]): Promise<Outcome> {
    return outcome(this.#ours.port, parts, this.#views.ours);
  }

  /** The same to `node:http`, in one. */
  nodes(text: string): Promise<Outcome> {
    return outcome((this.#nodes.address() as AddressInfo).port, [text], this.#views.nodes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ours.close();
    this.#nodes.closeAllConnections();
    await new Promise((resolve) => this.#nodes.close(resolve));
  }
}

function viewOfScope(scope: HTTPScope, body: Buffer): View {
  const query = decodeLatin1(scope.query_string ?? new Uint8Array(0));
  return {
    method: scope.method,
    version: scope.http_version ?? "",
    target: decodeLatin1(scope.raw_path ?? Buffer.from(scope.path)) + (query === "" ? "" : `?${query}`),
    headers: Array.from(scope.headers ?? [], ([name, value]) => [decodeLatin1(name), decodeLatin1(value)]),
    body: body.toString("latin1"),
  };
}

function ignore(): void {}

/** In ASGI, an empty query is absent. */
function withoutMark(url: string): string {
  return url.replace(/^([^?]*)\?$/, "$1");
}

function takeFromNode(req: IncomingMessage, res: ServerResponse, views: Map<number, View[]>): void {
  const chunks: Buffer[] = [];
  req.on("error", () => {});
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    const { method = "", httpVersion, url = "", rawHeaders } = req;
    const headers: [string, string][] = [];
    for (let index = 0; index < rawHeaders.length; index += 2) {
      headers.push([(rawHeaders[index] as string).toLowerCase(), rawHeaders[index + 1] as string]);
    }
    const body = Buffer.concat(chunks).toString("latin1");
    views
      .get(req.socket.remotePort ?? 0)
      ?.push({ method, version: httpVersion, target: withoutMark(url), headers, body });
    res.end();
  });
}

async function outcome(port: number, parts: readonly string[], all: Map<number, View[]>): Promise<Outcome> {
  const socket = connect(port, "127.0.0.1");
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  const { localPort = 0 } = socket;
  const views: View[] = [];
  all.set(localPort, views);
  let received = "";
  socket.on("error", () => {}).on("data", (chunk: Buffer) => (received += chunk.toString("latin1")));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.setNoDelay(true);
  for (const part of parts.slice(0, -1)) {
    if (!socket.writable) break;
    socket.write(part, "latin1");
    await new Promise((resolve) => setImmediate(resolve));
  }
  socket.end(parts.at(-1) ?? "", "latin1");
  await closed;
  all.delete(localPort);
  const status = /HTTP\/1\.1 ([45]\d\d) /.exec(received)?.[1];
  return { views, refusal: status === undefined ? null : Number(status) };
}
