/** A response that Lambda sends while the application makes it. @module */
import type { Writable } from "node:stream";
import type { ResponseHead } from "tsgi/internals";
import type { EventSource } from "./event.js";
import { type LambdaHead, toLambdaHead } from "./result.js";
import type { LambdaCall, LambdaResponse } from "./server.js";

/** Begins a response with a status and headers: `awslambda.HttpResponseStream.from`. */
export type BeginStream = (stream: Writable, head: LambdaHead) => Writable;

/** The response to one event on Lambda's stream. */
export class StreamedResponse implements LambdaResponse {
  destroyed = false;
  /** The error that ended the response, for Lambda; `null` without an error. */
  failure: { readonly error: unknown } | null = null;
  readonly #source: EventSource;
  readonly #begin: BeginStream;
  #stream: Writable;
  #call: LambdaCall | null = null;
  #hasEnded = false;
  /** The callers of {@link flushed}. */
  #waiting: (() => void)[] = [];

  constructor(source: EventSource, stream: Writable, begin: BeginStream) {
    this.#source = source;
    this.#stream = stream;
    this.#begin = begin;
    stream.on("drain", () => this.#resolveFlushed());
    stream.on("error", () => this.#leave());
    stream.on("close", () => this.#leave());
  }

  attach(call: LambdaCall): void {
    this.#call = call;
  }

  respond(head: ResponseHead, body: Uint8Array | string): void {
    this.begin(head);
    if (body.length > 0) this.#stream.write(body);
    this.end();
  }

  begin(head: ResponseHead): void {
    this.#stream = this.#begin(this.#stream, toLambdaHead(head, this.#source));
    // The runtime sends the head with the first write, and otherwise never.
    this.#stream.write("");
  }

  write(chunk: Uint8Array): boolean {
    return chunk.length === 0 || this.#stream.write(chunk);
  }

  end(): void {
    this.#hasEnded = true;
    this.#stream.end();
    this.#resolveFlushed();
  }

  flushed(): Promise<void> | undefined {
    if (this.destroyed || this.#hasEnded || !this.#stream.writableNeedDrain) return undefined;
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  destroy(error?: unknown): void {
    if (this.destroyed || this.#hasEnded) return;
    this.destroyed = true;
    this.failure = { error };
    this.#resolveFlushed();
  }

  /** The runtime has closed the stream. */
  #leave(): void {
    if (this.destroyed || this.#hasEnded) return;
    this.destroyed = true;
    this.#call?.disconnect();
    this.#resolveFlushed();
  }

  #resolveFlushed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
