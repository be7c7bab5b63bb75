/** From a request of uWebSockets.js to a call of the application. @module */
import { METHODS } from "node:http";
import type { Address } from "tsgi";
import {
  checkTarget,
  createHead,
  createScope,
  ErrorResponse,
  Exchange,
  RequestBody,
  type RequestHead,
  type RequestLimits,
  type ServerContext,
  SlowResponses,
} from "tsgi/internals";
import type { UwsRequest, UwsResponse } from "./module.js";
import { UwsStream, type UwsStreamSettings } from "./stream.js";

const NOT_ASCII = /[^\x00-\x7f]/; // oxlint-disable-line no-control-regex -- the range is that of ASCII
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

const errors = {
  malformed: new ErrorResponse(400, "The request is malformed."),
  headerBytes: new ErrorResponse(431, "The header lines are too long."),
  closed: new ErrorResponse(503, "The server has stopped."),
};

/** The head of a request. The request is not available later. */
export function readHead(req: UwsRequest, limits: RequestLimits): RequestHead | ErrorResponse {
  const query = req.getQuery();
  const target = query === undefined ? req.getUrl() : `${req.getUrl()}?${query}`;
  const method = req.getCaseSensitiveMethod();
  const headers: string[] = [];
  let bytes = 0;
  req.forEach((name, text) => {
    // uWebSockets reads UTF-8 where HTTP has bytes.
    const value = NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;
    headers.push(name, value);
    bytes += name.length + value.length + 4;
  });
  if (!KNOWN_METHODS.has(method)) return errors.malformed;
  if (bytes > limits.headerBytes) return errors.headerBytes;
  // uWebSockets supports only HTTP/1.1.
  return checkTarget(target, limits) ?? createHead(method, target, 1, headers, limits);
}

/** The state that the requests of a server share. */
export class UwsHandler {
  readonly #context: ServerContext;
  readonly #limits: RequestLimits;
  readonly #streamSettings: UwsStreamSettings;
  readonly server: Address;
  /** The requests and WebSockets that are open. */
  readonly streams = new Set<UwsStream>();
  /** `true` once the server has stopped; a kept-alive connection may outlive it. */
  closed = false;
  /** `true` from the first request on. */
  hasServed = false;
  readonly encrypted = false;

  constructor(
    context: ServerContext,
    { limits, requestMs }: { readonly limits: RequestLimits; readonly requestMs: number },
    server: Address,
  ) {
    this.#context = context;
    this.#limits = limits;
    this.#streamSettings = { register: this.streams, slowResponses: new SlowResponses(), requestMs };
    this.server = server;
  }

  /** The stream of a request. */
  open(res: UwsResponse): UwsStream {
    this.hasServed = true;
    return new UwsStream(res, this.#context, this.#streamSettings);
  }

  /** The head of a request, or why it is refused. */
  readHead(req: UwsRequest): RequestHead | ErrorResponse {
    return this.closed ? errors.closed : readHead(req, this.#limits);
  }

  /** Serves one request. */
  serve(res: UwsResponse, req: UwsRequest): void {
    const head = this.readHead(req);
    const stream = this.open(res);
    if (head instanceof ErrorResponse) {
      const refusal = head.as(this.#context);
      stream.respond(refusal.head, refusal.body);
      return;
    }
    const { encrypted, server } = this;
    const endpoints = { encrypted, server, client: stream.client.pair };
    const { method, target, section } = head;
    const { headers, content, bodyBytes } = section;
    const scope = createScope({ httpVersion: "1.1", method, target, headers, content }, endpoints, this.#context);
    const body = bodyBytes === 0 ? null : new RequestBody(stream, bodyBytes);
    if (body !== null) stream.receive(body, bodyBytes);
    const exchange = new Exchange(this.#context, stream, scope, body);
    stream.onAborted = () => exchange.disconnect();
    void exchange.run();
  }
}
