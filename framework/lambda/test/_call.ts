/** The same request as `call` sends, as an event to a handler. */
import type { ASGIApp } from "tsgi";
import { type LambdaHandler, toLambda } from "../src/index.js";
import { type Answer, type CallApp, createAnswer, outgoingOf, type Sent } from "../../test/support/call.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { type FrontEnd, type GatewayRequest, readResult, toEvent } from "./_gateway.js";

/** The request of a client. */
export function requestOf(method: string, target: string, sent: Sent = {}): GatewayRequest {
  const { headers, chunks } = outgoingOf(sent);
  const hasHost = headers.some(([name]) => name.toLowerCase() === "host");
  return {
    method,
    target,
    headers: hasHost ? headers : [["host", "127.0.0.1"], ...headers],
    body: Buffer.concat(chunks),
    sourceIp: "192.0.2.1",
  };
}

/** Calls a handler with the event of a front end. */
export async function callHandler(
  handler: LambdaHandler,
  frontEnd: FrontEnd,
  [method, target, sent]: readonly [method: string, target: string, sent?: Sent],
): Promise<Answer> {
  const event = JSON.parse(JSON.stringify(toEvent(frontEnd, requestOf(method, target, sent)))) as object;
  const { status, headerLines, body } = readResult(frontEnd, await handler(event));
  return createAnswer(status, headerLines, body);
}

/** Makes a handler of each application that it is asked to call, and closes them all. */
export class LambdaCaller implements AsyncDisposable {
  readonly #handlers = new Map<ASGIApp, LambdaHandler>();
  readonly #frontEnd: FrontEnd;

  constructor(frontEnd: FrontEnd) {
    this.#frontEnd = frontEnd;
  }

  readonly call: CallApp = (app, ...request) => {
    let handler = this.#handlers.get(app);
    if (handler === undefined) this.#handlers.set(app, (handler = toLambda(app, { logger: new KeptLog() })));
    return callHandler(handler, this.#frontEnd, request);
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#handlers.values()].map((handler) => handler.close()));
  }
}
