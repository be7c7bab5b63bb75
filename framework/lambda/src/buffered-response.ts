/** A response that is returned to Lambda whole. @module */
import { ErrorResponse, responseFacts, type ResponseHead, type ServerContext } from "tsgi/internals";
import type { EventSource } from "./event.js";
import { type LambdaResult, toLambdaBody, toLambdaHead } from "./result.js";
import type { LambdaCall, LambdaResponse } from "./server.js";

/**
 * Bytes of the JSON that Lambda accepts as a result, and a load balancer from Lambda.
 *
 * @see {@link https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html}
 * @see {@link https://docs.aws.amazon.com/elasticloadbalancing/latest/application/lambda-functions.html}
 */
const MAX_RESULT_BYTES: Readonly<Record<EventSource, number>> = {
  v1: 6_291_556,
  v2: 6_291_556,
  alb: 1_048_576,
  "alb-multi": 1_048_576,
};

/** A character takes six bytes in JSON at most: `\u0000`. */
const MAX_BYTES_PER_CHARACTER = 6;

const failed = new ErrorResponse(500);

/** The response to one event, kept until it is whole. */
export class BufferedResponse implements LambdaResponse {
  destroyed = false;
  readonly #source: EventSource;
  #call: LambdaCall | null = null;
  #context: ServerContext | null = null;
  #head: ResponseHead | null = null;
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #result: LambdaResult | null = null;

  constructor(source: EventSource) {
    this.#source = source;
  }

  /** The result; a 500 if the application has not completed its response. */
  get result(): LambdaResult {
    return this.#result ?? this.#fail();
  }

  attach(call: LambdaCall, context: ServerContext): void {
    this.#call = call;
    this.#context = context;
  }

  respond(head: ResponseHead, body: Uint8Array | string): void {
    const result = { ...toLambdaHead(head, this.#source), ...toLambdaBody(head, body) };
    if (this.#fits(result)) this.#result = result;
    else this.#refuse();
  }

  begin(head: ResponseHead): void {
    this.#head = head;
  }

  write(chunk: Uint8Array): boolean {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_RESULT_BYTES[this.#source]) this.#refuse();
    else this.#chunks.push(chunk.slice()); // the application may use its array again
    return true;
  }

  end(): void {
    if (this.destroyed || this.#head === null) return;
    this.respond(this.#head, Buffer.concat(this.#chunks));
  }

  flushed(): undefined {}

  destroy(): void {
    this.destroyed = true;
    this.#chunks = [];
  }

  #fits(result: LambdaResult): boolean {
    const limit = MAX_RESULT_BYTES[this.#source];
    return (
      result.body.length * MAX_BYTES_PER_CHARACTER < limit / 2 || Buffer.byteLength(JSON.stringify(result)) <= limit
    );
  }

  /** The response is too large: Lambda would not send it, and the client would get a 502 without a reason in the log. */
  #refuse(): void {
    if (this.destroyed) return;
    const limit = MAX_RESULT_BYTES[this.#source];
    const text = `The response to ${this.#call?.name ?? "a request"} is larger than the ${limit} bytes of a Lambda result`;
    this.#context?.logger.error({}, `${text}. To send larger responses, use toLambdaStream().`);
    this.#result = this.#fail();
    this.destroy();
    this.#call?.disconnect();
  }

  #fail(): LambdaResult {
    const error = this.#context === null ? failed : failed.as(this.#context);
    const head = { ...error.head, facts: responseFacts(500, "GET") };
    return { ...toLambdaHead(head, this.#source), ...toLambdaBody(head, error.body) };
  }
}
