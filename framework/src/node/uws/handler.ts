/** From a request of uWebSockets.js to a call of the application. @module */
import { METHODS } from "node:http";
import type { Address } from "../../asgi.js";
import { Exchange } from "../exchange.js";
import { bodyBytesOf, type Framing } from "../framing.js";
import { Refusal } from "../refusal.js";
import { checkHead, type ParsedHead, type RequestHead } from "../request-head.js";
import { createScope } from "../request.js";
import type { Service } from "../service.js";
import { receiveBody } from "./body.js";
import { UwsLine } from "./line.js";
import type { UwsRequest, UwsResponse } from "./module.js";
import { UwsSink } from "./response.js";

const NOT_ASCII = /[^\x00-\x7f]/; // oxlint-disable-line no-control-regex
const KNOWN_METHODS: ReadonlySet<string> = new Set(METHODS);

const refusals = {
  malformed: new Refusal(400, "The request is malformed."),
  closed: new Refusal(503, "The server has stopped."),
};

/** What most requests have of it. */
const NO_FRAMING: Framing = Object.freeze({});

/** A request as its handler is told of it; nothing of it can be asked for later. */
export class UwsHead implements ParsedHead {
  readonly method: string;
  readonly url: string;
  readonly httpVersion = "1.1"; // uWebSockets takes no other
  readonly httpVersionMajor = 1;
  readonly httpVersionMinor = 1;
  readonly rawHeaders: string[] = [];
  headers: Framing = NO_FRAMING;
  /** What uWebSockets lets pass and nobody may see. */
  readonly fault: Refusal | null;
  #lengths = 0;

  constructor(req: UwsRequest) {
    this.method = req.getCaseSensitiveMethod();
    const query = req.getQuery();
    this.url = query === undefined ? req.getUrl() : `${req.getUrl()}?${query}`;
    req.forEach((name, text) => {
      // uWebSockets reads UTF-8 where HTTP has bytes.
      const value = NOT_ASCII.test(text) ? Buffer.from(text).toString("latin1") : text;
      this.rawHeaders.push(name, value);
      if (name === "content-length" || name === "transfer-encoding" || name === "expect") this.#frame(name, value);
    });
    const { "content-length": length } = this.headers;
    const isFramed = this.#lengths === 0 || (this.#lengths === 1 && /^\d{1,15}$/.test(length ?? ""));
    this.fault = isFramed && KNOWN_METHODS.has(this.method) ? null : refusals.malformed;
  }

  #frame(name: keyof Framing, value: string): void {
    if (this.headers === NO_FRAMING) this.headers = {};
    const before = this.headers[name];
    if (name === "content-length") this.#lengths++;
    this.headers[name] = before === undefined || name === "content-length" ? value : `${before}, ${value}`;
  }
}

/** What the requests of a server share. */
export class UwsHandler {
  readonly #service: Service;
  readonly #server: Address;
  /** Whether the server has stopped; a kept-alive connection may outlive it. */
  closed = false;
  /** Whether there was any request. */
  hasServed = false;
  knownHost: string | undefined;
  readonly encrypted = false;

  constructor(service: Service, server: Address) {
    this.#service = service;
    this.#server = server;
  }

  get server(): Address {
    return this.#server;
  }

  /** Serves one request. */
  serve(res: UwsResponse, req: UwsRequest): void {
    const parsed = new UwsHead(req);
    const head = this.check(parsed);
    this.hasServed = true;
    const sink = new UwsSink(res);
    if (head instanceof Refusal) {
      head.answer(sink);
    } else {
      const { encrypted, server } = this;
      const scope = createScope(parsed, head, { encrypted, server, client: sink.client.pair }, this.#service);
      const body = receiveBody(res, sink, bodyBytesOf(parsed.headers));
      const line = new UwsLine(sink, this.#service.connections);
      const exchange = new Exchange(this.#service, line, scope, body, sink, 0);
      sink.onAborted = () => exchange.disconnect();
      exchange.run();
    }
  }

  /** The head, or why it is refused. */
  check(parsed: UwsHead): RequestHead | Refusal {
    if (this.closed) {
      return refusals.closed;
    }
    return parsed.fault ?? checkHead(parsed, parsed.url, this, this.#service.limits);
  }
}
