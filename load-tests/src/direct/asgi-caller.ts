/** Direct calls of an ASGI application, with synthetic scope, receive and send. @module */
import type { ASGIApp, HeaderPair, HTTPRequestMessage, HTTPScope, ReceiveMessage, SendMessage } from "tsgi";
import type { Answer, Example } from "../examples.js";
import type { Caller } from "./contender.js";

const NO_QUERY = new Uint8Array();
const JSON_HEADERS: readonly HeaderPair[] = [[Buffer.from("content-type"), Buffer.from("application/json")]];

/** The `receive` and `send` of one request, which record the sent messages. */
class Exchange {
  status = 0;
  headers: Iterable<HeaderPair> = [];
  body: Uint8Array = NO_QUERY;
  #request: HTTPRequestMessage | null;

  constructor(request: HTTPRequestMessage) {
    this.#request = request;
  }

  readonly receive = async (): Promise<ReceiveMessage> => {
    const message = this.#request ?? { type: "http.disconnect" };
    this.#request = null;
    return message;
  };

  readonly send = (message: SendMessage): void => {
    if (message.type === "http.response.start") {
      this.status = message.status;
      this.headers = message.headers ?? [];
    } else if (message.type === "http.response.body") {
      const part = message.body ?? NO_QUERY;
      this.body = this.body.length === 0 ? part : Buffer.concat([this.body, part]);
    }
  };
}

/** Calls an ASGI application. The scope has the five fields that an HTTP call needs, and is new for each request. */
export class ASGICaller implements Caller {
  readonly #app: ASGIApp;
  readonly #example: Example;
  readonly #headers: readonly HeaderPair[];
  readonly #request: HTTPRequestMessage;

  constructor(app: ASGIApp, example: Example) {
    this.#app = app;
    this.#example = example;
    this.#headers = example.body === null ? [] : JSON_HEADERS;
    this.#request = { type: "http.request", body: Buffer.from(example.body ?? ""), more_body: false };
  }

  async ask(): Promise<Answer> {
    const exchange = new Exchange(this.#request);
    await this.#call(exchange);
    return {
      status: exchange.status,
      contentType: headerOf(exchange.headers, "content-type"),
      body: Buffer.from(exchange.body).toString(),
    };
  }

  async repeat(requests: number, right: Answer): Promise<number> {
    const length = Buffer.byteLength(right.body);
    let wrong = 0;
    for (let request = 0; request < requests; request++) {
      const exchange = new Exchange(this.#request);
      await this.#call(exchange);
      if (exchange.status !== right.status || exchange.body.length !== length) wrong++;
    }
    return wrong;
  }

  #call(exchange: Exchange): Promise<void> {
    const scope: HTTPScope = {
      type: "http",
      method: this.#example.method,
      path: this.#example.path,
      query_string: NO_QUERY,
      headers: this.#headers,
    };
    return this.#app(scope, exchange.receive, exchange.send);
  }
}

function headerOf(headers: Iterable<HeaderPair>, wanted: string): string {
  for (const [name, value] of headers) {
    if (Buffer.from(name).toString("latin1").toLowerCase() === wanted) return Buffer.from(value).toString("latin1");
  }
  return "";
}
